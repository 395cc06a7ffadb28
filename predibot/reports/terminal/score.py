"""What `predibot score` shows of a file, and `predibot skill` of forecasts beside the price."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from predibot.agents.prompts.fields import choice_of
from predibot.jobs.score_files.score import EquityReport
from predibot.jobs.score_files.table import FileRows
from predibot.ledger.read.details.bots import PromptPair
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, print_grid, print_grids, print_line, print_lines, print_notes
from predibot.reports.views.leaderboard import more_events_text
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.verdict import Finding, Verdict, pair_verdict
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.skill import MOST_LEAKED, PLACEBO_DAYS, VERDICT_EVENTS, Skill, SkillTry

_SHOWN_ROWS = 20


def bad_rows_document(file: FileRows) -> Document:
    """Return the number of bad rows, and those listed, by `line`, or by `row` of a Parquet file."""
    listed = [{file.place: row.number, "reason": row.reason} for row in file.bad_rows]
    return {"n_bad_rows": file.n_bad_rows, "bad_rows": listed}


def bad_row_lines(file: FileRows) -> Iterator[str]:
    """Yield a harmless line for each of the first twenty bad rows.

    Examples:
        >>> from predibot.jobs.score_files.table import BadRow
        >>> file = FileRows("f.csv", "line")
        >>> file.add(BadRow(3, "probability is '70%'; write 0.7"))
        >>> list(bad_row_lines(file))
        ["bad row: line 3: probability is '70%'; write 0.7"]
    """
    for row in file.bad_rows[:_SHOWN_ROWS]:
        yield f"bad row: {file.place} {row.number}: {plain(row.reason)}"
    if file.n_bad_rows > _SHOWN_ROWS:
        listed = "them all" if file.n_bad_rows == len(file.bad_rows) else f"the first {len(file.bad_rows):,}"
        yield f"bad rows: {file.n_bad_rows - _SHOWN_ROWS:,} more; --json has {listed}"


def print_bad_rows(console: Console, file: FileRows) -> None:
    """Print the bad rows after a report; nothing if all rows are good."""
    if file.bad_rows:
        console.print()
    print_lines(console, bad_row_lines(file))


def comparison_document(pair: Pair) -> Document:
    """Return the comparison as JSON has it."""
    verdict = pair_verdict(pair)
    return {
        "comparison": {
            **document(pair, "first second metric n clusters difference low high p_value"),
            "verdict": str(verdict.finding),
            "better": _better(pair, verdict),
            "events_needed": needed_document(verdict),
            "text": comparison_line(pair),
        }
    }


def needed_document(verdict: Verdict) -> Document | None:
    """Return how many more events a claim takes as JSON has it; None where unknown."""
    return document(verdict, "events=events_needed more_than=needed.more_than") if verdict.needed else None


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
    few = " (fewer than 30 prove nothing)" if verdict.finding is Finding.TOO_FEW_EVENTS else ""
    more = f"; {text} would tell" if (text := more_events_text(verdict)) else ""
    return f"{first} cannot be told from {second}: {much}{few}{more}."


def _better(pair: Pair, verdict: Verdict) -> str | None:
    who = {Finding.FIRST_IS_BETTER: pair.first, Finding.SECOND_IS_BETTER: pair.second}
    return who.get(verdict.finding)


def _by_how_much(pair: Pair, difference: float) -> str:
    lower = pair.first if difference <= 0.0 else pair.second
    # Seen from the one who is ahead.
    ends = [end if lower == pair.second else -end for end in (pair.low, pair.high) if end is not None]
    interval = f" (95% {min(ends):.4f} to {max(ends):.4f})" if ends else ""
    chance = "" if pair.p_value is None else f", p {'< 0.001' if pair.p_value < 0.001 else f'= {pair.p_value:.3f}'}"
    return f"the Brier score of {plain(lower)} is {abs(difference):.4f} lower{interval}{chance}, on {_where(pair)}"


def _where(pair: Pair) -> str:
    return f"{figures.things(pair.n, 'question')} of {figures.things(pair.clusters, 'event')} that both answered"


def equity_document(found: EquityReport) -> Document:
    """Return the JSON document; a figure without a value is None."""
    return {
        **document(found, "convention=convention.name periods_basis=periods.basis first_at last_at"),
        **document(found.score),
        "rows": found.file.rows,
        "notes": list(found.notes),
    }


def print_equity(console: Console, found: EquityReport) -> None:
    """Print what the figures are made of, the figures, one a line, and the notes."""
    score = found.score
    print_line(
        console,
        f"{plain(found.file.label)}: {figures.count(score.n_values)} values "
        f"from {figures.instant(found.first_at)} to {figures.instant(found.last_at)}",
    )
    print_line(
        console,
        f"convention {found.convention.name} · {found.periods.per_year:g} periods a year ({found.periods.basis}) · "
        f"ddof {score.ddof} · risk-free rate {_share(score.risk_free_rate)} a year",
    )
    console.print()
    columns = (Column("figure", kind="text"), Column("value"))
    print_grid(console, Table("Growth and risk", columns, tuple(_figures(found))))
    print_notes(console, found.notes)


def _figures(found: EquityReport) -> Iterator[tuple[str, str]]:
    score = found.score
    yield "first value", f"{score.first_value:,.2f}"
    yield "last value", f"{score.last_value:,.2f}"
    yield "returns", figures.count(score.n_returns)
    yield "cumulative return", figures.signed_percent(score.cumulative_return)
    yield "annualised return", figures.signed_percent(score.annualized_return)
    yield "volatility, annual", _share(score.volatility)
    yield "Sharpe ratio", figures.ratio(score.sharpe)
    yield "Sortino ratio", figures.ratio(score.sortino)
    yield "maximum drawdown", _share(score.max_drawdown)
    yield "Calmar ratio", figures.ratio(score.calmar)
    yield "win rate", figures.percent(score.win_rate)
    yield f"value at risk of a period, {_share(score.value_at_risk_level)}", figures.signed_percent(score.value_at_risk)
    yield "longest losing run, periods", figures.count(score.longest_losing_run)


def _share(value: float | None) -> str:
    return figures.MISSING if value is None else f"{100.0 * value:,.2f}%"


_SHOWN = 50
COLUMNS = (
    Column("forecaster", "forecaster", plain, kind="name"),
    Column("forecasts", "variant", kind="key", drop=0),
    Column("events", "events", figures.count, 4),
    Column("against price", "difference", figures.thousandths, 0),
    Column("low", "low", figures.thousandths, 6),
    Column("high", "high", figures.thousandths, 6),
    Column("less 1%", "without_best_1", figures.thousandths, 3).means("without the best 1 % of rows"),
    Column("less 2%", "without_best_2", figures.thousandths, 2).means("without the best 2 %"),
    Column("shows", "detectable", figures.thousandths, 1).means(
        "a true difference that so many events show 4 times in 5"
    ),
)


def skill_table(found: Skill, *, every_row: bool) -> Table:
    """Return a row for each try, the placebo last."""
    tries = found.tries if every_row else found.tries[:_SHOWN]
    rows = (*tries, *(() if found.placebo is None else (found.placebo,)))
    more = f"The first {_SHOWN} of {len(found.tries):,} tries; --all has them all." if tries != found.tries else ""
    title = (
        "Brier score less the price's, in thousandths: below 0 is better, which is an edge above 0\n"
        "calibrated and recalibrated learn from earlier days only; all markets of an event weigh one a day"
    )
    return table_of(title, COLUMNS, rows, [more])


def skill_lines(found: Skill) -> Iterator[str]:
    """Yield whether anything helps, how far that can be trusted, and what `calibrated` would do now."""
    best = found.best
    if best is None:
        yield "No settled forecast differs from its price, so there is nothing to say yet."
        return
    tries = figures.things(len(found.tries), "try").replace("trys", "tries")
    who = f"{plain(best.forecaster)}, {best.variant}, {_by(best)}"
    if found.helps:
        yield f"It helps: {who}; with {tries} counted p = {figures.p_value(best.p_adjusted)}."
    elif found.helps is False:
        yield f"Nothing helps: no try beats the price once {tries} are counted. Nearest: {who}."
    else:
        least = figures.thousandths(best.detectable).removeprefix("+")
        shown = "" if best.detectable is None else f", and a true difference below {least} may be missed"
        few = f"{figures.things(best.events, 'event')} {'is' if best.events == 1 else 'are'}"
        yield f"No verdict: {few} fewer than {VERDICT_EVENTS:,}{shown}."
        yield (f"The surest gain of {tries}: {who}." if best.difference < 0.0 else f"None of {tries} is ahead.")
    if best.leak_rows is not None and best.leak_rows <= MOST_LEAKED * best.n:
        yield f"All of that gain is in {best.leak_rows:,} of {best.n:,} rows: it could be a leak of their outcomes."
    if found.placebo is None:
        yield f"No placebo: prices of {PLACEBO_DAYS} days before are not known."
    else:
        yield f"Placebo, the price blended toward that of {PLACEBO_DAYS} days before: {_by(found.placebo)}."
    steps = ", ".join(f"{plain(name)} {step:.2f}" for name, step in list(found.fitted.items())[:_SHOWN])
    yield f"Step that all settled forecasts have earned: {steps}."


def _by(each: SkillTry) -> str:
    return f"{figures.thousandths(each.difference)} (95% {figures.thousandths_interval(each.low, each.high)})"


def print_skill(console: Console, found: Skill, *, every_row: bool) -> None:
    """Print the sentences, then the table."""
    print_lines(console, skill_lines(found))
    print_grids(console, [skill_table(found, every_row=every_row)] if found.tries else [])


def skill_document(found: Skill) -> Document:
    """Return everything as JSON has it."""
    return {
        "tries": [document(each) for each in found.tries],
        "n_tries": len(found.tries),
        "events": found.events,
        "placebo": None if found.placebo is None else document(found.placebo),
        "helps": found.helps,
        "step_now": dict(found.fitted),
        "text": list(skill_lines(found)),
    }


def print_prompts(console: Console, found: Sequence[tuple[PromptPair, Pair]]) -> None:
    """Print which of two bots is better that differ in their prompt alone, or that there are none."""
    if not found:
        print_line(console, "No two bots differ in their prompt alone. Give one of two equal bots a prompt of its own.")
    for prompts, pair in found:
        print_line(console, _prompts_line(prompts, pair, len(found)))


def prompts_document(found: Sequence[tuple[PromptPair, Pair]]) -> Document:
    """Return each comparison as JSON has it; prompts by the SHA-256 of their texts."""
    comparisons = []
    for prompts, pair in found:
        verdict = pair_verdict(pair)
        comparisons.append(
            {
                **document(prompts, "first first_prompt second second_prompt"),
                **document(pair, "metric n clusters difference low high p_value p_adjusted better"),
                "verdict": str(verdict.finding),
                "events_needed": needed_document(verdict),
                "text": _prompts_line(prompts, pair, len(found)),
            }
        )
    return {"comparisons": comparisons}


def _prompts_line(prompts: PromptPair, pair: Pair, pairs: int) -> str:
    """Return in words which of two bots had the better edge, and with which prompt."""
    first = f"{plain(prompts.first)} ({_prompt_name(prompts.first_prompt)})"
    second = f"{plain(prompts.second)} ({_prompt_name(prompts.second_prompt)})"
    if pair.difference is None:
        return f"{first} and {second} were asked nothing at about the same time: nothing can be compared."
    sign = -1.0 if pair.difference < 0.0 else 1.0
    ahead, behind = (first, second) if sign > 0.0 else (second, first)
    verdict = pair_verdict(pair)
    where = f"{figures.things(pair.clusters, 'event')} that both were asked about"
    if verdict.finding is Finding.NEVER_DIFFERED:
        return f"{first} and {second} never differed on {where}: more events would change nothing."
    ends = sorted(sign * end for end in (pair.low, pair.high) if end is not None)
    interval = f" (95% {figures.thousandths_interval(*ends)})" if len(ends) == 2 else ""
    counted = "" if pairs == 1 else f", corrected for {pairs} pairs"
    chance = "" if pair.p_adjusted is None else f", p = {figures.p_value(pair.p_adjusted)}{counted}"
    much = f"by edge {figures.thousandths(abs(pair.difference))} thousandths{interval}{chance}, on {where}"
    if pair.better is not None:
        return f"{ahead} beats {behind} {much}."
    few = f" (fewer than {FEW_CLUSTERS} prove nothing)" if verdict.finding is Finding.TOO_FEW_EVENTS else ""
    more = f"; {text} would tell" if (text := more_events_text(verdict)) else ""
    return f"{ahead} cannot be told from {behind}: ahead {much}{few}{more}."


def _prompt_name(sha256: str) -> str:
    if not sha256:
        return "the prompt of its strategy"
    return f"prompt {choice_of(sha256) or sha256[:12]}"
