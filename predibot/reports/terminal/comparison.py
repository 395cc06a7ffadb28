"""The comparison of two forecasters in one line: who is better, by how much, or how many more events it would take."""

from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.terminal.text import plain
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.verdict import Finding, Verdict, pair_verdict


def comparison_document(pair: Pair) -> Document:
    """Return what was found as plain data."""
    verdict = pair_verdict(pair)
    return {
        "comparison": {
            **document(pair, "first second metric n clusters difference low high p_value"),
            "verdict": str(verdict.finding),
            "better": _better(pair, verdict),
            "events_needed": None if verdict.needed is None else document(verdict.needed, "events more_than"),
            "text": comparison_line(pair),
        }
    }


def comparison_line(pair: Pair) -> str:
    """Return the verdict in words."""
    verdict = pair_verdict(pair)
    first, second = plain(pair.first), plain(pair.second)
    if pair.difference is None:
        return f"{first} and {second} answered no question both: nothing can be compared."
    better, much = _better(pair, verdict), _by_how_much(pair, pair.difference)
    if better is not None:
        other = second if better == pair.first else first
        return f"{plain(better)} beats {other}: {much}."
    if verdict.finding is Finding.NEVER_DIFFERED:
        return f"{first} and {second} never differed on {_where(pair)}: more events would change nothing."
    few = " (fewer than 30 are too few for a claim)" if verdict.finding is Finding.TOO_FEW_EVENTS else ""
    more = ""
    if verdict.needed is not None:
        how = "more than" if verdict.needed.more_than else "about"
        more = f"; {how} {figures.about(verdict.needed.events)} more events would tell"
    return f"{first} cannot be told from {second}: {much}{few}{more}."


def _better(pair: Pair, verdict: Verdict) -> str | None:
    who = {Finding.FIRST_IS_BETTER: pair.first, Finding.SECOND_IS_BETTER: pair.second}
    return who.get(verdict.finding)


def _by_how_much(pair: Pair, difference: float) -> str:
    lower = pair.first if difference <= 0.0 else pair.second
    # As the one who is ahead sees it.
    ends = [end if lower == pair.second else -end for end in (pair.low, pair.high) if end is not None]
    interval = f" (95% {min(ends):.4f} to {max(ends):.4f})" if ends else ""
    chance = "" if pair.p_value is None else f", p {'< 0.001' if pair.p_value < 0.001 else f'= {pair.p_value:.3f}'}"
    return f"the Brier score of {plain(lower)} is {abs(difference):.4f} lower{interval}{chance}, on {_where(pair)}"


def _where(pair: Pair) -> str:
    return f"{figures.things(pair.n, 'question')} of {figures.things(pair.clusters, 'event')} that both answered"
