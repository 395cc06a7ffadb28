"""`predibot collect`: data sets of text tasks, from what people wrote and what they held when they wrote it."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, Group
from predibot.cli.ending import DONE

GROUP = typer.Typer(
    cls=Group, help="collect what people wrote, for text tasks", rich_markup_mode=None, no_args_is_help=False
)


@GROUP.callback()
def _of_group() -> None:
    """Keep the command of this group a word of its own, though it is the only one."""


@GROUP.command("comments", cls=Command, help="join comments with what their writers held, and label them")
def comments(
    platform: Annotated[
        str,
        typer.Argument(
            metavar="PLATFORM", help="polymarket or manifold; sandbox:polymarket and sandbox:manifold are simulated"
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="where raw answers and the data set go; it is resumed")
    ],
    markets: Annotated[
        int | None, typer.Option("--markets", metavar="N", min=1, help="take at most N markets; left out: all")
    ] = None,
    salt: Annotated[
        Path | None,
        typer.Option("--salt", metavar="FILE", help="the salt of exported ids; left out: runs/out/comments.salt"),
    ] = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    log_file: options.LogFile = None,
    log_json: options.LogJson = False,
) -> None:
    """Collect the comments of a platform, and print what was left at each stage."""
    from predibot.jobs.comments.asked import collect_as_asked
    from predibot.reports.terminal.terminal import print_line

    caller = output.caller(verbose=verbose, log=options.Log(log_file, log_json))
    report = collect_as_asked(platform, folder, caller, salt=salt, markets=markets)
    if json:
        output.print_document(
            {"folder": str(report.folder), "funnel": dict(report.funnel), "asked": report.asked}, exit_code=DONE
        )
        return
    console = output.report_console()
    print_line(console, f"{report.folder}: {report.asked:,} answers were asked for, the others were there")
    width = max(map(len, report.funnel), default=0)
    for stage, n in report.funnel.items():
        print_line(console, f"{stage:<{width}}  {n:>10,}")
