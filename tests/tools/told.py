"""What a tool answered, as one text."""

from predibot.contracts import ToolError, ToolResult


def told(result: ToolResult) -> str:
    """Return the words of a tool, with `error:` before those of an error."""
    return f"error: {result.text}" if isinstance(result, ToolError) else result.text
