"""Studies of papers on data of their own: each says its commands and tables, and any can be shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from predibot.errors import PluginError
from predibot.plugins import registry
from predibot.plugins.registry import STUDY, Plugin
from predibot.reports.table import Column, Table
from predibot.scoring.study_table import StudyTable

if TYPE_CHECKING:
    from predibot.ledger.store import Store

_EVERY_COMMAND = frozenset({"run", "csv", "figures", "full", "ledger", "json", "log"})
"""Options that commands of every study have."""


@dataclass(frozen=True, slots=True)
class StudyParameter:
    """An argument of a command of a study, or an option where it has a default."""

    name: str
    """The argument's name in the function; the option is `--name`."""
    help: str
    metavar: str
    type: Any = str
    """`str`, `int`, `pathlib.Path`, `datetime.datetime`, or `list[str]` for an option that may be repeated."""
    default: Any = ...
    """None for an option that may be left out; without one it is an argument that has to be given."""
    least: int | None = None
    excludes: tuple[str, ...] = ()
    """Options that may not be given together with this one."""
    exclusion: str = ""
    """The message where they are."""


@dataclass(frozen=True, slots=True)
class StudyReport:
    """What a command did: as a JSON document, and as lines with tables below them for a screen."""

    document: Mapping[str, Any]
    lines: tuple[str, ...]
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyCommand:
    """A command of a study, such as one that makes its data set."""

    help: str
    parameters: tuple[StudyParameter, ...]
    run: "Callable[..., StudyReport]"
    """Takes the `Caller`, and the parameters by their names."""


class StudyPicture(Protocol):
    """A picture that is drawn as SVG, without script; it may hold texts of others."""

    @property
    def name(self) -> str:
        """Return the name of its file."""

    @property
    def title(self) -> str:
        """Return what it shows."""

    @property
    def note(self) -> str:
        """Return how it is read."""

    @property
    def folded(self) -> bool:
        """Return whether a page shows it only where it is opened, as it is large."""

    def svg(self) -> str:
        """Return it as an element without style, for a page."""

    def file(self) -> str:
        """Return it as a file for light and dark, with title and note."""


@dataclass(frozen=True, slots=True)
class StudyTables:
    """The tables of a run of a study."""

    run: str
    """The key of the run."""
    tables: tuple[StudyTable, ...]
    notes: tuple[str, ...]
    """What of the run is in no table."""
    first: tuple[str, ...]
    """The names of the tables that are shown without `--full`."""
    more: str
    """What `--full` adds, in a sentence."""
    pictures: tuple[tuple[str, Any], ...] = ()
    """Pictures by the names of their files."""
    drawings: tuple[StudyPicture, ...] = ()
    """Pictures that are drawn as SVG alone, and are on the study's page too."""


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item that bots labelled, as it is shown; its texts are of others."""

    title: str
    about: str
    """What was asked, and of which part of the data set."""
    texts: tuple[str, ...]
    truth: str
    """The true label; empty where none is known."""
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value of what is known besides."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study of a paper, as a module of `predibot.studies` or an entry point of that group holds it in `STUDY`."""

    name: str
    help: str
    """A phrase for the command that prints its tables."""
    data_set: str
    """The venue of its data set; `predibot collect DATA_SET` makes one, and the web page has its name."""
    commands: Mapping[str, StudyCommand]
    """By name; `collect` makes the data set."""
    read: "Callable[..., StudyTables | StudyReport]"
    """Returns the tables of a run. Takes the `Store`, `run_key` (None for the latest run), and `parameters`."""
    runs: "Callable[[Store], Sequence[str]]"
    """Returns the keys of its runs in a ledger, the latest first."""
    full: str
    """What `--full` adds, for the help."""
    heading: str
    """The title of its web page."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """How columns are shown, by header; their meanings are listed in this order. Columns not named here are numbers."""
    parameters: tuple[StudyParameter, ...] = ()
    """The options of its tables besides those that every study has."""
    item: "Callable[[str], StudyItem] | None" = None
    """Returns an item from the payload that a run froze, and raises `ValueError` for any other; with it, each item has
    a web page."""
    menu: str = ""
    """The word for its web page in the menu; empty where it is not in the menu."""


def studies() -> dict[str, Study]:
    """Return all studies that work, by name, in the order of their data sets; those of installed packages too."""
    return {
        found.name: found.thing if found.origin == "predibot" else _with_own_errors(found)
        for found, problem in _checked_studies()
        if not problem
    }


def _with_own_errors(found: Plugin) -> Study:
    """Return a package's study whose errors name the package, in one sentence."""
    study: Study = found.thing
    run = partial(_call, found.label, StudyReport)
    return replace(
        study,
        read=partial(_call, found.label, StudyTables | StudyReport, study.read),
        runs=partial(_call, found.label, Sequence, study.runs),
        commands={name: replace(each, run=partial(run, each.run)) for name, each in study.commands.items()},
    )


def _call(label: str, kind: Any, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with registry.own_code(label):
        result = function(*arguments, **options)
    if not isinstance(result, kind):
        raise PluginError(f"{label} returned a {type(result).__name__}; see `predibot.reports.study` for what is read")
    return result


def study_problems() -> Iterator[tuple[str, str]]:
    """Yield the name of each study that does not work, and why."""
    return ((found.name, problem) for found, problem in _checked_studies() if problem)


def _checked_studies() -> list[tuple[Plugin, str]]:
    """Return all studies in the order of their data sets, each with why it cannot be used."""
    data_sets: set[str] = set()
    checked = []
    for found in sorted(registry.find_all(STUDY), key=lambda each: each.origin != "predibot"):
        problem = _problem(found)
        if not problem and found.thing.data_set in data_sets:
            problem = f"{found.label} has the data set {found.thing.data_set}, as another study has; name another"
        if not problem:
            data_sets.add(found.thing.data_set)
        checked.append((found, problem))
    return sorted(checked, key=lambda each: "" if each[1] else each[0].thing.data_set)


def _problem(found: Plugin) -> str:
    """Return why a study cannot be used; empty if it can. The texts and options become parts of the command line."""
    study = found.thing
    if found.problem or not isinstance(study, Study):
        return found.problem or f"{found.label} is a {type(study).__name__}; make it a Study of predibot.reports.study"
    if study.name != found.name:
        return f"{found.label} is found as {found.name} and names itself {study.name!r}; give it one name"
    texts = (study.help, study.data_set, study.full, study.heading, study.menu)
    if not all(isinstance(text, str) for text in texts) or not study.data_set.isidentifier():
        return f"{found.label} has the data set {study.data_set!r}; give an identifier, and texts where texts belong"
    parameters = (*study.parameters, *(one for each in study.commands.values() for one in each.parameters))
    for name in (each.name for each in parameters):
        if not isinstance(name, str) or not name.isidentifier() or name in _EVERY_COMMAND:
            return f"{found.label} has a parameter {name!r}; give an identifier that is no option of every study"
    return ""
