"""Venues by name: how they are written, what is said where they are not, and that nobody else knows their names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from predibot.config import load_settings
from predibot.errors import UsageError, VenueMissing
from predibot.plugins import registry
from predibot.plugins.venues import (
    VENUE,
    check_venue_spec,
    default_venue,
    instruments_of,
    parse_venue_spec,
    venue_or_defaults,
    venue_plugin,
)
from tests.operator import set_up
from tests.packaging.conftest import REPOSITORY
from tests.plugins.conftest import Install

NAMES = registry.module_names(VENUE)
ALSO_A_WORD = {"pairs"}
"""That names other things too, such as a table of two bots each."""
LIVE = [name for name in NAMES if venue_plugin(name).live]
SPEAKS_ITS_DIALECT = {"sandbox", "sandbox_mana"}
"""A server on this machine that answers as a live venue does, for its very client."""

HAS_PLATFORMS = (
    "predibot/studies/stakebench",
    "predibot/jobs/score_files/forecastbench.py",
    "predibot/sandbox/server",
)
"""What knows the platforms that comments are collected from, whose rules of cleaning and topics differ, the sources
of ForecastBench's questions, of which some are markets, and whom a host of the sandbox stands in for."""


def code() -> Iterator[tuple[Path, str]]:
    """Yield every module of predibot."""
    for path in sorted((REPOSITORY / "predibot").rglob("*.py")):
        yield path.relative_to(REPOSITORY), path.read_text("utf-8")


def test_the_name_of_a_live_venue_is_nowhere_outside_its_folder() -> None:
    assert LIVE
    word = re.compile("|".join(LIVE), re.IGNORECASE)
    rooms = [*(Path("predibot/venues") / name for name in (*LIVE, *SPEAKS_ITS_DIALECT)), *map(Path, HAS_PLATFORMS)]
    found = [
        path.as_posix()
        for path, text in code()
        if not any(path.is_relative_to(room) for room in rooms) and word.search(text)
    ]
    assert found == []


def test_nobody_asks_whether_a_venue_has_the_name_of_one_of_predibots_own() -> None:
    found, quoted = [], re.compile("|".join(f"""["']{name}["']""" for name in NAMES))
    for path, code_of in code():
        # Reading a tree takes its time, so where no name is quoted, nobody looks for a comparison.
        if path.is_relative_to("predibot/venues") or not quoted.search(code_of):
            continue
        asked = (node for node in ast.walk(ast.parse(code_of)) if isinstance(node, ast.Compare))
        texts = (each.value for node in asked for each in ast.walk(node) if isinstance(each, ast.Constant))
        found += [(path.as_posix(), text) for text in texts if text in NAMES and text not in ALSO_A_WORD]
    assert found == []


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("sandbx", "no venue 'sandbx'. Did you mean 'sandbox'?"),
        ("fields", "no venue 'fields'. "),
        ("", "no venue ''. "),
        (f"{LIVE[0]}:x", f"venue '{LIVE[0]}:x' is written {LIVE[0]}; write that"),
        ("archive", "venue 'archive' is written archive:FOLDER; write that"),
        ("archive:", "venue 'archive:' is written archive:FOLDER; write that"),
    ],
)
def test_a_venue_that_is_none_is_said_to_be_none(spec: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_venue_spec(spec)
    assert said in str(caught.value)


def test_a_venue_is_known_by_what_it_declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recorded").mkdir()
    assert check_venue_spec("archive:recorded") == f"archive:{(tmp_path / 'recorded').resolve()}"
    assert (check_venue_spec("sandbox:seed=7"), check_venue_spec("sandbox")) == ("sandbox:seed=7", "sandbox")
    assert (instruments_of("sandbox:seed=7"), instruments_of("archive:recorded")) == ("sandbox", default_venue())
    (tmp_path / "recorded/venue.json").write_text('{"venue": "sandbox"}', encoding="utf-8")
    assert instruments_of("archive:recorded") == "sandbox"
    assert [
        spec for spec in (*LIVE, "sandbox", "sandbox_mana", "archive:recorded", "gone") if venue_or_defaults(spec).live
    ] == LIVE
    assert default_venue() == "polymarket"
    names = ("polymarket", "sandbox", "manifold", "sandbox_mana", "gone")
    assert [venue_or_defaults(name).currency for name in names] == ["USD", "USD", "MANA", "MANA", "USD"]
    with pytest.raises(VenueMissing, match="there is no archive folder"):
        check_venue_spec("archive:nowhere")


def test_a_venue_of_a_package_that_is_no_venue_says_so(installed: Install) -> None:
    installed("VENUE = 3\n", "[predibot.venues]\nmoon = polling_for_tests:VENUE\n")
    with pytest.raises(UsageError, match=r"of package polling \(polling_for_tests:VENUE\) is a int; make it a V"):
        parse_venue_spec("moon")


def test_the_addresses_of_venues_are_settings_by_the_names_that_venues_give_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path, 'gamma_url = "http://a.example"\nclob_url = "http://b.example"\n')
    monkeypatch.setenv("PREDIBOT_GAMMA_URL", "http://c.example")
    assert load_settings().urls == {"gamma_url": "http://c.example/", "clob_url": "http://b.example/"}
    set_up(tmp_path, 'gama_url = "http://a.example"\n')
    with pytest.raises(UsageError, match=r"no venue has an address 'gama_url'\. Did you mean 'gamma_url'\?"):
        load_settings()
    set_up(tmp_path, 'clob_url = "not an address"\n')
    with pytest.raises(UsageError, match=r"setting 'clob_url' is wrong: .*Fix predibot.toml or PREDIBOT_CLOB_URL"):
        load_settings()
