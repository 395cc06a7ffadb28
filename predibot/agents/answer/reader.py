"""The reader of answers: parses the text of a model into a decision, or complains about what to mend.

All games and strategies use it. It removes only what certainly does not belong to the answer, refuses what is
ambiguous, and never puts in a value of its own.

A label counts if it is a whole line, if it follows `Answer:`, `Label:` or `Final answer:` on its line, or if it is the
label of an object. Marks, quotes and case are ignored. The last such line decides. Two labels on it, or a label within
a sentence, are refused: "reveals no side" is no NO.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from predibot.agents.answer.calls import ARGUMENTS, find_call, read_call
from predibot.agents.answer.spoken import remove_thoughts
from predibot.contracts import AnswerForm
from predibot.domain.chat import ChatReply, ToolCall, ToolSchema
from predibot.domain.decision import LENIENT, Abstention, Decision
from predibot.errors import AnswerError
from predibot.games.answers import (
    ABSTAIN,
    LABEL,
    AnswerComplaint,
    abstention_of,
    decode_json,
    decoder,
    is_placeholder,
    quoted,
    read_json,
)

_PREFIX = re.compile(
    r"""(?<![^\W_])(?:final\s+answer|answer|label)(?!["']\s*:\s*["'])[\s*_"'`”’]*[:：]""",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{label: ([^{}]*)\}")
_TEMPLATE = re.compile(r"<\|start\|>assistant|<\|channel\|>\w+|<\|\w+\|>|</s>|</?(?:answer|final|label|output)>", re.I)
"""Marks of chat templates, and marks that models are trained to put around an answer."""
_WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_BETWEEN = frozenset({"or", "and"})


def read_label(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the label that a text states, and the text before it.

    The text comes from the model without its thoughts; an object is written as `{label: YES}` on one line.

    Raises:
        AnswerError: If the text states none, or two at once.

    Examples:
        >>> read_label("They sound sure.\\n**Answer:** yes.", ["YES", "NO"])
        ('YES', 'They sound sure.')
    """
    listed, known = ", ".join(labels), {label.casefold(): label for label in labels}
    lines = _TEMPLATE.sub("", text).splitlines()
    for row in range(len(lines) - 1, -1, -1):
        words = [word.casefold() for word in _WORD.findall(lines[row])]
        found = _OBJECT.search(lines[row])
        *_, stated = found.groups() if found else _PREFIX.split(lines[row])
        rest = [word.casefold() for word in _WORD.findall(stated)]
        is_stated = stated != lines[row] and bool(rest)
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


def answer_text(reply: ChatReply) -> str:
    """Return the text of a reply; if it has none, the object or call that its thoughts end with. Some servers take
    everything that a model writes for thoughts, the answer too.
    """
    text = reply.message.text
    if text.strip() or reply.finish_reason != "stop" or reply.message.tool_calls or not reply.message.state_json:
        return text
    of_message = json.loads(reply.message.state_json)[0]
    thoughts = of_message.get("reasoning_content") or of_message.get("reasoning")
    if not isinstance(thoughts, str):
        return text
    try:
        spoken = remove_thoughts(thoughts.strip(), decoder(()), own=None)
    except AnswerError:
        return text
    if (found := find_call(spoken.text)) is not None:
        return spoken.text[found[0] :]
    if len(spoken.objects) != 1 or spoken.problem:
        return text
    last = spoken.text[spoken.objects[0][0] :].rstrip().removesuffix("```").rstrip()
    return last if isinstance(decode_json(last), dict) else text


def read_text(text: str, form: AnswerForm) -> Decision | Abstention:
    """Return the decision or abstention in a text; raise `AnswerError`, which says what to mend, if it has neither."""
    return _read_labelled(text, form) if form.labels else read_object(_read_only_object(text, form), form)


def read_object(answer: object, form: AnswerForm) -> Decision | Abstention:
    """Return the decision or abstention in a decoded answer; raise `AnswerError` if it has neither."""
    if isinstance(answer, str):
        raise AnswerComplaint(f"the answer is {quoted(answer)}, text in text; {_ONE}.")
    shaped = _shape(_unwrap(answer, form), form.schema.parameters, form.fields)
    reason = abstention_of(shaped)
    return form.parse(shaped) if reason is None else Abstention(reason)


def call_in_words(text: str, offered: Collection[ToolSchema], form: AnswerForm) -> ToolCall | None:
    """Return the call of an offered tool that a turn makes in words, or None. A single object with a field of the
    answer counts as the answer, unless the words around it name another tool.
    """
    own = _answer_fields(form)
    try:
        spoken = remove_thoughts(text, decoder(form.fields), own)
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


def _read_only_object(text: str, form: AnswerForm) -> object:
    """Return the one JSON object of a text; thoughts and words around it are left out."""
    bare = text.strip().lstrip("\ufeff")
    try:
        whole = read_json(bare, form.fields)
    except AnswerError as error:
        complaint = error
    else:
        call = read_call(bare, (form.schema,))
        return whole if call is None else read_json(call.arguments_json, form.fields)
    spoken = remove_thoughts(bare, decoder(form.fields), _answer_fields(form))
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


def _read_labelled(text: str, form: AnswerForm) -> Decision | Abstention:
    spoken = remove_thoughts(text, decoder(form.fields), _answer_fields(form))
    try:
        return form.parse(spoken.text.strip())
    except AnswerError:
        if (reason := _lone_abstention(spoken.text, form)) is not None:
            return Abstention(reason)
        if form.strict:
            raise
    if call := read_call(spoken.text, (form.schema,)):
        spoken = remove_thoughts(call.arguments_json, decoder(form.fields))
    found = [(begin, _unwrap(value, form)) for begin, value in spoken.objects]
    found = [(begin, decode_json(value) if isinstance(value, str) else value) for begin, value in found]
    if any(isinstance(value, Mapping) and value.get(ABSTAIN) for _, value in found):
        raise AnswerError(f"{ABSTAIN} stands beside other words; hand in a label, or {ABSTAIN} alone.")
    objects = [(begin, value) for begin, value in found if isinstance(value, Mapping) and LABEL in value]
    if len(objects) > 1:
        raise AnswerError(f"the answer holds {len(objects)} JSON objects; answer with one label.")
    answer, written, shown = spoken.text, "", ""
    if objects:
        ((begin, value),) = objects
        given = _shape(value, form.schema.parameters, form.fields)
        if not isinstance(given, Mapping) or [*given] != [LABEL] or not isinstance(given[LABEL], str):
            raise AnswerError(f"the object is no label alone; answer with exactly one of {', '.join(form.labels)}.")
        _, end = decoder(form.fields).raw_decode(answer, begin)
        written, shown = answer[begin:end], f"{{label: {' '.join(_BRACES.split(given[LABEL]))}}}"
        answer = answer[:begin] + shown + answer[end:]
    label, before = read_label(answer, form.labels)
    try:
        # A form that asks for reasons reads them before the label.
        decision = form.parse(f"{before.replace(shown, written, 1)}\n{json.dumps({LABEL: label})}")
    except AnswerError:
        decision = form.parse({LABEL: label})
    return replace(decision, notes=(*decision.notes, LENIENT))


def _lone_abstention(text: str, form: AnswerForm) -> str | None:
    """Return why an answer that is one object abstains; None if it has a label, or words around it."""
    bare = text.strip().removeprefix("```json").strip("`\n ")
    value = decode_json(bare) if bare.startswith("{") else None
    return abstention_of(_shape(_unwrap(value, form), form.schema.parameters, form.fields))


def _shape(
    value: object, schema: Mapping[str, object], optional: Collection[str] = (), *, is_text: bool = True
) -> object:
    """Remove placeholders, and decode arrays and objects of the schema that were written as text. `optional` are fields
    that may be missing besides those that the schema names. Text inside decoded text stays text.
    """
    kind = schema.get("type")
    if isinstance(value, str) and is_text and kind in ("array", "object"):
        value, is_text = decode_json(value), False
    if isinstance(value, list) and kind == "array":
        items = _schema_part(schema, "items")
        return [_shape(each, items, is_text=is_text) for each in value]
    if not isinstance(value, Mapping) or kind != "object":
        return value
    properties, required = _schema_part(schema, "properties"), schema.get("required") or ()
    may_lack = {*properties, *optional} - {*required}  # type: ignore[misc]
    return {
        name: _shape(each, _schema_part(properties, name), is_text=is_text)
        for name, each in value.items()
        if name not in may_lack or not is_placeholder(name, each, _schema_part(properties, name))
    }


def _unwrap(answer: object, form: AnswerForm) -> object:
    """Return the content of an object whose only field is the name of the answer's tool."""
    return answer[form.schema.name] if isinstance(answer, Mapping) and [*answer] == [form.schema.name] else answer


def _answer_fields(form: AnswerForm) -> frozenset[str]:
    """Return the names of an answer's fields, and the names that a call of the answer's tool has."""
    return ARGUMENTS.union(_schema_part(form.schema.parameters, "properties"), [form.schema.name])


def _schema_part(schema: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = schema.get(name)
    return found if isinstance(found, Mapping) else {}
