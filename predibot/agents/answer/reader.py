"""The reader of answers: from what a model wrote to a decision, or to a sentence on what to mend.

One for all games and strategies. Models wrap what they say; what is left out is
told from the answer for certain, what is doubtful is refused, and nothing is
ever put in the place of what was said.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from predibot.agents.answer.calls import ARGUMENTS, read_call, written_call
from predibot.agents.answer.spoken import spoken_part
from predibot.contracts import AnswerForm
from predibot.domain.chat import ChatReply, ToolCall, ToolSchema
from predibot.domain.decision import LENIENT, Abstention, Decision
from predibot.errors import AnswerError
from predibot.games.answers import (
    LABEL,
    AnswerComplaint,
    abstention_of,
    decoded,
    decoder,
    is_placeholder,
    quoted,
    read_json,
)

_PREFIX = re.compile(
    r"""(?<![^\W_])(?:final\s+answer|answer|label)(?!["']\s*:\s*["'])[\s*_"'`”’]*[:：]""",
    re.IGNORECASE,
)
"""A field of JSON is none."""
_OBJECT = re.compile(r"\{label: ([^{}]*)\}")
_TEMPLATE = re.compile(r"<\|start\|>assistant|<\|channel\|>\w+|<\|\w+\|>|</s>|</?(?:answer|final|label|output)>", re.I)
"""Marks of a chat template, and those that models are trained to put around an answer."""
_WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_BETWEEN = frozenset({"or", "and"})


def read_label(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the label that a text states, and what stands before its line or object.

    Args:
        text: What a model wrote, without its thoughts, an object written as `{label: YES}` on one line.
        labels: That may be answered.

    Raises:
        AnswerError: If it states none, or two at once.

    Examples:
        >>> read_label("They sound sure.\\n**Answer:** yes.", ["YES", "NO"])
        ('YES', 'They sound sure.')
    """
    listed, known = ", ".join(labels), {label.casefold(): label for label in labels}
    lines = _TEMPLATE.sub("", text).splitlines()
    for row in range(len(lines) - 1, -1, -1):
        words = [word.casefold() for word in _WORD.findall(lines[row])]
        found = _OBJECT.search(lines[row])
        *_, said = found.groups() if found else _PREFIX.split(lines[row])
        rest = [word.casefold() for word in _WORD.findall(said)]
        is_stated = said != lines[row] and bool(rest)
        named = {word for word in words if word in known}
        if not is_stated and not (named and set(words) <= named | _BETWEEN):
            continue
        if len(named) != 1 or rest != [*named]:
            raise AnswerComplaint(
                f"the answer is {quoted(lines[row].strip())}; give exactly one of {', '.join(labels)}."
            )
        begun = lines[row][: found.start()] if found else ""
        return known[rest[0]], "\n".join([*lines[:row], begun]).strip()
    what = "no line of the answer is a label alone" if text.strip() else "the answer is empty"
    raise AnswerError(f"{what}; answer with exactly one of {listed}.")


_ONE = "hand in one JSON object as described and nothing else"
_BRACES = re.compile(r"[\s{}]+")


def said_in(reply: ChatReply) -> str:
    """Return the text of a reply; where it has none, the object or call that its thoughts end with, as their only one.

    A server that takes all that a model writes for thoughts leaves the answer in them.
    """
    text = reply.message.text
    if text.strip() or reply.finish_reason != "stop" or reply.message.tool_calls or not reply.message.state_json:
        return text
    of_message = json.loads(reply.message.state_json)[0]
    thoughts = of_message.get("reasoning_content") or of_message.get("reasoning")
    if not isinstance(thoughts, str):
        return text
    try:
        spoken = spoken_part(thoughts.strip(), decoder(()), own=None)
    except AnswerError:
        return text
    if (found := written_call(spoken.text)) is not None:
        return spoken.text[found[0] :]
    if len(spoken.objects) != 1 or spoken.problem:
        return text
    last = spoken.text[spoken.objects[0][0] :].rstrip().removesuffix("```").rstrip()
    return last if isinstance(decoded(last), dict) else text


def read_text(text: str, form: AnswerForm) -> Decision | Abstention:
    """Return what a text says.

    Raises:
        AnswerError: If it is no answer; the message says what to mend.
    """
    if form.labels:
        return _labelled(text, form)
    return read_object(_object(text, form), form)


def read_object(answer: object, form: AnswerForm) -> Decision | Abstention:
    """Return what an answer says that is decoded already, such as the arguments of a call.

    Raises:
        AnswerError: If it is no answer; the message says what to mend.
    """
    if isinstance(answer, str):
        raise AnswerComplaint(f"the answer is {quoted(answer)}, text in text; {_ONE}.")
    said = _shaped(_unwrapped(answer, form), form.schema.parameters, form.fields)
    reason = abstention_of(said)
    return form.parse(said) if reason is None else Abstention(reason)


def call_of(text: str, offered: Collection[ToolSchema], form: AnswerForm) -> ToolCall | None:
    """Return the call of an offered tool that a turn is in words, or None.

    One object with a field of the answer hands it in, with words around it or not, but none that name another tool.
    """
    own = _own(form)
    try:
        spoken = spoken_part(text, decoder(form.fields), own)
    except AnswerError:
        return None
    call = read_call(spoken.text, offered)
    if call is None and form.schema in offered and len(spoken.objects) == 1 and not spoken.problem:
        ((begin, value),) = spoken.objects
        _, end = decoder(form.fields).raw_decode(spoken.text, begin)
        around = spoken.text[:begin] + spoken.text[end:]
        goes_on = any(tool.name in around for tool in offered if tool != form.schema)
        is_answer = not goes_on and (own - ARGUMENTS) & value.keys()
        return ToolCall("", form.schema.name, json.dumps(value)) if is_answer else None
    return call


def _object(text: str, form: AnswerForm) -> object:
    """Return the one object of a text: all of it, or what stands in it behind thoughts and beside words."""
    bare = text.strip().lstrip("\ufeff")
    try:
        whole = read_json(bare, form.fields)
    except AnswerError as error:
        complaint = error
    else:
        call = read_call(bare, (form.schema,))
        return whole if call is None else read_json(call.arguments_json, form.fields)
    spoken = spoken_part(bare, decoder(form.fields), _own(form))
    if not spoken.text.strip():
        raise AnswerError(f"the answer is empty; {_ONE}.")
    if call := read_call(spoken.text, (form.schema,)):
        return read_json(call.arguments_json, form.fields)
    if spoken.problem:
        raise AnswerError(f"the answer is not JSON ({spoken.problem}); {_ONE}.")
    if not spoken.objects:
        raise complaint
    if len(spoken.objects) > 1:
        raise AnswerError(f"the answer holds {len(spoken.objects)} JSON objects; {_ONE}.")
    return spoken.objects[0][1]


def _labelled(text: str, form: AnswerForm) -> Decision:
    """Return the decision of a label: as its form reads it bare, or where that is allowed by the rule of `labels`."""
    spoken = spoken_part(text, decoder(form.fields), _own(form))
    try:
        return form.parse(spoken.text.strip())
    except AnswerError:
        if form.strict:
            raise
    if call := read_call(spoken.text, (form.schema,)):
        spoken = spoken_part(call.arguments_json, decoder(form.fields))
    found = [(begin, _unwrapped(value, form)) for begin, value in spoken.objects]
    found = [(begin, decoded(value) if isinstance(value, str) else value) for begin, value in found]
    objects = [(begin, value) for begin, value in found if isinstance(value, Mapping) and LABEL in value]
    if len(objects) > 1:
        raise AnswerError(f"the answer holds {len(objects)} JSON objects; answer with one label.")
    said, written, shown = spoken.text, "", ""
    if objects:
        ((begin, value),) = objects
        given = _shaped(value, form.schema.parameters, form.fields)
        if not isinstance(given, Mapping) or [*given] != [LABEL] or not isinstance(given[LABEL], str):
            raise AnswerError(f"the object is no label alone; answer with exactly one of {', '.join(form.labels)}.")
        _, end = decoder(form.fields).raw_decode(said, begin)
        written, shown = said[begin:end], f"{{label: {' '.join(_BRACES.split(given[LABEL]))}}}"
        said = said[:begin] + shown + said[end:]
    label, before = read_label(said, form.labels)
    try:
        # As a form reads it that asks for reasons first.
        decision = form.parse(f"{before.replace(shown, written, 1)}\n{json.dumps({LABEL: label})}")
    except AnswerError:
        decision = form.parse({LABEL: label})
    return replace(decision, notes=(*decision.notes, LENIENT))


def _shaped(
    value: object, schema: Mapping[str, object], optional: Collection[str] = (), *, is_text: bool = True
) -> object:
    """Return a value without placeholders, in which text that holds an array or object of the schema is decoded once.

    Args:
        value: As it was said.
        schema: Of it.
        optional: Fields that may be left out besides those that the schema names.
        is_text: Whether text may still be decoded; in what was decoded it may not.
    """
    kind = schema.get("type")
    if isinstance(value, str) and is_text and kind in ("array", "object"):
        value, is_text = decoded(value), False
    if isinstance(value, list) and kind == "array":
        items = _part(schema, "items")
        return [_shaped(each, items, is_text=is_text) for each in value]
    if not isinstance(value, Mapping) or kind != "object":
        return value
    properties, required = _part(schema, "properties"), schema.get("required") or ()
    may_lack = {*properties, *optional} - {*required}  # type: ignore[misc]
    return {
        name: _shaped(each, _part(properties, name), is_text=is_text)
        for name, each in value.items()
        if name not in may_lack or not is_placeholder(name, each, _part(properties, name))
    }


def _unwrapped(answer: object, form: AnswerForm) -> object:
    """Return what stands in an object under nothing but the name of the tool that hands an answer in."""
    return answer[form.schema.name] if isinstance(answer, Mapping) and [*answer] == [form.schema.name] else answer


def _own(form: AnswerForm) -> frozenset[str]:
    """Return the fields of an answer, and of a call that hands it in."""
    return ARGUMENTS.union(_part(form.schema.parameters, "properties"), [form.schema.name])


def _part(schema: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a part of a schema, empty where there is none."""
    found = schema.get(name)
    return found if isinstance(found, Mapping) else {}
