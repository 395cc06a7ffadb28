"""`predibot collect`: data sets of text tasks, of what people wrote and held, and of how markets moved."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.ending import DONE

GROUP = Commands(cls=CommandGroup, help="make data sets of text tasks", rich_markup_mode=None, no_args_is_help=False)


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
    *,
    log: options.Log,
) -> None:
    """Collect the comments of a platform, and print what was left at each stage."""
    from predibot.reports.terminal.tables import print_funnel
    from predibot.reports.terminal.terminal import print_line
    from predibot.studies.stakebench.collecting.asked import collect_platform

    caller = output.caller(log)
    report = collect_platform(platform, folder, caller, salt=salt, markets=markets)
    if json:
        output.print_document(
            {"folder": str(report.folder), "funnel": dict(report.funnel), "asked": report.asked}, exit_code=DONE
        )
        return
    console = output.report_console()
    print_line(console, f"{report.folder}: {report.asked:,} answers were asked for, the others were there")
    print_funnel(console, report.funnel)


@GROUP.command("pairs", cls=Command, help="label pairs of questions by how their markets moved together")
def pairs(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="archive:FOLDER of recorded markets, or the address of a ledger")
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="where the data set goes")],
    as_of: options.AsOf = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="of the draw of the pairs that are kept")] = 42,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="keep at most N pairs of each domain and label")
    ] = 1_000,
    weights: Annotated[
        str,
        typer.Option(
            "--weights", metavar="W,W,W,W", help="of synchrony, tags, nearness and text; left out: equal ones"
        ),
    ] = "",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="compare texts by this sentence-transformer, not by TF-IDF"),
    ] = None,
    json: options.Json = False,
    *,
    log: options.Log,
) -> None:
    """Compare all markets of a source two by two, and say how many pairs there are of each domain and label."""
    from predibot.reports.terminal.tables import print_pairs
    from predibot.studies.beliefbench.collecting.collect import collect_pairs

    caller = output.caller(log)
    about = collect_pairs(source, folder, caller, as_of=as_of, seed=seed, most=most, weights=weights, model=model)
    if json:
        from dataclasses import asdict

        output.print_document({"folder": str(folder), **asdict(about)}, exit_code=DONE)
    else:
        print_pairs(output.report_console(), folder, about)
