"""The label that most of some bots gave, in any game of labels: what pools the samples of a bot there."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from predibot.contracts import Context, Needs
from predibot.domain.decision import Abstention, Decision, Label


@dataclass(frozen=True, slots=True)
class LabelVote:
    """Give the label that most of other bots of the recipe gave, at no cost; of equally many the one named first."""

    members: tuple[str, ...]
    """Bots of the same recipe, which decide before this one."""
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of members that must have a label."""

    games = ("stakebench", "beliefbench")

    @property
    def needs(self) -> Needs:
        """Return the bots that vote."""
        return Needs(members=self.members)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the label with the share that gave each, or an abstention where too few members have one."""
        decisions = [context.members.get(name) for name in self.members]
        given = [each.label for decision in decisions if decision is not None for each in decision.labels]
        if len(given) < max(1, math.ceil(self.min_share * len(self.members) - 1e-9)):
            return Abstention(f"{len(given)} of {len(self.members)} members have a label", "members")
        votes = Counter(given).most_common()
        shares = {label: n / len(given) for label, n in votes}
        said = ", ".join(f"{label} {n}" for label, n in votes)
        note = f"{len(given)} of {len(self.members)} members: {said}"
        return Decision(labels=(Label(context.view.subject_id, votes[0][0], shares),), notes=(note,))
