"""Prompts, made from texts whose fields are checked; the game gives the words about its subject."""

import re
from collections.abc import Mapping
from importlib.resources import files

from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import AnswerForm, Context, no_history
from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import shorten
from predibot.errors import UsageError

MAX_REPORT_CHARACTERS = 80_000
_FIRST_STEP = 3
"""The number of the game's first step; the text has the steps before it."""
_NO_RESEARCH = "You cannot look anything up."
_RESEARCH = "Search and read as much as you need before you decide."
_BY_TOOL = """{{ask}}

When you are done, call final_answer once, alone, {{entries}}.
If you can say nothing at all, call it with abstain alone, and say why there."""
_BY_JSON = """{{ask}}

Answer with one JSON object and nothing else:

```
{{answer_shape}}
```

If you can say nothing at all, answer with {"abstain": "why"} instead."""
_BY_REPORT = "Write a report {{about}} for somebody who decides on nothing but your report.\n{{report}}"
_FIELD = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
"""It matches dots and dashes too, which no field has, so that a misspelt field is an error and is not sent as text."""


def packaged_prompt(name: str) -> str:
    """Return the text of a packaged prompt, with its fields in double braces."""
    return files("predibot.agents.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def fields_of(text: str) -> tuple[str, ...]:
    """Return the fields of a prompt, each once, in order."""
    return tuple(dict.fromkeys(_FIELD.findall(text)))


def fill_prompt(text: str, fields: Mapping[str, str]) -> str:
    """Fill the fields of a prompt; raise `UsageError` if one is missing, because a prompt with a hole must not reach a
    model.
    """
    if missing := [field for field in fields_of(text) if field not in fields]:
        raise UsageError(f"the prompt has the field {missing[0]!r}, which nobody fills in. Take it out")
    return _FIELD.sub(lambda match: fields[match.group(1)], text)


def decide_prompt(context: Context, fence: Fence, form: AnswerForm, *, min_searches: int, min_pages: int) -> str:
    """Return the prompt for an agent with tools."""
    research = (
        f"Search at least {min_searches} times in different words and read at least {min_pages} pages "
        "before you decide; look for what speaks against your first thought too."
        if min_searches or min_pages
        else _RESEARCH
    )
    return _prompt("decide", context, fence, form, research=research, hand_in=_BY_TOOL)


def one_shot_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return the prompt for a model without tools."""
    return _prompt("label" if form.labels else "one_shot", context, fence, form)


def report_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return the prompt for a report with numbers, by a model that searches by itself."""
    return _prompt("report", context, fence, form, research=_RESEARCH, hand_in=_BY_REPORT)


def extract_prompt(context: Context, fence: Fence, form: AnswerForm, report: str) -> str:
    """Return the prompt for turning a report into an answer."""
    # The report needs no past prices, so they are not fetched again.
    words = form.words(history=no_history, untrusted=fence.around)
    fields = {
        "about": words.extract_about,
        "from_report": words.extract_from,
        "view": words.extract_view,
        "ask": words.extract,
        "report": fence.around(shorten(report, MAX_REPORT_CHARACTERS)),
        "answer_shape": form.shape,
    }
    return fill_prompt(packaged_prompt("extract"), {**fields, **_fence_fields(fence)})


def _prompt(
    name: str,
    context: Context,
    fence: Fence,
    form: AnswerForm,
    *,
    research: str = _NO_RESEARCH,
    hand_in: str = _BY_JSON,
) -> str:
    words = form.words(history=context.history, untrusted=fence.around)
    fields = {
        **words.parts,
        "task": words.task,
        "objective": words.objective,
        "now": format_instant(context.now),
        "view": words.view,
        "ask": words.ask,
        "answer_shape": form.shape,
        "ending": form.ending,
        "research_words": research,
        "steps": "\n".join(f"{number}. {step}" for number, step in enumerate(words.steps, start=_FIRST_STEP)),
        "entries": words.entries,
        "about": words.report_about,
        "report": words.report,
        **_fence_fields(fence),
    }
    fields["hand_in"] = fill_prompt(hand_in, fields)
    return fill_prompt(context.prompt or packaged_prompt(name), fields)


def _fence_fields(fence: Fence) -> dict[str, str]:
    return {"fence_open": fence.opening, "fence_close": fence.closing}
