"""Pairs end to end: models that are scripted, a judge, baselines, processes."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from predibot.ledger.store import Store
from predibot.reports.terminal.study_tables import print_tables
from predibot.studies.beliefbench import STUDY
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS
from predibot.studies.beliefbench.readings import pair_tables
from tests.acceptance.conftest import done_here, said_here
from tests.jobs.program import Program, document_of
from tests.jobs.tiny import canonical_at
from tests.soaks import SOAK
from tests.studies.beliefbench.pair_readers import RECIPE, PairReader, answer_to, pairs_in
from tests.studies.stakebench.readers import SETTINGS, Reader, here, reader, reading, rows

__all__ = ["here", "reader"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pairs_in(tmp_path_factory.mktemp("markets"))


@pytest.fixture(scope="module")
def model() -> Iterator[Reader]:
    """Return a model that reads, at one address for all runs, so that they are equal ones."""
    with reading(PairReader) as server:
        yield server


@dataclass(frozen=True, slots=True)
class Whole:
    ledger: str
    canonical: str
    prompts: tuple[str, ...]
    document: Any


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, pairs: Path, model: Reader) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "pairs.toml").write_text(RECIPE.format(folder=pairs, url=model.base_url))
    model.asked.clear()
    ledger = f"sqlite:///{folder}/whole.db"
    with chdir(folder):
        document = done_here(*asked(ledger)).document
    assert document["totals"]["failed"] == 0
    return Whole(ledger, canonical_at(ledger), tuple(model.prompts), document)


@pytest.fixture(autouse=True)
def _recipe(here: None, pairs: Path, reader: Reader) -> None:
    """Have a recipe of pairs in the folder of the test."""
    Path("pairs.toml").write_text(RECIPE.format(folder=pairs, url=reader.base_url))


LEDGER = "sqlite:///ledger.db"


def asked(ledger: str, *more: str) -> tuple[str, ...]:
    return ("decide", "pairs.toml", "--ledger", ledger, "--json", *more)


def items_of(whole: Whole) -> dict[str, Any]:
    return {row["event_id"]: json.loads(row["payload"]) for row in rows(whole.ledger, "run_events")}


def labels_of(whole: Whole, bot: str) -> dict[str, str]:
    return {row["subject_id"]: row["label"] for row in rows(whole.ledger, "labels") if row["bot"] == bot}


def test_a_model_is_shown_titles_and_descriptions_and_nothing_else_of_a_pair(whole: Whole) -> None:
    items = items_of(whole)
    hidden = {str(market["volume_usd"]) for item in items.values() for market in item["markets"]}
    hidden |= {market["first_on"] for item in items.values() for market in item["markets"]}
    # A score of 1.0 is also the end of a label.
    hidden |= {str(item["truth"]["score"]) for item in items.values()} - {"1.0"}
    hidden |= {"crypto", "x0", "x2", "x14", "across"}
    for prompt in whole.prompts:
        found = [item for item in items.values() if all(title in prompt for title, _ in item["texts"])]
        assert any(all(text in prompt for _, text in item["texts"]) for item in found)
        assert not [each for each in hidden if each in prompt]


def test_labels_are_what_the_models_said_and_what_is_none_is_refused(whole: Whole) -> None:
    decisions = {(row["bot"], row["subject_id"]): row for row in rows(whole.ledger, "decisions")}
    items = items_of(whole)
    assert {row["subject_kind"] for row in decisions.values()} == {"pair"}
    for bot, words in (("direct", "Answer with one JSON object"), ("reasons", "First say in a few sentences")):
        statuses = Counter(row["status"] for (name, _), row in decisions.items() if name == bot)
        said = [answer_to(prompt) for prompt in whole.prompts if words in prompt and "# The reasons" not in prompt]
        none = sum(not answer.endswith('"}') or answer.startswith("It is") for answer in said)
        assert statuses == {"refused": none, "recorded": len(items) - none}
        assert 0 < none < len(items)
    for name, label in labels_of(whole, "reasons").items():
        row = decisions["reasons", name]
        (prompt,) = (
            each
            for each in whole.prompts
            if "First say" in each and all(f": {title}\n" in each for title, _ in items[name]["texts"])
        )
        assert row["rationale"] == answer_to(prompt).rpartition("\n")[0]
        assert json.loads(answer_to(prompt).rpartition("\n")[2]) == {"label": label}


def test_a_judge_is_asked_about_the_reasons_of_those_who_gave_a_label(whole: Whole) -> None:
    decisions = {row["subject_id"]: row for row in rows(whole.ledger, "decisions") if row["bot"] == "judge"}
    with_reasons = labels_of(whole, "reasons")
    asked_of = {name for name, row in decisions.items() if row["status"] in ("recorded", "refused")}
    assert asked_of == set(with_reasons)
    assert {row["reason_kind"] for name, row in decisions.items() if name not in asked_of} == {"members"}
    judged = labels_of(whole, "judge")
    assert judged and set(judged.values()) <= set(REASONINGS)
    with Store.open_to_read(whole.ledger) as store:
        tables = {table.name: table for table in pair_tables(store).tables}
    everything = tables["reasons"].rows[0]
    assert everything[:4] == ("reasons", "judge", "(all)", len(judged))
    assert everything[4:] == tuple(list(judged.values()).count(kind) / len(judged) for kind in REASONINGS)
    # "direct" asks the same model for a label alone.
    compared = with_reasons.keys() & labels_of(whole, "direct").keys()
    assert tables["hops"].rows[0][:4] == ("reasons", "direct", "(all)", len(compared))
    assert tables["cases"].rows and all("Both are of" in row[-1] for row in tables["cases"].rows)


@SOAK
def test_processes_do_the_same_as_threads(whole: Whole, tmp_path: Path) -> None:
    with closing(Program(tmp_path, SETTINGS)) as player:
        document_of(player.start(*asked(player.ledger, "--executor", "processes:2")))
        assert canonical_at(player.ledger) == whole.canonical


def test_tables_say_how_near_each_bot_came_as_screen_json_and_files(whole: Whole) -> None:
    told = ("tables", "beliefbench", "--ledger", whole.ledger)
    document = done_here(*told, "--json").document
    tables = {each["name"]: each["rows"] for each in document["tables"]}
    by_bot = {row["bot"]: row for row in tables["all"]}
    assert list(by_bot) == ["direct", "reasons", "random", "tfidf", "tags"]
    truth = {name: item["truth"]["label"] for name, item in items_of(whole).items()}
    for bot, row in by_bot.items():
        said = labels_of(whole, bot)
        assert row["answers"] == len(truth)
        assert row["unread"] == len(truth) - len(said)
        # How it is computed is held where scores are.
        assert row["Acc"] == np.mean([said.get(name) == label for name, label in truth.items()])
    assert by_bot["tfidf"]["QWK"] > by_bot["random"]["QWK"]
    assert {row["domain"] for row in tables["domains"]} == {"Crypto", "Politics", "across"}
    # All markets are of the first of January, and "after" is after the cutoff.
    parts = {(row["bot"], row["part"]): row["answers"] for row in tables["cutoff"]}
    assert parts == {("direct", "before"): len(truth), ("direct", "after"): 0}
    screen = done_here(*told).out
    assert "How related two questions are" in screen
    assert "By domain" not in screen
    assert "By domain" in said_here(*told, "--full").out
    drawn = said_here(*told, "--figures", "drawn").out
    # All markets are of one day, so nothing changed after the cutoff.
    assert [name for name in ("domains", "reasons", "after_cutoff") if f"{name}.svg" in drawn] == ["domains", "reasons"]
    assert "Crypto" in Path("drawn", "domains.svg").read_text()
    assert {f"graph_{bot}.svg" for bot in ("direct", "tfidf")} <= {each.name for each in Path("drawn").iterdir()}
    paths = said_here(*told, "--csv", "out").out.split()
    assert len(paths) == len(document["tables"])
    with Path("out", "table_all.csv").open(newline="") as file:
        assert {row["bot"]: float(row["Acc"]) for row in csv.DictReader(file)} == {
            bot: row["Acc"] for bot, row in by_bot.items()
        }


def test_tables_fit_on_a_screen_of_80_columns(whole: Whole) -> None:
    console = Console(width=80, record=True)
    with Store.open_to_read(whole.ledger) as store:
        print_tables(console, STUDY, pair_tables(store), full=True)
    lines = console.export_text().splitlines()
    headers = [line for line in lines if line.startswith(("bot ", "domain "))]
    assert len(headers) == 9
    shown = [line for line in lines if line.startswith(("bot ", "domain ", "direct ", "Crypto ", "reasons "))]
    assert max(map(len, shown)) <= 80
    assert all(name in headers[0] for name in ("answers", "Acc", "F1", "QWK", "low", "high", "Spearman", "MSE", "MAE"))
    assert all(name in headers[2] for name in ("cutoff", "part", "MSE"))


def test_peoples_labels_are_compared_with_each_other_with_S_and_with_the_bots(whole: Whole) -> None:
    told = ("tables", "beliefbench", "--ledger", whole.ledger)
    assert "sheet.csv" in said_here(*told, "--sheet", "sheet.csv").out
    document = done_here(*told, "--sheet", "again.csv", "--json").document
    assert (document["sheet"], document["pairs"]) == ("again.csv", len(items_of(whole)))
    refused = said_here(*told, "--sheet", "none.csv", "--people", "sheet.csv")
    assert "--sheet writes a sheet instead of tables" in " ".join(refused.err.split())
    assert refused.code == 2
    alone = said_here(*told, "--reasons-sheet", "reasons.csv")
    assert "no pair has different reasons by two bots" in " ".join(alone.err.split())
    with Path("sheet.csv").open(newline="", encoding="utf-8-sig") as file:
        sheet = list(csv.DictReader(file))
    truth = {name: item["truth"] for name, item in items_of(whole).items()}
    assert {row["pair"] for row in sheet} == set(truth)
    assert set(sheet[0]) == {"pair", "title_1", "description_1", "title_2", "description_2", "rater", "label"}
    assert not [row for row in sheet if row["label"] or row["rater"]]
    # One says the truth, one is always a step above it, as far as there is one.
    above = {label: LABELS[min(place + 1, 4)] for place, label in enumerate(LABELS)}
    lines = ["pair,rater,label"]
    for name in (row["pair"] for row in sheet):
        lines += [f"{name},ann,{truth[name]['label']}", f"{name},bob,{above[truth[name]['label']]}"]
    # Two copies of the sheet, one below the other.
    heads = len(truth) + 1
    lines.insert(heads, "\ufeff" + lines[0])
    Path("people.csv").write_text("\n".join(lines), encoding="utf-8")
    document = done_here(*told, "--people", "people.csv", "--json").document
    tables = {each["name"]: each["rows"] for each in document["tables"]}
    ann = [LABELS.index(truth[name]["label"]) for name in truth]
    bob = [min(place + 1, 4) for place in ann]
    both, everyone = tables["raters"]
    assert (both["raters"], both["pairs"]) == ("ann and bob", len(truth))
    assert both["Pearson"] == pytest.approx(np.corrcoef(ann, bob)[0, 1])
    assert 0.0 < everyone["ICC"] < everyone["ICC of mean"] < 1.0
    against = {row["what"]: row for row in tables["people"]}
    mean = np.mean([ann, bob], axis=0)
    assert against["S"]["Pearson"] == pytest.approx(np.corrcoef([truth[n]["score"] for n in truth], mean)[0, 1])
    assert set(against) == {"S", "direct", "reasons", "random", "tfidf", "tags"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pair,label\nx,0.0-0.2\n", "has no column 'rater'"),
        ("pair,rater,label\nx,ann,0.0-0.2\n", "line 2: there is no pair 'x'"),
        ("pair,rater,label\n{pair},ann,1.3\n", "the label is '1.3'; it is one of 0.0-0.2"),
        ("pair,rater,label\n{pair},ann,nan\n", "the label is 'nan'; it is one of 0.0-0.2"),
        ("pair,rater,label\n{pair},,0.0-0.2\n", "nobody is named under 'rater'"),
        ("pair,rater,label\n{pair},ann,0.0-0.2\n{pair},ann,0.0-0.2\n", "labelled"),
        ("pair,rater,label\n{pair},ann,\n", "has no label"),
        ('pair,rater,label\n{pair},ann,0.0-0.2\n"x,bob,0.0-0.2\n', "cannot be read as CSV: unexpected end of data"),
    ],
)
def test_a_file_of_labels_that_is_none_is_refused(whole: Whole, text: str, said: str) -> None:
    Path("people.csv").write_text(text.format(pair=next(iter(items_of(whole)))))
    refused = said_here("tables", "beliefbench", "--ledger", whole.ledger, "--people", "people.csv")
    assert said in " ".join(refused.err.split())
    assert refused.code == 1


def test_pairs_and_comments_are_not_played_for_one_another(pairs: Path) -> None:
    refused = said_here("decide", "stakebench", "--venue", f"pairs:{pairs}", "--ledger", LEDGER)
    assert "a data set of pairs has no comments" in " ".join(refused.err.split())
    assert refused.code == 1


@SOAK
def test_the_baselines_of_recorded_markets_say_what_they_lack(shared_data: Path) -> None:
    source = f"archive:{shared_data / 'polymarket-daily'}"
    done_here("collect", "pairs", source, "recorded")
    decided = done_here("decide", "beliefbench", "--venue", "pairs:recorded", "--ledger", LEDGER, "--json").document
    assert decided["totals"]["failed"] == 0
    document = done_here("tables", "beliefbench", "--ledger", LEDGER, "--json").document
    (table,) = (each["rows"] for each in document["tables"] if each["name"] == "all")
    by_bot = {row["bot"]: row for row in table}
    no_volume = "171 pairs without a label: the venue states no volume of one of the markets"
    assert {bot: row["remark"] for bot, row in by_bot.items() if not row["answers"]} == {
        "volume_max_to_min": no_volume,
        "volume_similarity": no_volume,
        "tag_overlap": "171 pairs without a label: neither market has a tag",
    }
    assert all(by_bot[bot]["QWK"] is None for bot in ("volume_max_to_min", "volume_similarity", "tag_overlap"))
    # Words are a part of S.
    assert by_bot["random"]["QWK"] < by_bot["time_overlap"]["QWK"] < by_bot["tfidf"]["QWK"]
    assert by_bot["tfidf"]["low"] > by_bot["random"]["high"]
