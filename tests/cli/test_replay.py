"""`predibot replay`: many instants of the past at once, and how good the bots were."""

from pathlib import Path

import pytest

from predibot.cli.ending import resume_advice
from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD
from tests.jobs.tiny import write_archive

DAYS = ("--from", "2026-02-13T19:30Z", "--to", "2026-02-15T19:30Z", "--every", "1d")
ARCHIVE = ("--venue", "archive:archive")


@pytest.fixture
def replays(predibot: Predibot, tmp_path: Path) -> Predibot:
    """Return the program in a folder with a tiny archive."""
    write_archive(tmp_path / "archive")
    return predibot


def test_it_prints_what_evaluate_prints_and_then_over_what_it_went(replays: Predibot) -> None:
    said = replays("replay", *DAYS, *ARCHIVE)
    assert said.code == 0, said.err
    evaluated, hint, _ = replays("evaluate", "daily", *ARCHIVE, "--as-of", "2026-02-23T19:30Z").out.rsplit("\n", 2)
    assert "predibot report --explain" in hint
    evaluated += "\n"
    assert said.out.startswith(evaluated)
    assert said.out[len(evaluated) :] == (
        "\nreplayed daily, 2026-02-13T19:30Z to 2026-02-15T19:30Z every 1d, 3 instants: 18 recorded\n"
        "3 receipts made or found; `predibot verify` shows their roots\n"
        "`predibot report daily --as-of 2026-02-23T19:30Z` shows these scores again, from this ledger\n"
    )
    assert replays("report", "daily", "--as-of", "2026-02-23T19:30Z").out.startswith(evaluated.rstrip("\n"))
    lines = said.err.splitlines()
    assert lines[:2] == ["recipe: the packaged recipe 'daily'", "ledger: sqlite:///runs/out/predibot.db"]
    assert [line.partition(", about ")[0] for line in lines[2:]] == [
        "2026-02-13T19:30Z: instant 1 of 3, 6 recorded",
        "2026-02-14T19:30Z: instant 2 of 3, 6 recorded",
        "2026-02-15T19:30Z: instant 3 of 3, 6 recorded",
    ]
    again = replays("replay", *DAYS, *ARCHIVE)
    assert again.out == said.out
    assert again.err.splitlines()[-1] == "2026-02-15T19:30Z: instant 3 of 3, 6 decided before"


def test_the_document_is_that_of_evaluate_with_the_instants_in_it(replays: Predibot) -> None:
    to = ("--to", "2026-02-26T19:30Z", "--every", "7d", "--check-lookahead", "--sample", "5")
    document = replays("replay", *DAYS[:2], *to, *ARCHIVE, "--json").document
    evaluated = replays("evaluate", "daily", *ARCHIVE, "--as-of", "2026-02-27T19:30Z", "--json").document
    assert list(document) == [*(key for key in evaluated if key != "exit_code"), "replay", "look_ahead", "exit_code"]
    replayed = document["replay"]
    assert " ".join(replayed) == "recipe venue from to every totals instants notes"
    assert replayed["totals"] == {"recorded": 8, "refused": 0, "failed": 0, "abstained": 0}
    assert [each["events"] for each in replayed["instants"]] == [3, 1]
    assert " ".join(replayed["instants"][0]) == "instant run as_of events decisions made_here receipt notes"
    assert document["look_ahead"] == {"decisions": 8, "checked": 5, "differing": 0, "differences": [], "skipped": {}}


def test_instants_without_an_event_are_counted_and_named(replays: Predibot) -> None:
    said = replays("replay", *DAYS[:2], "--to", "2026-03-09T19:30Z", "--every", "12d", *ARCHIVE)
    assert "note: 2 of 3 instants had no event to play: 2026-02-25T19:30Z, 2026-03-09T19:30Z\n" in said.out
    assert "2026-02-25T19:30Z: instant 2 of 3, no event to play, about" in said.err


def test_the_sandbox_can_be_replayed(replays: Predibot) -> None:
    days = ("--from", "2026-01-05T12:00Z", "--to", "2026-01-08T12:00Z", "--every", "3d", "--as-of", "2026-02-01")
    document = replays("replay", "--venue", WORLD, "--events", "2", *days, "--json").document
    assert document["as_of"] == "2026-02-01T00:00Z"
    assert [each["events"] for each in document["replay"]["instants"]] == [2, 2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            [],
            1,
            "polymarket is live: nobody can ask it what it said in the past. Record it with `predibot record FOLDER`",
        ),
        ([*ARCHIVE, "--every", "0d"], 2, "'0d' is no length; write one of at most 366 days like '1d'"),
        ([*ARCHIVE, "--from", "soon"], 2, "'soon' is not an instant; write it like"),
        ([*ARCHIVE, "--every", "12h"], 1, "the recipe plays once in each 1d, so every 12h would decide nothing new"),
        ([*ARCHIVE, "--from", "2026-02-14", "--to", "2026-02-13"], 1, "before it begins at 2026-02-14T00:00Z"),
        (
            [*ARCHIVE, "--from", "2026-02-01"],
            1,
            "no snapshot at or before 2026-02-01T00:00Z; its first is of 2026-02-13",
        ),
        ([*ARCHIVE, "--to", "2099-01-01"], 1, "every 1d makes 26,620 instants, above 10,000"),
        ([*ARCHIVE, *DAYS, "--as-of", "2026-02-14"], 1, "not all decisions are made; the last is of 2026-02-15T19:30Z"),
        ([*ARCHIVE, "--sample", "0"], 2, "--sample"),
        (["--venue", "sandbox", "--to", "2027-01-01"], 1, "world lasts from"),
    ],
)
def test_what_cannot_be_replayed_is_one_line(replays: Predibot, arguments: list[str], code: int, said: str) -> None:
    seen = replays("replay", *arguments)
    assert (seen.code, seen.out) == (code, "")
    assert seen.err.splitlines()[-1].startswith("error: ")
    assert said in seen.err.splitlines()[-1]


def test_a_replay_that_was_stopped_can_be_gone_on_with() -> None:
    assert resume_advice(["replay", "weekly.toml"], "interrupted").startswith(
        "interrupted: what is recorded is kept. To go on"
    )


def test_a_slot_that_was_decided_otherwise_names_a_way_that_replay_has(replays: Predibot) -> None:
    assert replays("replay", *DAYS, *ARCHIVE).code == 0
    said = replays("replay", *DAYS, *ARCHIVE, "--events", "2")
    assert said.code == 1
    assert said.err.splitlines()[-1].endswith("or name another ledger to make another beside it.")
    assert replays("replay", *DAYS, *ARCHIVE, "--events", "2", "--ledger", "sqlite:///other.db").code == 0
