"""Votes: which of the candidate reasons for a pair people prefer; they do not know who wrote them."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from predibot.scoring.metrics.calibration import wilson_interval
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.scores.tables import PairReadings


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text with reasons for a label, and the bots that wrote it."""

    text: str
    bots: tuple[str, ...]


Votes = Mapping[str, Mapping[str, Collection[str]]]
"""By rater and pair: the ids of the candidates that the rater chose, at least one."""


def candidates_of(readings: PairReadings) -> dict[str, dict[str, Candidate]]:
    """Return the candidate reasons by pair and id, of pairs that have two and more.

    Ids and order depend on the pair and the text alone, so that neither reveals who wrote it.
    """
    found: dict[str, dict[str, Candidate]] = {}
    for bot, reasons in readings.reasons.items():
        for pair, text in reasons.items():
            # A spreadsheet would take digits alone, or with an e among them, for a number.
            id_ = "r" + hashlib.sha256(f"{pair}\0{text}".encode()).hexdigest()[:10]
            known = found.setdefault(pair, {}).get(id_, Candidate(text, ()))
            found[pair][id_] = Candidate(text, (*known.bots, bot))
    return {pair: dict(sorted(texts.items())) for pair, texts in sorted(found.items()) if len(texts) > 1}


def vote_table(candidates: Mapping[str, Mapping[str, Candidate]], votes: Votes) -> StudyTable:
    """Return the share of votes for each bot's reasons, with Wilson's 95 % interval over pairs.

    A rater has one vote a pair, split evenly where several candidates were chosen; a pair without a
    choice is left out. A text of several bots counts for each of them.
    """
    shares: dict[str, list[tuple[str, str, float, float]]] = {}
    for rater, of_pair in votes.items():
        for pair, chosen in of_pair.items():
            shown = candidates[pair]
            for id_, candidate in shown.items():
                part = (id_ in chosen) / len(chosen)
                for bot in candidate.bots:
                    shares.setdefault(bot, []).append((rater, pair, part, 1.0 / len(shown)))
    rows: list[tuple[Cell, ...]] = []
    for bot, found in shares.items():
        raters, pairs, won, chance = zip(*found, strict=True)
        share = sum(won) / len(won)
        # Raters of one pair may agree by its ease alone, so they count as one.
        ((low,), (high,)) = wilson_interval([share], [len(set(pairs))])
        counts = len(set(raters)), len(set(pairs)), len(found)
        rows.append((bot, *counts, share, float(low), float(high), sum(chance) / len(chance)))
    rows.sort(key=lambda row: (-float(row[4] or 0.0), str(row[0])))
    note = (
        "share: of the votes on pairs where the bot's reasons were among the candidates, those for them; low and high "
        "are the ends of its 95 % interval, all raters of a pair as one; by chance: what blind choices would give."
    )
    columns = ("bot", "raters", "pairs", "votes", "share", "low", "high", "by chance")
    return StudyTable.of("votes", "Whose reasons people prefer", columns, rows, note)
