"""Samples of a whole bot in a recipe: which bots a line with `samples` stands for."""

import pytest

from predibot.recipe.recipe import Recipe
from tests.recipe.texts import mistake, parse

AGENT = '[[bots]]\nname = "x"\nstrategy = "tool_agent"\nmodel = "sandbox/noisy"\ntemperature = 0.5\n'
OTHER = '[[bots]]\nstrategy = "market_price"\n'


def test_a_line_with_samples_is_a_bot_that_pools_bots_with_its_settings() -> None:
    recipe = parse(f"{AGENT}samples = 3\nseed = 7\n{OTHER}")
    pool, *samples = recipe.bots[:4]
    names = ("x.sample#1", "x.sample#2", "x.sample#3")
    assert (pool.name, tuple(each.name for each in samples), recipe.bots[4].name) == ("x", names, "market_price")
    assert (pool.members, pool.pools_samples, pool.strategy.name) == (names, True, "ensemble")
    assert (pool.strategy.arguments["pool"], pool.strategy.arguments["min_share"]) == ("log_odds", 0.5)
    assert samples[0].strategy == samples[2].strategy
    assert [each.terms.settings.seed for each in samples] == [7, 8, 9]
    assert {each.terms.settings.temperature for each in samples} == {0.5}
    assert not any(each.pools_samples for each in samples)
    # They are chosen together, and each once.
    for chosen in (["x"], ["x", "x.sample#2"]):
        assert sorted(each.name for each in recipe.with_overrides(bots=chosen).bots) == ["x", *names]
    assert [each.name for each in recipe.with_overrides(events=1).bots] == ["x", *names, "market_price"]
    again = Recipe.from_json(recipe.as_json())
    assert [each.strategy.arguments for each in again.bots] == [each.strategy.arguments for each in recipe.bots]


def test_how_they_are_pooled_is_said_beside_them_and_an_ensemble_keeps_its_own_keys() -> None:
    (pool, *_) = parse(f'{AGENT}samples = 2\npool = "trimmed_mean"\nmin_share = 1.0').bots
    assert (pool.strategy.arguments["pool"], pool.strategy.arguments["min_share"]) == ("trimmed_mean", 1.0)
    (own,) = parse('[[bots]]\nstrategy = "ensemble"\nmodel = "sandbox/noisy"\nsamples = 4\npool = "mean"').bots
    assert (own.members, own.strategy.arguments["samples"]) == ((), 4)


@pytest.mark.parametrize("game", ["stakebench", "beliefbench"])
def test_labels_are_sampled_too(game: str) -> None:
    bots = parse(f'game = "{game}"\n{AGENT.replace("tool_agent", "one_shot")}samples = 2').bots
    assert [each.name for each in bots] == ["x", "x.sample#1", "x.sample#2"] and bots[0].pools_samples


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{AGENT}samples = 1", "line 6: 'samples' in [[bots]] is"),
        (f"{AGENT}samples = 21", "line 6: 'samples' in [[bots]] is"),
        (f'{AGENT}samples = 2\npool = "vote"', "line 7: 'pool' in [[bots]] is"),
        (
            f'game = "stakebench"\n{AGENT.replace("tool_agent", "one_shot")}samples = 2\npool = "mean"',
            "line 8: game 'stakebench' pools samples by strategy 'label_vote', where 'pool' changes nothing",
        ),
        (f"{AGENT}samples = 2\nmin_share = 0", "line 7: 'min_share' in [[bots]] is"),
        (f'{AGENT}pool = "mean"', "'pool' in [[bots]] goes with samples; give both or none"),
        (f"{AGENT}samples = 2\nreplicates = 2", "'samples' and 'replicates' do not go together; take one of them out"),
        (f"{OTHER}samples = 2", "strategy 'market_price' asks no model, so its samples would be the same"),
        (f'{AGENT}samples = 2\n{OTHER}name = "x.sample"', "two bots are named 'x.sample'"),
        (AGENT.replace('"x"', f'"{"x" * 76}"') + "samples = 2", "is too long for samples"),
        (f'game = "weekly_cohort"\n{AGENT.replace("tool_agent", "one_shot")}samples = 2', "an account of its own"),
        (
            'game = "beliefbench"\n[[bots]]\nstrategy = "reasoning_judge"\nmodel = "x/y"\nof = "z"\nsamples = 2',
            "strategy 'reasoning_judge' reads what other bots said",
        ),
    ],
)
def test_what_cannot_be_sampled_or_pooled_is_refused(text: str, said: str) -> None:
    assert said in mistake(text)
