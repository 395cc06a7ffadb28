"""How a command ends: exit codes, signals, and messages of errors."""

import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import typer

from predibot.errors import NotTrusted, PredibotError
from predibot.reports.terminal.hints import runnable

DONE, FAILED, MISUSE, PARTLY, NOTHING, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 130, 143
EXIT_CODES: Mapping[int, str] = {
    DONE: "done; every decision is made, refused and abstained ones counted",
    FAILED: "an error, told in one line",
    MISUSE: "a command line that cannot be understood; or a folder that is not trusted",
    PARTLY: "some decisions failed, others are recorded",
    NOTHING: "decisions failed, and none is recorded",
    INTERRUPTED: "interrupted by Ctrl-C; what is recorded is kept",
    TERMINATED: "terminated by SIGTERM; what is recorded is kept",
}
"""What each exit code means; only commands that decide use 3 and 4."""

if TYPE_CHECKING:
    from predibot.domain.decision import Status
    from predibot.domain.secret_values import SecretValues

_MISUSE: Any = typer.BadParameter.__base__
"""The error of a wrong command line; it is of the click inside typer, which does not export it."""

_RESUMABLE = ("decide", "track", "evaluate", "record", "replay", "import", "schedule", "collect")
"""Commands that go on where they were stopped; the others start over."""

_NUMBERED = ("trace", "runs", "runs show")
"""Commands that show what has a number in their list."""

_ENDING_SECONDS = 10.0
"""Twice the time that handing back unfinished work may take."""
_LAST_SECONDS = 0.25
"""How long calls that nobody waits for may still run."""
_LEDGER, _TOKEN = "--ledger=", "--token="
_PASSWORD = re.compile(r"(://[^\s:/@]*:)\S+@")
_NO_PASSWORD = re.compile(r"[\w+]+://[^\s:/@]*:?@[^\s@]*")
_SECRET = re.compile(r"([?&](?:\w*(?:password|passwd|pwd|secret|token|key)\w*)=)[^\s&]+", re.IGNORECASE)


class Termination(KeyboardInterrupt):
    """The system asked the program to end; it ends as it does on Ctrl-C."""


class _FirstSignal:
    """A signal handler: the first signal ends the program, later ones are ignored while it ends."""

    def __init__(self) -> None:
        self.raised: type[KeyboardInterrupt] | None = None
        self._again_at = 0.0

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Raise the first signal's exception; raise it again at a signal long after, if the program still runs."""
        if self.raised is None:
            self.raised = Termination if number == signal.SIGTERM else KeyboardInterrupt
        elif time.monotonic() < self._again_at:
            return
        self._again_at = time.monotonic() + _ENDING_SECONDS
        raise self.raised


def environment_secrets() -> "SecretValues":
    """Return the secrets of the environment, which must not be printed, not even inside texts of others."""
    from predibot.domain.secret_values import SecretValues
    from predibot.environment import secrets_present

    return SecretValues(secrets_present())


def run_command(command: Callable[[], int], arguments: Sequence[str]) -> int:
    """Run a command and return its exit code, one of `EXIT_CODES`.

    With `--json` stdout gets exactly one document, whatever happens.
    """
    as_json = "--json" in arguments
    try:
        code = command()
        # A closed pipe or a full disk must fail here, where it can still be reported.
        sys.stdout.flush()
        return code
    except PredibotError as error:
        return _report_error(
            error.kind, str(error), MISUSE if isinstance(error, NotTrusted) else FAILED, as_json=as_json
        )
    except _MISUSE as error:
        return _report_error("UsageError", _misuse_message(error), MISUSE, as_json=as_json)
    except BrokenPipeError:
        # The reader has seen enough, as `head` does.
        _discard_stdout()
        return 0
    except SystemExit as error:
        # Rich ends the program where a pipe is closed.
        if isinstance(error.__context__, BrokenPipeError):
            return 0
        raise
    except OSError as error:
        return _report_error(type(error).__name__, _system_message(error), FAILED, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort) as error:
        # A question that is not answered, by Ctrl-C or by the end of what is typed, is an `Abort`.
        terminated = Termination in map(type, (error, error.__context__))
        code = TERMINATED if terminated else INTERRUPTED

        said = runnable(resume_advice(arguments, "terminated" if terminated else "interrupted"))
        typer.echo(said, err=True)
        if as_json:
            _print_error("Terminated" if terminated else "Interrupted", said, code)
        return code
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and (word := next(filter(_is_no_text, arguments), None)):
            said = f"{word!r} is no text in UTF-8; a file may be named so, but nothing in a ledger is."
            return _report_error("UsageError", said, MISUSE, as_json=as_json)
        # A mistake of ours: stdout gets its one document all the same, and the traceback goes on to stderr.
        sys.excepthook = _print_traceback
        if as_json:
            said = environment_secrets().mask(f"a mistake of predibot's own: {mask_passwords(str(error))}")
            _print_error(type(error).__name__, said, FAILED)
        raise


def _is_no_text(word: str) -> bool:
    # Python puts half a surrogate pair for each byte that it could not read.
    return word.encode(errors="replace").decode() != word


def code_of_decisions(statuses: "Mapping[Status, int]", *, undecided: int = 0) -> int:
    """Return the exit code of a command that decides, from the ledger's decisions at its end, whoever made them.

    `statuses` counts decisions by status, `undecided` those that are missing.
    """
    if not undecided and not statuses.get("failed", 0):
        return DONE
    return PARTLY if statuses.get("recorded", 0) else NOTHING


@contextmanager
def end_on_signals(*, is_program: bool) -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does; do nothing outside the main thread, which alone gets signals.

    Args:
        is_program: Whether the process ends with the block; signals after the first are then ignored for good.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first = _FirstSignal()
    taken = [signal.SIGTERM]
    # A shell ignores Ctrl-C for programs in the background, and callers from Python may have a handler of their own.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        taken.append(signal.SIGINT)
    before = {number: signal.signal(number, first) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if is_program and first.raised else handler)


def leave_threads_behind(code: int) -> None:
    """End the process at once if an abandoned call still runs, as Python would wait for its locks without end."""
    if threading.active_count() == 1:
        return
    from predibot.jobs.daemon_threads import calls_go_on

    if calls_go_on(_LAST_SECONDS):
        for stream in (sys.stdout, sys.stderr):
            # Their reader may be gone.
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def resume_advice(arguments: Sequence[str], what: str) -> str:
    """Return how to go on after a command was stopped, as a line to paste, with passwords as `***`."""
    line = f"`predibot {shlex.join(mask_arguments(arguments))}`"
    command = next((word for word in arguments if not word.startswith("-")), "")
    if command not in _RESUMABLE:
        return f"{what}. To start over, run again: {line}"
    unless = " (without --new-run if `predibot runs` shows the new run)" if "--new-run" in arguments else ""
    return f"{what}: what is recorded is kept. To go on, run again{unless}: {line}"


def mask_passwords(text: str) -> str:
    """Return the text with `***` in place of all that looks like a password of a URL."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1***@", text))


def mask_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line with `***` in place of passwords."""
    masked = []
    for before, word in pairwise(("", *arguments)):
        option = _LEDGER if word.startswith(_LEDGER) else ""
        is_ledger = option or before == "--ledger"
        if before == "--token" or word.startswith(_TOKEN):
            masked.append("***" if before == "--token" else f"{_TOKEN}***")
        else:
            masked.append(option + _mask_ledger(word.removeprefix(option)) if is_ledger else mask_passwords(word))
    return masked


def _mask_ledger(url: str) -> str:
    masked = mask_passwords(url)
    if url.startswith("sqlite:"):
        return masked
    # A URL whose password cannot be told apart is not shown at all.
    is_doubtful = masked == url and "@" in url and not _NO_PASSWORD.fullmatch(url)
    return "***" if is_doubtful or len(url.split()) > 1 else masked


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback as Python does, without any key."""
    import traceback

    sys.stderr.write(environment_secrets().mask("".join(traceback.format_exception(kind, error, trace))))


def _report_error(kind: str, message: str, code: int, *, as_json: bool) -> int:
    # Imported here: rich costs a hundredth of a second.
    from predibot.reports.terminal.terminal import plain, sentence

    message = sentence(runnable(environment_secrets().mask(mask_passwords(message)).rstrip()))
    if as_json:
        try:
            _print_error(kind, " ".join(message.split()), code)
            return code
        except OSError:
            _discard_stdout()
    line = f"error: {plain(message)}"
    if sys.stderr.isatty():
        from predibot.reports.terminal.terminal import console_for, print_line

        print_line(console_for(sys.stderr), line)
    else:
        typer.echo(line, err=True)
    return code


def _print_error(kind: str, message: str, code: int) -> None:
    typer.echo(json.dumps({"error": {"kind": kind, "message": message}, "exit_code": code}))
    sys.stdout.flush()


def _misuse_message(error: Any) -> str:
    said = str(error.format_message()).rstrip(".").replace(": Value error, ", ": ")
    path = error.ctx.command_path if error.ctx is not None else "predibot"
    if path.partition(" ")[2] in _NUMBERED and re.fullmatch(r"-\d", getattr(error, "option_name", "")):
        said += "; numbers count from 1"
    return f"{said}{'' if said.endswith('?') else '.'} See `{path} --help`"


def _system_message(error: OSError) -> str:
    where = f"{error.filename} cannot be used" if error.filename else "output cannot be written"
    return f"{where}: {error.strerror or error}. Look at the path, its permissions and the room on the disk"


def _discard_stdout() -> None:
    """Redirect stdout to nowhere, so that closing it at the end cannot fail."""
    # A stdout that somebody replaced by an object has no file descriptor.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
