"""The size of a ledger: measured, and made smaller without anything that a score rests on."""

from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from sqlalchemy import text

from predibot.errors import ArtefactPruned, UsageError
from predibot.ledger.care import ledger_stats
from predibot.ledger.files.content_store import Pages
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot
from tests.jobs.test_ledger_copies import EVALUATE, Place, decided, looked_at, place, predibot
from tests.jobs.tiny import canonical_at
from tests.ledger.statements import altered, found
from tests.soaks import ONE_DATABASE

__all__ = ["decided", "place", "predibot"]

KINDS = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
DAY = 86_400_000_000
A_DECISION_IS_MADE = (
    "UPDATE tasks SET status = 'claimed', token = 't', owner = 'far/1/1/a', lease_until = {} WHERE id = 1"
)


def changed(ledger: str, statement: str) -> None:
    with Store.open(ledger) as store, store.write() as connection:
        assert connection.execute(text(statement)).rowcount > 0


def traces_of(ledger: str) -> dict[str, str]:
    """Return the trace of each decision that has one, by the decision's name."""
    statement = (
        "SELECT runs.key || '/' || bots.name || '/' || subject_id, trace_sha256 FROM decisions"
        " JOIN runs ON runs.id = decisions.run_id JOIN bots ON bots.id = bot_id"
        " JOIN subjects ON subjects.id = subject_row WHERE trace_sha256 IS NOT NULL ORDER BY decisions.id"
    )
    return dict(found(ledger, statement))


def scores_of(predibot: Predibot, ledger: str) -> dict[str, Any]:
    """Return what an evaluation says, without the tokens of decisions, which only their traces know."""
    document = predibot(*EVALUATE, ledger).document
    return {name: each for name, each in document.items() if not name.startswith("effort")}


@pytest.fixture
def aged(predibot: Predibot, decided: Place, kind: str) -> str:
    """Return the address of a ledger with two traces, one of which is of 200 days ago."""
    ledger = decided(kind)
    oldest = next(iter(traces_of(ledger).values()))
    changed(
        ledger,
        f"UPDATE attempts SET ended_at = ended_at - {200 * DAY} WHERE task_id ="
        f" (SELECT task_id FROM decisions WHERE trace_sha256 = '{oldest}')",
    )
    return ledger


@ONE_DATABASE
@KINDS
def test_old_traces_are_pruned_when_that_is_confirmed_and_no_score_changes(
    predibot: Predibot, aged: str, place: Place, kind: str
) -> None:
    prune = ("ledger", "prune", "--traces-older-than", "180d", "--ledger", aged)
    (old, gone), (new, kept) = traces_of(aged).items()
    before, scores = canonical_at(aged), scores_of(predibot, aged)
    said = predibot(*prune)
    assert (said.code, "1 trace, " in said.out, "add --yes to do it" in said.out) == (0, True, True)
    assert (looked_at(aged)["traces present"], predibot("trace", old, "--ledger", aged).code) == (2, 0)
    done = predibot(*prune, "--yes", "--json").document
    assert (done["done"], done["traces"], done["bots"][0]["bot"]) == (True, 1, "tool_agent")
    assert (canonical_at(aged), scores_of(predibot, aged)) == (before, scores)
    checks = looked_at(aged)
    assert (checks["traces present"], checks["traces pruned"], checks["pages present"] > 0) == (1, 1, True)
    said = predibot("trace", old, "--ledger", aged)
    assert (said.code, f"the trace {gone} was pruned on 20" in said.err) == (1, True)
    assert predibot("trace", new, "--ledger", aged).code == 0
    said = predibot("decide", "--rerun-traces", old.rsplit("/", 2)[0], "--ledger", aged)
    assert (said.code, "was pruned on" in said.err) == (1, True)
    assert "nothing to prune" in predibot(*prune, "--yes").out
    assert list(traces_of(aged).values()) == [gone, kept]
    # A copy says so too, and what is pruned is not missing in it.
    after = place(kind)
    said = predibot("ledger", "copy", aged, after)
    assert ("1 trace pruned before" in said.out, "not copied" in said.out) == (True, False)
    assert looked_at(after)["traces pruned"] == 1


@ONE_DATABASE
@KINDS
def test_a_trace_that_a_new_decision_names_too_is_not_pruned_and_one_that_is_kept_again_is_there(
    predibot: Predibot, aged: str
) -> None:
    old, new = traces_of(aged).values()
    changed(aged, f"UPDATE decisions SET trace_sha256 = '{old}' WHERE trace_sha256 = '{new}'")
    prune = ("ledger", "prune", "--traces-older-than", "180d", "--yes", "--json", "--ledger", aged)
    assert predibot(*prune).document["traces"] == 0
    changed(aged, f"UPDATE decisions SET trace_sha256 = '{new}' WHERE id = (SELECT max(id) FROM decisions)")
    changed(aged, f"UPDATE attempts SET ended_at = ended_at - {200 * DAY}")
    with Store.open(aged) as store:
        data = Traces(store).files.read(old)
        assert predibot(*prune).document["traces"] == 2
        Traces(store).files.keep(data)
        assert Traces(store).files.read(old) == data


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_trace_stays_where_decisions_begin_before_its_file_is_removed(
    predibot: Predibot, aged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old, _), looks = traces_of(aged).values(), count(1)
    require = ledger_stats.require_nobody_at_work

    def begin_before_the_second_look(*given: Any) -> None:
        if next(looks) == 2:
            raise UsageError("decisions are being made")
        require(*given)

    monkeypatch.setattr(ledger_stats, "require_nobody_at_work", begin_before_the_second_look)
    prune = ("ledger", "prune", "--traces-older-than", "180d", "--yes", "--json", "--ledger", aged)
    with Store.open(aged) as store:
        assert predibot(*prune).document["traces"] == 1
        assert Traces(store).files.read(old)
        assert predibot(*prune).document["traces"] == 1
        with pytest.raises(ArtefactPruned):
            Traces(store).files.read(old)


@ONE_DATABASE
@KINDS
@pytest.mark.parametrize("command", [("prune", "--traces-older-than", "180d", "--yes"), ("compact",)])
def test_nothing_is_removed_while_decisions_are_made(predibot: Predibot, aged: str, command: tuple[str, ...]) -> None:
    changed(aged, A_DECISION_IS_MADE.format(10**17))
    said = predibot("ledger", *command, "--ledger", aged)
    assert (said.code, "decisions are being made with" in said.err) == (1, True)
    # Of one whose lease ran out nothing comes any more.
    changed(aged, A_DECISION_IS_MADE.format(1))
    assert predibot("ledger", *command, "--ledger", aged).code == 0


@KINDS
def test_compacting_removes_what_no_row_names_and_gives_room_back(
    predibot: Predibot, aged: str, tmp_path: Path, kind: str
) -> None:
    with Store.open(aged) as store:
        Pages(store).keep("nobody's " * 100)
        Traces(store).keep(Trace())
        with store.write() as connection:
            grow = text("INSERT INTO events (venue, event_id, title) VALUES ('v', :n, :title)")
            connection.execute(grow, [{"n": str(n), "title": token_hex(10_000)} for n in range(100)])
            connection.execute(text("DELETE FROM events WHERE venue = 'v'"))
    if kind == "sqlite":
        (folder,) = tmp_path.glob("*.db.files")
        (folder / "traces/.unfinished-0").write_text("half")
        (folder / "note.txt").write_text("a user's own")
    before = canonical_at(aged)
    with Store.open(aged) as other:
        done = predibot("ledger", "compact", "--json", "--ledger", aged).document
        # Who has it open goes on.
        altered(other, "INSERT INTO events (venue, event_id, title) VALUES ('w', 'w', 'w')")
    assert (done["artefacts"], done["unfinished"]) == (2, int(kind == "sqlite"))
    assert done["bytes_after"] < done["bytes_before"]
    assert (canonical_at(aged), looked_at(aged)["traces present"]) == (before, 2)
    if kind == "sqlite":
        assert (folder / "note.txt").exists()


@ONE_DATABASE
@KINDS
def test_the_stats_count_what_there_is(predibot: Predibot, aged: str) -> None:
    predibot("ledger", "prune", "--traces-older-than", "180d", "--yes", "--ledger", aged)
    document = predibot("ledger", "stats", "--json", "--ledger", aged).document
    held = {each["name"]: each for each in document["held"]}
    points = len(predibot("export", "--table", "observations", "--ledger", aged).out.splitlines())
    counted = [held[name]["rows"] for name in ("runs", "decisions", "traces", "observations")]
    assert counted == [1, 4, 1, points]
    assert points > 0
    for name in ("decisions", "traces", "pages", "observations"):
        each = held[name]
        assert each["bytes_each"] == pytest.approx(each["n_bytes"] / each["rows"])
        assert "2026-01" <= each["oldest_at"][:7] <= each["newest_at"][:7] <= "2100"
    assert (document["pruned_traces"], document["database_bytes"] > 100_000) == (1, True)
    said = predibot("ledger", "stats", "--ledger", aged)
    assert "Pruned before: 1 trace." in said.out


@KINDS
def test_an_empty_ledger_has_stats_without_sizes_of_what_is_not_there(
    predibot: Predibot, place: Place, kind: str
) -> None:
    ledger = place(kind)
    Store.open(ledger).close()
    held = predibot("ledger", "stats", "--json", "--ledger", ledger).document["held"]
    assert {each["rows"] for each in held[:-1]} == {0}
    assert {each["bytes_each"] for each in held[:-1]} == {None}
    assert "nothing to prune" in predibot("ledger", "prune", "--traces-older-than", "1d", "--ledger", ledger).out
