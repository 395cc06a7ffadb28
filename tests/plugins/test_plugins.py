"""Plug-ins: how they are found, described, made, and what is said when they cannot be."""

import hashlib
import os
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from predibot.contracts import Context, ModelNeed, Needs
from predibot.domain.decision import Decision
from predibot.domain.event import EventView
from predibot.errors import PluginError
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.plugins.arguments import ArgumentInfo
from predibot.plugins.strategies import (
    StrategySpec,
    describe_strategy,
    forget_strategies,
    list_strategies,
    load_strategy,
    spec_of,
    strategy_names,
)
from tests.decisions import book
from tests.plugins.conftest import Install, Plugins
from tests.selection.worlds import NOW, event, market, quoted

REPOSITORY = Path(__file__).resolve().parents[2]
THINKER = '''"""A strategy of the tests."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field


@dataclass(frozen=True, slots=True)
class DeepThinker:
    """Think for long.

    And then say something.
    """

    model: str
    """Which model, by name."""
    steps: Annotated[int, Field(ge=1)] = 3
    mood: Literal["calm", "bold"] = "calm"
    """How it feels,
    on two lines."""
    share: float = 0.5
    tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.model == "none":
            raise ValueError("there is no model 'none'")

    def decide(self, context):
        return None
'''


def test_the_baselines_are_found_and_take_what_they_say() -> None:
    assert set(strategy_names()) >= {"always_half", "favourite", "market_price", "random_bet", "underdog"}
    assert not [info.problem for info in list_strategies() if info.problem]
    (stake,) = next(info.arguments for info in list_strategies() if info.name == "market_price")
    assert (stake.name, stake.type, stake.default) == ("stake", "one of equal, top_volume", '"equal"')


def test_a_strategy_is_described_by_its_docstring_and_the_strings_after_its_fields(plugins: Plugins) -> None:
    plugins.write("deep_thinker", THINKER)
    (info,) = list_strategies()
    assert (info.name, info.summary, info.origin) == ("deep_thinker", "Think for long.", "predibot")
    assert info.arguments[0] == ArgumentInfo("model", "text", None, "Which model, by name.")
    assert info.arguments[2].doc == "How it feels, on two lines."


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ("float", "number"),
        ("bool", "true or false"),
        ("tuple[int, ...]", "list, each whole number"),
        ("str | None", "text or nothing"),
        ("Annotated[int, Field(ge=1, le=100)]", "whole number from 1 to 100"),
        ("Annotated[float, Field(gt=0, le=2.5)]", "number above 0, at most 2.5"),
        ("Annotated[float, Field(lt=1)]", "number below 1"),
        ("Literal[1, 2]", "one of 1, 2"),
    ],
)
def test_what_an_argument_takes_is_said_in_words(hint: str, words: str, plugins: Plugins) -> None:
    plugins.write("deep_thinker", THINKER.replace("model: str", f"model: {hint}"))
    (info,) = list_strategies()
    assert (info.arguments[0].type, info.problem) == (words, "")


def test_a_strategy_is_made_from_its_name_and_arguments_and_no_other_is_imported_for_it(plugins: Plugins) -> None:
    plugins.write("deep_thinker", THINKER)
    plugins.write("careless", "raise SystemExit('imported')")
    plugins.write("_shared", "")
    spec = spec_of("deep_thinker", {"model": "m", "share": 1, "tools": ["a", "b"]})
    assert spec.arguments == {"model": "m", "share": 1, "tools": ("a", "b")}
    assert spec.source_sha256 == hashlib.sha256(THINKER.encode()).hexdigest()
    made = load_strategy(spec)
    assert str(made) == "DeepThinker(model='m', steps=3, mood='calm', share=1.0, tools=('a', 'b'))"
    # A leading underscore hides what is shared.
    assert strategy_names() == ("careless", "deep_thinker")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "m", "moood": 1}, "unknown argument 'moood'. Did you mean 'mood'?"),
        ({}, "argument 'model' is missing"),
        ({"model": 3}, "argument 'model': it should be a valid string"),
        ({"model": "m", "steps": "3"}, "argument 'steps': it should be a valid integer"),
        ({"model": "m", "steps": True}, "argument 'steps': it should be a valid integer"),
        ({"model": "m", "steps": 0}, "argument 'steps': it should be greater than or equal to 1"),
        ({"model": "m", "mood": "bald"}, "it should be 'calm' or 'bold'. Did you mean 'bold'?"),
        ({"model": "m", "mood": {"a": 1}}, "argument 'mood': it is text, a finite number, true or false, or a list"),
        ({"model": "m", "share": float("inf")}, "argument 'share': it is text, a finite number"),
        ({"model": "none"}, "refuses its arguments: there is no model 'none'"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_should_be(
    plugins: Plugins, arguments: dict[str, object], message: str
) -> None:
    plugins.write("deep_thinker", THINKER)
    with pytest.raises(PluginError) as caught:
        spec_of("deep_thinker", arguments)
    assert message in str(caught.value)
    assert "deep_thinker" in str(caught.value)


def test_an_unknown_strategy_is_met_with_the_nearest_name() -> None:
    with pytest.raises(PluginError, match=r"no strategy 'market_prise'\. Did you mean 'market_price'\?"):
        spec_of("market_prise")
    with pytest.raises(PluginError, match="no strategy '_path'"):
        load_strategy(StrategySpec("_path"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module", "broken.py does not load: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(:", "broken.py does not load: SyntaxError"),
        ("1 / 0", "broken.py does not load: ZeroDivisionError: division by zero"),
        ("raise type('Odd', (BaseException,), {})('x')", "broken.py does not load: Odd: x"),
        ("raise SystemExit(3)", "broken.py does not load: SystemExit: 3"),
        ("raise type('E', (Exception,), {})", "broken.py does not load: E"),
        ("x = 1", "broken.py has no class Broken"),
        ("class Broken:\n    pass", "broken.py: Broken is no frozen dataclass"),
        ("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Broken:\n    a: int = 1", "cannot decide"),
    ],
)
def test_a_broken_strategy_says_its_file_and_the_reason_and_hides_no_other(
    plugins: Plugins, source: str, message: str
) -> None:
    plugins.write("broken", source)
    plugins.write("deep_thinker", THINKER)
    with pytest.raises(PluginError) as caught:
        spec_of("broken")
    assert message in str(caught.value)
    broken, whole = list_strategies()
    assert message in broken.problem
    assert not whole.problem


NEEDY = '''"""A strategy that declares what it needs."""

from dataclasses import dataclass
from typing import ClassVar

from predibot.contracts import ModelNeed, Needs


@dataclass(frozen=True, slots=True)
class Needy:
    judge: str = "acme/judge"
    {needs}

    def decide(self, context):
        return None
'''
BY_PROPERTY = "@property\n    def needs(self):\n        "


@pytest.mark.parametrize(
    "needs",
    [
        BY_PROPERTY + "return Needs(models=(self.judge,), tools=['web_search'])",
        BY_PROPERTY + "return Needs(models=[ModelNeed(self.judge)], tools=('web_search',))",
        "needs = Needs(models=('acme/judge',), tools=('web_search',))",
        "needs: ClassVar[Needs] = Needs(('acme/judge',), ('web_search',))",
    ],
)
def test_a_strategy_declares_its_needs_by_an_attribute_or_a_property(plugins: Plugins, needs: str) -> None:
    plugins.write("needy", NEEDY.replace("{needs}", needs))
    expected = Needs(models=(ModelNeed("acme/judge"),), tools=("web_search",))
    assert spec_of("needy").needs == expected
    assert pickle.loads(pickle.dumps(expected)) == expected
    plugins.write("needless", NEEDY.replace("{needs}", "").replace("Needy", "Needless"))
    assert spec_of("needless").needs == Needs()


@pytest.mark.parametrize(
    ("games", "plays"),
    [
        ("", {"dollar_per_event"}),
        ("games = ('toy', 'other')", {"toy", "other"}),
        ("games = ('*',)", {"dollar_per_event", "toy", "other"}),
        (BY_PROPERTY.replace("needs", "games") + "return ('toy',)", {"toy"}),
    ],
)
def test_a_strategy_plays_the_games_it_declares_and_no_other(plugins: Plugins, games: str, plays: set[str]) -> None:
    plugins.write("needy", NEEDY.replace("{needs}", games))
    spec = spec_of("needy")
    for game in ("dollar_per_event", "toy", "other"):
        if game in plays:
            assert spec.playing(game) == spec
        else:
            with pytest.raises(PluginError, match=f"strategy 'needy' plays .*, and not game '{game}'"):
                spec.playing(game)


@pytest.mark.parametrize("games", ["games = 'toy'", "games = ()", "games = (1,)"])
def test_games_that_are_no_names_are_refused(plugins: Plugins, games: str) -> None:
    plugins.write("needy", NEEDY.replace("{needs}", games))
    with pytest.raises(PluginError, match=r"games is no tuple of names; write games = \('dollar_per_event',\)"):
        spec_of("needy")
    assert describe_strategy("needy").games == ()


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ("needs: Needs = Needs()", "needy.py: a recipe could set the field needs; leave out its type"),
        ("def needs(self):\n        return Needs()", "needs is a method; make it a property that returns Needs(...)"),
        ("needs = ('acme/judge',)", "needs is a tuple; make it a property that returns Needs(...)"),
        (BY_PROPERTY + "return Needs(models=(self.jugde,))", "cannot say what it needs: AttributeError"),
        (BY_PROPERTY + "return Needs(models='acme')", "models is a tuple of names, with a comma after a single one"),
        (BY_PROPERTY + "return Needs(models=('',))", "a model is declared by its name"),
        (BY_PROPERTY + "return Needs(models=(ModelNeed('m', calls=0),))", "calls of model 'm' is 0"),
        (BY_PROPERTY + "return Needs(models=(ModelNeed('m', output_tokens=2.5),))", "output_tokens of model 'm' is"),
    ],
)
def test_needs_that_are_none_are_refused_when_the_recipe_is_read(plugins: Plugins, needs: str, message: str) -> None:
    plugins.write("needy", NEEDY.replace("{needs}", needs))
    with pytest.raises(PluginError) as caught:
        spec_of("needy")
    assert message in str(caught.value)


def test_a_type_no_recipe_can_give_is_said_to_be_one(plugins: Plugins) -> None:
    source = THINKER.replace("model: str", "model: 'threading.Lock'").replace(
        "import Field", "import Field\nimport threading"
    )
    plugins.write("deep_thinker", source)
    with pytest.raises(PluginError, match="no recipe can give"):
        spec_of("deep_thinker", {"model": "m"})


def test_a_fresh_process_reads_a_strategy_that_was_made_and_looks_first_in_a_folder_of_the_user(
    tmp_path: Path,
) -> None:
    (tmp_path / "deep_thinker.py").write_text(THINKER, encoding="utf-8")
    made = pickle.dumps(load_strategy(spec_of("market_price", {"stake": "top_volume"})))
    probe = (
        f"import pickle; print(pickle.loads({made!r}))\n"
        "from predibot.plugins.strategies import list_strategies, spec_of\n"
        "print([(s.name, s.origin) for s in list_strategies() if s.origin != 'predibot'])\n"
        "try: spec_of('x')\nexcept Exception as error: print(error)"
    )
    absent = tmp_path / "absent"
    env = {**os.environ, "PREDIBOT_STRATEGIES": f"{tmp_path}{os.pathsep}{absent}"}
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("MarketPrice(stake='top_volume')\n"), done.stderr
    assert "[('deep_thinker', 'PREDIBOT_STRATEGIES')]" in done.stdout, done.stderr
    assert f"PREDIBOT_STRATEGIES names what is no folder: {absent}" in done.stdout


KEEPER = '''"""A strategy that remembers how often it was asked."""

from dataclasses import dataclass

KEPT = []


@dataclass(frozen=True, slots=True)
class Keeper:
    """Count."""

    def decide(self, context):
        """Return how often it was asked."""
        KEPT.append(context)
        return len(KEPT)
'''


POINTS = "[predibot.strategies]\nkeeper = polling_for_tests:Keeper\n"


def test_an_installed_package_adds_a_strategy_by_an_entry_point(plugins: Plugins, installed: Install) -> None:
    installed(KEEPER, POINTS + "lost = polling_for_tests:nothing\nodd = polling_for_tests:KEPT\n")
    assert strategy_names() == ("keeper", "lost", "odd")
    spec = spec_of("keeper")
    assert spec.source_sha256 == hashlib.sha256(KEEPER.encode()).hexdigest()
    assert load_strategy(spec).decide(None) == 1  # type: ignore[arg-type,comparison-overlap]
    assert load_strategy(spec).decide(None) == 2  # type: ignore[arg-type,comparison-overlap]
    forget_strategies()
    assert load_strategy(spec).decide(None) == 1  # type: ignore[arg-type,comparison-overlap]
    infos = {info.name: info for info in list_strategies()}
    assert (infos["keeper"].summary, infos["keeper"].origin) == ("Count.", "an installed package")
    lost = "strategy 'lost' of package polling (polling_for_tests:nothing) does not load: AttributeError: "
    assert infos["lost"].problem.startswith(lost)
    assert infos["odd"].problem.startswith(
        "strategy 'odd' of package polling (polling_for_tests:KEPT) has no class Odd"
    )
    with pytest.raises(PluginError, match=r"no strategy 'keper'\. Did you mean 'keeper'\?"):
        spec_of("keper")


def test_no_package_takes_the_name_of_a_strategy_of_predibots_own(installed: Install) -> None:
    installed(KEEPER, "[predibot.strategies]\nmarket_price = polling_for_tests:Keeper\n")
    assert type(load_strategy(spec_of("market_price"))).__name__ == "MarketPrice"
    (problem,) = (info.problem for info in list_strategies() if info.problem)
    assert problem == "predibot has a strategy 'market_price', so that of package polling is never taken"


def test_two_packages_with_one_strategy_are_told_and_neither_is_taken(plugins: Plugins, installed: Install) -> None:
    installed(KEEPER, POINTS)
    # Also where both point to the same.
    installed("", POINTS, package="rival")
    with pytest.raises(PluginError, match="several packages have a strategy 'keeper': polling, rival"):
        spec_of("keeper")


def test_a_strategy_that_is_forgotten_is_imported_anew(plugins: Plugins) -> None:
    plugins.write("keeper", KEEPER)

    def decided() -> object:
        return load_strategy(StrategySpec("keeper")).decide(None)  # type: ignore[arg-type]

    assert [decided(), decided()] == [1, 2]
    forget_strategies()
    assert decided() == 1


@pytest.mark.parametrize("price_yes", [0.0004, 0.001, 0.4, 0.5, 0.9996])
def test_the_strategy_of_the_readme_keeps_the_rule_on_cheap_sides(plugins: Plugins, price_yes: float) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    plugins.write("contrarian", code)
    contrarian = load_strategy(StrategySpec("contrarian"))
    seen = event(markets=[market("m0", quote=quoted(price_yes))])
    answer = contrarian.decide(
        Context(now=NOW, view=EventView(seen, "test"), game=DollarPerEvent(), rng=random.Random(0))
    )
    assert isinstance(answer, Decision)
    booking = book(DollarPerEvent(), answer, seen, {"m0": quoted(price_yes)}, venue="test")
    assert (booking.bets[0].booked_usd == 0.0) is (not 0.001 <= price_yes <= 0.999)
