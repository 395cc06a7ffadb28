"""The tool loop on the real smolagents: what is taken for a decision, what is not, and when it ends."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from predibot.agents.answer.result import LoopResult
from predibot.agents.budget.budget import Budget
from predibot.agents.loop.evidence import Research
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import MAX_CALLS_A_TURN, LoopLimits
from predibot.agents.models.metered import MeteredModel
from predibot.agents.prompts.render import decide_prompt
from predibot.contracts import Context, Tool, Toolbox, ToolError
from predibot.domain.budget import Limits
from predibot.domain.chat import ChatRequest, ToolCall
from predibot.domain.trace import AbstainedStep, ToolStep
from predibot.errors import BudgetSpent, ClaimLost, ModelRefused, ModelUnavailable, UsageError, VenueUnavailable
from predibot.games.dollar_per_event.form import SCHEMA
from tests.agents.clients import PING
from tests.agents.scripted import (
    FENCE,
    GOOD,
    RESEARCHED,
    TWO_SEARCHES,
    ScriptedModel,
    Turn,
    answer,
    context,
    reply,
    research,
    said,
    toolbox,
)
from tests.tools.told import Steps

BAD: Turn = ("final_answer", answer(said(estimated_probability="60%")))


def run(
    model: ScriptedModel,
    looked: Research | None = None,
    *,
    seen: Context | None = None,
    steps: int = 12,
    seconds: float = 600.0,
    clock: Callable[[], float] = lambda: 0.0,
) -> LoopResult:
    where = seen or context()
    done = looked or research()
    prompt = decide_prompt(where, FENCE, where.form(), min_searches=done.min_searches, min_pages=done.min_pages)
    limits = LoopLimits(max_steps=steps, deadline_seconds=seconds)
    return run_agent(model, prompt, done, where.form(), where, limits, clock=clock)


def no_research() -> Research:
    return research(searches=0, pages=0)


def noting(asked: list[str]) -> Callable[[str], str]:
    """Return a search that writes down what it was asked."""

    def search(query: str) -> str:
        asked.append(query)
        return f"about {query}"

    return search


# ---------------------------------------------------------------- research


def test_a_researched_answer_is_taken_exactly() -> None:
    model = ScriptedModel([*RESEARCHED, GOOD])
    result = run(model)
    assert result.decision is not None
    assert result.decision.forecasts[0].probability == 0.6
    assert result.notes == ()
    assert len(model.requests) == 5


def test_an_answer_before_the_research_is_sent_back_and_is_no_repair() -> None:
    model = ScriptedModel([GOOD, GOOD, RESEARCHED[0], GOOD, GOOD, *RESEARCHED[1:], GOOD])
    result = run(model)
    assert (result.decision is not None, result.notes) == (True, ())
    assert "not yet: search 2 more times" in model.requests[1].messages[-1].text


BLIND: tuple[str, object] = ("web_search", {"query": None})
WRONG: Turn = ("final_answer", {"x": 1})
UNCALLED = Tool(replace(PING, name="mine"), lambda *_: ToolError("mine was not called: no word", was_called=False))


@pytest.mark.parametrize(
    "turn",
    [
        WRONG,
        BLIND,
        [BLIND, ("visit_webpage", {"url": 5})],
        ("visit_webpage", {"url": "u", "part": 0}),
        ("update_belief", {"probabilities": [], "evidence_for": "wet"}),
        ("mine", {}),
    ],
)
def test_turns_whose_calls_are_all_refused_are_unusable_until_one_is_made(turn: Turn) -> None:
    looked = replace(research(), more={"mine": UNCALLED})
    model = ScriptedModel([turn])
    result = run(model, looked)
    assert (result.decision, result.kind, len(model.requests)) == (None, "answer", 3)
    assert result.reason.startswith("nothing could be made of 3 turns in a row; of the last: ")
    made: list[Turn] = [[BLIND, ("web_search", {"query": "rain"})], ("visit_webpage", {"url": "u"})]
    model = ScriptedModel([turn, "text", made[0], turn, "text", made[1], BLIND, "text", WRONG])
    assert run(model, replace(research(), more={"mine": UNCALLED})).decision is None
    assert len(model.requests) == 9


@pytest.mark.parametrize("steps", [3, 12])
def test_a_model_that_insists_on_its_answer_is_taken_at_the_fourth_or_last_time_and_marked(steps: int) -> None:
    model = ScriptedModel([GOOD])
    result = run(model, steps=steps)
    assert result.decision is not None
    assert result.notes == ("under_researched",)
    assert len(model.requests) == min(steps, 4)


def test_a_decision_is_taken_without_research_where_none_can_be_had() -> None:
    broken = research(toolbox(lambda _query: ToolError("no results"), lambda *_: ToolError("timed out")))
    failing: list[Turn] = [[("web_search", {"query": f"rain {n}"}), ("visit_webpage", {"url": f"u{n}"})] for n in "abc"]
    model = ScriptedModel([*failing, GOOD])
    result = run(model, broken)
    assert result.decision is not None
    assert result.notes == ("under_researched", "without search")
    assert len(model.requests) == 4
    # That nothing was found is an answer.
    found_none = research(toolbox(lambda _query: "no results", lambda *_: ToolError("timed out")))
    assert run(ScriptedModel([*failing, GOOD]), found_none).notes == ("under_researched",)


def test_without_tools_nothing_but_the_answer_is_offered() -> None:
    model = ScriptedModel([GOOD])
    assert run(model, research(Toolbox())).notes == ("under_researched",)
    assert [tool.name for tool in model.requests[0].tools] == ["final_answer"]


# ---------------------------------------------------------------- repairs


@pytest.mark.parametrize(
    "arguments",
    ['{"market_decisions": [{"mark', "", "null", "[]", '"text"', "{} {}", '{"a": NaN}', "[" * 9000, "x" * 200_000,
     json.dumps(answer())[:-1] + ', "unallocated_capital": 0.5}'],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_arguments_that_are_no_json_object_are_not_repaired_but_counted(arguments: str) -> None:
    model = ScriptedModel([("final_answer", arguments)])
    result = run(model, no_research())
    assert result.decision is None
    assert len(model.requests) == 3
    assert "final_answer was not called" in model.requests[1].messages[-1].text
    assert len(model.requests[1].messages[-1].text) < 700


def test_only_readable_calls_are_ever_sent_back_to_a_provider() -> None:
    model = ScriptedModel([("final_answer", "{"), ("no such tool!", "{"), [("final_answer", answer())] * 2, GOOD])
    run(model, no_research())
    for message in model.requests[-1].messages:
        assert all(isinstance(json.loads(call.arguments_json), dict) for call in message.tool_calls)
        assert not message.tool_calls


# ---------------------------------------------------------------- abstaining


def test_a_model_that_can_say_nothing_abstains_with_its_reason() -> None:
    trace = Steps()
    model = ScriptedModel([*RESEARCHED, ("final_answer", {"abstain": "no source names\na date"})])
    result = run(model, seen=context(trace=trace))
    assert (result.decision, result.reason) == (None, "the model abstained: no source names a date")
    assert trace.steps[-1] == AbstainedStep("no source names a date")
    assert "abstain" in SCHEMA.parameters["properties"]  # type: ignore[operator]
    # It does not before it looked anything up.
    model = ScriptedModel([("final_answer", {"abstain": "too hard"}), *RESEARCHED, GOOD])
    assert run(model).decision is not None
    assert "not yet: search 2 more times" in model.requests[1].messages[-1].text


def test_an_answer_that_is_wrong_and_too_early_hears_both() -> None:
    wrong: Turn = ("final_answer", answer(said(market_id="no such market")))
    result = run(ScriptedModel([wrong]))
    assert (result.decision, result.kind) == (None, "answer")
    assert "no such market" in result.reason and "And not yet: search 2 more times" in result.reason
    model = ScriptedModel([wrong, *RESEARCHED, GOOD])
    assert run(model).decision is not None
    # The model's own words come back as a quotation only.
    complaint = model.requests[1].messages[-1]
    assert (complaint.role, FENCE.inline("'no such market'", 20) in complaint.text) == ("tool", True)


# ---------------------------------------------------------------- what is no decision


@pytest.mark.parametrize(
    "text",
    ["I think 60 percent.", "", f"{json.dumps(answer())} {json.dumps(answer())}",
     f"Action:\n{json.dumps({'name': 'final_answer', 'arguments': answer()})}"],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_free_text_is_never_a_decision(text: str) -> None:
    model = ScriptedModel([text])
    result = run(model, no_research(), steps=12)
    assert (result.decision, result.kind) == (None, "answer")
    complaint = "Text alone is not read." if text else "Your reply was empty."
    assert result.reason.startswith(f"nothing could be made of 3 turns in a row; of the last: {complaint}")
    assert len(model.requests) == 3
    assert complaint in model.requests[1].messages[-1].text


def test_several_calls_in_words_are_told_apart_from_text_and_what_a_turn_thought_goes_back() -> None:
    call = f"<tool_call>{json.dumps({'name': 'web_search', 'arguments': {'query': 'rain'}})}</tool_call>"
    thought = '[{"model": "scripted", "reasoning_content": "hm"}]'
    two = reply(f"{call}\n{call}")
    model = ScriptedModel([replace(two, message=replace(two.message, state_json=thought)), GOOD])
    assert run(model, no_research()).decision is not None
    assert "You wrote several calls as text, and none was made" in model.told()
    assert [each.state_json for each in model.requests[1].messages if each.role == "assistant"] == [thought]


def test_a_call_and_an_answer_in_words_are_taken() -> None:
    call = json.dumps({"name": "final_answer", "arguments": answer()})
    for text in (
        f"<think>so</think><tool_call>{call}</tool_call>",
        f"My answer:\n```json\n{json.dumps(answer())}\n```\nTell me if you need more.",
    ):
        model = ScriptedModel([text])
        assert run(model, no_research()).decision is not None
        assert len(model.requests) == 1
    model = ScriptedModel([json.dumps(answer()), *RESEARCHED, json.dumps(answer())])
    assert run(model).decision is not None
    assert "not yet: search 2 more times" in model.requests[1].messages[-1].text


def test_the_last_step_takes_the_answer_only_and_one_is_enough_for_it() -> None:
    model = ScriptedModel([("web_search", {"query": "rain"})])
    assert run(model, steps=3).decision is None
    forced = [request.forced_tool for request in model.requests]
    assert forced == [None, None, *["final_answer"] * 3]
    assert [tool.name for tool in model.requests[2].tools] == ["final_answer"]
    assert "this is the last of 3 steps" in model.requests[2].messages[-1].text
    assert run(ScriptedModel([GOOD]), steps=1).decision is not None


SEARCHED: tuple[str, object] = ("web_search", {"query": "rain"})


@pytest.mark.parametrize(
    ("turn", "complaint"),
    [
        ([GOOD, SEARCHED], "Call final_answer alone"),
        ([GOOD, GOOD], "Call final_answer alone"),
        ([SEARCHED] * (MAX_CALLS_A_TURN + 1), "make at most 8"),
        *(
            ((name, {}), "call one of web_search, visit_webpage, update_belief, final_answer")
            for name in ("nosuch", "", "python_interpreter", "Final_Answer", "x\x1b[2J")
        ),
    ],
)
def test_a_turn_with_a_call_that_may_not_be_makes_none_and_is_told_why(turn: Turn, complaint: str) -> None:
    looked = no_research()
    model = ScriptedModel([turn, GOOD])
    assert run(model, looked).decision is not None
    assert (len(model.requests), looked.queries) == (2, set())
    told = "".join(message.text for message in model.requests[1].messages[1:])
    assert complaint in told and "\x1b" not in told


# ---------------------------------------------------------------- several calls


def test_several_calls_in_one_turn_are_made_in_their_order_and_each_is_answered() -> None:
    order: list[str] = []
    looked = research(toolbox(noting(order)), searches=2, pages=0)
    model = ScriptedModel([[("web_search", {"query": f"rain {n}"}) for n in range(5)], GOOD])
    assert run(model, looked).decision is not None
    assert order == [f"rain {n}" for n in range(5)]
    tools = [message for message in model.requests[1].messages if message.role == "tool"]
    assert [f"about rain {n}" in message.text for n, message in enumerate(tools)] == [True] * 5
    calls = [call.id for message in model.requests[1].messages for call in message.tool_calls]
    assert [message.tool_call_id for message in tools] == calls


def test_calls_with_the_same_id_or_none_are_told_apart() -> None:
    calls = [
        ToolCall(same, "web_search", json.dumps({"query": f"rain {same}{n}"}))
        for n, same in enumerate(["", "", "x", "x"])
    ]
    looked = research(searches=4, pages=0)
    model = ScriptedModel([reply(calls=calls), GOOD])
    assert run(model, looked).decision is not None
    ids = [call.id for message in model.requests[1].messages for call in message.tool_calls]
    assert len(set(ids)) == 4
    assert "x" in ids


# ---------------------------------------------------------------- budget and time


def test_a_spent_budget_leads_to_a_forced_answer_for_which_little_is_sent() -> None:
    def has_room_for_one(request: ChatRequest) -> None:
        # And for short calls after it.
        if model.requests and request.max_output_tokens > 1000:
            raise BudgetSpent("the decision's limit of $0.10 would be passed")

    looked = research(toolbox(page=lambda *_: "rain " * 5_000))
    model = ScriptedModel([("visit_webpage", {"url": "http://a.example"}), GOOD], before=has_room_for_one)
    result = run(model, looked)
    assert (result.decision is not None, result.notes) == (True, ("under_researched",))
    last = model.requests[1]
    assert (last.forced_tool, last.tools) == ("final_answer", (SCHEMA,))
    assert "limit of $0.10 would be passed" in model.told()
    assert max(len(message.text) for message in last.messages[2:]) < 1_000
    assert "- rain rain" in last.messages[-2].text


def test_a_search_that_no_budget_is_left_for_leads_to_the_answer() -> None:
    def spent(_query: str) -> str:
        raise BudgetSpent("the decision's limit of 3 searches would be passed")

    model = ScriptedModel([[("web_search", {"query": "a"}), ("web_search", {"query": "b"})], GOOD])
    assert run(model, research(toolbox(spent))).notes == ("under_researched",)
    assert model.requests[1].forced_tool == "final_answer"
    assert "only final_answer is taken now" in model.requests[1].messages[-2].text


def run_within(limits: Limits, model: ScriptedModel, *, above: Budget | None = None) -> LoopResult:
    """Run with a real budget of the decision, inside another one where there is one."""
    budget = Budget.of("decision", limits) if above is None else above.inside("decision", limits)
    seen = context(meter=budget)
    prompt = decide_prompt(seen, FENCE, seen.form(), min_searches=2, min_pages=2)
    metered = MeteredModel(model, budget, None)
    return run_agent(metered, prompt, research(), seen.form(), seen, LoopLimits())


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_the_last_step_a_budget_has_is_kept_for_the_answer_and_the_latest_page_stays_whole(steps: int) -> None:
    pages: list[Turn] = [("visit_webpage", {"url": f"http://a.example/{n}"}) for n in range(1, steps)]
    model = ScriptedModel([*pages, GOOD])
    result = run_within(Limits(steps=steps), model)
    assert (result.decision is not None, result.notes) == (True, ("under_researched",))
    assert [request.forced_tool for request in model.requests] == [*[None] * (steps - 1), "final_answer"]
    assert model.requests[-1].tools == (SCHEMA,)
    assert f"limit of {steps} steps is reached" in model.told()
    assert steps == 1 or f"page http://a.example/{steps - 1} part 1" in model.requests[-1].messages[-2].text


def test_a_kept_step_that_brings_no_answer_is_an_abstention() -> None:
    result = run_within(Limits(steps=2), ScriptedModel([("web_search", {"query": "rain"}), BAD]))
    assert result.decision is None
    assert "limit of 2 steps is reached" in result.reason
    assert "; nothing was handed in; the last complaint: " in result.reason
    assert result.kind == "budget"
    # Without any step nobody is asked.
    model = ScriptedModel([GOOD])
    result = run_within(Limits(steps=0), model)
    assert (result.decision, model.requests, result.kind) == (None, [], "budget")
    assert result.reason.endswith("; nothing was handed in")


def two_within(run_budget: Budget, first: list[Turn], second: list[Turn]) -> list[LoopResult]:
    """Run an agent within a budget, and another one while the first one's model is asked."""
    results: list[LoopResult] = []

    def meanwhile(_request: ChatRequest) -> None:
        if not results:
            results.append(LoopResult(None))
            results[0] = run_within(Limits(), ScriptedModel(second), above=run_budget)

    return [run_within(Limits(), ScriptedModel(first, before=meanwhile), above=run_budget), *results]


def test_agents_that_share_a_limit_in_steps_each_keep_one_for_the_answer() -> None:
    run_budget = Budget.of("run", Limits(steps=5))
    # Five steps less the first one's call, and one kept by each, are two searches for the second.
    results = two_within(run_budget, [TWO_SEARCHES[0], GOOD], [*TWO_SEARCHES, GOOD])
    assert [result.decision is None for result in results] == [False, False]
    assert run_budget.spent().steps == 5


def test_what_was_kept_is_given_back_and_agents_that_wait_at_once_share_a_limit_in_seconds() -> None:
    run_budget = Budget.of("run", Limits(seconds=50.0, steps=50))
    results = two_within(run_budget, [*RESEARCHED, GOOD], [*RESEARCHED, GOOD])
    assert [(result.notes, result.decision is None) for result in results] == [((), False)] * 2
    assert run_budget.spent().steps == 10


def test_near_the_end_of_the_budgets_seconds_only_the_answer_is_taken() -> None:
    search = reply(calls=[ToolCall("", "web_search", json.dumps({"query": "rain"}))], finish="tool_calls")
    model = ScriptedModel([replace(search, seconds=9.0)])
    run_within(Limits(seconds=50.0), model)
    forced = [request.forced_tool for request in model.requests]
    # 50 - 5 * 9 = 5 seconds are left after five calls, which is less than 0.15 * 50.
    assert forced[:6] == [*[None] * 5, "final_answer"]
    assert "the 50 seconds of the budget are nearly over" in model.requests[5].messages[-1].text


def ticking(step_seconds: float) -> Callable[[], float]:
    instants: Iterator[float] = (tick * step_seconds for tick in range(10_000))
    return lambda: next(instants)


def test_no_model_is_asked_after_the_deadline() -> None:
    model = ScriptedModel([("web_search", {"query": "rain"})])
    result = run(model, seconds=100.0, clock=ticking(5.0), steps=99)
    assert (result.reason, result.kind) == ("no answer within 100 seconds", "answer")
    assert all(0 < deadline <= 100 for deadline in model.deadlines)
    assert model.deadlines == sorted(model.deadlines, reverse=True)


def test_near_the_deadline_only_the_answer_is_taken() -> None:
    model = ScriptedModel([("web_search", {"query": "rain"})])
    run(model, seconds=100.0, clock=ticking(1.0), steps=99)
    assert [request.forced_tool for request in model.requests].count("final_answer") >= 2
    assert "the 100 seconds are nearly over" in model.told()
    assert model.deadlines[0] > 15 > model.deadlines[-1]


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "error", [VenueUnavailable("no\nanswer"), UsageError("no"), TimeoutError(), ConnectionError("x" * 999)]
)
def test_known_errors_of_a_tool_become_one_sentence_for_the_model(error: Exception) -> None:
    def failing(_query: str) -> str:
        raise error

    model = ScriptedModel([("web_search", {"query": "rain"}), GOOD])
    assert run(model, research(toolbox(failing), searches=0, pages=0)).decision is not None
    told = model.requests[1].messages[-1]
    assert told.role == "tool"
    assert told.text.startswith("error: ")
    assert "\n" not in told.text
    assert len(told.text) < 350


@pytest.mark.parametrize(
    "error", [KeyError("a bug"), KeyboardInterrupt(), ClaimLost("somebody else"), ModelUnavailable("down")]
)
@pytest.mark.parametrize("together", [False, True])
def test_any_other_error_of_a_tool_ends_the_decision_and_is_written_down(error: BaseException, together: bool) -> None:
    def failing(_query: str) -> str:
        raise error

    calls: list[tuple[str, object]] = [("web_search", {"query": "rain"})]
    model = ScriptedModel([[*calls, ("update_belief", {})] if together else calls, GOOD])
    trace = Steps()
    with pytest.raises(type(error)) as caught:
        run(model, research(toolbox(failing), searches=0, pages=0), seen=context(trace=trace))
    assert caught.value is error
    assert len(model.requests) == 1
    (step,) = trace.steps
    assert isinstance(step, ToolStep)
    assert (step.name, step.outcome, step.said) == ("web_search", "error", "it was broken off")


# ---------------------------------------------------------------- smolagents' traps


@pytest.mark.parametrize("word", ["call_id", "image.png", "task", "final_answer", "call_1_0"])
def test_no_argument_is_replaced_by_what_smolagents_remembers(word: str) -> None:
    asked: list[str] = []
    looked = research(toolbox(noting(asked)), searches=0, pages=0)
    run(ScriptedModel([("web_search", {"query": word}), GOOD]), looked)
    assert asked == [word]


def test_what_smolagents_makes_of_its_memory_and_asks_for_unasked_is_never_sent() -> None:
    model = ScriptedModel([("nosuch", {}), "text", *RESEARCHED, BAD, GOOD])
    assert run(model).decision is not None
    texts = [message.text for request in model.requests for message in request.messages]
    assert not [text for text in texts if "Calling tools:" in text or "Observation:" in text or "New task:" in text]
    assert {request.forced_tool for request in model.requests} == {None}


def test_decisions_that_run_at_once_do_not_mix() -> None:
    def decide(number: int) -> tuple[str, float]:
        looked = research(toolbox(lambda query: f"{query} for {number}"), searches=1, pages=0)
        model = ScriptedModel(
            [("web_search", {"query": f"rain {number}"}), ("final_answer", answer(said(confidence=number % 10)))]
        )
        result = run(model, looked)
        assert result.decision is not None
        return model.told(), result.decision.forecasts[0].confidence or 0.0

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(decide, range(24)))
    assert all(f"rain {n} for {n}" in text and confidence == n % 10 for n, (text, confidence) in enumerate(results))


def test_every_call_and_every_refused_turn_is_on_the_trace() -> None:
    trace = Steps()
    run(ScriptedModel([("web_search", {"query": "rain"}), "text", BAD, GOOD]), no_research(), seen=context(trace=trace))
    assert [step.kind for step in trace.steps] == ["tool", "refused_turn", "tool", "tool"]
    called = [step for step in trace.steps if isinstance(step, ToolStep)]
    assert [step.name for step in called] == ["web_search", "final_answer", "final_answer"]
    assert called[-1].result == "taken"


# ---------------------------------------------------------------- what is sent


def ten_visits() -> ScriptedModel:
    """Return a model that reads ten pages, rewrites its belief after each, and decides."""
    turns: list[Turn] = [*TWO_SEARCHES]
    for number in range(10):
        belief = {
            "probabilities": [{"market_id": "m1", "probability": number / 10}],
            "evidence_for": f"fact {number - 1}: wet, as http://a.example/{number - 1} says",
            "evidence_against": "dry of late " * 20,
            "open_questions": "what the next page says",
        }
        visit: tuple[str, object] = ("visit_webpage", {"url": f"http://a.example/{number}"})
        turns.append([("update_belief", belief), visit] if number else visit)
    return ScriptedModel([*turns, GOOD])


def with_long_pages() -> Research:
    # About 2,500 tokens of 5,000 a part.
    part = " ".join(f"word{n % 700} and rain" for n in range(625))
    results = "\n".join(f"{n}. Rain\n   url: http://a.example/{n}\n   {'snippet ' * 25}" for n in range(8))
    return research(toolbox(lambda _query: results, lambda url, part_no, _focus: f"{url} {part_no} {part}"))


def request_text(request: ChatRequest) -> str:
    tools = "".join(json.dumps([tool.name, tool.description, dict(tool.parameters)]) for tool in request.tools)
    calls = "".join(call.name + call.arguments_json for message in request.messages for call in message.tool_calls)
    return tools + calls + "".join(message.text for message in request.messages)


def test_ten_visits_of_long_pages_send_less_than_60_000_tokens_and_keep_the_evidence() -> None:
    model = ten_visits()
    result = run(model, with_long_pages(), steps=14)
    assert result.decision is not None
    assert sum(len(request_text(request)) for request in model.requests) / 4 < 60_000
    last = model.requests[-1].messages[-1].text
    assert "belief: m1 0.9\nevidence for: fact 8: wet" in last and "fact 7" not in last
    assert all(f"(no date, http://a.example/{number})" in last for number in range(10))
    # It is no answer: what is played was handed in.
    assert result.decision.forecasts[0].probability == 0.6


@pytest.mark.parametrize(
    "words",
    [
        "maximum context length is 8192 tokens, you requested 9000",
        "InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]",
        "Invalid request: Your request exceeded model token limit: 8192",
        "Input token length too long (8192)",
        "This model's maximum prompt length is 8192 but the request contains 9000 tokens.",
        "input length and `max_tokens` exceed context limit: 7000 + 2133 > 8192, decrease input length",
        "prompt is too long: 9000 tokens > 8192 maximum",
        "Your input exceeds the context window of this model (8192).",
        "Input is too long for requested model (8192).",
        "Prompt exceeds max length (8192)",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    ],
)
def test_a_conversation_that_is_too_long_is_sent_short_then_for_the_answer_only_then_fails_with_the_number(
    words: str,
) -> None:
    model = ScriptedModel([*RESEARCHED, ModelRefused(words), GOOD])
    assert run(model).decision is not None
    assert len(str(model.requests[-1].messages)) < len(str(model.requests[-2].messages))
    model = ScriptedModel([TWO_SEARCHES[0], ModelRefused(words)])
    with pytest.raises(ModelRefused, match="8192"):
        run(model)
    assert [len(request.tools) for request in model.requests] == [4, 4, 4, 1]
