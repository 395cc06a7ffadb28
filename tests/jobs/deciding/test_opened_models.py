"""The models a decision opens, asked with the settings of the recipe."""

from dataclasses import replace

from predibot.domain.terms import ModelSettings
from predibot.jobs.deciding.opened_models import OpenedModels
from predibot.plugins.strategies import spec_of
from tests.agents.clients import HELLO, Scripted, reply_of

STRATEGY = spec_of("one_shot", {"model": "x/y"})


def asked_with(settings: ModelSettings, *tokens: int) -> Scripted:
    """Return a model that was asked for so many tokens, one call after the other."""
    scripted = Scripted([reply_of()] * len(tokens))
    model = OpenedModels(STRATEGY, lambda _name: scripted, settings)("x/y")
    for most in tokens:
        model.chat(replace(HELLO, max_output_tokens=most, temperature=0.7, seed=1), deadline_seconds=1.0)
    return scripted


def test_an_answer_says_how_long_it_could_be_where_the_recipe_says_it() -> None:
    for settings, most in ((ModelSettings(max_tokens=700), 700), (ModelSettings(top_p=0.5), None)):
        model = OpenedModels(STRATEGY, lambda _name: Scripted([reply_of()]), settings)("x/y")
        assert model.chat(HELLO, deadline_seconds=1.0).most_tokens == most


def test_what_the_recipe_states_stands_above_what_the_strategy_says() -> None:
    ((request, _),) = asked_with(ModelSettings(temperature=0.0, top_p=0.5), 100).asked
    assert request == replace(HELLO, max_output_tokens=100, temperature=0.0, seed=1, top_p=0.5)


def test_a_strategy_that_asks_for_less_than_before_is_given_no_more_than_that() -> None:
    wide, narrow = (asked_with(ModelSettings(max_tokens=most), 4_096, 800, 4_096, 600) for most in (9_000, 700))
    assert [request.max_output_tokens for request, _ in wide.asked] == [9_000, 800, 9_000, 600]
    assert [request.max_output_tokens for request, _ in narrow.asked] == [700, 700, 700, 600]
