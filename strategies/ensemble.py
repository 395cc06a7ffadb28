"""Many forecasts made into one, and bets sized by a rule; or many allocations made into their mean."""

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from predibot.agents.answer.check import decided
from predibot.agents.answer.one_shot import one_shot_need, run_one_shot
from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import FIRST_GAME, AnswerForm, Context, Needs
from predibot.domain.decision import Abstention, Decision, Forecast, MarketDecision
from predibot.domain.event import Event
from predibot.domain.price import Instrument
from predibot.domain.sizing import SizingRule, bets_usd
from predibot.errors import ModelUnavailable, NoAnswer, PluginError
from predibot.scoring.metrics.pooling import PoolingMethod, pool_probabilities

PORTFOLIO = "portfolio_weights"
"""The game in which weights are pooled, by their mean, whatever `pool` and `sizing` say of forecasts and bets."""
Failure = ModelUnavailable | NoAnswer
"""Of a sample."""
MIN_PROBABILITY = 0.001
"""What goes into `log_odds` and comes out of it stays between this and one minus this.

One forecast that is sure shall not decide alone, nor many be pooled to certainty.
"""


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Pool what other bots of the recipe said, at no cost, or several answers of one model."""

    members: tuple[str, ...] = ()
    """Bots of the same recipe, which decide before this one; leave it out to take samples."""
    model: str = ""
    """The one that is asked `samples` times; leave it out to pool members."""
    samples: Annotated[int, Field(ge=0, le=50)] = 0
    """How often the model is asked."""
    pool: PoolingMethod = "median"
    """How forecasts are made into one: `mean`, `median`, `trimmed_mean`, `soft_trimmed_mean` or `log_odds`."""
    extremising: Annotated[float, Field(gt=0, le=10)] = 1.0
    """What `log_odds` multiplies its mean by; above 1 it moves away from one half."""
    sizing: SizingRule = "fractional_kelly"
    """How bets are sized: `kelly`, `fractional_kelly` or `flat`."""
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of members or samples that must have a decision."""
    price_blind: bool = False
    """Whether prices are left out of the prompt of the samples, and of complaints about an answer."""

    games = (FIRST_GAME, PORTFOLIO)

    def __post_init__(self) -> None:
        """Refuse what does not say whose forecasts are pooled."""
        if bool(self.members) == bool(self.model) or bool(self.model) != bool(self.samples):
            raise PluginError("strategy 'ensemble' takes either members, or a model and samples; give one of the two")
        if len(set(self.members)) < len(self.members):
            raise PluginError("strategy 'ensemble': a member is named twice; name each once")
        if self.extremising != 1.0 and self.pool != "log_odds":
            raise PluginError("strategy 'ensemble': extremising goes with pool = 'log_odds' only")

    @property
    def needs(self) -> Needs:
        """Return the members it pools, or its model, a conversation for each sample."""
        if self.members:
            return Needs(members=self.members)
        return Needs(models=(one_shot_need(self.model),) * self.samples, history=not self.price_blind)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the pooled forecasts with bets on them, or an abstention where too few succeeded."""
        answers = self._sampled(context) if self.model else [context.members.get(name) for name in self.members]
        said = [answer if isinstance(answer, Decision) else None for answer in answers]
        is_portfolio = context.game.name == PORTFOLIO
        whole = [each for each in said if each is not None and (is_portfolio or _covers(each, context.event))]
        wanted = max(1, math.ceil(self.min_share * len(said) - 1e-9))
        what = "members" if self.members else "samples"
        if len(whole) < wanted:
            reason = f"{len(whole)} of {len(said)} {what} have a decision, and {wanted} must"
            if lacking := [name for name, answer in zip(self.members, said, strict=False) if answer is None]:
                reason += f"; none of: {', '.join(lacking)}. Members have to play in the same run"
            return Abstention(reason, "members") if self.members else _without(answers, reason)
        combined = _mean_allocation if is_portfolio else self._combined
        return combined(whole, context, note=f"{len(whole)} of {len(said)} {what}")

    def _combined(self, decisions: Sequence[Decision], context: Context, *, note: str) -> Decision:
        by_market = [_said_of(market.id, decisions) for market in context.event.markets]
        probabilities = self._pooled([[said.probability for said in each] for each in by_market])
        bets = bets_usd(self.sizing, probabilities, _bettable_prices(context.event), context.game.stake_usd)
        forecasts = tuple(
            Forecast(said[0].market_id, probability, _confidence(said), self._words(said))
            for said, probability in zip(by_market, probabilities, strict=True)
        )
        orders = context.orders({each.market_id: bet for each, bet in zip(forecasts, bets, strict=True)})
        return Decision(forecasts, orders, notes=(note,))

    def _pooled(self, chances: Sequence[Sequence[float]]) -> list[float]:
        """Return one forecast a market for those of all members or samples."""
        least = MIN_PROBABILITY if self.pool == "log_odds" else 0.0
        within = np.clip(np.array(chances), least, 1.0 - least)
        pooled = pool_probabilities(within, method=self.pool, extremize=self.extremising)
        return [float(each) for each in np.clip(pooled, least, 1.0 - least)]

    def _words(self, said: Sequence[Forecast | MarketDecision]) -> str:
        given = ", ".join(f"{each.probability:.3g}" for each in said)
        extremised = f", extremised by {self.extremising:g}" if self.extremising != 1.0 else ""
        return f"{self.pool} of {given}{extremised}; bet by {self.sizing}"

    def _sampled(self, context: Context) -> list[Decision | Abstention | Failure | None]:
        """Return what the model answers each time it is asked, with another seed each."""
        form = context.form(price_blind=self.price_blind)
        prompt = one_shot_prompt(context, Fence.of(context), form)
        ends = context.deadline_seconds / max(1, self.samples)
        answers: list[Decision | Abstention | Failure | None] = []
        while len(answers) < self.samples:
            answers.append(self._sample(context, prompt, form, ends))
            if isinstance(answers[0], NoAnswer):
                # A model that gives no answer at all is paid for once.
                raise answers[0]
        return answers

    def _sample(
        self, context: Context, prompt: str, form: AnswerForm, deadline_seconds: float
    ) -> Decision | Abstention | Failure:
        seed = context.rng.getrandbits(31)
        model = context.model(self.model)
        try:
            return decided(run_one_shot(model, prompt, form, context, deadline_seconds=deadline_seconds, seed=seed))
        except (ModelUnavailable, NoAnswer) as error:
            # One of several that did not answer is what `min_share` is for.
            return error


def _without(answers: Sequence[object], reason: str) -> Abstention:
    """Return that too few samples have a decision for want of budget, or because the model abstained.

    Raises:
        ModelUnavailable: If it did not answer.
        NoAnswer: If no answer of it could be taken.
    """
    for kind in (ModelUnavailable, NoAnswer):
        for answer in answers:
            if isinstance(answer, kind):
                raise kind(f"{reason}; of one: {answer}")
    no_budget = any(isinstance(answer, Abstention) and answer.kind == "budget" for answer in answers)
    return Abstention(reason, "budget" if no_budget else "bot")


def _covers(decision: Decision, event: Event) -> bool:
    """Return whether a decision says something about every market; a member may have played another selection."""
    said: Mapping[str, float] = {each.market_id: each.probability for each in decision.forecasts}
    return all(0.0 <= said.get(market.id, math.nan) <= 1.0 for market in event.markets)


def _said_of(market_id: str, decisions: Sequence[Decision]) -> list[Forecast | MarketDecision]:
    return [next(said for said in decision.forecasts if said.market_id == market_id) for decision in decisions]


def _confidence(said: Sequence[Forecast | MarketDecision]) -> float | None:
    stated = [each.confidence for each in said if each.confidence is not None]
    return statistics.median(stated) if stated else None


def _bettable_prices(event: Event) -> list[float | None]:
    """Return the price of YES of each market a bet is taken on, None for the others."""
    prices = []
    for market in event.markets:
        price = market.quote.price if market.quote is not None and not market.closed else None
        prices.append(price.yes if price is not None and price.usable else None)
    return prices


def _mean_allocation(decisions: Sequence[Decision], context: Context, *, note: str) -> Decision:
    """Return the mean of allocations; where they hold both sides of a market, the difference of the two.

    One without any order is of a bot that holds nothing and wants nothing, or leaves its own shares as they are.
    """
    view = context.view
    total: defaultdict[Instrument, float] = defaultdict(float)
    for decision in decisions:
        for order in decision.orders:
            total[order.instrument] += order.amount / len(decisions)
    sides: dict[str, float] = {
        each.market.id: total[each.yes] - (0.0 if each.market.is_share else total[each.no]) for each in view.markets
    }
    opposed = [
        each.market.id for each in view.markets if total[each.yes] and total[each.no] and not each.market.is_share
    ]
    notes = (f"of these the difference of both sides is held: {', '.join(opposed)}",) if opposed else ()
    forecasts = tuple(
        Forecast(each.market.id, statistics.fmean(said))
        for each in view.markets
        if (said := [f.probability for d in decisions for f in d.forecasts if f.market_id == each.market.id])
    )
    return Decision(forecasts, view.orders(view.weights(sides)), notes=(note, *notes))
