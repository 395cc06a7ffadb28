"""Making data sets of pairs: filtered, compared, labelled and counted, from what was known by an instant."""

import json
from contextlib import nullcontext
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from predibot.config import Settings
from predibot.errors import LedgerUnusable, UsageError
from predibot.jobs.caller import Caller
from predibot.ledger.store import Store
from predibot.related.features import FEATURES, PAPER, TUNED
from predibot.related.filters import Filters, apply_filters
from predibot.scoring.relatedness.relevance import relevance_class
from predibot.studies.beliefbench.collect import collect_pairs, read_archive_markets, read_ledger_markets, write_pairs
from predibot.studies.beliefbench.pairs import ACROSS, LABELS, PAIR_FILES, About
from predibot.studies.beliefbench.venues.pairs import PAIRS
from predibot.studies.data_set import DataSet
from predibot.venues.archive.layout import snapshot_name
from predibot.venues.archive.reader import Archive
from tests.acceptance.conftest import done_here, said_here
from tests.jobs.tiny import decide_on, nobody, recipe_of, request_of, track_on
from tests.related.made import scores_of
from tests.studies.beliefbench.recorded import ENDS, write_markets


def made(archive: Path, folder: Path, *, most: int = 1_000, **more: Any) -> About:
    known = read_archive_markets(Archive(archive), ENDS, nobody)
    return write_pairs(known, folder, listener=nobody, seed=42, most=most, **more)


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / f"{name}.jsonl").read_bytes() for name in PAIR_FILES}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive that nobody changes."""
    return write_markets(tmp_path_factory.mktemp("markets") / "archive")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, archive: Path) -> tuple[Path, About]:
    """Return a data set of it, and what is told of that."""
    folder = tmp_path_factory.mktemp("made") / "pairs"
    return folder, made(archive, folder)


def test_nothing_after_the_instant_changes_a_byte(tmp_path: Path) -> None:
    found = []
    for number, future in enumerate((0.5, 0.99)):
        archive = write_markets(tmp_path / f"archive{number}", future=future)
        made(archive, tmp_path / f"pairs{number}")
        found.append(bytes_of(tmp_path / f"pairs{number}"))
    assert found[0] == found[1]
    assert b"future" not in found[0]["markets"]
    assert json.loads(found[0]["about"])["as_of"] == "2026-03-01T12:00Z"


def test_every_pair_has_the_score_and_the_label_that_S_gives_it(archive: Path, pairs: tuple[Path, About]) -> None:
    folder, report = pairs
    known = read_archive_markets(Archive(archive), ENDS, nobody)
    beliefs = known.known.beliefs.only(apply_filters(known.known.beliefs, Filters()).kept)
    scores = scores_of(beliefs, TUNED)
    labelled = {(row["first"], row["second"]): row for row in rows_of(folder, "pairs")}
    # Of all markets, the quarter of each domain that was traded least is out.
    assert beliefs.n == report.funnel["markets compared"] == 8
    assert len(labelled) == 8 * 7 // 2
    for one, other in combinations(range(beliefs.n), 2):
        row = labelled[beliefs.market_ids[one], beliefs.market_ids[other]]
        assert row["score"] == scores[one, other]
        assert row["label"] == LABELS[int(relevance_class(row["score"]))]
        same = beliefs.domains[one] == beliefs.domains[other]
        assert row["domain"] == (beliefs.domains[one] if same else ACROSS)
    within = [row["score"] for row in labelled.values() if row["domain"] != ACROSS]
    across = [row["score"] for row in labelled.values() if row["domain"] == ACROSS]
    assert min(within) > max(across)


def test_markets_keep_their_words_tags_volume_and_days(pairs: tuple[Path, About]) -> None:
    (market,) = (row for row in rows_of(pairs[0], "markets") if row["id"] == "6")
    assert market["event"] == "106"
    assert market["title"] == "Will Bitcoin and ether prices end above 6?"
    assert market["description"] == "Of Bitcoin and ether prices: resolves by rule 6."
    assert market["tags"] == ["crypto", "x4"]
    assert (market["domain"], market["volume_usd"]) == ("Crypto", 6000.0)
    assert (market["first_on"], market["last_on"]) == ("2026-01-01", "2026-03-01")


def test_of_each_domain_and_label_so_many_are_kept_whichever_way_the_archive_lists_them(tmp_path: Path) -> None:
    archive = write_markets(tmp_path / "archive")
    whole = made(archive, tmp_path / "whole")
    made(archive, tmp_path / "some", most=3)
    listed = next((archive / "snapshots").glob("2026-03-01T*")) / "events.json"
    events = json.loads(listed.read_text())
    listed.write_text(json.dumps([{**event, "markets": event["markets"][::-1]} for event in events[::-1]]))
    made(archive, tmp_path / "turned", most=3)
    assert bytes_of(tmp_path / "some") == bytes_of(tmp_path / "turned")
    counts: dict[tuple[str, str], int] = {}
    for row in rows_of(tmp_path / "some", "pairs"):
        counts[row["domain"], row["label"]] = counts.get((row["domain"], row["label"]), 0) + 1
    assert counts == {(domain, label): min(3, n) for domain, of in whole.pairs.items() for label, n in of.items() if n}
    # What there was is told whole, whatever is kept.
    assert json.loads((tmp_path / "some" / "about.jsonl").read_text())["pairs"] == whole.pairs


def test_the_funnel_adds_up(pairs: tuple[Path, About]) -> None:
    funnel = pairs[1].funnel
    assert funnel["markets listed"] + sum(-n for stage, n in funnel.items() if stage in _OF_MARKETS) == 8
    assert funnel["- little traded"] == 4
    assert funnel["pairs of markets"] - funnel.get("- never open together", 0) == funnel["pairs labelled"] == 28


_OF_MARKETS = ("- not of two outcomes", "- prices unreadable", "- without a price", "- little traded", "- flat")


def test_markets_that_never_move_make_no_data_set_and_none_is_written(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no two markets can be compared.*flat 8"):
        made(archive, tmp_path / "pairs", filters=Filters(least_deviation=50.0))
    assert not (tmp_path / "pairs").exists()


def test_a_price_file_that_is_broken_costs_its_market_alone(tmp_path: Path) -> None:
    archive = write_markets(tmp_path / "archive")
    (archive / "prices" / "120.json").write_text("{")
    funnel = made(archive, tmp_path / "pairs").funnel
    assert funnel["- prices unreadable"] == 1
    assert all(row["id"] != "12" for row in rows_of(tmp_path / "pairs", "markets"))


def test_a_ledger_has_the_markets_that_were_played_and_what_was_observed_of_them(tmp_path: Path) -> None:
    archive = write_markets(tmp_path / "archive", ledger=True)
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        report = decide_on(store, archive, request_of(recipe_of("market_price")), as_of=ENDS)
        track_on(store, archive, as_of=ENDS + timedelta(days=5))
        known = read_ledger_markets(store, "polymarket", ENDS + timedelta(days=5))
        before = read_ledger_markets(store, "polymarket", ENDS + timedelta(days=3))
        assert read_ledger_markets(store, "polymarket", ENDS - timedelta(days=1)).known.beliefs.n == 0
    of_archive = read_archive_markets(Archive(archive), ENDS, nobody)
    played = {market.id for event in report.events for market in event.markets}
    assert set(known.known.beliefs.market_ids) == played
    assert {known.known.questions[name] for name in played} == {of_archive.known.questions[name] for name in played}
    # Observed after the run, one price a day; market 1 was settled on the second day.
    days = [int((known.known.beliefs.prices.market == row).sum()) for row in range(known.known.beliefs.n)]
    assert set(days) == ({5, 1} if "1" in played else {5})
    assert before.known.beliefs.prices.day.max() == known.known.beliefs.prices.day.max() - 2


def test_the_command_counts_the_pairs_of_each_label(archive: Path, tmp_path: Path) -> None:
    printed = said_here("collect", "pairs", f"archive:{archive}", str(tmp_path / "pairs")).out
    document = done_here("collect", "pairs", f"archive:{archive}", str(tmp_path / "again"), "--json").document
    for domain, counts in document["pairs"].items():
        (line,) = (line.split() for line in printed.splitlines() if line.startswith(f"{domain} "))
        assert [*counts.values(), sum(counts.values())] == [int(each) for each in line[1:] if each.isdigit()]


def test_the_data_set_reads_back_as_a_venue_with_a_digest_of_all_of_it(archive: Path, tmp_path: Path) -> None:
    made(archive, tmp_path / "pairs")
    venue = DataSet(PAIRS.folders(str(tmp_path / "pairs")), PAIRS)
    assert venue.last_at == ENDS
    assert len(list(venue.rows("pairs"))) == 28
    with pytest.raises(UsageError, match="has no comments"):
        next(venue.rows("comments"))
    digest = venue.digest
    (tmp_path / "pairs" / "about.jsonl").write_text((tmp_path / "pairs" / "about.jsonl").read_text() + " ")
    assert DataSet([tmp_path / "pairs"], PAIRS).digest != digest


def test_recorded_markets_have_the_same_labels_each_time(shared_data: Path, tmp_path: Path) -> None:
    archive = Archive(shared_data / "polymarket-daily")
    found = []
    for number in range(2):
        known = read_archive_markets(archive, archive.instants[-1], nobody)
        report = write_pairs(known, tmp_path / f"pairs{number}", listener=nobody, seed=42, most=1_000)
        found.append(bytes_of(tmp_path / f"pairs{number}"))
    assert found[0] == found[1]
    assert report.funnel == {
        "markets listed": 95,
        "- flat": 14,
        "volume not stated": 95,
        "markets compared": 81,
        "pairs of markets": 3_240,
        "- never open together": 262,
        "pairs labelled": 2_978,
        "pairs kept": 1_154,
    }
    assert all(row["tags"] is None for row in rows_of(tmp_path / "pairs0", "pairs"))
    before = read_archive_markets(archive, archive.instants[-1] - timedelta(days=60), nobody)
    assert max(before.known.beliefs.prices.day) < max(known.known.beliefs.prices.day)


def test_weights_and_the_instant_are_told_with_the_data_set_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    archive = write_markets(tmp_path / "archive")
    caller = Caller(Settings, lambda: ENDS, print, lambda: nullcontext(nobody))
    asked: dict[str, Any] = {"caller": caller, "as_of": ENDS}
    report = collect_pairs(f"archive:{archive}", tmp_path / "pairs", weights="0,1,0,0", **asked)
    assert report.settings["weight_tags"] == 1.0
    assert report.settings["text_by"] == "subject words"
    assert all(row["score"] == round(row["tags"], 9) for row in rows_of(tmp_path / "pairs", "pairs"))
    # Where markets have no tags, nothing else is weighed for them: they are told of as such.
    untagged = next((archive / "snapshots").glob("2026-03-01T*")) / "events.json"
    events = json.loads(untagged.read_text())
    untagged.write_text(
        json.dumps([{**event, "tags": []} if number < 2 else event for number, event in enumerate(events)])
    )
    funnel = collect_pairs(f"archive:{archive}", tmp_path / "untagged", weights="0,1,0,0", **asked).funnel
    assert funnel["- without a score"] > 0
    assert "- never open together" not in funnel
    assert funnel["pairs of markets"] - funnel["- without a score"] == funnel["pairs labelled"]
    for weights in ("1,0", "a,b,c,d", "1,1,0,0"):
        with pytest.raises(UsageError, match="write four of them"):
            collect_pairs(f"archive:{archive}", tmp_path / "pairs", weights=weights, **asked)
    with pytest.raises(UsageError, match="no snapshot at or before"):
        collect_pairs(f"archive:{archive}", tmp_path / "p", caller=caller, as_of=ENDS - timedelta(days=90))
    with pytest.raises(LedgerUnusable, match="there is no ledger"):
        collect_pairs(f"sqlite:///{tmp_path}/none.db", tmp_path / "p", **asked)


def test_a_market_that_two_events_listed_has_the_words_of_the_later_one(tmp_path: Path) -> None:
    archive = write_markets(tmp_path / "archive")
    now = next((archive / "snapshots").glob("2026-03-01T*")) / "events.json"
    listed = json.loads(now.read_text())
    for event in listed:
        for market in event["markets"]:
            if market["id"] == "6":
                old = {**market, "question": "Is it an older question?", "description": "An older rule."}
    before = archive / "snapshots" / snapshot_name(ENDS - timedelta(days=1)) / "events.json"
    before.parent.mkdir()
    before.write_text(json.dumps([{**listed[0], "id": "77", "markets": [old]}]))
    made(archive, tmp_path / "pairs")
    (market,) = (row for row in rows_of(tmp_path / "pairs", "markets") if row["id"] == "6")
    assert market["title"] == "Will Bitcoin and ether prices end above 6?"
    assert market["description"] == "Of Bitcoin and ether prices: resolves by rule 6."


def test_the_papers_form_of_S_is_there_and_another_is_refused(archive: Path, tmp_path: Path) -> None:
    caller = Caller(Settings, lambda: ENDS, print, lambda: nullcontext(nobody))
    report = collect_pairs(f"archive:{archive}", tmp_path / "pairs", caller, as_of=ENDS, score="paper")
    assert (report.settings["jumps"], report.settings["text_by"]) == ("all", "tfidf")
    known = read_archive_markets(Archive(archive), ENDS, nobody)
    beliefs = known.known.beliefs.only(apply_filters(known.known.beliefs, Filters()).kept)
    row = {name: number for number, name in enumerate(beliefs.market_ids)}
    scores = scores_of(beliefs, PAPER)
    for each in rows_of(tmp_path / "pairs", "pairs"):
        assert each["score"] == scores[row[each["first"]], row[each["second"]]]
    with pytest.raises(UsageError, match="'best': it is tuned or paper"):
        collect_pairs(f"archive:{archive}", tmp_path / "other", caller, as_of=ENDS, score="best")


def test_weights_are_fitted_to_peoples_ratings_in_one_command(archive: Path, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    caller = Caller(Settings, lambda: ENDS, print, lambda: nullcontext(nobody))
    collect_pairs(f"archive:{archive}", tmp_path / "before", caller, as_of=ENDS)
    # Both raters say what the common tags of a pair say.
    lines = ["pair,rater,label"]
    for row in rows_of(tmp_path / "before", "pairs"):
        lines += [f"{row['first']}~{row['second']},{rater},{row['tags']}" for rater in ("ann", "bob")]
    people.write_text("\n".join(lines))
    report = collect_pairs(f"archive:{archive}", tmp_path / "after", caller, as_of=ENDS, people=people)
    assert [report.settings[f"weight_{name}"] for name in FEATURES] == [0.0, 1.0, 0.0, 0.0]
    assert all(row["score"] == row["tags"] for row in rows_of(tmp_path / "after", "pairs"))
    people.write_text("pair,rater,label\n1~nobody,ann,0.5\n")
    with pytest.raises(UsageError, match="line 2: there is no pair '1~nobody'"):
        collect_pairs(f"archive:{archive}", tmp_path / "none", caller, as_of=ENDS, people=people)
