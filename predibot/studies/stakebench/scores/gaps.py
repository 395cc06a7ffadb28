"""Gaps: what a bot falls short of what was staked, and its scores of four tasks as one number."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitmentGap:
    """How far a bot is from the references of the tasks on side, action and odds; below zero it is ahead."""

    side: float
    """O2 - DA."""
    action: float
    """O3 - Acc_act, O3 being 1: what was done is known afterwards."""
    odds: float
    """O4 - PLA."""

    @property
    def mean(self) -> float:
        """Return MCG, NaN where one of the three has no value."""
        return (self.side + self.action + self.odds) / 3.0


def commitment_gap(
    *, side_reference: float, directed_accuracy: float, action_accuracy: float, odds_reference: float, odds_lead: float
) -> CommitmentGap:
    """Return the commitment gaps CG(2), CG(3) and CG(4), and by its `mean` MCG.

    Args:
        side_reference: O2, how often the side on which most was staked won.
        directed_accuracy: DA.
        action_accuracy: Acc_act.
        odds_reference: O4, the accuracy of the stake-weighted side on the windows that the bot answered.
        odds_lead: PLA.

    Source:
        StakeBench (arXiv 2605.26074), equations 2 and 3.

    Examples:
        >>> gap = commitment_gap(
        ...     side_reference=0.552,
        ...     directed_accuracy=0.599,
        ...     action_accuracy=0.279,
        ...     odds_reference=0.573,
        ...     odds_lead=0.521,
        ... )
        >>> [round(each, 3) for each in (gap.side, gap.action, gap.odds, gap.mean)]
        [-0.047, 0.721, 0.052, 0.242]
    """
    return CommitmentGap(side_reference - directed_accuracy, 1.0 - action_accuracy, odds_reference - odds_lead)


def aggregate_score(
    *, accuracy: float, directed_accuracy: float, action_accuracy: float, flip_accuracy: float, lead_share: float
) -> float:
    """Return Agg: five scores, each from what guessing earns (0) to the best (1), none below zero, averaged.

    Args:
        accuracy: Acc of who holds a position.
        directed_accuracy: DA of which side.
        action_accuracy: Acc_act of which of four actions.
        flip_accuracy: Acc_f of whether it is a flip or nothing.
        lead_share: n+ over the splits that were evaluated, in [0, 1].

    Returns:
        In [0, 1]; NaN where one of the five has no value, since a mean of fewer is another score.

    Source:
        StakeBench (arXiv 2605.26074). Its Appendix B names four parts and
        leaves out Acc_f; that matches no row of its Table 3, these five match all.

    Examples:
        >>> scores = {"accuracy": 0.689, "directed_accuracy": 0.599, "action_accuracy": 0.279, "flip_accuracy": 0.564}
        >>> round(aggregate_score(**scores, lead_share=5 / 18), 3)
        0.204
    """
    scored = ((accuracy, 0.5), (directed_accuracy, 0.5), (action_accuracy, 0.25), (flip_accuracy, 0.5))
    parts = [(score - chance) / (1.0 - chance) for score, chance in scored] + [lead_share]
    if any(math.isnan(part) for part in parts):
        return math.nan
    return math.fsum(max(part, 0.0) for part in parts) / len(parts)
