"""Research: what counts as looked up."""

from collections.abc import Callable

import pytest

from predibot.agents.loop.evidence import FAILED_TRIES, ToolAnswer
from predibot.contracts import Toolbox, ToolError
from tests.agents.scripted import research, toolbox


def belief(*, probability: object = 0.4, **changed: object) -> dict[str, object]:
    chances = [{"market_id": "m1", "probability": probability}]
    return {"probabilities": chances, "evidence_for": "wet", "evidence_against": "dry", **changed}


def test_searches_and_pages_count_once_they_returned_something() -> None:
    looked = research()
    for query in ("rain", "weather tomorrow"):
        looked.search({"query": query})
    assert looked.missing() == "not yet: read 2 more pages, then hand in the answer"
    for url in ("http://a.example/1", "http://a.example/2"):
        looked.visit({"url": url})
    assert looked.missing() is None
    assert looked.notes == ()


@pytest.mark.parametrize("again", ["Rain Tomorrow", "tomorrow rain", "rain, tomorrow!", "rain rain tomorrow"])
def test_the_same_words_again_are_not_another_search_nor_the_same_page_another_page(again: str) -> None:
    looked = research()
    looked.search({"query": "rain tomorrow"})
    looked.search({"query": again})
    for url, part in (("http://a.example/1", 1), ("http://a.example/1", 2), (" http://a.example/1#end ", 1)):
        looked.visit({"url": url, "part": part})
    assert (len(looked.queries), len(looked.board.pages)) == (1, 1)


@pytest.mark.parametrize("nothing", [ToolError("no results"), "", " \n"])
def test_what_returned_nothing_does_not_count(nothing: str | ToolError) -> None:
    looked = research(toolbox(lambda _query: nothing, lambda *_: nothing))
    assert looked.search({"query": "rain"}).text.startswith("error:")
    assert looked.visit({"url": "http://a.example"}).text.startswith("error:")
    assert not looked.queries
    assert not looked.board.pages


def test_what_fails_again_and_again_is_not_asked_for_any_more() -> None:
    looked = research(toolbox(page=lambda *_: ToolError("timed out")), searches=0)
    # The same failure again is no reason to give up.
    for url in ["http://a.example/0"] * 10 + [f"http://a.example/{n}" for n in range(1, FAILED_TRIES)]:
        looked.visit({"url": url})
        assert (looked.missing() is None) is (url == f"http://a.example/{FAILED_TRIES - 1}")
    assert "under_researched" in looked.notes
    # Failed pages do not excuse searches.
    looked.min_searches = 2
    assert looked.missing() == "not yet: search 2 more times, in different words, then hand in the answer"


def test_what_returns_something_at_last_is_no_failure_any_more() -> None:
    answers = [ToolError("busy")] * FAILED_TRIES + ["found"] * FAILED_TRIES
    searched, read = iter(answers), iter(answers)
    tools = toolbox(lambda _query: next(searched), lambda *_: next(read))
    looked = research(tools, searches=FAILED_TRIES + 1, pages=FAILED_TRIES + 1)
    for number in [*range(FAILED_TRIES)] * 2:
        looked.search({"query": f"rain {number}"})
        looked.visit({"url": f"http://a.example/{number}"})
    assert looked.missing() == (
        "not yet: search 1 more time, in different words and read 1 more page, then hand in the answer"
    )


def test_tools_that_are_not_there_are_neither_offered_nor_asked_for() -> None:
    looked = research(Toolbox())
    assert not looked.tools()
    assert looked.missing() is None
    assert "under_researched" in looked.notes


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        *(("search", {"query": query}) for query in (None, 3, "", "?!", ["rain"])),
        *(("visit", {"url": url}) for url in (None, 3, " ", ["http://a.example"])),
        *(("visit", {"url": "http://a.example", "part": part}) for part in (0, -1, "2", 1.5, True)),
        ("visit", {"url": "http://a.example", "focus": 3}),
        *(("believe", belief(probabilities=chances)) for chances in (None, [], "m1", {"m1": 0.4}, ["m1"])),
        *(("believe", belief(probability=chance)) for chance in (None, "0.4", True, -0.1, 1.1, float("nan"))),
        ("believe", belief(probabilities=[{"market_id": 3, "probability": 0.4}])),
        ("believe", belief(evidence_against=["dry"])),
        ("believe", belief(evidence_for="", evidence_against=" ")),
    ],
)
def test_arguments_of_a_wrong_kind_are_answered_with_what_to_give(call: str, arguments: dict[str, object]) -> None:
    looked = research()
    method: Callable[[dict[str, object]], ToolAnswer] = getattr(looked, call)
    assert method(arguments).text.startswith("error:")
    assert not (looked.queries or looked.board.pages or looked.board.belief)


def test_a_belief_is_about_each_market_of_the_question_at_most_once() -> None:
    looked = research()
    looked.board.market_ids = ("m1", "m2")
    first, foreign = ({"market_id": name, "probability": 0.4} for name in ("m1", "m3"))
    told = looked.believe(belief(probabilities=[first, foreign])).text
    assert told.startswith("error: there is no market") and all(name in told for name in ("m1", "m2", "m3"))
    assert "2 times; give it once" in looked.believe(belief(probabilities=[first, first])).text
    assert looked.board.belief is None
    assert not looked.believe(belief()).text.startswith("error:") and looked.board.belief
    looked.board.market_ids = (long := "m  " + "1" * 200,)
    assert not looked.believe(belief(probabilities=[{"market_id": long, "probability": 0.4}])).text.startswith("error:")


@pytest.mark.parametrize("empty", ["", None, "null", "None", "n/a", " - "])
def test_what_is_empty_and_may_be_left_out_is_left_out(empty: str | None) -> None:
    asked: list[tuple[object, ...]] = []
    looked = research(toolbox(page=lambda *given: asked.append(given) or "read"))
    looked.visit({"url": "http://a.example", "part": empty, "focus": empty, "links": empty})
    assert asked == [("http://a.example", 1, None)]
    assert not looked.search({"query": "rain", "recent_days": empty}).is_refusal


@pytest.mark.parametrize(
    "probabilities", ['[{"market_id": "m1", "probability": 0.4}]', ['{"market_id": "m1", "probability": 0.4}']]
)
def test_chances_that_are_written_as_text_are_read(probabilities: object) -> None:
    looked = research()
    assert not looked.believe(belief(probabilities=probabilities)).is_refusal
    assert looked.board.belief is not None and looked.board.belief.probabilities == (("m1", 0.4),)


def test_of_a_search_all_titles_addresses_and_dates_stay_in_view_and_snippets_do_not() -> None:
    lines = ["7 results"]
    for n in range(7):
        lines += [f"{n}. Title", f"   url: https://a.example/{n}", "   published: 2026-01-04", "   " + "snippet " * 50]
    found = research(toolbox(lambda _query: "\n".join(lines))).search({"query": "rain"})
    assert all(f"https://a.example/{n}" in found.gist for n in range(7))
    assert "snippet" in found.text and "snippet" not in found.gist
    long = f"https://a.example/{'x' * 600}"
    mimic = ["1 results", "1. Title", f"   url: {long}", "   published: 2026-01-04", "   url: https://evil.example"]
    gist = research(toolbox(lambda _query: "\n".join(mimic))).search({"query": "rain"}).gist
    assert long in gist and "evil" not in gist
