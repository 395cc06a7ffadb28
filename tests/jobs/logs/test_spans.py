"""Spans: the stored trace of a decision as a collector on loopback reads it, and runs that no collector disturbs."""

import json
import os
import socket
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.forked import Forked
from tests.jobs.logs.collector import Collector, attributes_of, collecting
from tests.jobs.program import Program
from tests.operator import set_up
from tests.worlds import Worlds

KEY = "sk-acme-0123456789abcdef"
RECIPE = """
venue = "sandbox:events=8"
[selection]
events = 2
[[bots]]
strategy = "random_bet"
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
"""
OWN = '''"""Writes down a key, and fails."""

import os
from dataclasses import dataclass

from predibot.contracts import Needs


@dataclass(frozen=True, slots=True)
class Own:
    """Fail over a key."""

    games = ("dollar_per_event",)
    needs = Needs(history=True)

    def decide(self, context):
        """Return nothing."""
        context.trace.record("mine\\x1b[2J\\n" + os.environ["ACME_API_KEY"], said="x")
        raise ValueError("no\\n" + os.environ["ACME_API_KEY"])
'''


def run_of_sharp() -> None:
    """Decide as the recipe says, which stays beside the ledger."""
    Path("r.toml").write_text(RECIPE)
    done_here("decide", "r.toml")


@pytest.fixture
def decided(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program in a folder whose ledger has a run with an agent."""
    monkeypatch.chdir(worlds.copy(run_of_sharp, tmp_path))
    return said_here


def of_agent(program: Predibot) -> str:
    """Return the name of one decision of the agent."""
    rows = [json.loads(line) for line in program("export", "--table", "decisions").out.splitlines()]
    row = next(row for row in rows if row["bot"] == "sharp")
    return f"{row['run']}/{row['bot']}/{row['subject_id']}"


def by_kind(collector: Collector) -> dict[str, list[dict[str, Any]]]:
    """Return the attributes of the spans by the kind of their step, `""` for decisions."""
    found: dict[str, list[dict[str, Any]]] = {}
    for span in collector.spans:
        attributes = attributes_of(span)
        found.setdefault(attributes.get("predibot.step.kind", ""), []).append(attributes)
    return found


def test_a_stored_trace_is_sent_step_by_step_with_the_names_of_the_conventions(decided: Predibot) -> None:
    name = of_agent(decided)
    steps = decided("trace", name, "--json").document["steps"]
    with collecting() as collector:
        sent = decided("trace", name, "--otlp", collector.address, "--json")
    assert (sent.code, sent.document["decisions"], sent.document["spans"]) == (0, 1, 1 + len(steps))
    assert (collector.paths, collector.headers[0]["content-type"]) == (["/v1/traces"], "application/x-protobuf")
    (of_resource,) = collector.requests[0].resource_spans
    assert attributes_of(of_resource.resource)["service.name"] == "predibot"
    assert of_resource.scope_spans[0].schema_url == "https://opentelemetry.io/schemas/1.38.0"
    root, *inner = collector.spans
    run, bot, event = name.rsplit("/", 2)
    about = attributes_of(root)
    assert (root.name, root.parent_span_id) == ("invoke_agent sharp", b"")
    assert (about["gen_ai.operation.name"], about["gen_ai.agent.name"]) == ("invoke_agent", bot)
    assert (about["predibot.run"], about["predibot.subject.id"], about["predibot.status"]) == (run, event, "recorded")
    assert {(span.trace_id, span.parent_span_id) for span in inner} == {(root.trace_id, root.span_id)}
    assert len({span.span_id for span in collector.spans}) == len(steps) + 1
    model, asked = by_kind(collector)["model"][0], next(step for step in steps if step["kind"] == "model")
    assert model["gen_ai.operation.name"] == "chat"
    assert (model["gen_ai.provider.name"], model["gen_ai.request.model"]) == ("sandbox", "sharp")
    assert model["gen_ai.usage.input_tokens"] == asked["usage"]["input_tokens"]
    assert model["gen_ai.usage.output_tokens"] == asked["usage"]["output_tokens"]
    assert model["gen_ai.response.finish_reasons"] == [asked["finish_reason"]]
    tool = by_kind(collector)["tool"][0]
    assert (tool["gen_ai.operation.name"], tool["gen_ai.tool.type"]) == ("execute_tool", "function")
    assert tool["gen_ai.tool.name"] in ("web_search", "visit_webpage", "final_answer")


def test_spans_lie_end_to_end_and_last_as_long_as_their_steps(decided: Predibot) -> None:
    name = of_agent(decided)
    steps = decided("trace", name, "--json").document["steps"]
    with collecting() as collector:
        decided("trace", name, "--otlp", collector.address)
    root, *inner = collector.spans
    assert root.start_time_unix_nano == inner[0].start_time_unix_nano < root.end_time_unix_nano
    assert [s.end_time_unix_nano for s in inner[:-1]] == [s.start_time_unix_nano for s in inner[1:]]
    lasted = [span.end_time_unix_nano - span.start_time_unix_nano for span in inner]
    assert lasted == [pytest.approx(1e9 * (step.get("seconds") or 0.0), abs=2) for step in steps]


def test_no_text_of_a_model_or_a_page_is_sent(decided: Predibot) -> None:
    name = of_agent(decided)
    steps = decided("trace", name, "--json").document["steps"]
    texts = [step["result"] for step in steps if step["kind"] == "tool"]
    texts += [message["text"] for step in steps if step["kind"] == "model" for message in step["new_messages"]]
    texts += [step["query"] for step in steps if step["kind"] == "search"]
    with collecting() as collector:
        decided("trace", name, "--otlp", collector.address)
    said = str(collector.requests)
    assert [text for text in texts if len(text) > 20 and text[:60] in said] == []


def test_what_is_sent_again_has_the_same_ids_and_a_run_is_sent_whole(decided: Predibot) -> None:
    name = of_agent(decided)
    run = name.rsplit("/", 2)[0]
    with collecting() as collector:
        for asked in (name, name):
            assert decided("trace", asked, "--otlp", collector.address).code == 0
        whole = decided("trace", run, "--otlp", f"{collector.address}/else/where", "--json").document
    first, second = (request.SerializeToString() for request in collector.requests[:2])
    assert first == second
    assert (whole["decisions"], collector.paths[-1]) == (2, "/else/where")


def test_the_setting_sends_what_each_run_decided_and_nothing_twice(decided: Predibot, tmp_path: Path) -> None:
    with collecting() as collector:
        set_up(Path(), f'otlp_endpoint = "{collector.address}"\n')
        assert decided("decide", "r.toml").code == 0
        assert collector.requests == []
        assert decided("decide", "r.toml", "--new-run").code == 0
        assert len(by_kind(collector)[""]) == 2
        asked = ("--from", "2026-01-10", "--to", "2026-01-11", "--ledger", "sqlite:///replay.db")
        Path("r.toml").write_text(f'every = "1d"\n{RECIPE}')
        assert decided("replay", "r.toml", *asked).code == 0
    runs = {each["predibot.run"] for each in by_kind(collector)[""]}
    assert {"r@2026-01-10T00:00Z", "r@2026-01-11T00:00Z"} <= runs
    assert len(by_kind(collector)[""]) == 6


def test_a_collector_that_is_away_broken_or_silent_fails_no_run(decided: Predibot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    set_up(Path(), f'otlp_endpoint = "http://127.0.0.1:{port}"\n')
    away = decided("decide", "r.toml", "--new-run")
    assert (away.code, "cannot be reached" in away.err) == (0, True)
    with collecting(status=503) as collector:
        set_up(Path(), f'otlp_endpoint = "{collector.address}"\n')
        broken = decided("decide", "r.toml", "--new-run")
    assert (broken.code, "answered 503" in broken.err) == (0, True)
    with collecting(hangs=True) as collector:
        set_up(Path(), f'otlp_endpoint = "{collector.address}"\n')
        silent = decided("decide", "r.toml", "--new-run")
    assert (silent.code, silent.err.count("spans are sent no more by this command")) == (0, 1)
    assert "receipt 1" in silent.out


def test_who_sends_by_hand_is_told_that_the_collector_is_away(decided: Predibot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    name = of_agent(decided)
    said = decided("trace", name, "--otlp", f"http://127.0.0.1:{port}")
    assert (said.code, f"error: the collector at 127.0.0.1:{port} cannot be reached" in said.err) == (1, True)
    assert decided("trace", "nothing/at/all", "--otlp", f"http://127.0.0.1:{port}").code == 1
    assert decided("trace", "--cost", "--otlp", f"http://127.0.0.1:{port}").code == 2


def test_without_the_extra_a_run_goes_on_and_who_asks_for_spans_is_told_what_to_install(decided: Predibot) -> None:
    name = of_agent(decided)
    around = {**os.environ, "PREDIBOT_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    without = partial(exec, "import sys; sys.modules['opentelemetry.proto'] = None")
    given = {"environment": around, "first": without, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for code, *command in ((0, "decide", "r.toml", "--new-run"), (1, "trace", name, "--otlp", "http://127.0.0.1:9")):
        with Forked(*command, folder=Path.cwd(), **given) as process:
            assert "[otel]'" in process.communicate()[1]
        assert process.returncode == code


def test_no_key_is_in_a_span_and_headers_come_from_the_environment(program: Program) -> None:
    program.strategy("own", OWN)
    headers = "Authorization=Bearer%20secret-of-the-collector"
    recipe = f'{RECIPE.partition("[[bots]]")[0]}[[bots]]\nname = "own"\nstrategy = "own"\n'
    (program.folder / "own.toml").write_text(recipe)
    with collecting() as collector:
        own = {"ACME_API_KEY": KEY, "OTEL_EXPORTER_OTLP_HEADERS": headers}
        program.settings = {**own, "PREDIBOT_OTLP_ENDPOINT": collector.address}
        process = program.start("decide", "own.toml", "--json")
        out, err = process.communicate()
    assert process.returncode == 4
    assert collector.headers[0]["authorization"] == "Bearer secret-of-the-collector"
    written = next(span for span in collector.spans if span.name.startswith("mine"))
    assert written.name.isprintable()
    assert KEY not in str(collector.requests) + out + err
    root = collector.spans[0]
    assert (root.status.code, attributes_of(root)["error.type"]) == (2, "failed")
    assert root.status.message.isprintable()
