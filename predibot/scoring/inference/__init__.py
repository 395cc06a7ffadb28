"""How certain a number is: draws, clusters, intervals, differences."""
