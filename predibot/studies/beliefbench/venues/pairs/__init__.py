"""Pairs: a data set of pairs of questions, labelled by how their markets moved, as a venue."""

from predibot.studies.beliefbench.pairs import PAIR_FILES, PairItem
from predibot.studies.data_set import DataSetKind, data_set_venue

PAIRS = DataSetKind(
    "pairs", PAIR_FILES, "about", lambda row: str(row.as_of), "predibot collect pairs archive:FOLDER FOLDER"
)
VENUE = data_set_venue(PAIRS, PairItem, "a pair of questions")
