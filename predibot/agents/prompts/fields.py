"""The fields of prompts: which there are, and which a prompt of the user's own may and must have in a game."""

import hashlib
import unicodedata
from collections.abc import Mapping

from predibot.agents.prompts.render import fields_of, packaged_prompt
from predibot.contracts import Game
from predibot.domain.spelling import did_you_mean

PROMPTS: Mapping[str, str] = {
    "decide": "agents with tools: tool_agent, code_agent",
    "decide-2": 'the same in games on events, or models asked at once; a bot has it by prompt = "decide-2"',
    "one_shot": "models asked at once: one_shot, samples of an ensemble, a tool_agent without tools",
    "label": "the same in games of labels: stakebench, beliefbench",
    "report": "the report of deep_research",
    "extract": "what deep_research takes out of the report; always this one",
}
"""The packaged prompts, and what each is for."""
FIELDS: Mapping[str, str] = {
    "task": "what the game is, in a sentence or two",
    "objective": "what is scored, what to maximise, and when a bet is worth its costs",
    "now": "the instant of the decision",
    "fence_open": "the mark before words of strangers",
    "fence_close": "the mark behind them",
    "view": "all that the game shows",
    "ask": "what an answer holds, and the rules for it",
    "answer_shape": "an example of an answer, or the labels there are",
    "ending": "how a label is to be written",
    "research_words": "how much to search and to read",
    "steps": "what to do, as numbered steps from 3 on",
    "entries": "what the answer of an agent holds, in a few words",
    "rationale_first": "that the rationale comes before the probability, which answers then follow; in games on events",
    "hand_in": "all of what an answer holds and how it is handed in: by a tool, as JSON, or in a report",
    "about": "the subject of a report, in a few words",
    "report": "what a report says in numbers, and the rules for it",
}
"""The fields that no single game has, and what each is filled with."""
CHOICES = ("decide-2",)
"""The packaged prompts that a bot may name as its own."""
RATIONALE_FIRST = "rationale_first"
"""A prompt with this field has the rationale before the probability in the schema of an answer too."""
_MARKS = ("fence_open", "fence_close")


def choice_of(sha256: str) -> str:
    """Return which of `CHOICES` has a text with this digest, or no text."""
    digests = {hashlib.sha256(packaged_prompt(name).encode()).hexdigest(): name for name in CHOICES}
    return digests.get(sha256, "")


def game_fields(game: Game, *, judges: bool = False) -> tuple[str, ...]:
    """Return the fields that a prompt may have in a game, or one of a judge of other bots' answers."""
    names = ("label",) if game.has_items else ("decide", "one_shot", "report")
    handed_in = () if game.has_items else ("hand_in",)
    common = {"answer_shape", *handed_in, *(field for name in names for field in fields_of(packaged_prompt(name)))}
    return (*(field for field in FIELDS if field in common), *_parts(game, judges=judges))


def _parts(game: Game, *, judges: bool) -> Mapping[str, bool]:
    return game.judge_fields if judges else game.view_fields


def prompt_problem(text: str, game: Game, *, judges: bool = False) -> str:
    """Return why a prompt cannot be used in a game, or no text: it must show the view, and say how strangers' words are
    marked.
    """
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in text):
        return "it holds control characters. Save it as plain text"
    fields, known = fields_of(text), game_fields(game, judges=judges)
    if unknown := [field for field in fields if field not in known]:
        return f"it has the field {unknown[0][:40]!r}, which game {game.name!r} does not fill. " + did_you_mean(
            unknown[0], known
        )
    essential = [field for field, is_essential in _parts(game, judges=judges).items() if is_essential]
    if "view" not in fields and not (essential and {*essential} <= {*fields}):
        parts = f", or {' and '.join(f'{{{{{field}}}}}' for field in essential)}" if essential else ""
        return f"it shows nothing of what is asked about. Add the field {{{{view}}}}{parts}"
    if lacking := [field for field in _MARKS if field not in fields]:
        return (
            f"it does not say how words of strangers are marked. Add the field {{{{{lacking[0]}}}}}, as the packaged "
            "prompts do"
        )
    return ""
