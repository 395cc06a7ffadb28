"""What cannot be done, command by command: an exit code, nothing on stdout, and one line that says what to mend."""

import shlex
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD
from tests.cli.test_score import GOOD

EMPTY = [
    (f"decide --venue {WORLD} --bots market_price,nonsense", 1, "no bot or strategy 'nonsense'"),
    (f"decide --venue {WORLD} --bots ,", 2, "',' has no name in it"),
    (f"decide --venue {WORLD} --bots ''", 2, "''"),
    ("decide --venue sandbox --executor treads:4", 1, "Did you mean 'threads'?"),
    ("decide --venue sandbox --executor threads", 1, "how many threads?"),
    ("decide --venue sandbox --executor processes:0", 1, "from 1 to 64"),
    ("decide --rerun-traces a --replay-traces b", 2, "leave one out"),
    (
        f"decide --venue {WORLD} --dry-run --model 'open ai/x' --model open-ai/x",
        1,
        "a bot is named 'open-ai-x' already; give the model 'open-ai/x' a line",
    ),
    (f"decide --venue {WORLD} --dry-run --model ''", 1, "'' is no name of a model; write provider/model, such as open"),
    (f"decide --venue {WORLD} --dry-run --model m/{'x' * 90}", 1, "is no name of a model"),
    ("init mine.txt", 1, "mine.txt is not the name of a recipe; it ends in .toml"),
    ("init --venue sandbox", 1, "add --model openai/gpt-5 for one, or --model none"),
    ("trace --otlp http://127.0.0.1:9", 2, ""),
    ("trace abcdef --cost", 2, ""),
    ("relate 1", 1, "no ledger"),
]
FORECASTS = [
    ("score none.csv", 1, "no file 'none.csv'. Name a CSV, JSON or Parquet file, or - for standard input"),
    ("score .", 1, "error: '.' is a folder. Name a file in it"),
    ("score f.csv --equity", 1, "error: f.csv has no column date, value. It has 'forecaster', 'question'"),
    ("score", 2, "Missing argument 'FILE...'"),
    ("score f.csv --pool medain", 2, "no 'medain' for --pool. Did you mean 'median'?"),
    ("score f.csv --pool mean --extremize nan", 2, "--extremize is nan; it must be above zero"),
    ("score f.csv --extremize 2", 2, "--extremize is of pools; say which with --pool"),
    ("score f.csv --format xml", 2, "no 'xml' for --format"),
    ("score f.csv --risk-free-rate 0.04", 2, "--risk-free-rate is for --equity"),
    ("score f.csv --equity --pool mean", 2, "--pool is for forecasts, not for --equity"),
    ("score f.csv --equity --wide", 2, "--wide is for forecasts, not for --equity"),
    ("score f.csv --equity --periods-per-year 0", 2, "--periods-per-year is 0.0; it must be above zero"),
    ("score f.csv --equity --risk-free-rate inf", 2, "--risk-free-rate is inf; write 0.04 for 4 %"),
    ("score f.csv --equity --convention mine", 2, "no convention 'mine'"),
    ("score f.csv --compare ann bo", 1, "f.csv has no forecaster 'bo'. Did you mean 'bob'?"),
    ("score f.csv --compare ann ann", 1, "'ann' cannot be compared with itself. Name two forecasters"),
    ("score f.csv --compare ann bob --csv", 2, "--compare says one line and --csv prints a table; ask for one"),
    ("score f.csv --columns a", 2, "'a' names no column once; write --columns p_gpt=probability,y=outcome"),
]
KEY = "daily@2026-01-05T00:00Z"
ABSENT = (("archive:nowhere", "no archive folder"), ("moon", "no venue 'moon'"))
DECIDED = [
    ("evaluate --bots nonsense", 1, "error: no bot 'nonsense' in these runs. Valid are: market_price, random_bet"),
    ("evaluate sandbox", 1, "error: the ledger has no run of recipe 'sandbox'. It has runs of daily"),
    ("evaluate dayly", 1, "error: no recipe 'dayly'. Did you mean 'daily'?"),
    ("evaluate --horizons inf", 2, "'inf' is not a list of days"),
    ("evaluate --horizons ,", 2, "',' is not a list of days"),
    ("evaluate --delay -1", 2, "'-1' is not a list of days; write --delay 1,2,7"),
    ("evaluate --by catgory", 2, "no 'catgory' for --by. Did you mean 'category'? There are: bot, event"),
    ("evaluate --sizing kely", 2, "no 'kely' for --sizing. Did you mean 'kelly'? There are: flat, kelly"),
    ("evaluate --sizing ,", 2, "',' has no name in it; write --sizing kelly,half_kelly"),
    ("evaluate --convention predibnch", 2, "no convention 'predibnch'. Did you mean 'predibench'? There are:"),
    ("demo --game x", 2, "Invalid value for '--game': 'x' is not one of 'dollar_per_event'"),
    ("evaluate --resamples 99", 2, "Invalid value for '--resamples'"),
    ("evaluate --seed -1", 2, "Invalid value for '--seed'"),
    ("evaluate --ledger ''", 2, "it is empty"),
    ("evaluate --ledger sqlite:///none.db", 1, "there is no ledger at none.db. Run `predibot decide` first"),
    *(
        (f"{command} --venue {venue}", 1, said)
        for command, (venue, said) in product(("evaluate", "evaluate --no-track", "report", "track"), ABSENT)
    ),
    ("evaluate --explain --table pairs", 2, "--explain is of the leaderboard, and each --table has its words below it"),
    ("evaluate --full --table pairs", 2, "--full prints every table, --table one; ask for one of both"),
    ("evaluate --table pair", 2, "no 'pair' for --table. Did you mean 'pairs'? There are: forecasts, returns"),
    ("evaluate --worst 0", 2, "Invalid value for '--worst'"),
    ("evaluate --worst 3 --csv", 2, "--csv is one table of scores; ask for --worst without it, or with --json"),
    ("report --worst 3 --csv", 2, "--csv is one table of scores; ask for --worst without it, or with --json"),
    ("report --bots nobody", 1, "no bot 'nobody'"),
    ("runs 99", 1, "there is no run '99' in this ledger. `predibot runs` lists them"),
    ("runs dayly@2026-01-05T00:00Z", 1, f"Did you mean '{KEY}'?"),
    # Options before void choose the ledger.
    (f"runs --ledger sqlite:///other.db void {KEY} --reason x", 1, "no ledger at other.db"),
    (f"runs void {KEY} --reason ' '", 1, "error: a run is voided for a reason"),
    ("runs void daily@nowhere --reason x", 1, f"no run holds the key 'daily@nowhere'. The latest are: {KEY}"),
    (f"runs void {KEY}", 2, "error: Missing option '--reason'. See `predibot runs void --help`"),
    ("trace nonsense", 1, "names no decision"),
    ("trace a/b/c", 1, "there is no decision"),
    ("trace abcdef", 1, "no decision of this ledger"),
    ("export out --format xml", 2, "no format 'xml'. Valid are: csv, jsonl, parquet"),
    ("export --format parquet", 2, "--format parquet is for files; name a FOLDER for them"),
    ("export --table bet", 2, "no table 'bet'. Did you mean 'bets'?"),
    ("decide --rerun-traces nothing", 1, "no run holds the key 'nothing'"),
    *(
        (f"{command} \udce4", 2, r"'\udce4' is no text in UTF-8")
        for command in ("account", "trace", "decide --replay-traces")
    ),
]


def refused(predibot: Predibot, command: str, code: int, message: str) -> int:
    """Check that a command is refused, and return in how many lines."""
    said = predibot(*shlex.split(command))
    assert (said.code, said.out) == (code, "")
    last = said.err.splitlines()[-1]
    assert last.startswith("error: ") and message in last
    return said.err.count("\n")


@pytest.mark.parametrize(("command", "code", "message"), EMPTY)
def test_in_an_empty_folder(predibot: Predibot, command: str, code: int, message: str) -> None:
    refused(predibot, command, code, message)
    assert not list(Path().rglob("*.toml"))


@pytest.mark.parametrize(("command", "code", "message"), FORECASTS)
def test_of_a_file_of_forecasts(predibot: Predibot, command: str, code: int, message: str) -> None:
    Path("f.csv").write_text(GOOD)
    assert refused(predibot, command, code, message) == 1


@pytest.mark.parametrize(("command", "code", "message"), DECIDED)
def test_of_a_ledger_with_a_run(decided: Predibot, command: str, code: int, message: str) -> None:
    refused(decided, command, code, message)
