"""`predibot study`, and `predibot collect` and `predibot tables`: the commands of any study."""

from collections.abc import Callable, Iterable
from datetime import datetime
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.ending import DONE
from predibot.cli.options import option
from predibot.errors import PluginError
from predibot.reports.study import (
    Study,
    StudyCommand,
    StudyParameter,
    StudyReport,
    StudyTables,
    studies,
    study_problems,
)

_RUN = Annotated[str | None, option("--run", "KEY", "of this run; left out: of the one made last")]
_CSV = Annotated[Path | None, option("--csv", "FOLDER", "write a CSV file a table instead of printing")]
_FIGURES = Annotated[Path | None, option("--figures", "DIR", "draw pictures into a folder, as SVG and PNG")]
_HELP = {
    "collect": "make data sets of text tasks",
    "tables": "print the tables of a paper for the bots of a ledger",
    "study": "make the data set of a study, and print its tables",
}


def group(name: str) -> Commands:
    """Return the commands below `collect`, `tables` or `study`."""
    made = _group(_HELP[name])
    for study in studies().values():
        if name == "tables":
            made.command(study.name, cls=Command, help=study.help)(_tables(study))
        elif name == "collect":
            if "collect" in study.commands:
                _add(made, study.data_set, study.commands["collect"])
        else:
            own = _group(study.help)
            for command, found in study.commands.items():
                _add(own, command, found)
            own.command("tables", cls=Command, help=study.help)(_tables(study))
            made.add_typer(own, name=study.name)
    if name == "study":
        for broken, problem in study_problems():
            made.command(broken, cls=Command, help="this study does not work")(_refuse(problem))
    return made


def _group(text: str) -> Commands:
    return Commands(cls=CommandGroup, help=text, rich_markup_mode=None, no_args_is_help=False)


def _add(made: Commands, name: str, command: StudyCommand) -> None:
    made.command(name, cls=Command, help=command.help)(_run(command))


def _refuse(problem: str) -> Callable[[], None]:
    def refuse() -> None:
        raise PluginError(problem)

    return refuse


def _run(command: StudyCommand) -> Callable[..., None]:
    def run(*, json: bool, log: options.Log, **given: Any) -> None:
        _check_exclusions(command.parameters, given)
        _show(command.run(output.caller(log), **given), json=json)

    own = [Parameter("json", Parameter.KEYWORD_ONLY, annotation=options.Json, default=False)]
    own += [Parameter("log", Parameter.KEYWORD_ONLY, annotation=options.Log)]
    return _with_parameters(run, [*map(_parameter, command.parameters), *own])


def _tables(study: Study) -> Callable[..., None]:
    def tables(
        *, run: str | None, csv: Path | None, figures: Path | None, full: bool, ledger: str, json: bool, **given: Any
    ) -> None:
        _check_exclusions(study.parameters, {**given, "csv": csv})
        if csv is not None and (json or figures is not None):
            raise typer.BadParameter("--csv writes files in place of tables; give it without --json and --figures")
        with output.caller().reading(ledger) as store:
            found = study.read(store, run_key=run, **given)
        if isinstance(found, StudyReport):
            _show(found, json=json)
        else:
            _show_tables(study, found, csv=csv, figures=figures, full=full, json=json)

    rest: dict[str, tuple[Any, Any]] = {
        "csv": (_CSV, None),
        "figures": (_FIGURES, None),
        "full": (Annotated[bool, options.full_option(study.full)], False),
    }
    rest |= {"ledger": (options.Ledger, options.DEFAULT_LEDGER), "json": (options.Json, False)}
    after = (Parameter(name, Parameter.KEYWORD_ONLY, annotation=a, default=d) for name, (a, d) in rest.items())
    first = Parameter("run", Parameter.KEYWORD_ONLY, annotation=_RUN, default=None)
    return _with_parameters(tables, [first, *map(_parameter, study.parameters), *after])


def _with_parameters(function: Callable[..., None], parameters: Iterable[Parameter]) -> Callable[..., None]:
    """Return a function as Typer reads it: with parameters that are known when the program runs."""
    function.__signature__ = Signature(list(parameters))  # type: ignore[attr-defined]
    return function


def _parameter(of: StudyParameter) -> Parameter:
    shown: dict[str, Any] = {"metavar": of.metavar, "help": of.help, "min": of.least}
    if of.type is datetime:
        shown["parser"] = options.instant
    if of.default is ...:
        return Parameter(of.name, Parameter.KEYWORD_ONLY, annotation=Annotated[of.type, typer.Argument(**shown)])
    kind = of.type if of.default is not None else of.type | None
    option = typer.Option(f"--{of.name.replace('_', '-')}", **shown)
    return Parameter(of.name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, option], default=of.default)


def _check_exclusions(parameters: Iterable[StudyParameter], given: dict[str, Any]) -> None:
    for each in parameters:
        if given[each.name] is not None and any(given[other] is not None for other in each.excludes):
            raise typer.BadParameter(each.exclusion)


def _show(report: StudyReport, *, json: bool) -> None:
    from predibot.reports.terminal.terminal import print_grids, print_lines

    if json:
        output.print_document(dict(report.document), exit_code=DONE)
        return
    console = output.report_console()
    print_lines(console, report.lines)
    print_grids(console, report.tables)


def _show_tables(
    study: Study, found: StudyTables, *, csv: Path | None, figures: Path | None, full: bool, json: bool
) -> None:
    from predibot.reports.terminal.study_tables import print_tables, tables_document, write_tables

    if figures is not None:
        from predibot.reports.pictures.canvas import require_matplotlib
        from predibot.reports.pictures.files import draw_files, write_svgs
        from predibot.whole_file import blame_path

        if found.pictures:
            require_matplotlib()
        with blame_path(figures):
            files = [*draw_files(found.pictures, figures), *write_svgs(found.drawings, figures)]
        output.print_files(files, json=json, nothing="nothing to draw: pictures need two bots with scores")
    elif json:
        output.print_document(tables_document(found), exit_code=DONE)
    elif csv is not None:
        for path in write_tables(found, csv):
            output.report_console().print(str(path), soft_wrap=True, markup=False)
    else:
        print_tables(output.report_console(), study, found, full=full)
