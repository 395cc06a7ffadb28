"""Metered models: no call without a reservation, no truth without a line in the trace."""

import json
from dataclasses import dataclass, replace
from types import MappingProxyType

import pytest

from predibot.agents.budget.budget import Budget
from predibot.agents.budget.price import TokenPrice
from predibot.agents.budget.worst_case import worst_case
from predibot.agents.models.failures import GivenUp
from predibot.agents.models.metered import MeteredModel, request_digest
from predibot.domain.budget import Limits, Spending
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Message
from predibot.domain.trace import cost_of_steps, sum_estimates_usd
from predibot.errors import BudgetSpent, ModelRefused, ModelUnavailable
from predibot.ledger.files.traces import Trace
from predibot.net.failures import LostAnswer, TryAgain
from tests.agents.clients import HELLO, PING, Clock, Scripted, reply_of, retry_of

PRICE = TokenPrice(10.0, 100.0)
WORST = worst_case(HELLO, PRICE, deadline_seconds=30.0)


def metered(
    *replies: ChatReply | Exception, limits: Limits | None = None, price: TokenPrice | None = PRICE
) -> tuple[MeteredModel, Budget, Trace, Scripted]:
    """Return a metered model, its budget, its trace, and what is behind it."""
    scripted, budget, trace = Scripted(list(replies)), Budget.of("decision", limits or Limits()), Trace()
    return MeteredModel(scripted, budget, price, trace, monotonic=Clock().monotonic), budget, trace, scripted


def steps_of(trace: Trace) -> list[dict[str, object]]:
    return [json.loads(line) for line in trace.text.splitlines()]


def test_the_truth_replaces_the_worst_case() -> None:
    model, budget, _, _ = metered(reply_of(usd=0.01))
    model.chat(HELLO, deadline_seconds=30.0)
    assert budget.spent() == Spending(usd=0.01, tokens=25, steps=1, seconds=0.5)


def test_a_worst_case_that_does_not_fit_is_not_sent() -> None:
    model, budget, _, scripted = metered(reply_of(), limits=Limits(usd=WORST.usd * 0.99))
    with pytest.raises(BudgetSpent, match="decision's limit"):
        model.chat(HELLO, deadline_seconds=30.0)
    assert (scripted.asked, budget.spent()) == ([], Spending())


def test_a_call_gets_no_more_seconds_than_are_left_and_without_any_none_is_made() -> None:
    model, _, _, scripted = metered(reply_of(), reply_of(), limits=Limits(seconds=8.0))
    model.chat(HELLO, deadline_seconds=30.0)
    model.chat(HELLO, deadline_seconds=30.0)
    assert [seconds for _, seconds in scripted.asked] == [8.0, 7.5]
    model, _, _, _ = metered(reply_of(), limits=Limits(seconds=0.0))
    with pytest.raises(BudgetSpent, match="seconds"):
        model.chat(HELLO, deadline_seconds=30.0)


def test_a_missing_usage_lets_the_worst_case_stand_and_the_cost_unknown() -> None:
    model, budget, _, _ = metered(reply_of(input_tokens=None, output_tokens=None))
    assert model.chat(HELLO, deadline_seconds=30.0).cost == Cost(None, "unknown")
    assert budget.spent().usd == pytest.approx(WORST.usd)
    assert budget.spent().tokens == WORST.tokens


@pytest.mark.parametrize("usd", [None, 0.0])
def test_a_reply_without_a_cost_or_with_none_gets_the_recipes(usd: float | None) -> None:
    model, budget, trace, _ = metered(reply_of(usd=usd))
    cost = model.chat(HELLO, deadline_seconds=30.0).cost
    assert cost == Cost(20 * 10e-6 + 5 * 100e-6, "recipe")
    assert budget.spent().usd == cost.usd
    assert cost_of_steps(trace.steps) == (cost.usd, cost.usd)


def test_without_a_price_dollars_are_unknown_and_tokens_are_still_held() -> None:
    model, budget, _, _ = metered(reply_of(), reply_of(), price=None, limits=Limits(tokens=WORST.tokens))
    assert model.chat(HELLO, deadline_seconds=30.0).cost.usd is None
    assert budget.spent() == Spending(tokens=25, steps=1, seconds=0.5)
    with pytest.raises(BudgetSpent, match="tokens"):
        model.chat(replace(HELLO, max_output_tokens=5_000), deadline_seconds=30.0)


@pytest.mark.parametrize(
    ("failure", "lost"),
    [(ModelRefused("no"), 0), (GivenUp("down", lost_tries=0), 0), (GivenUp("cut", lost_tries=2), 2)],
)
def test_a_failure_costs_what_may_have_been_paid_for(failure: Exception, lost: int) -> None:
    model, budget, trace, _ = metered(failure)
    with pytest.raises(type(failure)):
        model.chat(HELLO, deadline_seconds=30.0)
    assert budget.spent().usd == pytest.approx(WORST.usd * lost)
    assert (budget.spent().tokens, budget.spent().steps) == (WORST.tokens * lost, 1)
    (step,) = steps_of(trace)
    assert (step["kind"], step["message"], step["lost_tries"]) == ("model_failed", str(failure), lost)


@pytest.mark.parametrize(("lost", "usd"), [(0, 0.01), (2, None)])
def test_tries_lost_before_an_answer_hold_the_budget_and_leave_the_cost_unknown(lost: int, usd: float | None) -> None:
    model, budget, trace, _ = metered(replace(reply_of(usd=0.01), lost_tries=lost))
    assert model.chat(HELLO, deadline_seconds=30.0).cost.usd == 0.01
    assert budget.spent().usd == pytest.approx(0.01 + lost * WORST.usd)
    assert budget.spent().tokens == 25 + lost * WORST.tokens
    assert [step["lost_tries"] for step in steps_of(trace)] == [lost]
    assert cost_of_steps(trace.steps) == (usd, 0.01)


@pytest.mark.parametrize(("lost", "usd"), [(0, 0.0), (1, None)])
def test_a_lost_answer_of_a_model_without_a_price_leaves_the_cost_unknown(lost: int, usd: float | None) -> None:
    model, _, trace, _ = metered(GivenUp("down", lost_tries=lost), price=None)
    with pytest.raises(ModelUnavailable):
        model.chat(HELLO, deadline_seconds=30.0)
    assert cost_of_steps(trace.steps) == (usd, 0.0)
    # No estimate of nothing.
    assert [step["estimated_usd"] for step in steps_of(trace)] == [usd]
    model, _, trace, _ = metered(replace(reply_of(usd=0.0), lost_tries=lost), price=TokenPrice(0.0, 0.0))
    model.chat(HELLO, deadline_seconds=30.0)
    assert cost_of_steps(trace.steps) == (0.0, 0.0)


def test_a_model_that_searches_by_itself_reads_more_than_it_was_sent() -> None:
    budget = Budget.of("decision", Limits())
    reply = reply_of(input_tokens=100_000)
    MeteredModel(Scripted([reply]), budget, PRICE, searches_itself=True).chat(HELLO, deadline_seconds=30.0)
    assert budget.spent().tokens == 100_005


def test_the_trace_has_each_message_once_and_every_reply_whole() -> None:
    model, _, trace, _ = metered(reply_of("first"), reply_of("second"))
    model.chat(HELLO, deadline_seconds=30.0)
    longer = ChatRequest((*HELLO.messages, Message("assistant", "first"), Message("user", "go on")), (PING,), "ping")
    model.chat(longer, deadline_seconds=30.0)
    first, second = steps_of(trace)
    assert first["new_messages"] == [{"role": "user", "text": "Will it rain?"}]
    assert second["new_messages"] == [{"role": "assistant", "text": "first"}, {"role": "user", "text": "go on"}]
    assert (second["tools"], second["forced_tool"], second["messages_sent"]) == (["ping"], "ping", 3)
    assert second["message"] == {"role": "assistant", "text": "second", "tool_calls": [], "tool_call_id": None}
    assert second["usage"]["raw"] == {"prompt_tokens": 20}  # type: ignore[index] # JSON
    assert second["request_sha256"] == request_digest(longer)


def test_a_digest_is_of_all_that_is_asked_and_of_nothing_else() -> None:
    same = replace(HELLO, tools=(replace(PING, parameters=MappingProxyType(dict(PING.parameters))),))
    assert request_digest(same) == request_digest(replace(HELLO, tools=(PING,)))
    others = [replace(HELLO, seed=1), replace(HELLO, forced_tool="x"), replace(HELLO, max_output_tokens=1), same]
    others.append(replace(HELLO, max_searches=1))
    assert len({request_digest(each) for each in (HELLO, *others)}) == 6
    # As it was before a request could say how often to search.
    assert request_digest(HELLO) == "99f1f500887b9eac3a8ba37b6450da99f86752188fbe67220d78b02d6ec68601"


def test_a_conversation_is_reserved_by_what_the_provider_counted() -> None:
    page = ChatRequest((Message("user", "word " * 4_000),))
    model, _, trace, _ = metered(reply_of(input_tokens=4_000), reply_of())
    model.chat(page, deadline_seconds=30.0)
    model.chat(replace(page, messages=(*page.messages, Message("user", "go on"))), deadline_seconds=30.0)
    first, second = (step["worst"]["tokens"] for step in steps_of(trace))  # type: ignore[index] # JSON
    assert first > 20_000 > 9_000 > second > 8_096


@dataclass
class Retrying:
    """A model that tries until its script of failures is over, like the real clients."""

    failures: list[Exception]
    clock: Clock
    name: str = "retrying/model"
    seconds_a_try: float = 2.0

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return an answer for a cent, in the end."""

        def once(_seconds: float) -> ChatReply:
            self.clock.seconds += self.seconds_a_try
            if self.failures:
                raise self.failures.pop(0)
            return reply_of(usd=0.01)

        return retry_of(self.clock).call(once, provider="p", deadline_seconds=deadline_seconds)


def retried(*failures: Exception, limits: Limits) -> tuple[MeteredModel, Budget, Trace]:
    """Return a metered model whose tries fail so often, its budget and its trace."""
    clock, budget, trace = Clock(), Budget.of("decision", limits), Trace()
    return MeteredModel(Retrying([*failures], clock), budget, PRICE, trace, monotonic=clock.monotonic), budget, trace


@pytest.mark.parametrize(("times", "tries"), [(2.5, 2), (3.5, 3)])
def test_a_further_try_is_reserved_anew_and_not_made_where_it_does_not_fit(times: float, tries: int) -> None:
    lost = [LostAnswer(f"cut {number}", tries=9) for number in range(9)]
    model, budget, trace = retried(*lost, limits=Limits(usd=times * WORST.usd))
    with pytest.raises(BudgetSpent, match="decision's limit"):
        model.chat(HELLO, deadline_seconds=600.0)
    assert budget.spent().usd == pytest.approx(tries * WORST.usd)
    assert budget.spent().steps == 1
    (step,) = steps_of(trace)
    assert (step["kind"], step["error"], step["lost_tries"]) == ("model_failed", "BudgetSpent", tries)
    assert step["estimated_usd"] == pytest.approx(tries * WORST.usd)
    assert cost_of_steps(trace.steps) == (None, 0.0)


def test_a_try_that_was_surely_not_charged_gives_back_what_was_set_aside_for_it() -> None:
    busy = [TryAgain("busy", ill=False) for _ in range(4)]
    model, budget, trace = retried(*busy, limits=Limits(usd=1.1 * WORST.usd))
    model.chat(HELLO, deadline_seconds=600.0)
    assert budget.spent().usd == pytest.approx(0.01)
    assert [step["estimated_usd"] for step in steps_of(trace)] == [0.0]
    assert cost_of_steps(trace.steps) == (0.01, 0.01)


def test_a_call_that_ends_for_another_reason_keeps_what_may_have_been_charged() -> None:
    model, budget, trace = retried(LostAnswer("cut"), ModelRefused("no"), limits=Limits(usd=9.0 * WORST.usd))
    with pytest.raises(ModelRefused):
        model.chat(HELLO, deadline_seconds=600.0)
    assert budget.spent().usd == pytest.approx(WORST.usd)
    assert cost_of_steps(trace.steps) == (None, 0.0)
    model, budget, _, _ = metered(KeyError("a bug"))
    with pytest.raises(KeyError):
        model.chat(HELLO, deadline_seconds=30.0)
    assert budget.spent().usd == pytest.approx(WORST.usd)


def test_a_lost_answer_is_booked_at_its_reservation_and_marked_estimated() -> None:
    model, budget, trace = retried(LostAnswer("cut"), LostAnswer("cut"), limits=Limits(usd=3.0 * WORST.usd))
    model.chat(HELLO, deadline_seconds=600.0)
    assert budget.spent().usd == pytest.approx(2 * WORST.usd + 0.01)
    assert budget.spent().tokens == 2 * WORST.tokens + 25
    assert budget.spent().steps == 1
    assert [step["estimated_usd"] for step in steps_of(trace)] == [pytest.approx(2 * WORST.usd)]
    assert sum_estimates_usd(trace.steps) == pytest.approx(2 * WORST.usd)


def test_the_seconds_of_all_tries_and_of_the_waits_between_them_are_booked_once() -> None:
    model, budget, _ = retried(LostAnswer("cut"), TryAgain("busy"), limits=Limits())
    reply = model.chat(HELLO, deadline_seconds=600.0)
    assert budget.spent().seconds == pytest.approx(reply.seconds)


def test_while_others_hold_the_rest_nothing_is_sent_and_the_decision_fails_for_now() -> None:
    run = Budget.of("run", Limits(usd=1.5 * WORST.usd))
    run.inside("decision", Limits()).reserve(Spending(usd=WORST.usd))
    scripted, trace = Scripted([reply_of()]), Trace()
    meter = run.inside("decision", Limits(), wait_seconds=0.0)
    with pytest.raises(ModelUnavailable, match="others held what is left of the run's limit"):
        MeteredModel(scripted, meter, PRICE, trace).chat(HELLO, deadline_seconds=30.0)
    assert scripted.asked == []
    assert cost_of_steps(trace.steps) == (0.0, 0.0)
    assert [step["error"] for step in steps_of(trace)] == ["BudgetHeld"]
