"""Prompts, made from texts whose fields are checked; the game gives the words about its subject."""

import re
from collections.abc import Mapping
from importlib.resources import files

from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import AnswerForm, Context, no_history
from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import shorten
from predibot.games.answers import Words

MAX_REPORT_CHARACTERS = 80_000
_FIRST_STEP = 3
"""The number of the game's first step; the text has the steps before it."""
_FIELD = re.compile(r"\{\{(\w+)\}\}")


def fill_prompt(name: str, fields: Mapping[str, str]) -> str:
    """Return a packaged text with its fields filled in.

    A missing or unknown field raises `ValueError`: a prompt with a hole in it must never reach a model.
    """
    text = files("predibot.agents.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    wanted = set(_FIELD.findall(text))
    if missing := wanted - fields.keys():
        raise ValueError(f"prompt {name!r} has the field {sorted(missing)[0]!r}, which was not given")
    if unknown := fields.keys() - wanted:
        raise ValueError(f"prompt {name!r} has no field {sorted(unknown)[0]!r}")
    return _FIELD.sub(lambda match: fields[match.group(1)], text)


def decide_prompt(context: Context, fence: Fence, form: AnswerForm, *, min_searches: int, min_pages: int) -> str:
    """Return the prompt for an agent with tools."""
    research = (
        f"Search at least {min_searches} times in different words and read at least {min_pages} pages "
        "before you decide; look for what speaks against your first thought too."
        if min_searches or min_pages
        else "Search and read as much as you need before you decide."
    )
    words = _words(context, fence, form)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(words.steps, start=_FIRST_STEP))
    fields = {"research_words": research, "steps": steps, "entries": words.entries}
    return fill_prompt("decide", {**_task_fields(context, fence, words), **fields})


def one_shot_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return the prompt for a model without tools."""
    words = _words(context, fence, form)
    if form.labels:
        fields = {"task": words.task, "view": words.view, "ask": words.ask, "ending": form.ending}
        return fill_prompt("label", {**fields, **_fence_fields(fence)})
    return fill_prompt(
        "one_shot", {**_task_fields(context, fence, words), "ask": words.ask, "answer_shape": form.shape}
    )


def report_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return the prompt for a report with numbers, by a model that searches by itself."""
    words = _words(context, fence, form)
    return fill_prompt(
        "report", {**_task_fields(context, fence, words), "about": words.report_about, "report": words.report}
    )


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
    return fill_prompt("extract", {**fields, **_fence_fields(fence)})


def _words(context: Context, fence: Fence, form: AnswerForm) -> Words:
    return form.words(history=context.history, untrusted=fence.around)


def _task_fields(context: Context, fence: Fence, words: Words) -> dict[str, str]:
    return {"task": words.task, "now": format_instant(context.now), "view": words.view, **_fence_fields(fence)}


def _fence_fields(fence: Fence) -> dict[str, str]:
    return {"fence_open": fence.opening, "fence_close": fence.closing}
