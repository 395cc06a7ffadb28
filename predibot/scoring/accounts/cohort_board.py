"""The board of cohorts: what the bots of weekly cohorts made beside each other, and whether anybody may be ranked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from predibot.scoring.accounts.cohort_scores import (
    Brier,
    CohortResult,
    CohortScore,
    cohort_score,
    implied_confidence_brier,
    stated_brier,
)
from predibot.scoring.accounts.record import Contestant, SizedBet
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.standing import left_out, places

Verdict = Literal["gains", "unclear", "loses", "too few"]
_VERDICTS: tuple[Verdict, ...] = ("gains", "unclear", "loses", "too few")


@dataclass(frozen=True, slots=True)
class CohortBot(Contestant):
    """What one bot did in its cohorts, those apart whose models can have known something else."""

    display_name: str
    """As its latest cohort has it."""
    results: tuple[CohortResult, ...]
    """One a cohort; archived ones only where they are asked for."""
    forecasts: tuple[tuple[float, float | None], ...] = ()
    """The stated probability of YES, and what a share of it paid; of markets that are resolved."""
    bets: tuple[SizedBet, ...] = ()
    cannot_bet: int = 0
    """In how many cohorts its cash is below what the least bet takes, and something is left."""
    bankrupt: int = 0
    """In how many it has neither cash nor positions."""
    owing: int = 0
    """In how many a reversed payout left it in debt."""
    deviation: float = 0.0
    """How far its mean return may come out otherwise by the prices of what it held."""

    @property
    def stated(self) -> Brier | None:
        """Return the Brier score of the probabilities that it stated."""
        return stated_brier(self.forecasts)

    @property
    def implied(self) -> Brier | None:
        """Return the same of the confidence that the size of its bets implies: another score, by its own name."""
        return implied_confidence_brier(self.bets)


@dataclass(frozen=True, slots=True)
class CohortsRecord:
    """The cohorts of a recipe and a game, of one mode and one methodology: what may be compared."""

    recipe: str
    game: str
    mode: str
    methodology: str
    bots: tuple[CohortBot, ...]
    cohorts: int
    """How many there are, with those that nobody has a value in."""
    complete: int
    """In how many of them nothing can happen any more."""
    archived: int = 0
    """How many are left out, because they are archived."""
    remarks: tuple[str, ...] = ()
    """What is missing, and why."""


@dataclass(frozen=True, slots=True)
class CohortBotScore(CohortBot):
    """How one bot did over its cohorts."""

    score: CohortScore = field(kw_only=True)

    @property
    def verdict(self) -> Verdict:
        """Return what may be said of its return: `gains`, `loses`, or nothing yet."""
        found = self.score.returns
        if not found.may_rank or found.low is None or found.high is None:
            return "too few"
        return "gains" if found.low > 0.0 else "loses" if found.high < 0.0 else "unclear"


@dataclass(frozen=True, slots=True)
class CohortBoard(CohortsRecord):
    """The cohorts of a recipe and a game with the scores of their bots."""

    scores: tuple[CohortBotScore, ...] = field(kw_only=True)
    """Those that gain first, by the lower end of the return's interval; those that may gain or lose, and those that
    lose, by how far their return is from nothing; those on too few cohorts by their mean return; baselines. Those whose
    models' cutoff is unknown come last."""
    notes: tuple[str, ...] = field(kw_only=True)

    @property
    def ranks(self) -> Mapping[tuple[str, Knowledge], int]:
        """Return the place of each bot that gains, and whose interval lies above that of every baseline.

        By the lower end, equals alike; nobody has one on fewer than 30 effective cohorts.
        """
        of_baselines = [each.score.returns for each in self.scores if each.baseline]
        highest = max((each.mean if each.high is None else each.high for each in of_baselines), default=0.0)
        ends = {
            (each.bot, each.knowledge): (each.knowledge, each.score.returns.low)
            for each in self.scores
            if each.verdict == "gains" and not each.baseline
            if each.score.returns.low is not None and each.score.returns.low > highest
        }
        return places(ends)


def cohort_board(record: CohortsRecord) -> CohortBoard:
    """Return how good the bots of a record are.

    Bots whose models may have read how it went are in no score, and named.

    Args:
        record: Of one methodology and one mode; archived cohorts are in it where they are asked for.
    """
    told = sorted({each.bot for each in record.bots if each.knowledge in ("ahead", "contaminated")})
    found = [
        CohortBotScore(**_fields(bot), score=score)
        for bot in record.bots
        if bot.knowledge in ("clean", "unknown")
        and (score := cohort_score(bot.results, archived=True, implied=bot.deviation)) is not None
    ]
    return CohortBoard(**_fields(record), scores=tuple(sorted(found, key=_place)), notes=tuple(_notes(record, told)))


def _fields(record: CohortBot | CohortsRecord) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _place(each: CohortBotScore) -> tuple[bool, bool, int, float, str]:
    returns = each.score.returns
    far = returns.mean
    if each.verdict == "gains":
        far = returns.low or 0.0
    elif each.verdict != "too few" and returns.high is not None:
        # A low end would put a loser that scatters less first.
        far = returns.mean / (returns.high - returns.mean)
    return each.knowledge != "clean", each.baseline, _VERDICTS.index(each.verdict), -far, each.bot


def _notes(record: CohortsRecord, told: Sequence[str]) -> Iterator[str]:
    yield from left_out(told)
    if record.archived:
        were = "1 archived cohort is" if record.archived == 1 else f"{record.archived} archived cohorts are"
        yield f"{were} left out; --archived counts them too"
    yield from record.remarks
