"""`predibot studies`: the papers that can be repeated, and the command that each begins with."""

from predibot.cli import options, output

_PAPERS = (
    ("PrediBench", "predibot decide daily", "predibot report"),
    ("LiveTradeBench", "predibot decide portfolio", "predibot report"),
    ("LiveTradeBench, stocks", "predibot decide stocks", "predibot report"),
    ("Forecaster Arena", "predibot decide weekly", "predibot report --table cohorts"),
    ("StakeBench", "predibot study stakebench --help", "predibot tables stakebench"),
    ("BeliefBench", "predibot study beliefbench --help", "predibot tables beliefbench"),
)


def studies(json: options.Json = False) -> None:
    """List the papers that can be repeated; docs/studies.md names the command of each table and figure."""
    if json:
        names = ("paper", "begins_with", "tables")
        output.print_document({"studies": [dict(zip(names, row, strict=True)) for row in _PAPERS]})
        return
    from predibot.reports.terminal.hints import runnable

    below = "docs/studies.md names the command of each table and figure, and what differs and why."
    rows = ((paper, *(runnable(f"`{each}`").strip("`") for each in commands)) for paper, *commands in _PAPERS)
    output.print_cells("Papers", {"paper": "key", "begins with": "text", "tables by": "text"}, rows, below)
