"""The program inside the container: runs code from stdin, and hands its tool calls out.

The container's own Python gets this file as text, so it imports nothing but the standard library. The two sides take
turns, one line of JSON each: `{"code": ...}` comes in. `{"call": ..., "arguments": ...}` goes out, and `{"result":
...}`, `{"error": ...}` or `{"taken": true}` answers it. At the end of the code `{"printed": ..., "error": ...}` goes
out.
"""

import contextlib
import io
import json
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

MAX_PRINTED_CHARACTERS = 20_000


class EndOfCode(BaseException):
    """The final answer was taken, so the rest of the code does not matter."""


def serve(lines: TextIO, out: TextIO, tools: Mapping[str, Sequence[str]]) -> None:
    """Run one piece of code after another until the input ends."""

    def send(**message: object) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    def asked(name: str, arguments: Mapping[str, object]) -> object:
        send(call=name, arguments=arguments)
        answer = json.loads(lines.readline())
        if answer.get("taken"):
            raise EndOfCode
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def tool(name: str, names: Sequence[str]) -> Callable[..., object]:
        return lambda *given, **named: asked(name, {**dict(zip(names, given, strict=False)), **named})

    namespace: dict[str, Any] = {name: tool(name, names) for name, names in tools.items()}
    for line in iter(lines.readline, ""):
        printed = io.StringIO()
        error = ""
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                exec(compile(json.loads(line)["code"], "<code>", "exec"), namespace)
            except EndOfCode:
                pass
            except BaseException:  # noqa: BLE001 - whatever the model's code raises is for the model to read.
                error = traceback.format_exc(limit=-3)[-2000:]
        send(printed=printed.getvalue()[:MAX_PRINTED_CHARACTERS], error=error)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, json.loads(sys.argv[1]))
