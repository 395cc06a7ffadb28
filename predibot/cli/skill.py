"""`predibot skill`: whether forecasts beat the price, as stated, blended, pooled or recalibrated."""

import sys
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import option


def skill(
    *,
    part: options.PartOptions,
    by: Annotated[str | None, option("--by", "prompt", "compare bots that differ in their prompt alone")] = None,
    file: Annotated[
        str | None, option("--file", "FILE", "forecasts of a file as `score` reads it, not of the ledger")
    ] = None,
    columns: options.FileColumns = None,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Try each way to use forecasts beside the price, out of sample, and count the tries; no venue is asked."""
    from predibot.api.skill import compare_prompts, skill_in_file, skill_in_ledger
    from predibot.jobs.score_files.forecasts import Layout
    from predibot.jobs.score_files.table_file import open_table_file
    from predibot.reports.terminal import score
    from predibot.scoring.inference.uncertainty import Uncertainty
    from predibot.scoring.records.part import EVERYTHING

    caller, how, asked = output.caller(verbose=verbose), Uncertainty(seed=seed, resamples=resamples), part.read()
    if by is not None:
        options.one_of("--by", by, ("prompt",))
    if file is None and columns is not None:
        raise typer.BadParameter("--columns says what a --file has; name one")
    if file is not None and (by is not None or asked != EVERYTHING):
        raise typer.BadParameter("--file has forecasts of its own; leave out what chooses a part of the ledger")
    console = output.report_console()
    if file is not None:
        layout = None if columns is None else Layout(options.parse_columns(columns))
        with open_table_file(file, None, sys.stdin) as table:
            found, read = skill_in_file(table, layout, how)
        if json:
            output.print_document(
                {**score.skill_document(found), "rows": read.file.rows, **score.bad_rows_document(read.file)}
            )
        else:
            score.print_skill(console, found, every_row=every)
            score.print_bad_rows(console, read.file)
        return
    with caller.reading(ledger) as store:
        if by is not None:
            prompts = compare_prompts(store, asked, caller, how)
            output.print_found(prompts, score.prompts_document, score.print_prompts, json=json)
            return
        found = skill_in_ledger(store, asked, caller, how)
        output.print_found(found, score.skill_document, score.print_skill, json=json, every_row=every)
