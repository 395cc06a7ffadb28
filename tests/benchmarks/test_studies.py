"""Measures the site and the tables of a study as large as StakeBench's: 15 bots, 10,588 texts; prints, never judges."""

import io
import random
import resource
import time
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from rich.console import Console
from sqlalchemy import Connection

from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.schema.values import event_to_json
from predibot.ledger.store import Store
from predibot.reports.terminal.study_tables import print_tables
from predibot.studies.label_game import freeze_item
from predibot.studies.stakebench import STUDY
from predibot.studies.stakebench.positions import ACTION_HOURS
from predibot.studies.stakebench.tasks import TASKS, Item, Truth, subject_kind
from predibot.web.site import SiteOptions, write_site
from tests.benchmarks.ledgers import BEGIN, DAY, put

pytestmark = pytest.mark.benchmark

ITEMS, BOTS = 10_588, 15
FIRST_STEP = 22_536
"""Labels of a smaller study."""


def items_of(number: int, rng: random.Random) -> list[Item]:
    """Return texts of all tasks in eighteen splits, with truths at random."""
    topics = (
        "politics_us",
        "politics_intl",
        "crypto",
        "economics",
        "tech_other",
        "other",
        "science",
        "culture",
        "meta",
    )
    splits = [f"{platform}/{topic}" for platform, topic in product(("polymarket", "manifold"), topics)]
    found = []
    for place in range(number):
        split, task = splits[place % len(splits)], list(TASKS)[place // len(splits) % len(TASKS)]
        market = f"{split}-{rng.randrange(30)}"
        side, size, label = rng.choice(("YES", "NO")), rng.lognormvariate(5.0, 2.0), rng.choice(TASKS[task][:2])
        if task == "G3":
            label = rng.choice(TASKS[task])
        if task == "G2":
            label = side
        holds = label != "NO" if task == "G1" else task != "G2before"
        window = task == "G4"
        stakes = [(rng.choice(("YES", "NO")), size) for _ in range(12)] if window else [(side, size)] * holds
        truth = Truth(
            "" if task == "G2before" else label,
            tuple(stakes),
            user="" if window else f"u{rng.randrange(400)}",
            resolved=rng.choice((-1, 1)),
            volume=rng.lognormvariate(11.0, 1.0),
            days_left=30.0 * rng.random(),
            actions=(label,) * len(ACTION_HOURS) if task == "G3" else (),
            written=0 if window else rng.randrange(1, 9),
        )
        texts = tuple(
            " ".join(["words", "of", "a", "comment"] * rng.randrange(3, 30)) for _ in range(12 if window else 1)
        )
        price = rng.random() if window else None
        asks_action = task.startswith("G3")
        shown = {"side": side, "size": size} if asks_action else {}
        found.append(
            Item(task, f"{place:024x}", split, market, f"Will {market} be?", texts, price=price, truth=truth, **shown)
        )
    return found


def fill(connection: Connection, items: list[Item], bots: int, rng: random.Random) -> None:
    """Store a run of them, as so many bots labelled it."""
    at = to_microseconds(BEGIN)
    texts = ("recipe_json", "overrides_json", "passed_over_json", "notes_json", "code_version", "digest")
    named = ("id", "key", "recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "created_at", *texts)
    made = (
        1,
        "stakebench@1",
        "stakebench",
        at,
        at,
        "comments:x",
        "comments",
        "stakebench",
        42,
        at,
        *["{}"] * 3,
        "[]",
        "",
        "",
    )
    put(connection, "runs", named, [made])
    put(
        connection,
        "bots",
        ("id", "run_id", "name", "strategy", "model", "arguments_json", "source_sha256"),
        ((n + 1, 1, f"bot_{n}", "one_shot", f"model/{n}", "{}", "") for n in range(bots)),
    )
    rows = list(enumerate(items, 1))
    put(
        connection,
        "events",
        ("id", "venue", "event_id", "title"),
        ((n, "comments", i.subject_id, i.question) for n, i in rows),
    )
    put(
        connection,
        "run_events",
        ("run_id", "position", "event_row", "event_json", "payload"),
        ((1, n, n, event_to_json(freeze_item(item, item.question, item.task)), item.as_json()) for n, item in rows),
    )
    put(
        connection,
        "subjects",
        ("id", "venue", "kind", "subject_id"),
        ((n, "comments", subject_kind(i.task), i.subject_id) for n, i in rows),
    )
    pairs = [(n, bot, row, item) for n, ((row, item), bot) in enumerate(product(rows, range(1, bots + 1)), 1)]
    put(
        connection,
        "tasks",
        ("id", "run_id", "bot_id", "subject_row", "status", "failures"),
        ((n, 1, bot, row, "recorded", 0) for n, bot, row, _ in pairs),
    )
    columns = ("id", "task_id", "run_id", "bot_id", "subject_row", "status", "decided_at", "message", "rationale")
    put(
        connection,
        "decisions",
        (*columns, "notes_json", "unallocated_usd", "scale", "cost_usd", "cost_known_usd", "seconds"),
        ((n, n, 1, bot, row, "recorded", at, "", "", "[]", 0.0, 1.0, 0.001, 0.001, 0.1) for n, bot, row, _ in pairs),
    )
    put(
        connection,
        "labels",
        ("decision_id", "number", "item_id", "label", "probabilities_json"),
        ((n, 1, item.subject_id, rng.choice(TASKS[item.task]), "{}") for n, _, _, item in pairs),
    )


@pytest.mark.parametrize("items", [FIRST_STEP // BOTS, ITEMS])
def test_site_and_tables_of_a_study(items: int, tmp_path: Path) -> None:
    rng = random.Random(1)
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        with store.write() as connection:
            fill(connection, items_of(items, rng), BOTS, rng)
        print(f"\n{items * BOTS:,} labels of {items:,} texts")
        began = time.process_time()
        found = STUDY.read(store)
        print(f"tables {time.process_time() - began:6.1f} s")
        began = time.process_time()
        print_tables(Console(file=io.StringIO(), width=120), STUDY, found, full=True)
        print(f"screen {time.process_time() - began:6.1f} s")
        for name, options in (("without items", SiteOptions()), ("with items", SiteOptions(items=True))):
            began = time.process_time()
            made = write_site(store, tmp_path / name.replace(" ", "_"), options, lambda: BEGIN + DAY, lambda _: None)
            size = sum(each.stat().st_size for each in (tmp_path / name.replace(" ", "_")).rglob("*") if each.is_file())
            print(f"site {name} {time.process_time() - began:6.1f} s, {made.files:,} files, {size / 1e6:,.0f} MB")
        print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most")
