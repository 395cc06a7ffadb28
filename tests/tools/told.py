"""What a tool answered, as one text, and what it wrote down."""

from dataclasses import dataclass, field
from typing import Any

from predibot.contracts import ToolError, ToolResult


def told(result: ToolResult) -> str:
    """Return the words of a tool, with `error:` before those of an error."""
    return f"error: {result.text}" if isinstance(result, ToolError) else result.text


@dataclass(slots=True)
class Steps:
    """A trace in memory."""

    steps: list[Any] = field(default_factory=list)

    def write(self, step: Any) -> None:
        self.steps.append(step)
