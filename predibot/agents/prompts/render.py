"""The prompt: what a model is told, from a text whose fields are checked; what it is about says the game."""

import re
from collections.abc import Mapping
from importlib.resources import files

from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import AnswerForm, Context, no_history
from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import bounded
from predibot.games.answers import Words

MAX_REPORT_CHARACTERS = 80_000
_FIRST_STEP = 3
"""The number of the game's first step: those before it are in the text."""
_FIELD = re.compile(r"\{\{(\w+)\}\}")


def filled(name: str, fields: Mapping[str, str]) -> str:
    """Return a packaged text with its fields filled in.

    Args:
        name: Of the file, without its ending.
        fields: Exactly those that the text has.

    Raises:
        ValueError: If a field is missing or unknown: a prompt with a hole in it
            must never reach a model.
    """
    text = files("predibot.agents.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    wanted = set(_FIELD.findall(text))
    if missing := wanted - fields.keys():
        raise ValueError(f"prompt {name!r} has the field {sorted(missing)[0]!r}, which was not given")
    if unknown := fields.keys() - wanted:
        raise ValueError(f"prompt {name!r} has no field {sorted(unknown)[0]!r}")
    return _FIELD.sub(lambda match: fields[match.group(1)], text)


def decide_prompt(context: Context, fence: Fence, form: AnswerForm, *, min_searches: int, min_pages: int) -> str:
    """Return what an agent with tools is asked."""
    research = (
        f"Search at least {min_searches} times in different words and read at least {min_pages} pages "
        "before you decide; look for what speaks against your first thought too."
        if min_searches or min_pages
        else "Search and read as much as you need before you decide."
    )
    words = _words(context, fence, form)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(words.steps, start=_FIRST_STEP))
    fields = {"research_words": research, "steps": steps, "entries": words.entries}
    return filled("decide", {**_shown(context, fence, words), **fields})


def one_shot_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return what a model without tools is asked."""
    words = _words(context, fence, form)
    if form.labels:
        fields = {"task": words.task, "view": words.view, "ask": words.ask, "ending": form.ending}
        return filled("label", {**fields, **_fences(fence)})
    return filled("one_shot", {**_shown(context, fence, words), "ask": words.ask, "answer_shape": form.shape})


def report_prompt(context: Context, fence: Fence, form: AnswerForm) -> str:
    """Return what a model that searches by itself is asked for: a report that says numbers."""
    words = _words(context, fence, form)
    return filled("report", {**_shown(context, fence, words), "about": words.report_about, "report": words.report})


def extract_prompt(context: Context, fence: Fence, form: AnswerForm, report: str) -> str:
    """Return what a model is asked that turns a report into an answer."""
    # Prices of the past are not shown, so they are not asked for again.
    words = form.words(history=no_history, untrusted=fence.around)
    fields = {
        "about": words.extract_about,
        "from_report": words.extract_from,
        "view": words.extract_view,
        "ask": words.extract,
        "report": fence.around(bounded(report, MAX_REPORT_CHARACTERS)),
        "answer_shape": form.shape,
    }
    return filled("extract", {**fields, **_fences(fence)})


def _words(context: Context, fence: Fence, form: AnswerForm) -> Words:
    return form.words(history=context.history, untrusted=fence.around)


def _shown(context: Context, fence: Fence, words: Words) -> dict[str, str]:
    """Return the fields that say what is to be done, when, and with what."""
    return {"task": words.task, "now": format_instant(context.now), "view": words.view, **_fences(fence)}


def _fences(fence: Fence) -> dict[str, str]:
    return {"fence_open": fence.opening, "fence_close": fence.closing}
