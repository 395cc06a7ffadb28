"""The pipe into a container: code goes in, calls come out, and everything ends in time.

The inner side runs here as an ordinary process, because the code in it is ours.
"""

import json
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from predibot.agents.loop.container import (
    CodeError,
    Container,
    ContainerSpec,
    docker_problem,
    docker_spec,
    python_side,
)
from predibot.net.deadline import call_within
from tests.jobs.program import PATIENCE_SECONDS

TOOLS = {"web_search": ("query",), "final_answer": ("market_decisions",)}


def opened(answer: Mapping[str, object] | None = None, asked: list[object] | None = None) -> Container:
    def perform(name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        if asked is not None:
            asked.append((name, dict(arguments)))
        return answer or {"result": f"{name}: {arguments}"}

    return Container(ContainerSpec(python_side(sys.executable, TOOLS)), perform)


def test_code_prints_so_much_and_remembers() -> None:
    with opened() as container:
        assert container.run("x = 20", deadline_seconds=30.0) == ""
        assert container.run("print(x + 1)", deadline_seconds=30.0) == "21\n"
        assert len(container.run("print('x' * 1_000_000)", deadline_seconds=30.0)) == 20_000


def test_calls_are_made_out_here_by_place_or_by_name() -> None:
    asked: list[object] = []
    with opened(asked=asked) as container:
        printed = container.run("print(web_search('rain'))\nweb_search(query='snow')", deadline_seconds=30.0)
    assert printed == "web_search: {'query': 'rain'}\n"
    assert asked == [("web_search", {"query": "rain"}), ("web_search", {"query": "snow"})]


def test_an_answer_that_is_taken_ends_the_code_and_a_complaint_is_its_error() -> None:
    code = "try:\n  final_answer([])\nexcept Exception: pass\nprint('on')"
    with opened({"taken": True}) as container:
        assert container.run(code, deadline_seconds=30.0) == ""
    with opened({"error": "lower the bets"}) as container, pytest.raises(CodeError, match="lower the bets"):
        container.run("final_answer([])", deadline_seconds=30.0)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        ("import os; os.write(1, b'no json\\n')", "wrote to the pipe"),
        ("import os\nwhile True: os.write(1, b'x' * 60_000)", "wrote too much at once"),
        ("import os; os.write(1, b'[' * 50_000 + b'\\n')", "wrote to the pipe"),
    ],
)
def test_code_that_goes_wrong_is_told(code: str, told: str) -> None:
    with opened() as container, pytest.raises(CodeError, match=told):
        container.run(code, deadline_seconds=30.0)


FORGED = 'import os\ncall = b\'{{"call": "web_search", "arguments": {{}}}}\\n\'\n{more}'


@pytest.mark.parametrize(
    "more",
    [
        # It never reads its answers, so that they fill the pipe; and it never stops asking.
        "os.write(1, call * 1_000)\nimport time\ntime.sleep(600)",
        "while True: os.write(1, call * 1_000)",
        "import sys\nsys.stdin.close()\nos.write(1, call * 1_000)\nwhile True: pass",
    ],
    ids=["deaf", "endless", "closed"],
)
def test_code_that_fills_its_pipe_ends_in_time(more: str) -> None:
    with opened({"result": "x" * 10_000}) as container:
        with pytest.raises(CodeError, match=r"did not end in time|the container ended"):
            call_within(lambda: container.run(FORGED.format(more=more), deadline_seconds=1.0), 60.0)
        assert container.run("print('again')", deadline_seconds=30.0) == "again\n"


def test_code_that_is_longer_than_the_pipe_to_one_who_does_not_read_ends_in_time() -> None:
    deaf = ContainerSpec((sys.executable, "-c", "import time; time.sleep(600)"))
    with Container(deaf, lambda name, arguments: {}) as container, pytest.raises(CodeError, match="did not end in"):
        call_within(lambda: container.run("# " + "x" * 1_000_000, deadline_seconds=1.0), 60.0)


@pytest.mark.parametrize(
    ("broken", "seconds", "told"),
    [("import os; os._exit(1)", 30.0, "the container ended"), ("while True: pass", 0.5, "did not end in time")],
)
def test_after_it_broke_the_next_code_gets_a_new_one_with_nothing_in_it(broken: str, seconds: float, told: str) -> None:
    with opened() as container:
        container.run("x = 1", deadline_seconds=30.0)
        with pytest.raises(CodeError, match=f"{told}; nothing that was set before is left"):
            container.run(broken, deadline_seconds=seconds)
        with pytest.raises(CodeError, match="NameError"):
            container.run("print(x)", deadline_seconds=30.0)


def test_the_client_is_gone_before_its_container_is_ended_which_may_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What ends it takes as long to start as the machine is busy.
    monkeypatch.setattr("predibot.agents.loop.container._KILL_SECONDS", PATIENCE_SECONDS)
    pid, found = tmp_path / "pid", tmp_path / "found"
    start = (
        f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); print('no', flush=True); time.sleep(600)"
    )
    end = f"""import os
try: os.kill(int(open({str(pid)!r}).read()), 0)
except ProcessLookupError: open({str(found)!r}, 'w').write('gone')"""
    spec = ContainerSpec((sys.executable, "-c", start), (sys.executable, "-S", "-c", end))
    with Container(spec, lambda name, arguments: {}) as container, pytest.raises(CodeError, match="pipe of its"):
        container.run("", deadline_seconds=60.0)
    assert found.read_text() == "gone"


def test_docker_runs_it_without_network_files_or_rights() -> None:
    spec = docker_spec("python:3.11-slim", TOOLS)
    for bound in ("--network=none", "--read-only", "--cap-drop=ALL", "--pull=never", "--user=65534:65534", "--rm"):
        assert bound in spec.start
    assert any(part.startswith("--memory=") for part in spec.start)
    first, second = spec.with_name(), spec.with_name()
    assert first.end == ("docker", "kill", first.start[4].removeprefix("--name="))
    assert first.end != second.end
    assert json.loads(spec.start[-1]) == {name: list(names) for name, names in TOOLS.items()}


@pytest.fixture
def fake_docker(tmp_path: Path) -> Callable[[str], str]:
    def made(script: str) -> str:
        path = tmp_path / "docker"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return made


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 0", ""),
        ("echo 'Error: No such image: i' >&2; exit 1", "docker has no image 'i'; run `docker pull i`"),
        ("echo 'Cannot connect to the Docker daemon' >&2; exit 1", "docker does not work here: Cannot connect"),
    ],
)
def test_what_keeps_docker_from_running_is_said(fake_docker: Callable[[str], str], script: str, problem: str) -> None:
    found = docker_problem("i", docker=fake_docker(script))
    assert found.startswith(problem)
    assert bool(found) == bool(problem)
    assert docker_problem("i", docker="no-such-docker") == "docker is not installed"


@pytest.mark.parametrize("image", ["--help", "--privileged", "-v/:/host", "", "a b", "python\n", "--volume=/:/x"])
def test_an_option_is_no_image(fake_docker: Callable[[str], str], image: str) -> None:
    assert "is no name of an image" in docker_problem(image, docker=fake_docker("exit 0"))
    with pytest.raises(ValueError, match="is no name of an image"):
        docker_spec(image, TOOLS)


@pytest.mark.parametrize("image", ["i", "python:3.11-slim", "localhost:5000/a/b_c@sha256:0123", "ghcr.io/Org/x:1"])
def test_names_of_images_are_taken(fake_docker: Callable[[str], str], image: str) -> None:
    assert docker_problem(image, docker=fake_docker("exit 0")) == ""


IMAGE = "python:3.11-slim"
with_docker = pytest.mark.skipif(bool(docker_problem(IMAGE)), reason=f"no docker here that has {IMAGE}")


def in_docker() -> Container:
    """Return a container of a real docker, whose tools say that they were called."""
    return Container(docker_spec(IMAGE, TOOLS), lambda name, arguments: {"result": f"made {name}"})


@pytest.mark.outside
@with_docker
@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("import socket\nsocket.create_connection(('1.1.1.1', 80), 2)", "unreachable"),
        ("open('/etc/x', 'w')", "Read-only"),
        ("print('a' * 10**9)", "ended"),
        ("import os\nfor _ in range(200): os.fork()", "unavailable"),
    ],
    ids=["network", "files", "memory", "processes"],
)
def test_a_real_container_gives_neither_network_nor_files_nor_more_than_its_share(code: str, seen: str) -> None:
    with in_docker() as container, pytest.raises(CodeError, match=seen):
        container.run(code, deadline_seconds=30.0)


@pytest.mark.outside
@with_docker
def test_a_real_container_calls_tools_outside_and_ends_with_its_deadline() -> None:
    with in_docker() as container:
        assert "made web_search" in container.run("print(web_search(query='x'))", deadline_seconds=30.0)
        with pytest.raises(CodeError):
            container.run("while True: pass", deadline_seconds=2.0)
