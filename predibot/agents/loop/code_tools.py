"""The tools as code sees them: functions with named arguments."""

from collections.abc import Mapping

from predibot.agents.loop.evidence import Research
from predibot.contracts import AnswerForm
from predibot.domain.chat import ToolSchema


def offered_tools(research: Research, form: AnswerForm) -> tuple[ToolSchema, ...]:
    """Return the tools there are, the handing in of the answer last."""
    return (*(schema for schema, _ in research.tools().values()), form.schema)


def parameter_names(schema: ToolSchema) -> tuple[str, ...]:
    """Return the names of a tool's arguments, in the order of its schema."""
    properties = schema.parameters["properties"]
    return tuple(properties) if isinstance(properties, Mapping) else ()


def tool_parameters(research: Research, form: AnswerForm) -> dict[str, tuple[str, ...]]:
    """Return the names of the arguments of each tool, by its name."""
    return {schema.name: parameter_names(schema) for schema in offered_tools(research, form)}
