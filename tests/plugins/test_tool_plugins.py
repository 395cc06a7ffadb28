"""Tools and search providers of the user's own: what their files say, and what is said where they do not."""

from pathlib import Path

import pytest

from predibot.errors import PluginError
from predibot.plugins.tools import search_class, search_problem, tool_infos, tool_plugin, user_names
from tests.plugins.conftest import Install, Plugins

POLLS = '''"""Polls."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

USD_PER_CALL = 0.002


def polls(
    candidate: str,
    schema: Literal["raw", "mean"] = "mean",
    count: Annotated[int, Field(ge=1, le=9)] = 3,
    share: float = 0.5,
    days: list[date] | None = None,
    *,
    as_of: datetime,
) -> str:
    """Return the latest polls of a candidate.

    Newest first.

    Args:
        candidate: Full name,
            as on the ballot.
        count (int): How many.

    Returns:
        candidate: Not this.
    """
    return f"{candidate} {schema} {count} {share} {days} {as_of:%Y}"
'''
INDEX = '''"""An index."""


class OwnIndex:
    """Search our own articles."""

    name = "own_index"
    dates_results = True
    usd_per_call = None

    def search(self, query, *, before, count):
        raise NotImplementedError
'''


def test_a_tool_says_by_its_signature_and_docstring_what_a_model_is_told(plugins: Plugins) -> None:
    plugins.write("polls", POLLS)
    tool = tool_plugin("polls")
    assert tool.schema.description == "Return the latest polls of a candidate.\n\nNewest first."
    parameters = tool.schema.parameters
    assert parameters["required"] == ["candidate"]
    assert parameters["properties"] == {
        "candidate": {"type": "string", "description": "Full name, as on the ballot."},
        "schema": {"type": "string", "enum": ["raw", "mean"], "default": "mean"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many."},
        "share": {"type": "number", "default": 0.5},
        "days": {
            "anyOf": [{"type": "array", "items": {"type": "string", "format": "date"}}, {"type": "null"}],
            "default": None,
        },
    }
    assert (tool.takes_as_of, tool.usd_per_call, len(tool.source_sha256)) == (True, 0.002, 64)
    # Arguments reach it as it states them.
    given = tool.arguments({"candidate": "A", "days": ["2026-01-02"], "share": 1})
    assert [given[name] for name in ("candidate", "schema", "count", "share")] == ["A", "mean", 3, 1.0]
    assert str(given["days"]) == "[datetime.date(2026, 1, 2)]"
    # A list may be written as text.
    assert tool.arguments({"candidate": "[1]", "days": '["2026-01-02"]'}) == {**given, "candidate": "[1]", "share": 0.5}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "candidate: Field required"),
        ({"candidate": 3}, "candidate: Input should be a valid string"),
        ({"candidate": "A", "count": "3"}, "count: Input should be a valid integer"),
        ({"candidate": "A", "days": "2026-01-02"}, "days: Input should be a valid array"),
        ({"candidate": "A", "count": 10}, "count: Input should be less than or equal to 9"),
        ({"candidate": "A", "schema": "x"}, "schema: Input should be 'raw' or 'mean'"),
        ({"candidate": "A", "as_of": "2030-01-01T00:00:00Z"}, "as_of: Extra inputs are not permitted"),
        ({"candidate": "A", "argument_1": "raw"}, "argument_1: Extra inputs are not permitted"),
    ],
)
def test_arguments_of_another_kind_never_reach_it(plugins: Plugins, given: dict[str, object], said: str) -> None:
    plugins.write("polls", POLLS)
    with pytest.raises(ValueError, match=said):
        tool_plugin("polls").arguments(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def other() -> str:\n    'Doc.'\n", "mine.py has no plain function mine"),
        ("async def mine() -> str:\n    'Doc.'\n", "mine.py has no plain function mine"),
        ("mine = 3\n", "mine.py has no plain function mine"),
        ("def mine() -> str:\n    return ''\n", "has no docstring"),
        ("def mine(x) -> str:\n    'Doc.'\n", "argument 'x' has no type"),
        ("def mine(*x: str) -> str:\n    'Doc.'\n", "argument 'x' cannot be given by name"),
        ("def mine(**x: str) -> str:\n    'Doc.'\n", "argument 'x' cannot be given by name"),
        ("def mine(x: str, /) -> str:\n    'Doc.'\n", "argument 'x' cannot be given by name"),
        ("def mine(x: object()) -> str:\n    'Doc.'\n", "mine.py: "),
        ("def mine(x: open) -> str:\n    'Doc.'\n", "no model can give an argument of that type"),
        ("from __future__ import annotations\ndef mine(x: Missing) -> str:\n    'Doc.'\n", "a type cannot be read"),
        ("USD_PER_CALL = -1\ndef mine() -> str:\n    'Doc.'\n", "USD_PER_CALL is -1; give dollars from 0"),
        ("import nowhere_at_all\n", "mine.py does not load: ModuleNotFoundError"),
        ("def mine(:\n", "mine.py does not load: SyntaxError"),
    ],
)
def test_a_file_that_is_no_tool_says_why(plugins: Plugins, text: str, said: str) -> None:
    plugins.write("mine", text)
    with pytest.raises(PluginError) as caught:
        tool_plugin("mine")
    assert said in str(caught.value)
    (info,) = tool_infos()
    assert (info.name, said in info.problem) == ("mine", True)


@pytest.mark.parametrize("name", ["final_answer", "update_belief", "m" * 65, "größe"])
def test_a_name_that_no_model_can_call_is_refused(plugins: Plugins, name: str) -> None:
    plugins.write(name, f"def {name}() -> str:\n    'Doc.'\n")
    with pytest.raises(PluginError, match="no tool can be named"):
        tool_plugin(name)


def test_files_are_listed_by_kind_and_an_unknown_name_is_answered_with_the_nearest(
    plugins: Plugins,
) -> None:
    plugins.write("polls", POLLS)
    plugins.write("own_index", INDEX)
    plugins.write("_shared", "x = 1\n")
    assert user_names("tool") == ("own_index", "polls")
    with pytest.raises(PluginError, match=r"no tool 'pols'\. Did you mean 'polls'\?"):
        tool_plugin("pols")
    with pytest.raises(PluginError, match="Valid are: polls, visit_webpage, web_search"):
        tool_plugin("zzz")
    assert search_problem("own_indx") == "Did you mean 'own_index'?"
    assert search_problem("bravo") == "Did you mean 'brave'?"
    assert search_problem("ddgs") == search_problem("own_index") == ""
    assert "polls.py has no class Polls" in search_problem("polls")
    found = {info.name: (info.kind, info.summary, info.problem) for info in tool_infos()}
    assert found == {
        "own_index": ("search", "Search our own articles.", ""),
        "polls": ("tool", "Return the latest polls of a candidate.", ""),
    }


@pytest.mark.parametrize("member", ["dates_results", "usd_per_call", "search"])
def test_a_search_provider_that_lacks_a_member_says_which(plugins: Plugins, member: str) -> None:
    plugins.write("own_index", INDEX.replace(member, "other"))
    with pytest.raises(PluginError, match=f"OwnIndex has no {member}; give it name, dates_results"):
        search_class("own_index")


def test_an_installed_package_adds_both_by_entry_points(plugins: Plugins, installed: Install) -> None:
    installed(
        f"{POLLS}\n{INDEX}",
        "[predibot.tools]\npolls = polling_for_tests:polls\nlost = polling_for_tests:nothing\n"
        "[predibot.search]\nown_index = polling_for_tests:OwnIndex\n",
    )
    assert tool_plugin("polls").schema.name == "polls"
    assert search_class("own_index").__name__ == "OwnIndex"
    with pytest.raises(PluginError, match=r"tool 'lost' of package polling \(polling_for_tests:nothing\) does not"):
        tool_plugin("lost")
    kinds = {info.name: (info.kind, info.origin) for info in tool_infos()}
    assert kinds["own_index"] == ("search", "an installed package")
    assert kinds["polls"] == ("tool", "an installed package")


@pytest.mark.parametrize(
    "raised", ["type('Odd', (BaseException,), {})('x')", "SystemExit(3)", "type('E', (Exception,), {})"]
)
def test_a_package_that_does_not_load_is_one_sentence(plugins: Plugins, installed: Install, raised: str) -> None:
    installed(f"raise {raised}\n", "[predibot.tools]\npolls = polling_for_tests:polls\n")
    with pytest.raises(PluginError, match=r"tool 'polls' of package polling \(polling_for_tests:polls\) does not "):
        tool_plugin("polls")
    (info,) = tool_infos()
    assert info.problem.startswith("tool 'polls' of package polling (polling_for_tests:polls) does not load: ")


def test_no_package_takes_a_name_of_predibots_own(plugins: Plugins, installed: Install) -> None:
    installed(
        f"{POLLS}\n{INDEX}",
        "[predibot.tools]\nvisit_webpage = polling_for_tests:polls\n"
        "[predibot.search]\nbrave = polling_for_tests:OwnIndex\n",
    )
    problems = {info.name: info.problem for info in tool_infos()}
    assert problems == {
        name: f"predibot has a {noun} {name!r}, so that of package polling is never taken"
        for noun, name in (("tool", "visit_webpage"), ("search provider", "brave"))
    }
    assert "visit_webpage" not in user_names("tool")
    assert "brave" not in user_names("search")


def test_two_packages_with_one_name_are_told_and_neither_is_taken(plugins: Plugins, installed: Install) -> None:
    installed(POLLS, "[predibot.tools]\npolls = polling_for_tests:polls\n")
    installed("", "[predibot.tools]\npolls = rival:polls\n", package="rival")
    with pytest.raises(PluginError, match="several packages have a tool 'polls': polling, rival"):
        tool_plugin("polls")


def test_a_folder_beside_the_user_that_was_not_named_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PluginError) as before:
        tool_plugin("zzz")
    assert "unasked" not in str(before.value)
    (tmp_path / "tools").mkdir()
    with pytest.raises(PluginError, match=r"is not looked in unasked; set PREDIBOT_TOOLS=/.*/tools"):
        tool_plugin("zzz")
