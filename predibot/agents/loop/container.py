"""A container that runs the code of a model, without network, files or rights, and within a deadline. Its tool calls
come out through a pipe and are made on this side, under the same limits as any others.
"""

import contextlib
import json
import os
import re
import selectors
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

MAX_LINE_BYTES = 1_000_000
NAME = "@predibot-container@"
_PROBE_SECONDS = 20.0
_END_SECONDS = 2.0
_KILL_SECONDS = 2.0
_LATE = "the code did not end in time"
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
"""A name never begins with a dash: docker would take it for an option, such as `--privileged`."""

Parameters = Mapping[str, Sequence[str]]
Perform = Callable[[str, Mapping[str, object]], Mapping[str, object]]
"""Makes a call and returns `result`, `error` or `taken`."""


class CodeError(Exception):
    """The code did not run to its end; the message is for the model."""


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """The commands that start a container and kill it; `NAME` in them stands for its name."""

    start: tuple[str, ...]
    end: tuple[str, ...] = ()

    def with_name(self) -> "ContainerSpec":
        """Return the commands with a fresh name."""
        name = f"predibot-{uuid.uuid4().hex}"
        start, end = (tuple(part.replace(NAME, name) for part in parts) for parts in (self.start, self.end))
        return ContainerSpec(start, end)


def docker_problem(image: str, *, docker: str = "docker") -> str:
    """Return why docker cannot run an image here; empty if it can."""
    if not _IMAGE.fullmatch(image):
        return f"{image[:60]!r} is no name of an image; write one like 'python:3.11-slim'"
    if shutil.which(docker) is None:
        return "docker is not installed"
    command = [docker, "image", "inspect", "--format", "{{.Id}}", image]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "docker does not answer"
    if done.returncode == 0:
        return ""
    if "no such image" in done.stderr.casefold():
        return f"docker has no image {image!r}; run `docker pull {image}`"
    return f"docker does not work here: {' '.join(done.stderr.split())[:200]}"


def docker_spec(image: str, tools: Parameters) -> ContainerSpec:
    """Return the commands for a container of an image, which needs Python; raise `ValueError` for a malformed name."""
    if not _IMAGE.fullmatch(image):
        raise ValueError(f"{image[:60]!r} is no name of an image")
    bounds = (
        "--network=none", "--read-only", "--tmpfs=/tmp:size=64m", "--memory=512m", "--memory-swap=512m", "--cpus=1",
        "--pids-limit=64", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=65534:65534", "--pull=never",
    )  # fmt: skip
    start = ("docker", "run", "--rm", "--interactive", f"--name={NAME}", *bounds, "--workdir=/tmp", image)
    return ContainerSpec((*start, *python_side("python", tools)), ("docker", "kill", NAME))


def python_side(python: str, tools: Parameters) -> tuple[str, ...]:
    """Return the command that serves the inner side of the pipe."""
    source = files("predibot.agents.loop").joinpath("container_worker.py").read_text(encoding="utf-8")
    return (python, "-I", "-u", "-c", source, json.dumps({name: list(names) for name, names in tools.items()}))


@dataclass(eq=False)
class Container(AbstractContextManager["Container"]):
    """A container that is started when needed and always ended on exit."""

    spec: ContainerSpec
    perform: Perform
    _running: "_Pipe | None" = field(default=None, init=False)

    def __exit__(self, *_: object) -> None:
        """End the container."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def run(self, code: str, *, deadline_seconds: float) -> str:
        """Run code and make its calls; return what it prints. Raises `CodeError` if the code raises, is too slow, or
        breaks the container. Its variables are lost then, and the next code gets a new container.
        """
        ends = time.monotonic() + deadline_seconds
        if self._running is None:
            self._running = _Pipe(self.spec.with_name())
        try:
            answer = self._exchange(self._running, code, ends)
        except ContainerError as error:
            self._running.end(at_once=True)
            self._running = None
            raise CodeError(f"{error}; nothing that was set before is left") from error
        printed, problem = str(answer.get("printed", "")), str(answer.get("error", ""))
        if problem:
            raise CodeError(f"{printed}\n{problem}".strip())
        return printed

    def _exchange(self, pipe: "_Pipe", code: str, ends: float) -> Mapping[str, object]:
        def left_seconds() -> float:
            return ends - time.monotonic()

        pipe.send({"code": code}, left_seconds)
        while True:
            message = pipe.line(left_seconds)
            if "call" not in message:
                return message
            arguments = message.get("arguments")
            performed = self.perform(str(message["call"]), arguments if isinstance(arguments, dict) else {})
            pipe.send(performed, left_seconds)


class ContainerError(Exception):
    """The container is of no more use."""


class _Pipe:
    """Lines of JSON to and from one process, each written and read within a deadline."""

    def __init__(self, spec: ContainerSpec) -> None:
        self._end = spec.end
        self._unread = bytearray()
        self._process = subprocess.Popen(
            spec.start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._stdin = cast(Any, self._process.stdin)
        self._stdout = cast(Any, self._process.stdout)
        # The other side may never read, so a write must not block beyond the deadline.
        os.set_blocking(self._stdin.fileno(), False)

    def send(self, message: Mapping[str, object], left_seconds: Callable[[], float]) -> None:
        unsent = memoryview(json.dumps(message).encode() + b"\n")
        while unsent:
            self._wait(self._stdin, selectors.EVENT_WRITE, left_seconds())
            try:
                unsent = unsent[os.write(self._stdin.fileno(), unsent) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ContainerError("the container ended") from error

    def line(self, left_seconds: Callable[[], float]) -> Mapping[str, object]:
        """Return the next message; the model's own code can write here too, so it is not trusted."""
        if left_seconds() <= 0.0:
            raise ContainerError(_LATE)
        while (end := self._unread.find(b"\n")) < 0:
            self._wait(self._stdout, selectors.EVENT_READ, left_seconds())
            read = os.read(self._stdout.fileno(), 65_536)
            if not read:
                raise ContainerError("the container ended")
            self._unread += read
            if len(self._unread) > MAX_LINE_BYTES:
                raise ContainerError("the code wrote too much at once")
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ContainerError("the code wrote to the pipe of its container, where it should print") from error
        return message if isinstance(message, dict) else {}

    def end(self, *, at_once: bool = False) -> None:
        """End the process, and the container if that did not end it; a hanging docker is not waited for."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(0.0 if at_once else _END_SECONDS)
        except subprocess.TimeoutExpired:
            # Kill the client first: with a hanging docker, killing the container may take all the time that is left.
            self._process.kill()
            self._process.wait()
            if self._end:
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    nowhere = subprocess.DEVNULL
                    subprocess.run(self._end, stdout=nowhere, stderr=nowhere, timeout=_KILL_SECONDS, check=False)
        self._stdout.close()

    def _wait(self, end: Any, event: int, left_seconds: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(end, event)
            if left_seconds <= 0.0 or not selector.select(left_seconds):
                raise ContainerError(_LATE)
