"""The options that several commands share, each defined once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from predibot.domain.clock import parse_instant
from predibot.domain.spelling import nearest
from predibot.environment import DEFAULT_LEDGER as DEFAULT_LEDGER

if TYPE_CHECKING:
    from predibot.ledger.write import claims
    from predibot.reports.terminal import evaluation_screen
    from predibot.scoring.metrics import conventions
    from predibot.scoring.records.part import Part


_Value = TypeVar("_Value")


def parser_for(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return the parser, whose `ValueError` becomes misuse of the command line."""

    def read(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return read


instant = parser_for(parse_instant)


def _parse_hours(text: str) -> float | Literal["any"]:
    if text == "any":
        return "any"
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number of hours nor 'any'") from None


def _refuse_empty(text: str | None) -> str | None:
    """Refuse an empty text: it comes from an empty variable of the shell, and the default was not meant."""
    if text is not None and not text.strip():
        raise typer.BadParameter("it is empty; give it a value, or leave it out")
    return text


def option(name: str, metavar: str, what: str, **more: Any) -> Any:
    """Return an option with a value; `what` is its help."""
    return typer.Option(name, metavar=metavar, help=what, **more)


def flag(name: str, what: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, help=what)


def argument(metavar: str, what: str, **more: Any) -> Any:
    """Return what is named by its place."""
    return typer.Argument(metavar=metavar, help=what, **more)


Recipe = Annotated[
    str | None, argument("RECIPE", "a recipe's file or name; left out: runs/daily.toml, else the packaged daily")
]


def venue(left_out: str, callback: Callable[[str | None], str | None] | None = None) -> Any:
    """Return the option that names a venue; `left_out` says which one is used without it."""
    return option("--venue", "VENUE", f"a venue: {{venues}}; left out: {left_out}", callback=callback)


def as_of(what: str) -> Any:
    """Return the option that names an instant after which nothing is seen."""
    return typer.Option("--as-of", parser=instant, metavar="INSTANT", help=what)


def archive(verb: str) -> Any:
    """Return the option that names an archive to look at in place of the ledger."""
    return typer.Option("--archive", metavar="DIR", help=f"{verb} what an archive has, not the ledger")


def full_option(what: str) -> Any:
    """Return the option `--full`."""
    return typer.Option("--full", help=what)


Venue = Annotated[str | None, venue("the recipe's", _refuse_empty)]
LookBackVenue = Annotated[str | None, venue("that of the runs")]
AsOf = Annotated[datetime | None, as_of("see nothing later than this")]
Ledger = Annotated[
    str,
    option(
        "--ledger",
        "URL",
        "sqlite or postgresql URL; left out: runs/out/predibot.db",
        envvar="PREDIBOT_LEDGER",
        callback=_refuse_empty,
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    option(
        "--executor",
        "KIND:N",
        "threads:32, processes:4, dask:local:4, dask:tcp://host:8786",
        envvar="PREDIBOT_EXECUTOR",
        callback=_refuse_empty,
    ),
]
AllPassedOver = Annotated[bool, flag("--all", "list every event passed over, not the first ten")]
Archived = Annotated[bool, flag("--archived", "count archived cohorts of weekly games too")]
Clusters = Annotated[
    str, option("--clusters", "WHAT", "related: show beside it all intervals and e-values with related events as one")
]
AllRows = Annotated[bool, flag("--all", "show every row of long tables, not the first fifty")]
Json = Annotated[bool, flag("--json", "print one JSON document on stdout")]
Columns = Annotated[
    bool, flag("--columns", "list every column of every table and what covers it, and look at no ledger")
]
NoFilters = Annotated[bool, flag("--no-filters", "compare also markets that hardly trade or move")]
TextModel = Annotated[
    str | None, option("--model", "NAME", "compare texts by this sentence-transformer, not by their words")
]
Convention = Annotated[
    str,
    option(
        "--convention",
        "NAME",
        "how annual figures are made: predibot, predibench, livetradebench, livetradebench_paper",
    ),
]
Resamples = Annotated[int, option("--resamples", "N", "draws behind each interval", min=100, max=1_000_000)]
Seed = Annotated[int, option("--seed", "N", "of those draws", min=0)]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="say on stderr what is being done")]
LogFile = Annotated[
    Path | None, option("--log-file", "FILE", "write there too what is done; a full one is kept as FILE.1")
]
LogJson = Annotated[bool, flag("--log-json", "write the log as JSON, a line each; on stderr without FILE")]
FileColumns = Annotated[
    str | None,
    option(
        "--columns",
        "A=B,...",
        "what the file's columns are: p_gpt=probability,p_mkt=market_probability,y=outcome,id=question",
    ),
]
Bots = Annotated[str | None, option("--bots", "A,B", "only these: names of the recipe's bots or of strategies")]
Models = Annotated[
    list[str] | None, option("--model", "MODEL", "add an agent with this model, openai/gpt-5 for one; may be repeated")
]
Events = Annotated[int | None, option("--events", "N", "how many events to play", min=1)]
Retry = Annotated[
    str | None,
    option(
        "--retry",
        "WHAT",
        "failed, abstained or both with a comma: try those decisions again, without waiting for their next try",
    ),
]
EventId = Annotated[str | None, option("--event", "ID", "play this one event", callback=_refuse_empty)]


@dataclass(frozen=True, slots=True)
class PartOptions:
    """Options that choose a part of a ledger."""

    recipe: Annotated[str | None, argument("RECIPE", "only runs of this recipe; left out: all runs")] = None
    venue: LookBackVenue = None
    as_of: AsOf = None
    since: Annotated[
        datetime | None, option("--since", "INSTANT", "only decisions at that instant or later", parser=instant)
    ] = None
    until: Annotated[
        datetime | None, option("--until", "INSTANT", "only decisions before that instant", parser=instant)
    ] = None
    category: Annotated[
        str | None, option("--category", "NAME", "only events of this category, as --by category has it")
    ] = None
    mode: Annotated[str | None, option("--mode", "MODE", "only runs that were live, or replay")] = None
    bots: Bots = None

    def read(self) -> "Part":
        """Return the part."""
        from predibot.scoring.records.part import Part

        return Part(**{**asdict(self), "bots": split_names(self.bots)})


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """Options that replace rules of selection of the recipe."""

    min_volume_24h_usd: Annotated[
        float | None, option("--min-volume-24h", "USD", "least volume of the last 24 hours", min=0.0)
    ] = None
    min_hours_left: Annotated[
        Any, option("--min-hours-left", "HOURS", "least time to an event's end; any: also past it", parser=_parse_hours)
    ] = None
    max_markets: Annotated[int | None, option("--max-markets", "N", "most markets of an event; 0 for all", min=0)] = (
        None
    )

    def overrides(self, events: int | None) -> dict[str, Any]:
        """Return the overrides by the names of the rules."""
        return {"events": events, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Tables:
    """Options that choose tables of an evaluation."""

    full: Annotated[bool, full_option("print every table whole, and all that is missing in sentences")] = False
    explain: Annotated[bool, flag("--explain", "say below the leaderboard what its figures and marks mean")] = False
    table: Annotated[
        str | None,
        option(
            "--table",
            "NAME",
            "print one table: forecasts, returns, quote, pairs, calibration, decisions, consistency, effort, "
            "coherence; of accounts: accounts, risk, behaviour, delays, pairs, cohorts",
        ),
    ] = None
    worst: Annotated[
        int | None, option("--worst", "N", "list the N decisions that cost most, and why", min=1, max=1000)
    ] = None

    outside: Annotated[
        str | None, option("--outside", "FILE", "a score of your own for each bot, beside ours: bot,score")
    ] = None
    beside: Annotated[
        list[str] | None, option("--with", "LEDGER", "set this ledger's bots beside, never added up; repeatable")
    ] = None

    def screen_options(self, *, every: bool) -> "evaluation_screen.ScreenOptions":
        """Return how much of an evaluation is printed."""
        from predibot.reports.terminal.evaluation_grids import ACCOUNT_TABLES, TABLES
        from predibot.reports.terminal.evaluation_screen import ScreenOptions

        if self.full and self.table is not None:
            raise typer.BadParameter("--full prints every table, --table one; ask for one of both")
        if self.explain and self.table is not None:
            raise typer.BadParameter("--explain is of the leaderboard, and each --table has its words below it")
        known = tuple(dict.fromkeys((*TABLES, *ACCOUNT_TABLES)))
        table = None if self.table is None else one_of("--table", self.table, known)
        return ScreenOptions(self.full, table, every, self.explain)


@dataclass(frozen=True, slots=True)
class Output:
    """Options of how an evaluation is printed."""

    every: AllRows = False
    json: Json = False
    csv: Annotated[bool, flag("--csv", "print the scores, or the --table, as CSV on stdout")] = False

    def check(self, worst: int | None = None, clusters: str = "event") -> None:
        """Refuse to print two things where a program reads one."""
        if self.json and self.csv:
            raise typer.BadParameter("--json and --csv are two answers; ask for one")
        if self.csv and worst is not None:
            raise typer.BadParameter("--csv is one table of scores; ask for --worst without it, or with --json")
        if self.csv and clusters != "event":
            raise typer.BadParameter("--csv is one table of scores; ask for --clusters without it, or with --json")


@dataclass(frozen=True, slots=True)
class Log:
    """Options of the log; what is left out comes from the settings."""

    verbose: Verbose = False
    log_file: LogFile = None
    log_json: LogJson = False


def split_names(text: str | None, example: str = "--bots market_price,random_bet") -> tuple[str, ...]:
    """Return the names in a comma-separated list, at least one; () if the option was left out."""
    if text is None:
        return ()
    found = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not found:
        raise typer.BadParameter(f"{text!r} has no name in it; write {example}")
    return found


def parse_retry(text: str | None) -> "frozenset[claims.Retry]":
    """Return which decisions are to be tried again."""
    from predibot.ledger.write.claims import RETRIES

    asked = [one_of("--retry", name, RETRIES) for name in split_names(text, "--retry failed,abstained")]
    return frozenset(each for each in RETRIES if each in asked)


def one_of(option: str, text: str, known: Sequence[str]) -> str:
    """Return the text if it is a known word; else refuse it, and list the words."""
    if text in known:
        return text
    near = nearest(text, known)
    hint = f"Did you mean {near!r}? " if near else ""
    raise typer.BadParameter(f"no {text!r} for {option}. {hint}There are: {', '.join(known)}")


def parse_clusters(text: str) -> "Literal['event', 'related']":
    """Return how events are clustered; refuse other words."""
    from predibot.scoring.evaluation.evaluation import CLUSTERINGS

    return "related" if one_of("--clusters", text, CLUSTERINGS) == "related" else "event"


def parse_convention(name: str) -> "conventions.Convention":
    """Return the convention of this name; refuse an unknown one."""
    from predibot.scoring.metrics.conventions import convention_named

    try:
        return convention_named(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_columns(text: str | None) -> dict[str, str]:
    """Return our names of columns by those of the file; either side of `A=B` may be ours."""
    from predibot.jobs.score_files.forecasts import COLUMNS

    found: dict[str, str] = {}
    for pair in split_names(text, "--columns p_gpt=probability,y=outcome"):
        theirs, equals, ours = pair.rpartition("=")
        if ours.strip() not in COLUMNS.names and theirs.strip() in COLUMNS.names:
            theirs, ours = ours, theirs
        if not equals or not theirs.strip() or theirs.strip() in found:
            raise typer.BadParameter(f"{pair!r} names no column once; write --columns p_gpt=probability,y=outcome")
        found[theirs.strip()] = ours.strip()
    return found
