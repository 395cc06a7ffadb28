"""`predibot relate`: the events that move with one, from a ledger and from an archive."""

from pathlib import Path

import pytest

from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot
from tests.jobs.relatedness.related_world import play, write_related

AS_OF = ("--as-of", "2026-05-24T19:30Z")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ledger of related events, and the archive it was played on."""
    folder = tmp_path_factory.mktemp("related")
    write_related(folder / "archive")
    (folder / "runs" / "out").mkdir(parents=True)
    with Store.open(f"sqlite:///{folder}/runs/out/predibot.db") as store:
        play(store, folder / "archive")
    return folder


@pytest.fixture
def related(folder: Path, predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program in an empty folder, reading that ledger."""
    monkeypatch.setenv("PREDIBOT_LEDGER", f"sqlite:///{folder}/runs/out/predibot.db")
    return predibot


def test_the_document_has_the_keys_of_the_contract_in_their_order(related: Predibot) -> None:
    found = related("relate", "4", *AS_OF, "--no-filters", "--json").document
    assert list(found) == [
        "event_id", "title", "as_of", "text_port", "markets", "own_markets", "left_out", "neighbours",
    ]  # fmt: skip
    assert list(found["neighbours"][0]) == [
        "event_id", "title", "score", "class", "market_id", "question", "own_market_id", "own_question",
        "synchrony", "tags", "nearness", "text", "shared_jumps", "shared_tags", "shared_words", "common_days",
    ]  # fmt: skip
    assert {each["event_id"] for each in found["neighbours"][:2]} == {"5", "6"}
    assert found["neighbours"][0]["shared_tags"] == ["rates"]
    assert len(found["neighbours"][0]["shared_jumps"]) >= 3
    assert len(found["neighbours"]) == 11


def test_the_screen_names_the_neighbours_and_the_dates_of_their_jumps(related: Predibot) -> None:
    said = related("relate", "4", *AS_OF, "--no-filters")
    document = related("relate", "4", *AS_OF, "--no-filters", "--json").document
    assert said.code == 0
    assert said.out.startswith("The rates, town 4 (4)\n")
    assert "12 markets, 1 of this event compared; texts by subject words" in said.out
    assert max(day for day, _ in document["neighbours"][0]["shared_jumps"]) in said.out
    assert "The first 10 of 11; --all or --json has them all." in said.out
    assert "The first" not in related("relate", "4", *AS_OF, "--no-filters", "--all").out


def test_the_filters_say_what_they_leave_out(related: Predibot) -> None:
    said = related("relate", "1", *AS_OF)
    assert "Left out: 4 of the quarter that traded least in their category" in said.out
    assert "All markets of this event were left out." in said.out


def test_an_archive_is_compared_as_a_ledger_is(related: Predibot, folder: Path) -> None:
    found = related("relate", "5", "--archive", str(folder / "archive"), *AS_OF, "--json").document
    assert [each["event_id"] for each in found["neighbours"]][:1] == ["6"]
    refused = related("relate", "4", "--archive", str(folder / "archive"), "--venue", "polymarket")
    assert (refused.code, refused.err) == (
        2,
        "error: Invalid value: --archive says which markets are meant; leave --venue out. "
        "See `predibot relate --help`.\n",
    )


def test_an_event_that_is_not_known_is_named(related: Predibot) -> None:
    said = related("relate", "44", *AS_OF)
    assert said.code == 1
    assert "error: no market of an event '44' is known at that instant. Did you mean" in said.err


def test_clusters_are_in_the_document_where_related_ones_are_asked_for(related: Predibot) -> None:
    alone = related("report", *AS_OF, "--json").document
    document = related("report", *AS_OF, "--clusters", "related", "--json").document
    keys = list(document)
    assert keys[keys.index("clusters") - 1 :][:3] == ["sizings", "clusters", "notes"]
    assert document.pop("clusters")["events"] == 12
    assert document == alone


def test_the_screen_shows_both_beside_each_other(related: Predibot) -> None:
    for command in (("report",), ("evaluate", "--no-track")):
        said = related(*command, *AS_OF, "--clusters", "related").out
        assert "Edge with each event by itself, beside related events joined" in said
        assert "12 events in 4 clusters, the largest of 3." in said
        assert "No interval below 5 clusters: market_price, random_bet, other." in said
        assert "joined" not in related(*command, *AS_OF).out
    pairs = related("report", *AS_OF, "--clusters", "related", "--table", "pairs").out
    assert pairs.count("Pairs by edge") == 2
    assert "Related events joined: Pairs by edge" in pairs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--clusters", "relate"), "no 'relate' for --clusters. Did you mean 'related'?"),
        (("--clusters", "related", "--csv"), "--csv is one table of scores; ask for --clusters without it"),
        (("--clusters", "related", "--bot", "other"), "--clusters would change nothing of --bot"),
    ],
)
def test_clusters_that_nobody_has_a_place_for_are_refused(
    related: Predibot, options: tuple[str, ...], said: str
) -> None:
    refused = related("report", *options)
    assert (refused.code, said in refused.err) == (2, True)


def test_the_graph_has_groups_chains_and_a_picture(related: Predibot) -> None:
    document = related("graph", *AS_OF, "--no-filters", "--chain", "4,6", "--json", "--svg", "graph.svg").document
    assert list(document)[:5] == ["as_of", "events", "edges", "groups", "chain"]
    assert ["4", "5", "6"] in document["groups"]
    assert (document["chain"][0], document["chain"][-1]) == ("4", "6")
    assert {edge["first"] for edge in document["edges"]} <= {str(number) for number in range(1, 13)}
    assert Path("graph.svg").read_text(encoding="utf-8").startswith("<svg ")
    said = related("graph", *AS_OF, "--no-filters", "--chain", "4,6").out
    assert "12 of 12 events in 4 groups" in " ".join(said.split())
    assert "4, 5, 6" in said


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--chain", "4"), 2, "--chain is between two events, not 1"),
        (("--chain", "4,44"), 1, "no market of an event '44' is known at that instant"),
        (("--svg", "nowhere/graph.svg"), 1, "nowhere/graph.svg"),
    ],
)
def test_a_graph_that_cannot_be_shown_says_why(
    related: Predibot, options: tuple[str, ...], code: int, said: str
) -> None:
    refused = related("graph", *AS_OF, "--no-filters", *options)
    assert (refused.code, said in refused.err) == (code, True)
