"""The turns of a trace: what a model said, the tools it called, and what came back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from predibot.agents.loop.belief import last_belief
from predibot.domain import trace as kinds
from predibot.games.answers import FINAL_ANSWER
from predibot.ledger.files.trace_lines import TraceLines
from predibot.reports import figures
from predibot.reports.terminal.trace import forecasts_of_sample, step_heading, texts_of_step

_MOST_STEPS = 8
"""Steps of a turn that a page of turns shows."""
_MOST_LINE_BYTES = 1_000_000
_LINE, _TEXT, _TURN = 160, 400, 3_000
"""Characters of a text in the line of a turn, of one in a turn that is open, and of all texts of a turn."""
_TOLD = kinds.SearchStep | kinds.PageVisitedStep | kinds.PageRefusedStep
"""What a tool step after them tells again."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn, as one line that opens; its texts may be cut."""

    number: int
    """From 1."""
    first: int
    """The number of its first step in the trace, from 1."""
    action: str
    """A word or two, such as `Searched`."""
    about: str
    result: str
    """What came back, with further calls of the turn; empty for nothing."""
    is_answer: bool
    steps: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """What each step was, and its texts with their labels."""
    more_steps: int
    """The number of its steps that are left out."""


def turn_starts(trace: TraceLines) -> tuple[int, ...]:
    """Return the numbers of the lines that begin a turn, from 0: those of models, and every line before the first."""
    return (*range(trace.models[0] if trace.models else len(trace)), *trace.models)


def turns_of(trace: TraceLines, starts: Sequence[int], first: int, most: int) -> Iterator[Turn]:
    """Yield at most `most` turns of a trace behind the `first` ones; `starts` are those of `turn_starts`."""
    spans = list(pairwise((*starts, len(trace))))[first : first + most]
    numbers = [number for start, end in spans for number in range(start, min(end, start + _MOST_STEPS))]
    read = dict(zip(numbers, trace.read(numbers, _MOST_LINE_BYTES), strict=False))
    for place, (start, end) in enumerate(spans, start=first + 1):
        steps = [_step(number, *read[number]) for number in range(start, end) if number in read]
        told = list(_lines_of(steps)) or [_line_of(steps[0])]
        action, about, result = (_cut(text, _LINE) for text in told[0])
        more = [f"and {figures.things(len(told) - 1, 'more call')}"] if len(told) > 1 else []
        yield Turn(
            number=place,
            first=start + 1,
            action=action,
            about=about,
            result="; ".join([*([result] if result else []), *more]),
            is_answer=any(isinstance(step, kinds.ToolStep) and step.name == FINAL_ANSWER for step in steps),
            steps=tuple(_shorten(steps)),
            more_steps=end - start - len(steps),
        )


def _step(number: int, length: int, text: bytes) -> kinds.Step:
    if len(text) < length:
        return kinds.UnreadableStep("step", {}, "it is longer than this page reads")
    try:
        return kinds.step_of(json.loads(text), number + 1)
    except (ValueError, RecursionError) as error:
        return kinds.UnreadableStep("step", {}, str(error))


def _shorten(steps: Sequence[kinds.Step]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield what each step was and the beginnings of its texts, without the fence around what strangers wrote."""
    left = _TURN
    for step in steps:
        texts, shown = texts_of_step(step), list[tuple[str, str]]()
        if isinstance(step, kinds.UnreadableStep):
            texts = iter([("why", step.complaint)])
        for label, text in texts:
            cut = _cut(kinds.inside_fence(text) or text, min(_TEXT, left))
            if cut.strip("… \n"):
                shown.append((label, cut))
                left -= len(cut)
        yield step_heading(step), tuple(shown)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _lines_of(steps: Sequence[kinds.Step]) -> Iterator[tuple[str, str, str]]:
    """Yield the line of each step, except of a model, and of a tool whose search or page was the step before."""
    before: kinds.Step | None = None
    for step in steps:
        is_told = isinstance(step, kinds.ToolStep) and isinstance(before, _TOLD)
        if not is_told and not isinstance(step, kinds.ModelStep):
            yield _line_of(step)
        before = step


def _line_of(step: kinds.Step) -> tuple[str, str, str]:
    match step:
        case kinds.SearchStep():
            dropped = sum(count for count in step.dropped.values() if isinstance(count, int))
            left_out = f", {dropped:,} left out" if dropped else ""
            return "Searched", step.query, figures.things(len(step.results), "result") + left_out
        case kinds.PageVisitedStep():
            published = f"published {step.published[:10]}" if step.published else "of unknown date"
            return "Read", step.title or step.final_url, ", ".join(filter(None, [_host(step.final_url), published]))
        case kinds.PageRefusedStep():
            return "Was not shown", step.url, step.message or step.error
        case kinds.ToolStep(name=name) if name == FINAL_ANSWER:
            return "Handed in", _answer(step.arguments), "accepted" if step.result == "taken" else step.result
        case kinds.ToolStep() if belief := last_belief([step]):
            (_, chances), *reasons = belief.lines()
            return "Believed", chances, "; ".join(f"{label}: {words}" for label, words in reasons)
        case kinds.ToolStep():
            came = "" if step.outcome == "text" else step.said or step.result
            return f"Called {step.name}", _json(step.arguments), came
        case kinds.ModelStep(reply=reply):
            return "Wrote", reply.message.text or reply.refusal or "nothing", ""
        case kinds.ModelFailedStep():
            return "Got no answer", step.message, step.error
        case kinds.ModelNotAskedStep():
            return "Was not asked", step.message, ""
        case kinds.CodeStep():
            return "Ran code", step.code, ""
        case kinds.RefusedTurnStep() | kinds.GaveUpStep():
            return "Was refused", step.complaint, ""
        case kinds.AbstainedStep():
            return "Abstained", step.message, ""
        case kinds.GivenUpStep():
            return "Ran out of time", f"after {figures.duration(step.seconds)}", ""
        case kinds.SampleStep():
            return "Sampled", step.bot, forecasts_of_sample(step) or f"{step.status}: {step.message}"
        case kinds.UnreadableStep():
            return "Unreadable", step.complaint, ""
    texts = (text for _, text in texts_of_step(step) if text)
    return step.kind.replace("_", " "), next(texts, ""), ""


def _host(address: str) -> str:
    """Return the name of a host; an address of digits says nothing to a reader."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return "" if host.replace(".", "").isdigit() else host


def _answer(arguments: object) -> str:
    """Return an answer about markets in words, any other as JSON."""
    given = arguments.get("market_decisions") if isinstance(arguments, Mapping) else None
    rows = [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    said, bets = ([row.get(name) for row in rows] for name in ("estimated_probability", "bet"))
    numbers = (each for each in (*said, *bets) if isinstance(each, int | float) and type(each) is not bool)
    if not rows or sum(abs(each) < 1e12 for each in numbers) < 2 * len(rows):
        return _json(arguments)
    if len(rows) == 1:
        return f"{figures.percent(said[0])} for YES, {figures.bet(bets[0])}"
    return f"{figures.things(len(rows), 'forecast')}, {figures.usd(sum(abs(float(each or 0.0)) for each in bets))} bet"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep to be shown"
