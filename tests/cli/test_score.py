"""`predibot score`: anybody's forecasts, and anybody's account, from a file."""

import csv
import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Predibot
from tests.forked import Forked
from tests.soaks import one_in

ROOT = Path(__file__).resolve().parents[2]
HEADER = "forecaster,question,probability,outcome,market_probability"
GOOD = f"{HEADER}\nann,q1,0.9,1,0.7\nbob,q1,0.6,1,0.7\nann,q2,0.2,0,0.4\nbob,q2,0.5,0,0.4\n"
QUICK = ("--resamples", "100")
SIX_DECIMALS = 0.5000001e-6


def _bots(document: Mapping[str, Any]) -> dict[str, Any]:
    return {bot["bot"]: bot for bot in document["bots"]}


def test_scores_that_others_published_are_reproduced(predibot: Predibot, shared_data: Path) -> None:
    folder = shared_data / "published" / "market-vs-llm"
    printed = json.loads((folder / "published_metrics.json").read_text())["arms"]
    rows = list(csv.DictReader((folder / "scatter.csv").read_text().splitlines()))
    ours = "".join(f"aia,{row['qid']},{row['p_aia']},{row['y']},{row['p_mkt']}\n" for row in rows)
    Path("forecasts.csv").write_text(f"{HEADER}\n{ours}")
    document = predibot("score", "forecasts.csv", *QUICK, "--json").document
    assert (document["rows"], document["bad_rows"], list(_bots(document))) == (len(rows), [], ["aia", "market"])
    for name, bot in _bots(document).items():
        published = printed[name]
        found = {
            "brier": bot["brier"],
            "log_loss": bot["log_score"],
            "ece": bot["calibration_error"],
            "bss_vs_market": bot["skill_vs_market"],
            "murphy_reliability": bot["murphy"]["reliability"],
            "murphy_resolution": bot["murphy"]["resolution"],
        }
        assert found == pytest.approx({key: published[key] for key in found}, abs=SIX_DECIMALS)
        assert bot["murphy"]["uncertainty"] == pytest.approx(printed["aia"]["murphy_uncertainty"], abs=SIX_DECIMALS)


def test_the_document_is_that_of_evaluate_with_what_became_of_the_rows(predibot: Predibot) -> None:
    Path("f.csv").write_text(f"{GOOD}ann,q3,70%,1,\nann,q4,0.5,,\n")
    document = predibot("score", "f.csv", "--pool", "median,log_odds", *QUICK, "--json").document
    assert list(_bots(document)) == ["ann", "bob", "pool_median", "pool_log_odds", "market"]
    assert (document["as_of"], document["rows"], document["open"]) == (None, 6, 1)
    assert document["bad_rows"] == [
        {"line": 6, "reason": "probability is '70%'; write a number from 0 to 1, such as 0.7"}
    ]
    assert {(pair["first"], pair["second"]) for pair in document["comparisons"]} >= {("ann", "bob"), ("ann", "market")}


def test_the_table_is_for_a_person_and_lists_the_first_bad_rows(predibot: Predibot) -> None:
    Path("f.csv").write_text(GOOD + "ann,q3,70%,1,\n" * 25)
    said = predibot("score", "f.csv", *QUICK)
    assert said.code == 0 and "pool" not in said.out and "Beside the mid" not in said.out
    lines = [line for line in said.out.splitlines() if line.startswith("bad row")]
    assert len(lines) == 21
    assert lines[0] == "bad row: line 6: probability is '70%'; write a number from 0 to 1, such as 0.7"
    assert lines[-1] == "bad rows: 5 more; --json has them all"


def test_one_table_for_programs_leaves_stdout_to_itself(predibot: Predibot) -> None:
    Path("f.csv").write_text(f"{GOOD}ann,q3,70%,1,\n")
    said = predibot("score", "f.csv", *QUICK, "--csv")
    assert [row["bot"] for row in csv.DictReader(said.out.splitlines())] == ["ann", "bob", "market"]
    assert said.err == "bad row: line 6: probability is '70%'; write a number from 0 to 1, such as 0.7\n"


def test_strict_scores_nothing_and_lists_the_bad_rows(predibot: Predibot) -> None:
    Path("f.csv").write_text(f"{GOOD}ann,q3,70%,1,\n,q3,0.7,1,\n")
    said = predibot("score", "f.csv", "--strict")
    assert (said.code, said.out) == (1, "")
    *listed, last = said.err.splitlines()
    assert [line.split(":")[1] for line in listed] == [" line 6", " line 7"]
    assert last.startswith("error: f.csv has 2 bad rows of 6, and --strict accepts none.")
    as_json = predibot("score", "f.csv", "--strict", "--json")
    assert (as_json.code, as_json.document["error"]["kind"]) == (1, "FileRefused")
    assert [row["line"] for row in as_json.document["bad_rows"]] == [6, 7]
    Path("f.csv").write_text(GOOD)
    assert predibot("score", "f.csv", "--strict", *QUICK).code == 0


def test_hostile_names_do_nothing_to_a_screen(predibot: Predibot) -> None:
    evil = "\x1b[31m[red]=1+1\u202e"
    Path("f.csv").write_text(f"{HEADER}\n{evil},q1,0.9,1,\n{evil},q2,{evil},1,\n", encoding="utf-8")
    for options in ((), ("--json",), ("--csv",), ("--strict",), ("--strict", "--json")):
        said = predibot("score", "f.csv", *QUICK, *options)
        assert "\x1b" not in said.out + said.err and "\u202e" not in said.out + said.err
        assert said.out.isascii() or "--json" not in options


def test_a_file_may_come_from_a_pipe(tmp_path: Path) -> None:
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with Forked("score", "-", *QUICK, "--json", folder=tmp_path, environment=os.environ, **pipes) as process:
        out, _ = process.communicate(GOOD)
    assert process.returncode == 0 and list(_bots(json.loads(out))) == ["ann", "bob", "market"]


def test_an_account_has_its_figures_on_a_screen_and_in_a_document(predibot: Predibot) -> None:
    Path("e.csv").write_text("date,value\n2026-03-01,100\n2026-03-02,110\n2026-03-03,99\n2026-03-04,108.9\nsoon,1\n")
    document = predibot("score", "--equity", "e.csv", "--json").document
    assert document["cumulative_return"] == pytest.approx(0.089)
    assert (document["n_values"], document["first_at"], document["last_at"]) == (
        4,
        "2026-03-01T00:00Z",
        "2026-03-04T00:00Z",
    )
    assert (document["convention"], document["periods_per_year"], document["ddof"]) == ("predibot", 365.0, 1)
    assert document["bad_rows"][0]["line"] == 6
    said = predibot("score", "e.csv", "--equity", "--convention", "livetradebench")
    assert "convention livetradebench · 252 periods a year" in said.out
    for figure in ("Sharpe", "Sortino", "Calmar", "drawdown", "volatility", "win rate", "value at risk", "losing run"):
        assert figure in said.out
    assert said.out.splitlines()[-1].startswith("bad row: line 6: date is 'soon'")


def test_a_figure_without_a_value_is_a_dash_and_null(predibot: Predibot) -> None:
    Path("e.csv").write_text("date,value\n2026-03-01,100\n2026-03-02,100\n")
    assert predibot("score", "--equity", "e.csv", "--json").document["sharpe"] is None
    lines = predibot("score", "--equity", "e.csv").out.splitlines()
    assert next(line for line in lines if line.startswith("Sharpe")).split() == ["Sharpe", "ratio", "–"]


def test_a_screen_shows_fifty_rows_of_a_table_and_says_how_to_see_all(predibot: Predibot, tmp_path: Path) -> None:
    rows = [f"f{n:03},q{n},0.5,{n % 2}" for n in range(53)]
    rows += [f"f{n:03},open,0.5," for n in range(53)]
    (tmp_path / "many.csv").write_text("\n".join(["forecaster,question,probability,outcome", *rows]))
    asked = ("score", "many.csv", "--resamples", "100")
    said = predibot(*asked).out
    shown = [line for line in said.splitlines() if re.match("f0(49|50) +(?!f)", line)]
    assert len(shown) == 2 and all(line.startswith("f049") for line in shown)
    assert said.count("\n3 more rows; all of them: --all or --json\n") == 2
    assert "note: Forecasts open: 53 (f000 1, " in said and "f009 1 and 43 more)" in said
    every = predibot(*asked, "--all").out
    assert "\nf052 " in every and "more rows" not in every


def test_anybodys_columns_give_the_scores_that_others_published(predibot: Predibot, shared_data: Path) -> None:
    file = str(shared_data / "published" / "market-vs-llm" / "scatter.csv")
    named = "p_aia=probability,p_mkt=market_probability,y=outcome,qid=question"
    bots = _bots(predibot("score", file, "--columns", named, *QUICK, "--json").document)
    assert [(name, round(bot["brier"], 6)) for name, bot in bots.items()] == [("p_aia", 0.302893), ("market", 0.16757)]
    wide = _bots(predibot("score", file, "--columns", "y=outcome,qid=question", "--wide", *QUICK, "--json").document)
    assert {name: bot["brier"] for name, bot in wide.items()} == {
        "p_aia": bots["p_aia"]["brier"],
        "p_mkt": bots["market"]["brier"],
    }
    line = predibot("score", file, "--columns", named, "--compare", "p_aia", "market").out
    assert f"\n> {line}" in (ROOT / "docs/score.md").read_text(encoding="utf-8")


def _wide(rows: int, difference: float) -> str:
    """Return a file of two forecasters, of whom b is further from the outcome on two of three questions."""
    lines = [f"q{row},1,0.6,{0.6 - difference if row % 3 else 0.6 + difference}" for row in range(rows)]
    return "\n".join(["question,outcome,a,b", *lines, ""])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            _wide(90, 0.1),
            r"a beats b: the Brier score of a is 0\.0367 lower \(95% 0\.\d+ to 0\.\d+\), p [<=] 0\.\d+, on 90",
        ),
        (
            _wide(30, 0.015),
            r"a cannot be told from b: the Brier score of a is 0\.\d+ lower \(95% -0\.\d+ to 0\.\d+\), p = 0\.\d+, "
            r"on 30 questions of 30 events that both answered; about \d+ more events would tell\.",
        ),
        (
            _wide(9, 0.1),
            r"a cannot be told from b: .* on 9 questions of 9 events that both answered "
            r"\(fewer than 30 prove nothing\); about \d+ more events would tell\.",
        ),
        (_wide(60, 0.0), r"a and b never differed on 60 questions of 60 events that both answered: more events would"),
        ("question,outcome,a,b\nq,1,0.5,\nr,1,,0.5\n", "a and b answered no question both: nothing can be compared."),
    ],
)
def test_two_forecasters_are_compared_in_one_line(predibot: Predibot, text: str, said: str) -> None:
    Path("f.csv").write_text(text)
    shown = predibot("score", "f.csv", "--wide", "--compare", "a", "b")
    assert (shown.code, shown.err, shown.out.count("\n")) == (0, "", 1)
    assert re.match(said, shown.out), shown.out
    document = predibot("score", "f.csv", "--wide", "--compare", "b", "a", "--json").document
    # Who is named first changes the order of words, and nothing else.
    assert document["comparison"]["better"] == ("a" if "beats" in said else None)
    assert document["bad_rows"] == []


@pytest.mark.parametrize(
    ("name", "text"),
    one_in(
        2,
        [
            ("f.json", '{"made": 1, "forecasts": [\n{"id": "00123", "forecast": 0.7, "resolved_to": true}\n]}'),
            ("f.jsonl", '{"model": "m", "qid": 7, "prediction": 0.7, "outcome": 1}\n'),
            ("f.csv", "Bot,Question ID,Probability (yes),Resolution\nm,q,0.7,1\n"),
            ("f.csv", "user;market;p;label\nm;q;0.7;yes\n"),
            ("f.csv", "Predicted probability,Question ID,Resolved to\n0.7,q,1\n"),
            ("f.csv", "forecaster,question,probabilty,outcome\nm,q,0.7,1\n"),
            ("f.csv", "FORECASTER,QUESTION,PROBABILITY,OUTCOME\nm,q,0.7,1\n"),
            ("f.csv", "forecaster,id,YES's probability,outcome\nm,q,0.7,1\n"),
        ],
    ),
)
def test_what_a_hint_proposes_is_an_option_that_runs_as_it_is_typed(predibot: Predibot, name: str, text: str) -> None:
    Path(name).write_text(text)
    said = predibot("score", name).err
    assert said.count("\n") == 1 and "Say --columns " in said
    option = said.removesuffix(".\n").partition("Say ")[2]
    document = predibot("score", name, *shlex.split(option), *QUICK, "--json").document
    assert [(bot["settled"], round(bot["brier"], 6)) for bot in document["bots"]] == [(1, 0.09)]


def test_names_of_columns_may_stand_either_way_round(predibot: Predibot) -> None:
    Path("f.csv").write_text("id,p,y\nq,0.7,1\n")
    for named in ("p=probability,id=question,y=outcome", "probability=p,question=id,outcome=y"):
        (bot,) = predibot("score", "f.csv", "--columns", named, *QUICK, "--json").document["bots"]
        assert (bot["bot"], round(bot["brier"], 6)) == ("p", 0.09)


def test_columns_that_nobody_can_guess_or_type_are_named_for_the_reader(predibot: Predibot) -> None:
    Path("f.json").write_text('[{" forecast ": 0.7, "id": "q", "y": 1}]')
    assert "It has ' forecast ', 'id', 'y'. Say which of them it is" in predibot("score", "f.json").err
    Path("f.csv").write_text("who,what,p\nm,q,0.7\n")
    assert predibot("score", "f.csv").err == (
        "error: f.csv has no column forecaster, question, probability, outcome. It has 'who', 'what', 'p'. "
        "Say which of them it is with --columns NAME=COLUMN, or add it.\n"
    )
