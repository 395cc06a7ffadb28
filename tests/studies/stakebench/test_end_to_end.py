"""Text tasks end to end: models that are scripted, real agents, both databases."""

import csv
import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import chdir, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import predibot
from predibot.errors import UsageError
from predibot.ledger.store import Store
from predibot.web.app import create_app
from tests.acceptance.conftest import done_here, said_here
from tests.jobs.tiny import canonical_at
from tests.ledger.databases import Postgres
from tests.studies.stakebench.readers import (
    RECIPE,
    Reader,
    Silent,
    Wording,
    answer_to,
    here,
    model,
    reader,
    reading,
    rows,
)

__all__ = ["here", "model", "reader"]


@dataclass(frozen=True, slots=True)
class Whole:
    """A run that nobody disturbed."""

    ledger: str
    canonical: str
    prompts: Counter[str]
    document: Any


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, few_texts: Path, model: Reader) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "texts.toml").write_text(RECIPE.format(folder=few_texts, url=model.base_url, seed=7))
    model.asked.clear()
    ledger = f"sqlite:///{folder}/whole.db"
    with chdir(folder):
        document = done_here(*asked(ledger)).document
    assert document["totals"]["failed"] == 0
    return Whole(ledger, canonical_at(ledger), Counter(model.prompts), document)


@pytest.fixture(autouse=True)
def _recipe(here: None, few_texts: Path, reader: Reader) -> None:
    """Have a recipe of text tasks in the folder of the test."""
    Path("texts.toml").write_text(RECIPE.format(folder=few_texts, url=reader.base_url, seed=7))


LEDGER = "sqlite:///ledger.db"


def asked(ledger: str, *more: str) -> tuple[str, ...]:
    return ("decide", "texts.toml", "--ledger", ledger, "--json", *more)


def test_labels_are_what_the_model_said_and_what_is_none_is_refused(whole: Whole, reader: Reader) -> None:
    decisions = {row["subject_id"]: row for row in rows(whole.ledger, "decisions") if row["bot"] == "reader"}
    labels = {row["subject_id"]: row for row in rows(whole.ledger, "labels") if row["bot"] == "reader"}
    items = {row["event_id"]: row for row in rows(whole.ledger, "run_events")}
    assert {row["subject_kind"] for row in decisions.values()} == {"comment", "window"}
    assert whole.prompts.total() == len(decisions)
    is_none = sum(answer_to(prompt).startswith("I think") for prompt in whole.prompts.elements())
    assert Counter(row["status"] for row in decisions.values()) == {
        "refused": is_none,
        "recorded": len(decisions) - is_none,
    }
    assert is_none > 0
    assert set(labels) == {name for name, row in decisions.items() if row["status"] == "recorded"}
    # What was shown and what was said of it belong together.
    assert not [prompt for prompt in whole.prompts if '"truth"' in prompt]
    topics = [name for name in labels if name.startswith("G2/")]
    assert len(topics) >= 20
    for name in topics:
        item = json.loads(items[name]["payload"])
        shown = f"question: {item['question']}\n\ncomment: {item['texts'][0]}\n"
        (said_so,) = {answer_to(each) for each in whole.prompts if shown in each and "Topic of" in each}
        assert labels[name]["label"].casefold() == said_so.rpartition("</think>")[2].strip().casefold()
    # Asked for again, everything is there.
    copy = Path("ledger.db")
    shutil.copy(whole.ledger.removeprefix("sqlite:///"), copy)
    assert done_here(*asked(LEDGER)).document["totals"]["skipped"] == len(whole.document["decisions"])
    assert not reader.asked


@pytest.mark.parametrize("label", ["zzz", "UP"])
def test_labels_that_are_no_answers_of_their_task_are_one_sentence(whole: Whole, label: str) -> None:
    shutil.copy(whole.ledger.removeprefix("sqlite:///"), "ledger.db")
    with closing(sqlite3.connect("ledger.db")) as connection, connection:
        connection.execute("UPDATE labels SET label = ?", (label,))
    refused = said_here("tables", "stakebench", "--ledger", LEDGER)
    assert (refused.code, refused.out) == (1, "")
    assert f"is {label!r}, and no answer of its task. Put a copy in its place" in " ".join(refused.err.split())


def test_a_ledger_of_texts_is_copied_whole(whole: Whole, postgres: Postgres) -> None:
    done_here("export", "out", "--ledger", whole.ledger)
    copy = postgres.fresh()
    done_here("import", "ledger", "out", "--ledger", copy)
    assert canonical_at(copy) == whole.canonical


def test_tables_say_what_each_bot_read_as_screen_json_files_and_page(whole: Whole) -> None:
    told = ("tables", "stakebench", "--ledger", whole.ledger)
    document = done_here(*told, "--pairs", "reader:majority", "--json").document
    tables = {each["name"]: each["rows"] for each in document["tables"]}
    decisions = [row for row in rows(whole.ledger, "decisions") if row["bot"] == "reader"]
    (row,) = (each for each in tables["3"] if each["bot"] == "reader")
    assert row["answers"] == len(decisions)
    assert row["unread"] == sum(each["status"] == "refused" for each in decisions)
    assert tables["13"][0]["pair"] == "reader less majority"
    screen = done_here(*told).out
    assert "Table 3. Scores" in screen
    assert "On how much each score rests" not in screen
    assert "On how much each score rests" in said_here(*told, "--full").out
    assert said_here(*told, "--pairs", "reader:majority", "--csv", "out").out.count("table_") == len(document["tables"])
    assert {row["right"] for row in tables["5"]} == {0.0, 0.5}
    assert {row["scores"] for row in tables["chain"]} >= {"G1 Acc and G2 DA", "G2 DA and G4 PLA"}
    drawn = done_here(*told, "--figures", "pictures", "--json").document["files"]
    # Two bots have no rank correlation, and one model is a family of its own.
    assert drawn == ["pictures/chain.svg", "pictures/chain.png", "pictures/figure_2b.svg"]
    assert [(row["family"], row["bots"]) for row in tables["families"]] == [("reader", 1)]
    Path("families.csv").write_text("bot,family,billions\nreader,open,8\nmajority,none,\n")
    more = done_here(*told, "--families", "families.csv", "--json").document["tables"]
    assert [row["family"] for table in more if table["name"] == "families" for row in table["rows"]] == ["open", "none"]
    for lines, wrong in (
        ("reader,open,many", "line 2: billions is 'many'"),
        ("reader", "line 2: 'reader' has no family or two"),
        ("reader,open\nreader,none", "line 3: 'reader' has no family or two"),
        (f"reader,{'x' * 200_000}", "field larger than field limit"),
        ("raeder,open", "names 'raeder', which is no bot of run"),
        ("raeder,open", "Did you mean 'reader'?"),
    ):
        # A spreadsheet begins a file with a mark.
        Path("families.csv").write_text(f"bot,family,billions\n{lines}\n", encoding="utf-8-sig")
        assert wrong in " ".join(said_here(*told, "--families", "families.csv").err.split())
    with Path("out", "table_3.csv").open(newline="") as file:
        written = {each["bot"]: each for each in csv.DictReader(file)}
    assert float(written["reader"]["G4 PLA"]) == row["G4 PLA"]
    with Store.open_to_read(whole.ledger) as store:
        browser = TestClient(create_app(store, lambda: datetime.now(UTC)), base_url="http://127.0.0.1")
        key = document["run"]
        for address in ("/comments", f"/comments?run={key}"):
            page = browser.get(address).text
            assert key in page
            shown = {unescape(title) for title in re.findall("<caption>(.*?)</caption>", page)}
            titles = {
                (each["name"], each["title"]) for each in document["tables"] if each["rows"] and each["name"] != "13"
            }
            assert "Means of families of models (Figure 2b)" in page and "G4 PLA by G2 DA" in page
            assert shown == {f"Table {name}. {title}" if name.isdigit() else title for name, title in titles}
        assert browser.get("/comments?run=none").status_code == 404


def test_labels_texts_and_tables_are_frames(whole: Whole) -> None:
    with predibot.open_ledger(whole.ledger) as ledger:
        labels, items, tables = ledger.labels(bots=["reader"]), ledger.items(), ledger.tables("stakebench")
        assert not ledger.labels(run=labels[0].run, bots=["reader"]).to_pandas().empty
        with pytest.raises(UsageError, match=r"no .nothing."):
            ledger.tables("nothing")
    frame = labels.to_pandas()
    assert set(frame.status) == {"recorded", "refused"}
    assert frame[frame.label.isna()].status.eq("refused").all()
    texts = items.to_pandas()
    assert set(frame.item) < set(texts.item)
    assert {"truth_label", "question", "split"} <= set(texts.columns)
    right = frame.merge(texts[texts.task == "G2"], on="item")
    assert 0 < (right.label == right.truth_label).mean() < 1
    assert {"bot", "Agg"} <= set(tables["3"].to_pandas().columns)
    assert tables["3"].to_polars().height == len(tables["3"]) > 0


def test_each_text_has_a_page_with_all_bots_or_none_has(whole: Whole) -> None:
    decisions = rows(whole.ledger, "decisions")
    texts = {row["subject_id"] for row in decisions}
    items = {row["event_id"]: json.loads(row["payload"]) for row in rows(whole.ledger, "run_events")}
    run = whole.document["run"]["key"]
    done_here("publish", "site", "--ledger", whole.ledger, "--with-items")
    pages = {path.relative_to("site").as_posix(): path.read_text() for path in Path("site").rglob("*.html")}
    of_texts = {name: page for name, page in pages.items() if name.startswith("item/")}
    assert len(of_texts) == len(texts)
    assert not [name for name in pages if name.startswith("decision/")]
    assert sum(f"What comments reveal: Run {run}" in page for page in pages.values()) >= 2
    with Store.open_to_read(whole.ledger) as store:
        browser = TestClient(create_app(store, lambda: datetime.now(UTC)), base_url="http://127.0.0.1")
        name = min(each for each in texts if each.startswith("G2/"))
        page = unescape(browser.get("/item", params={"run": run, "subject": name}).text)
        assert items[name]["texts"][0] in page
        assert f"Truth: <strong>{items[name]['truth']['label']}</strong>" in page
        body = page.partition("<tbody>")[2].partition("</tbody>")[0]
        assert re.findall(r'href="/bot\?name=(\w+)"', body) == ["reader", "majority"]
        assert browser.get("/item", params={"run": run, "subject": "G2/none"}).status_code == 404
        listed = browser.get("/items", params={"run": run}).text
        assert f"{len(texts)} texts" in listed and "Each text" in browser.get("/comments").text
        assert (
            f"/item?run={run}".replace("@", "%40")
            in browser.get("/decision", params={"run": run, "bot": "majority", "subject": name}).text
        )
    # Without a word for them no page has an id of a text, as the data set has none.
    less = done_here("publish", "site", "--ledger", whole.ledger, "--json").document
    assert less["removed"] >= len(texts)
    assert not any("item/" in path.read_text() or path.parent.name == "item" for path in Path("site").rglob("*.html"))
    left = "".join(path.read_text() for path in Path("site").rglob("*.html"))
    assert not [each for each in texts if each in left]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--run", "texts@1"), "no run of stakebench 'texts@1'"),
        (("--pairs", "reader"), "write A:B with two bots of the run: reader, majority"),
        (("--pairs", "reader:nobody"), "write A:B with two bots of the run"),
    ],
)
def test_a_run_and_bots_that_are_not_there_are_refused(whole: Whole, more: tuple[str, ...], said: str) -> None:
    refused = said_here("tables", "stakebench", "--ledger", whole.ledger, *more)
    assert said in " ".join(refused.err.split())
    assert refused.code == 1


@pytest.mark.parametrize("other", [("--json",), ("--figures", "pictures")])
def test_files_of_tables_are_not_asked_for_beside_another_form(other: tuple[str, ...]) -> None:
    refused = said_here("tables", "stakebench", "--ledger", LEDGER, "--csv", "out", *other)
    assert "give it without --json and --figures" in " ".join((refused.out + refused.err).split())
    assert refused.code == 2


def test_a_report_says_where_labels_are_scored(whole: Whole) -> None:
    said = " ".join(said_here("report", "--ledger", whole.ledger).out.split())
    assert "of game stakebench. `predibot tables stakebench` scores labels" in said
    assert "accounts" not in said


def test_a_dry_run_counts_and_asks_nobody(whole: Whole, reader: Reader) -> None:
    document = done_here(*asked(LEDGER, "--dry-run")).document
    assert document["would_decide"] == len(whole.document["decisions"])
    assert not reader.asked
    assert document["worst_case"]["usd"] == 0.0


def test_another_data_set_is_another_run_and_the_same_is_the_same(few_texts: Path, tmp_path: Path) -> None:
    first = done_here(*asked(LEDGER, "--bots", "majority")).document["run"]["key"]
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("comments.jsonl", "windows.jsonl"):
        lines = (few_texts / name).read_text().splitlines(keepends=True)
        (moved / name).write_text("".join(lines[:-1] if name == "windows.jsonl" else lines))
    more = ("--bots", "majority", "--venue", f"comments:{moved}")
    other = done_here(*asked(LEDGER, *more)).document["run"]["key"]
    assert first.partition("@")[0] == other.partition("@")[0] == "texts"
    assert first != other
    shared = said_here(*asked(LEDGER, "--bots", "majority", "--venue", f"comments:{few_texts},{moved}"))
    assert "is there more than once; collect the data set again, or name folders" in shared.out
    own = said_here("collect", "comments", "sandbox:polymarket", str(moved), "--into", f"{moved}/../moved")
    assert own.code == 1 and "--into names the platform's own folder" in own.err
    assert done_here(*asked(LEDGER, "--bots", "majority")).document["run"]["key"] == first


def test_what_failed_by_its_answer_is_the_miss_that_it_was_as_an_abstention(few_texts: Path) -> None:
    with reading(Silent) as server:
        Path("texts.toml").write_text(RECIPE.format(folder=few_texts, url=server.base_url, seed=7))
        assert said_here(*asked(LEDGER)).code == 3
    tables = ("tables", "stakebench", "--full", "--json", "--ledger", LEDGER)
    after = done_here(*tables).document
    with closing(sqlite3.connect("ledger.db")) as connection, connection:
        # As predibot stored such decisions before.
        written = "UPDATE decisions SET status = 'abstained', reason_kind = 'bot' WHERE reason_kind = 'answer'"
        assert connection.execute(written).rowcount > 2
    assert done_here(*tables).document == after
    assert not after["notes"]


def test_a_model_that_abstains_is_neutral_where_that_is_a_label(whole: Whole) -> None:
    shutil.copy(whole.ledger.removeprefix("sqlite:///"), Path("ledger.db"))
    labels = {row["subject_id"]: row["label"] for row in rows(whole.ledger, "labels") if row["bot"] == "reader"}
    neutral = [name for name, label in labels.items() if label == "NEUTRAL"]
    assert len(neutral) > 5
    tables = ("tables", "stakebench", "--full", "--json", "--ledger", LEDGER)
    before = done_here(*tables).document
    with closing(sqlite3.connect("ledger.db")) as connection, connection:
        of_bot = (
            "SELECT d.id FROM decisions d JOIN bots b ON b.id = d.bot_id JOIN labels l ON l.decision_id = d.id "
            "WHERE b.name = 'reader' AND l.label = 'NEUTRAL'"
        )
        said = "status = 'abstained', reason_kind = 'bot', message = 'the model abstained: no idea', notes_json = '[]'"
        written = f"UPDATE decisions SET {said}, unallocated_usd = NULL WHERE id IN ({of_bot})"
        assert connection.execute(written).rowcount == len(neutral)
        connection.execute("DELETE FROM labels WHERE label = 'NEUTRAL'")
    after = done_here(*tables).document
    assert (
        after["notes"][0] == f"reader: abstained on {len(neutral)} texts; {len(neutral)} count as NEUTRAL, 0 as misses"
    )

    def main(document: Any) -> Any:
        return next(table["rows"] for table in document["tables"] if table["name"] == "3")

    assert [row for row in main(after) if row["bot"] == "reader"] == [
        row for row in main(before) if row["bot"] == "reader"
    ]


def test_who_words_labels_scores_as_who_does_not_and_unread_ones_stay_misses(few_texts: Path) -> None:
    with reading(Wording) as server:
        recipe = RECIPE.format(folder=few_texts, url=server.base_url, seed=7)
        head, first, _ = recipe.split("[[bots]]")
        worded = first.replace('"reader"', '"worded"').replace("openai/reader", "openai/worded")
        Path("texts.toml").write_text(f"{head}[[bots]]{first}[[bots]]{worded}")
        done_here(*asked(LEDGER))
        document = done_here("tables", "stakebench", "--json", "--ledger", LEDGER).document
    (main,) = (table for table in document["tables"] if table["name"] == "3")
    bots = {row["bot"]: row for row in main["rows"]}
    assert bots["worded"] == {**bots["reader"], "bot": "worded"}
    assert 0 < bots["reader"]["unread"] < bots["worded (strict)"]["unread"]
    lenient = bots["worded (strict)"]["unread"] - bots["worded"]["unread"]
    (note,) = (each for each in document["notes"] if each.startswith("labels read leniently"))
    assert f"worded {lenient:,}" in note
