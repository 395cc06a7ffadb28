"""Notices: short messages to an operator, made of our own words, counts and the names in a recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import Any

from predibot.domain.clock import short_instant
from predibot.domain.decision import outcome_of
from predibot.domain.terms import NoticeKind
from predibot.domain.untrusted_text import one_line

MAX_TITLE_CHARACTERS = 150
MAX_LINES = 25
MAX_LINE_CHARACTERS = 200
_MAX_NAME_CHARACTERS = 60
_SAFE_MARKS = frozenset(" -_.:/+=#(),")
"""Kept in names beside letters and digits; other marks can mention a channel or a person, or make a link."""
_MOST_MISSED_NAMED = 5
_MORE = "`predibot status` says more."
_UNREADABLE_ANSWER = outcome_of("failed", "answer")
_ASK_AGAIN = "`predibot schedule run-now RECIPE --retry failed` alone asks again what failed by unreadable answers."
_REASONS: Mapping[str, str] = {
    "BudgetSpent": "a budget is spent",
    "LedgerUnusable": "the ledger cannot be opened, read or written",
    "MarketClosed": "a market closed meanwhile",
    "ModelRefused": "a model's provider refuses the request, as with a wrong key",
    "ModelUnavailable": "a model's provider did not answer in time",
    "PluginError": "a plug-in does not load, or refuses its arguments",
    "RecipeError": "the recipe cannot be read",
    "RunConflict": "the stored run of that time was made with other settings",
    "UsageError": "what was asked for cannot be done",
    "VenueChanged": "the venue answers in a way this predibot does not understand",
    "VenueMissing": "what the venue is kept in is not there",
    "VenueUnavailable": "the venue did not answer in time",
}
"""What each kind of error means. The error's own message may quote a page, a model or a key, and is never sent."""


def safe_name(name: str) -> str:
    """Return a name from a recipe in characters that are harmless in every chat, mail and terminal.

    Examples:
        >>> safe_name("<!channel> @here [x](http://a.b)"), safe_name("agent/gpt-5 (slow)")
        ('??channel? ?here ?x?(http:/?a.b)', 'agent/gpt-5 (slow)')
    """
    characters = one_line(name).replace("//", "/?")
    return _shorten("".join(c if c.isalnum() or c in _SAFE_MARKS else "?" for c in characters), _MAX_NAME_CHARACTERS)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Notice:
    """One message to the operator, short enough for every channel."""

    kind: NoticeKind | None
    """A notice of no kind is always sent. The operator's choice of kinds does not stop it."""
    title: str
    lines: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    """Lines with aligned columns."""
    trouble: str = ""
    """Key of the trouble. A trouble is reported once until it is over; empty for none."""
    is_over: bool = False
    passes_by_itself: bool = False
    """Whether the trouble ends by itself, as a limit of a day does: it is reported once, and its end is not."""

    def __post_init__(self) -> None:
        """Refuse a title that is empty, too long, or more than one line, which a mail header cannot hold."""
        if not 0 < len(self.title) <= MAX_TITLE_CHARACTERS or not self.title.isprintable():
            raise ValueError(f"a title is one line of at most {MAX_TITLE_CHARACTERS} characters, not {self.title!r}")

    @property
    def body(self) -> tuple[str, ...]:
        """Return its lines and its table, bounded in number and length."""
        lines = [_shorten(line, MAX_LINE_CHARACTERS) for line in (*self.lines, *self.table)]
        more = len(lines) - MAX_LINES
        return tuple(lines) if more <= 0 else (*lines[: MAX_LINES - 1], f"... and {more + 1} more lines")


def kind_of_error(reason: str) -> str:
    """Return the class of error that a reason begins with; empty unless it is one of ours.

    Examples:
        >>> kind_of_error("VenueChanged: asked for event 7, got 8"), kind_of_error("3 of 4 decisions failed: x")
        ('VenueChanged', '')
    """
    kind = reason.partition(":")[0]
    return kind if kind in _REASONS else ""


def _well_again(kind: NoticeKind, title: str, trouble: str, lines: tuple[str, ...] = ()) -> Notice:
    """Return the notice that a trouble is over."""
    return Notice(kind, f"predibot: {title}", lines, trouble=trouble, is_over=True)


def notice_of_slot(
    recipe: str,
    slot_at: datetime,
    *,
    is_good: bool,
    reason: str = "",
    outcomes: Mapping[str, int] | None = None,
    next_try_at: datetime | None = None,
) -> Notice:
    """Return the notice that a slot failed, or that the recipe's slots are well again.

    Args:
        slot_at: The instant that the schedule names.
        is_good: Whether it tells that the slots are well again.
        reason: Why not every decision was made. It may quote others, so the notice names only the class of the error.
        outcomes: Count of decisions by `outcome_of`; empty if no run was made.
        next_try_at: When failed decisions are tried again; None for never.
    """
    at, about, counts = short_instant(slot_at), f"runs of {recipe}", dict(outcomes or {})
    decisions = f"Decisions: {_counts(counts)}." if counts else "No decision was made."
    if is_good:
        return _well_again("failure", f"{safe_name(recipe)} is well again, run of {at}", about, (decisions,))
    what = "failed in part" if counts.get("recorded") else "failed"
    kind = kind_of_error(reason)
    why = (f"Why: {_REASONS[kind]}.",) if kind else ()
    again = f"It is tried again at {short_instant(next_try_at)}." if next_try_at else "It is not tried again."
    ask_again = (_ASK_AGAIN,) if counts.get(_UNREADABLE_ANSWER) else ()
    return Notice(
        "drift" if kind == "VenueChanged" else "failure",
        f"predibot: {safe_name(recipe)} {what}, run of {at}",
        (*why, decisions, again, *ask_again, _MORE),
        trouble=about,
    )


def notice_of_remarks(recipe: str, slot_at: datetime, reason: str) -> Notice:
    """Return the notice that something besides a slot's decisions failed; without a reason, that all is well again."""
    about, at = f"side of {recipe}", short_instant(slot_at)
    if not reason:
        return _well_again("failure", f"nothing is in the way of {safe_name(recipe)} any more, run of {at}", about)
    return Notice(
        "drift" if "VenueChanged:" in reason else "failure",
        f"predibot: {safe_name(recipe)} is done with remarks, run of {at}",
        ("Prices, the evaluation or a check of the doctor were in the way.", _MORE),
        trouble=about,
    )


def notice_of_missed(recipe: str, slots: Sequence[datetime]) -> Notice:
    """Return the notice that slots were missed."""
    first, more = [short_instant(slot) for slot in slots[:_MOST_MISSED_NAMED]], len(slots) - _MOST_MISSED_NAMED
    names = ", ".join(first) + (f" and {more} more, the last {short_instant(slots[-1])}" if more > 0 else "")
    what = "a run" if len(slots) == 1 else f"{len(slots)} runs"
    lines = (f"Nothing ran in time to make up for: {names}.", "No decision is made for them any more.")
    return Notice("missed", f"predibot: {safe_name(recipe)} missed {what}", lines)


def notice_of_recipe(recipe: str, *, is_good: bool) -> Notice:
    """Return the notice that a recipe cannot be read any more, or can be read again."""
    about = f"file of {recipe}"
    if is_good:
        return _well_again("failure", f"{safe_name(recipe)} can be read again", about)
    lines = ("It goes on as it was read last.", _MORE)
    return Notice("failure", f"predibot: {safe_name(recipe)} cannot be read as it is now", lines, trouble=about)


def notice_of_drift(recipe: str, doubts: Sequence[str]) -> Notice:
    """Return the notice that a venue's answers changed; without doubts, that all are understood again."""
    about = f"venue of {recipe}"
    if not doubts:
        return _well_again("drift", f"the venue of {safe_name(recipe)} is understood again", about)
    lines = (*(f"{doubt}." for doubt in doubts), "Look whether there is a newer predibot.")
    return Notice("drift", f"predibot: the venue of {safe_name(recipe)} changes", lines, trouble=about)


def notice_of_budget(recipe: str, account: str, what: str, *, spent: float, limit: float) -> Notice:
    """Return the notice that a limit of a recipe is nearly reached.

    Args:
        account: What the limit applies to, such as `the day 2026-03-01`.
        what: The unit of `spent` and `limit`, such as `usd`.
    """
    share = f"{spent / limit:.0%}" if limit else "all"
    amounts = f"{_amount(spent)} of {_amount(limit)} {what}."
    lines = (f"It is the limit of {account}.", amounts, "At the limit agents hand in what they have, or abstain.")
    title = f"predibot: {safe_name(recipe)} has spent {share} of its limit"
    about = f"limit of {recipe} for {account}: {what}"
    return Notice("budget", title, lines, trouble=about, passes_by_itself=True)


def notice_of_abstentions(recipe: str, count: int) -> Notice:
    """Return the notice that bots abstained because a budget was spent, or that none did any more."""
    about = f"budget of {recipe}"
    if not count:
        return _well_again("budget", f"{safe_name(recipe)} has a budget again", about)
    line = f"{count} decision{'' if count == 1 else 's'} could not be afforded; see the limits of its recipe."
    return Notice("budget", f"predibot: {safe_name(recipe)} has spent a budget", (line,), trouble=about)


def _amount(value: float) -> str:
    return f"{value:,.2f}".removesuffix(".00")


def notice_of_day(
    recipe: str,
    until: datetime,
    said: Sequence[str],
    leaderboard: Sequence[str],
    *,
    slots: Mapping[str, int],
    outcomes: Mapping[str, int],
    cost_usd: float,
    is_cost_known: bool,
    troubles: Sequence[str] = (),
) -> Notice:
    """Return the summary of a recipe's last 24 hours.

    Args:
        said: Verdicts on the bots, in sentences.
        leaderboard: Its first lines.
        slots: Count of slots by status.
        outcomes: Count of their decisions by `outcome_of`.
        cost_usd: The known part of the cost; all of it if `is_cost_known`.
        troubles: Keys of the troubles that go on.
    """
    done, all_slots = slots.get("done", 0), sum(slots.values())
    cost = f"Cost: {'' if is_cost_known else 'at least '}${cost_usd:,.2f}."
    not_over = f"Not over yet: {', '.join(map(safe_name, troubles))}." if troubles else ""
    # Wrapped, so that none is cut off.
    wrapped = wrap(not_over, MAX_LINE_CHARACTERS, break_on_hyphens=False)
    counts = f"Runs of the last 24 hours: {_counts(slots)}.", f"Decisions: {_counts(outcomes)}."
    title = f"predibot: {safe_name(recipe)} until {short_instant(until)}, {done} of {all_slots} runs done"
    return Notice("summary", title, (*counts, cost, *wrapped, *said), tuple(leaderboard))


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()) if count) or "none"


def notice_of_test(now: datetime) -> Notice:
    """Return a notice that tries a channel."""
    return Notice(None, "predibot: a test", (f"Sent at {short_instant(now)}.",))
