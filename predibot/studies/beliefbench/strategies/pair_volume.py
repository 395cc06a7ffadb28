"""The baselines of pairs that count how much was traded, each volume normalised within the run."""

from dataclasses import dataclass
from typing import Literal

from predibot.contracts import Context, Needs
from predibot.domain.decision import Abstention, Decision, Label
from predibot.scoring.relatedness.relevance import relevance_class

_DECIMALS = 9
"""As many as in scores, so that rounding moves none over the end of a class."""


@dataclass(frozen=True, slots=True)
class PairVolume:
    """Label pairs by their normalised volumes, which are 0 for the least traded market of the run, 1 for the most.

    Source:
        BeliefBench, appendix F, which does not say how volumes are normalised. A pair's second market is its candidate.
    """

    by: Literal["candidate", "similarity"] = "candidate"
    """`candidate`: the volume of the second market, whatever the first is (the paper's max to min). `similarity`: one
    minus the difference of both volumes."""

    games = ("beliefbench",)

    @property
    def needs(self) -> Needs:
        """Return that it looks at the markets behind a pair."""
        return Needs(reference=True)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the label of the pair, or an abstention where a volume is not known."""
        base, candidate = context.reference().volumes()
        if candidate is None or (self.by == "similarity" and base is None):
            return Abstention("the venue states no volume of one of the markets")
        score = candidate if self.by == "candidate" else 1.0 - abs(candidate - base)
        labels = context.form().labels
        label = labels[int(relevance_class(round(score, _DECIMALS)))]
        return Decision(labels=(Label(context.view.subject_id, label),))
