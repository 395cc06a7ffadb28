"""The tools as code sees them: functions with named arguments."""

from collections.abc import Mapping

from predibot.agents.answer.parse import FINAL_ANSWER
from predibot.agents.loop.evidence import Research
from predibot.domain.chat import ToolSchema


def offered_tools(research: Research) -> tuple[ToolSchema, ...]:
    """Return the tools there are, the handing in of the answer last."""
    return (*(schema for schema, _ in research.tools().values()), FINAL_ANSWER)


def parameter_names(schema: ToolSchema) -> tuple[str, ...]:
    """Return the names of a tool's arguments, in the order of its schema."""
    properties = schema.parameters["properties"]
    return tuple(properties) if isinstance(properties, Mapping) else ()


def tool_parameters(research: Research) -> dict[str, tuple[str, ...]]:
    """Return the names of the arguments of each tool, by its name."""
    return {schema.name: parameter_names(schema) for schema in offered_tools(research)}
