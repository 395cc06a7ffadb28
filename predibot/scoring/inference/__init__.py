"""How sure a number is: draws, clusters, intervals, differences."""
