"""The models a decision opens, asked with the settings of the recipe."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.answer.result import LoopResult
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.contracts import AnswerForm, ChatModel, Context
from predibot.domain.chat import ChatReply
from predibot.domain.terms import ModelSettings
from predibot.errors import AnswerError, BudgetSpent, NoAnswer
from predibot.jobs.deciding.opened_models import AnswerRoom, DeclaredModels
from predibot.plugins.strategies import spec_of
from predibot.studies.stakebench.games.stakebench import Stakebench
from predibot.studies.stakebench.tasks import Item
from tests.agents.clients import HELLO, Scripted, reply_of
from tests.agents.scripted import context, research

STRATEGY = spec_of("one_shot", {"model": "x/y"})


def asked_with(settings: ModelSettings, *tokens: int) -> Scripted:
    """Return a model that was asked for so many tokens, one call after the other."""
    scripted = Scripted([reply_of()] * len(tokens))
    model = DeclaredModels(STRATEGY, lambda _name: scripted, settings)("x/y")
    for most in tokens:
        model.chat(replace(HELLO, max_output_tokens=most, temperature=0.7, seed=1), deadline_seconds=1.0)
    return scripted


def test_an_answer_says_how_long_it_could_be_where_the_recipe_says_it() -> None:
    for settings, most in ((ModelSettings(max_tokens=700), 700), (ModelSettings(top_p=0.5), None)):
        model = DeclaredModels(STRATEGY, lambda _name: Scripted([reply_of()]), settings)("x/y")
        assert model.chat(HELLO, deadline_seconds=1.0).most_tokens == most


def test_what_the_recipe_states_stands_above_what_the_strategy_says() -> None:
    ((request, _),) = asked_with(ModelSettings(temperature=0.0, top_p=0.5), 100).asked
    assert request == replace(HELLO, max_output_tokens=100, temperature=0.0, seed=1, top_p=0.5)


def test_a_strategy_that_asks_for_less_than_before_is_given_no_more_than_that() -> None:
    wide, narrow = (asked_with(ModelSettings(max_tokens=most), 4_096, 800, 4_096, 600) for most in (9_000, 700))
    assert [request.max_output_tokens for request, _ in wide.asked] == [9_000, 800, 9_000, 600]
    assert [request.max_output_tokens for request, _ in narrow.asked] == [700, 700, 700, 600]


def cut_off(output_tokens: int) -> ChatReply:
    """Return an answer that was cut off while the model thought."""
    reply = reply_of("", output_tokens=output_tokens)
    raw = {"completion_tokens_details": {"reasoning_tokens": output_tokens}}
    return replace(reply, finish_reason="length", usage=replace(reply.usage, raw=raw))


def asked_tokens(
    replies: list[ChatReply | Exception], settings: ModelSettings | None = None, room: AnswerRoom | None = None
) -> list[int]:
    """Return how long answers could be of a model that is asked until it has said these."""
    scripted = Scripted(list(replies))
    model = DeclaredModels(STRATEGY, lambda _: scripted, settings or ModelSettings(), lambda _: room or AnswerRoom())(
        "x/y"
    )
    while scripted.replies:
        try:
            model.chat(HELLO, deadline_seconds=1.0)
        except NoAnswer:
            break
    return [request.max_output_tokens for request, _ in scripted.asked]


def test_an_answer_that_was_cut_off_is_given_more_room() -> None:
    assert asked_tokens([cut_off(4_096), reply_of(), reply_of()]) == [4_096, 16_000, 16_000]
    assert asked_tokens([cut_off(4_096), cut_off(16_000), reply_of()]) == [4_096, 16_000, 32_000]


def test_a_model_that_thinks_has_room_from_the_first_call() -> None:
    room = AnswerRoom()
    assert asked_tokens([cut_off(4_096), reply_of()], room=room) == [4_096, 16_000]
    assert asked_tokens([reply_of()], room=room) == [16_000]
    assert asked_tokens([reply_of()], ModelSettings(reasoning_effort="low")) == [16_000]
    assert asked_tokens([reply_of()], ModelSettings(reasoning_effort="none")) == [4_096]


def test_what_a_bot_or_its_model_allows_is_never_passed() -> None:
    cuts: list[ChatReply | Exception] = [cut_off(1)] * 3
    assert asked_tokens(cuts, ModelSettings(max_tokens=5_000)) == [5_000] * 3
    assert asked_tokens(cuts, room=AnswerRoom(8_192, thinks=True)) == [8_192] * 3


def test_what_a_provider_lets_nobody_pass_is_known_from_its_answer() -> None:
    room = AnswerRoom()
    short = replace(cut_off(3_000), most_tokens=3_000)
    assert asked_tokens([short, short, reply_of()], room=room) == [4_096, 3_000, 3_000]
    scripted = Scripted([replace(short, most_tokens=None)] * 3)
    model = DeclaredModels(STRATEGY, lambda _: scripted, ModelSettings(), lambda _: room)("x/y")
    assert [model.chat(HELLO, deadline_seconds=1.0).more_room for _ in range(2)] == [False, False]
    with pytest.raises(NoAnswer, match="cut off at 3,000 tokens"):
        model.chat(HELLO, deadline_seconds=1.0)


def test_more_room_than_the_budget_has_is_not_taken_nor_as_little_as_was_cut_off() -> None:
    no = BudgetSpent("no")
    assert asked_tokens([no, reply_of()], room=AnswerRoom(thinks=True)) == [16_000, 4_096]
    assert asked_tokens([cut_off(4_096), no, reply_of()]) == [4_096, 16_000, 10_048]
    assert asked_tokens([cut_off(4_096), cut_off(16_000), no, reply_of()]) == [4_096, 16_000, 32_000, 24_000]
    with pytest.raises(BudgetSpent):
        asked_tokens([cut_off(1), cut_off(1), no, no])
    with pytest.raises(BudgetSpent):
        asked_tokens([cut_off(1), no], room=AnswerRoom(8_192, thinks=True))


def run_in_tools(model: ChatModel, prompt: str, form: AnswerForm, seen: Context) -> object:
    return run_agent(model, prompt, research(), form, seen, LoopLimits())


def labelled(replies: list[ChatReply | Exception]) -> LoopResult:
    model = DeclaredModels(STRATEGY, lambda _: Scripted(replies))("x/y")
    item = Item("G2", "c1", "polymarket/crypto", "m", "Will it rain?", ("I bought more.",))
    game = Stakebench()
    return run_one_shot(model, "prompt", game.form(item), replace(context(), game=game))


def test_a_game_without_repairs_gives_an_answer_that_is_cut_off_more_room_too() -> None:
    assert labelled([cut_off(4_096), cut_off(16_000), reply_of("YES")]).decision is not None
    with pytest.raises(AnswerError, match="cut off at 32,000 tokens"):
        labelled([cut_off(1)] * 9)


@pytest.mark.parametrize("run", [run_one_shot, run_in_tools])
def test_a_model_that_is_always_cut_off_costs_three_calls_and_fails(run: Callable[..., object]) -> None:
    scripted = Scripted([cut_off(1)] * 9)
    model = DeclaredModels(STRATEGY, lambda _: scripted)("x/y")
    with pytest.raises(NoAnswer, match="cut off at 32,000 tokens"):
        run(model, "prompt", context().form(), context())
    assert len(scripted.asked) == 3
    assert {len(request.messages) for request, _ in scripted.asked} <= {1, 2}, "the same is asked again"
