"""Receipts: made of every run, the same in every ledger that holds the same, and telling what was changed since."""

import json
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from predibot.ledger.merkle_tree import leaf_hash, root_from
from tests.acceptance.conftest import Predibot
from tests.forked import Forked
from tests.jobs.agent_run import BASELINE, LEDGER, change, predibot
from tests.jobs.program import SLOW, Program, document_of, wait_until
from tests.ledger.databases import Postgres
from tests.soaks import few

__all__ = ["predibot"]

GATED = """from pathlib import Path
        turn = len(list(Path().glob("*.done")))
        while not Path(f"{turn}.go").exists():
            time.sleep(0.02)
        Path(f"{turn}.done").touch()"""
AS_IF_NEVER_MADE = ("DELETE FROM receipts", "DELETE FROM ledger_receipts", "UPDATE runs SET receipted = NULL")
"""What somebody does who has receipts made anew over something else."""
SHARP = "SELECT d.id FROM decisions d JOIN bots b ON b.id = d.bot_id WHERE b.model IS NOT NULL"
CHANGES = {
    "UPDATE forecasts SET probability = probability / 2": "forecasts.probability",
    "UPDATE forecasts SET rationale = rationale || '!'": "forecasts.rationale",
    "UPDATE forecasts SET question_sha256 = 'x'": "forecasts.question_sha256",
    "UPDATE orders SET amount = amount / 2": "orders.amount",
    "UPDATE orders SET price = price / 2": "orders.price",
    "UPDATE fills SET shares = shares * 2": "fills.shares",
    "UPDATE fills SET price = price * 2": "fills.price",
    "UPDATE quotes SET bid = bid / 2 WHERE bid > 0": "quotes.bid",
    "UPDATE quotes SET at = at + 1": "quotes.at",
    "UPDATE decisions SET status = 'refused', unallocated_usd = NULL": "decision.status",
    "UPDATE decisions SET decided_at = decided_at - 1": "decision.decided_at",
    "UPDATE decisions SET cost_usd = 7.0": "decision.cost_usd",
    "UPDATE decisions SET trace_sha256 = 'ab' WHERE trace_sha256 IS NOT NULL": "decision.trace_sha256",
    "UPDATE sources SET sha256 = 'ab' WHERE kind = 'page'": "sources.sha256",
    "UPDATE sources SET text = 'another query' WHERE kind = 'search'": "sources.text",
    "UPDATE sources SET number = number + 9": "sources.number",
    "UPDATE quotes SET depth_json = '{}'": "quotes.depth_json",
    "UPDATE bots SET model = 'other' WHERE model IS NOT NULL": "bot.model",
    "UPDATE bots SET arguments_json = '{\"a\":1}'": "bot.arguments_json",
    "UPDATE bots SET knowledge_cutoff = '2020-01-01'": "bot.knowledge_cutoff",
    "UPDATE runs SET as_of = as_of - 1": "run.as_of",
    "UPDATE runs SET venue = 'sandbox:events=21'": "run.venue",
    "UPDATE runs SET passed_over_json = '[]'": "run.passed_over_json",
    "UPDATE run_events SET payload = '{}'": "events",
    "UPDATE run_events SET event_json = replace(event_json, 'a', 'b')": "events",
}
"""One change each, and the field that is named."""


def the_run(program: Predibot, *more: str) -> Mapping[str, Any]:
    """Return the one run that `verify` speaks of."""
    (run,) = program("verify", *more, "--json").document["runs"]
    assert isinstance(run, dict)
    return run


def test_a_run_has_a_receipt_which_a_second_call_finds_again_also_without_traces(predibot: Predibot) -> None:
    first, again = predibot("decide", "r.toml", "--json").document["receipt"], predibot("decide", "r.toml")
    assert (first["number"], first["decisions"], len(first["root"])) == (1, 4, 64)
    assert f"receipt 1: {first['root']}" in again.out
    run = the_run(predibot)
    assert (run["holds"], run["root"], run["receipts"]) == (True, first["root"], [first])
    # As those are that were pruned.
    shutil.rmtree("runs/out/predibot.db.files/traces")
    assert the_run(predibot) == run


def test_whatever_was_changed_is_named_with_its_bot_subject_and_field(predibot: Predibot) -> None:
    with closing(sqlite3.connect(LEDGER)) as connection:
        whole = connection.serialize()
    bots = [each["bot"] for each in predibot("decide", "r.toml", "--json").document["decisions"]]
    missed = []
    for statement, field in CHANGES.items():
        # A thread that was given up may still have the former one open.
        for file in filter(Path.is_file, LEDGER.parent.glob(f"{LEDGER.name}*")):
            file.unlink()
        LEDGER.write_bytes(whole)
        change(statement)
        run = the_run(predibot)
        first = run["differences"][0] if run["differences"] else {"fields": ()}
        if run["holds"] or field not in first["fields"] or first["bot"] not in bots or first["what"] != "changed":
            missed.append((statement, run))
    assert missed == []


def test_a_decision_that_was_taken_out_or_put_in_is_named(predibot: Predibot) -> None:
    parts = ("fills", "orders", "forecasts", "quotes", "sources")
    change(*(f"DELETE FROM {part} WHERE decision_id IN ({SHARP})" for part in parts))
    change(f"DELETE FROM decisions WHERE id IN ({SHARP})")
    said = predibot("verify")
    assert said.code == 1
    assert "tool_agent on event" in said.out
    assert "is not there any more, and receipt 1 has it" in said.out
    assert [each["what"] for each in the_run(predibot)["differences"]] == ["missing", "missing"]
    # Deciding again makes no receipt without what was final.
    again = predibot("decide", "r.toml", "--json").document
    assert again["receipt"]["number"] == 1
    assert any("No receipt is made" in note for note in again["notes"])


def test_a_receipt_that_was_changed_does_not_hold(predibot: Predibot) -> None:
    root = the_run(predibot)["root"]
    for changed in (f"root = '{'0' * 64}'", f"root = '{root}', leaves_packed = x'00'"):
        change(f"UPDATE receipts SET {changed}")
        run = the_run(predibot)
        assert (run["holds"], len(run["problems"])) == (False, 1)


def test_a_retry_appends_a_receipt_and_the_former_ones_still_hold(program: Program) -> None:
    broken = SLOW.replace("return RandomBet", 'raise ValueError("no")\n        return RandomBet')
    program.strategy("slow", broken)
    first = document_of(program.decide("--bots", "slow,market_price"), code=3)["receipt"]
    publish(program)
    program.strategy("slow", SLOW)
    second = document_of(program.decide("--bots", "slow,market_price"))["receipt"]
    assert (first["number"], second["number"], first["root"] == second["root"]) == (1, 2, False)
    run = document_of(program.start("verify", "--ledger", program.ledger, "--json"))["runs"][0]
    assert [each["root"] for each in run["receipts"]] == [first["root"], second["root"]]
    against = document_of(program.start("verify", "--against", "roots", "--ledger", program.ledger, "--json"))
    assert against["runs"][0]["notes"] == ["receipt 2 came after the last root in roots; --publish appends it"]
    publish(program)
    lines = [json.loads(line) for line in (program.folder / "roots").read_text().splitlines()]
    assert [(line["receipt"], line["root"]) for line in lines] == [(1, first["root"]), (2, second["root"])]


def publish(program: Program) -> Any:
    return document_of(program.start("verify", "--publish", "roots", "--ledger", program.ledger, "--json"))


def test_a_run_killed_before_its_receipt_gets_it_from_the_next_call(program: Program) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    program.settings = {"PREDIBOT_WORKERS": "8"}
    process = program.decide("--bots", "slow,market_price")
    wait_until(lambda: program.count("decisions") == 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert program.count("receipts") == 0
    verified = document_of(program.start("verify", "--ledger", program.ledger, "--json"))
    assert verified["runs"] == []
    run = json.loads(program.start("runs", "--ledger", program.ledger, "--json").communicate()[0])["runs"][0]["key"]
    named = document_of(program.start("verify", run, "--ledger", program.ledger, "--json"), code=1)
    assert "has no receipt" in named["runs"][0]["problems"][0]
    program.strategy("slow", SLOW)
    receipt = document_of(program.decide("--bots", "slow,market_price"))["receipt"]
    assert (receipt["number"], receipt["decisions"], program.count("receipts")) == (1, 6, 1)


def test_a_ledger_holds_while_a_run_goes_on_that_began_before_its_last_receipt(program: Program) -> None:
    # Each decision waits for a file of its own.
    program.strategy("slow", SLOW.replace("time.sleep(self.seconds)", GATED))
    program.settings = {"PREDIBOT_WORKERS": "1"}
    process = program.decide("--bots", "slow")
    (program.folder / "0.go").touch()
    wait_until(lambda: program.count("decisions") == 1)
    document_of(program.start("track", "--ledger", program.ledger, "--json"))
    (program.folder / "1.go").touch()
    wait_until(lambda: program.count("decisions") == 2)
    ledger = document_of(program.start("verify", "--ledger", program.ledger, "--json"))["ledger"]
    assert (ledger["holds"], ledger["receipts"]) == (True, 1)
    (program.folder / "2.go").touch()
    document_of(process)


@pytest.mark.parametrize("kind", few(["jsonl", "parquet"], "jsonl"))
def test_an_export_that_was_imported_elsewhere_has_the_published_root(
    predibot: Predibot, postgres: Postgres, kind: str
) -> None:
    assert predibot("verify", "--publish", "roots").code == 0
    assert predibot("track").code == predibot("export", "out", "--format", kind).code == 0
    for address in ("sqlite:///other.db", postgres.empty()):
        assert predibot("import", "ledger", "out", "--ledger", address).code == 0
        run = the_run(predibot, "--against", "roots", "--ledger", address)
        assert (run["holds"], run["receipts"]) == (True, [])
    change("UPDATE forecasts SET probability = probability / 2")
    said = predibot("verify", "--against", "roots")
    assert said.code == 1
    assert "random_bet on event" in said.out
    assert "forecasts.probability" in said.out


def test_a_root_is_published_once_however_many_publish_at_once(predibot: Predibot, tmp_path: Path) -> None:
    given = {"folder": tmp_path, "environment": {}, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    started = [Forked("verify", "--publish", "folder/roots", **given) for _ in "123"]
    assert [each.communicate()[1] and each.returncode for each in started] == [0, 0, 0]
    before = Path("folder/roots").read_bytes()
    assert before.count(b"\n") == len(before.splitlines()) == 1
    said = predibot("verify", "--publish", "folder/roots", "--json").document
    assert (said["published"], Path("folder/roots").read_bytes()) == ({"added": [], "known": 1}, before)
    assert predibot("decide", "r.toml", "--as-of", "2026-01-06T12:00Z").code == 0
    assert predibot("verify", "--publish", "folder/roots").code == 0
    assert Path("folder/roots").read_bytes().startswith(before)
    assert Path("folder/roots").read_bytes().count(b"\n") == 2
    assert [path.name for path in Path("folder").iterdir()] == ["roots"]


def test_what_does_not_hold_is_not_published(predibot: Predibot) -> None:
    change("UPDATE orders SET price = price / 2")
    said = predibot("verify", "--publish", "roots")
    assert (said.code, Path("roots").exists()) == (1, False)
    assert "does not hold" in said.out
    assert "0 roots appended" in said.out


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_another_root_of_a_run_is_named_and_a_receipt_made_anew_over_a_changed_run_hides_nothing(
    predibot: Predibot, is_made_anew: bool
) -> None:
    assert predibot("verify", "--publish", "roots").code == 0
    if is_made_anew:
        change("UPDATE forecasts SET probability = 1 - probability", *AS_IF_NEVER_MADE)
        assert predibot("decide", "r.toml").code == 0
        assert predibot("verify", "--publish", "anew").code == 0
        Path("roots").write_bytes(Path("roots").read_bytes() + Path("anew").read_bytes())
    else:
        line = json.loads(Path("roots").read_text())
        Path("roots").write_text(json.dumps({**line, "root": "0" * 64}))
    for option in ("--publish", "--against"):
        said = predibot("verify", option, "roots")
        assert (said.code, "which is that of no receipt here" in said.out) == (1, True)


def test_roots_in_a_link_to_itself_are_one_sentence(predibot: Predibot) -> None:
    Path("loop").symlink_to("loop")
    said = predibot("verify", "--publish", "loop")
    assert said.code == 1
    assert said.err.splitlines()[-1] == "error: loop is a link that leads back to itself. Name another file."


def test_a_published_run_that_is_gone_is_named(predibot: Predibot) -> None:
    assert predibot("verify", "--publish", "roots").code == 0
    assert predibot("decide", "r.toml", "--ledger", "sqlite:///other.db").code == 0
    said = predibot("verify", "--against", "roots", "--ledger", "sqlite:///other.db")
    assert said.code == 1
    assert "this ledger has no such run" in said.out


def test_a_published_run_that_was_voided_is_named_unless_its_void_was_published(predibot: Predibot) -> None:
    key = the_run(predibot)["run"]
    assert predibot("verify", "--publish", "roots").code == 0
    assert predibot("runs", "void", key, "--reason", "a test").code == 0
    said = predibot("verify", "--against", "roots")
    assert (said.code, "it was voided since, and roots has no line of that" in said.out) == (1, True)
    assert predibot("runs", "void", key, "--reason", "a test", "--publish", "roots").code == 0
    assert predibot("decide", "r.toml").code == 0
    assert predibot("verify", "--publish", "roots").code == 0
    runs = predibot("verify", "--against", "roots", "--json").document["runs"]
    assert [(run["void"], run["holds"]) for run in runs] == [(True, True), (False, True)]
    assert the_run(predibot, key)["void"] is False
    # The one that holds the key now, in one call.
    before = Path("roots").read_bytes()
    assert "1 line appended to roots" in predibot("runs", "void", key, "--reason", "again", "--publish", "roots").out
    line = json.loads(Path("roots").read_bytes().removeprefix(before))
    assert (line["run"], line["void_reason"], predibot("verify", "--against", "roots").code) == (key, "again", 0)
    # One that was void before anybody saw its root.
    assert predibot("verify", "--publish", "anew").code == predibot("verify", "--against", "anew").code == 0
    change("UPDATE runs SET voided_at = NULL, void_reason = NULL WHERE void_reason = 'again'")
    said = predibot("verify", "--against", "roots")
    assert (said.code, "roots says that it was voided, and it counts here" in said.out) == (1, True)


def test_a_line_that_nobody_published_is_refused_with_its_number(predibot: Predibot) -> None:
    assert predibot("verify", "--publish", "roots").code == 0
    whole = Path("roots").read_bytes()
    for line in (b"<<<<<<< HEAD", b"{}", b'{"run": 1}', b"[1]", b"\xff"):
        Path("roots").write_bytes(whole + line + b"\n")
        said = predibot("verify", "--against", "roots")
        assert (said.code, "error: roots, line 2 is no root that --publish wrote" in said.err) == (1, True), line


def test_one_decision_is_proved_to_be_in_the_root_without_the_others(predibot: Predibot) -> None:
    run = the_run(predibot)
    subject = predibot("decide", "r.toml", "--json").document["selected"][0]["event_id"]
    proof = predibot("verify", run["run"], "--bot", "tool_agent", "--subject", subject, "--json").document
    leaf = leaf_hash(proof["leaf"].encode())
    assert leaf.hex() == proof["leaf_sha256"]
    path = [bytes.fromhex(each) for each in proof["path"]]
    assert root_from(leaf, proof["index"], proof["size"], path).hex() == run["root"] == proof["root"]
    assert json.loads(proof["leaf"])["bot.model"] == "sandbox/sharp"
    shown = predibot("verify", run["run"], "--bot", "tool_agent", "--subject", subject)
    assert (shown.code, shown.out.count("path ")) == (0, len(path))
    assert predibot("verify", run["run"], "--bot", "nobody", "--subject", subject).code == 1


def test_what_makes_no_sense_together_is_misuse_and_what_is_not_there_is_told_in_a_sentence(
    predibot: Predibot,
) -> None:
    for options in ("--publish a --against b", "--bot a", "--bot a --subject b"):
        assert predibot("verify", *options.split()).code == 2
    said = predibot("verify", "r@2020-01-01T00:00Z")
    assert (said.code, "there is no run" in said.err) == (1, True)
    assert "cannot be read" in predibot("verify", "--against", "nothing").err


def test_every_run_of_a_replay_has_a_receipt(predibot: Predibot) -> None:
    asked = ("--from", "2026-01-10", "--to", "2026-01-12", "--ledger", "sqlite:///replay.db")
    Path("base.toml").write_text(BASELINE)
    played = predibot("replay", "base.toml", *asked, "--json").document["replay"]["instants"]
    roots = [each["receipt"]["root"] for each in played]
    assert len(set(roots)) == 3
    runs = predibot("verify", "--ledger", "sqlite:///replay.db", "--json").document["runs"]
    assert [(run["holds"], run["root"]) for run in runs] == [(True, root) for root in roots]
