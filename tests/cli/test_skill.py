"""`predibot skill`: whether anything beats the price, of a ledger or of a file."""

import csv
import json
from pathlib import Path

from sqlalchemy import text

from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot
from tests.worlds import Worlds, weeks

AFTERWARDS = "pro-high-brave-c1-t1"
"""A strong agent that was asked after the questions had ended, about all sets."""
RESULT = ("--resamples", "100", "--json")


def test_the_bots_of_a_ledger_are_tried_and_prompts_compared(
    predibot: Predibot, worlds: Worlds, tmp_path: Path
) -> None:
    worlds.copy(weeks, tmp_path)
    assert "No settled forecast differs from its price" in predibot("skill").out
    with Store.open("sqlite:///runs/out/predibot.db", create=False) as store, store.write() as connection:
        # Two of the baselines become agents that differ in their prompts alone, and one of them says something.
        of_underdog = "(SELECT d.id FROM decisions d JOIN bots b ON b.id = d.bot_id WHERE b.name = 'underdog')"
        moved = "UPDATE forecasts SET probability = 0.1 + 0.8 * probability WHERE decision_id IN"
        connection.execute(text(f"{moved} {of_underdog}"))
        for bot, prompt in (("always_half", ""), ("underdog", "abc")):
            arguments = json.dumps({"model": "x/y"} | ({"prompt_sha256": prompt} if prompt else {}))
            changed = "UPDATE bots SET strategy = 'one_shot', source_sha256 = '', arguments_json = :a WHERE name = :b"
            connection.execute(text(changed), {"a": arguments, "b": bot})
    found = json.loads(predibot("skill", *RESULT).out)
    assert found["n_tries"] == len(found["tries"]) == 15
    assert found["helps"] is None
    assert found["text"][0].startswith("No verdict: ")
    assert {each["forecaster"] for each in found["tries"]} == {"always_half", "underdog", "all pooled"}
    with Store.open("sqlite:///runs/out/predibot.db", create=False) as store, store.write() as connection:
        # Outcomes that were corrected at the end had been unknown on every day before.
        connection.execute(text("UPDATE resolutions SET effective_at = (SELECT max(effective_at) FROM resolutions)"))
    later = {
        (each["forecaster"], each["variant"]): each for each in json.loads(predibot("skill", *RESULT).out)["tries"]
    }
    assert later["underdog", "calibrated"]["difference"] == 0.0
    assert later["underdog", "recalibrated"]["difference"] == later["underdog", "as stated"]["difference"]
    early = json.loads(predibot("skill", "--as-of", "2026-01-02T12:00Z", *RESULT).out)
    assert early["tries"] == []
    (pair,) = json.loads(predibot("skill", "--by", "prompt", *RESULT).out)["comparisons"]
    assert {pair["first"]: pair["first_prompt"], pair["second"]: pair["second_prompt"]} == {
        "always_half": "",
        "underdog": "abc",
    }
    assert "underdog (prompt abc)" in pair["text"]
    board = json.loads(predibot("report", "--table", "pairs", "--json", "--all").out)["comparisons"]
    (same,) = (
        each
        for each in board
        if each["metric"] == "edge" and {each["first"], each["second"]} == {"always_half", "underdog"}
    )
    assert [pair[key] for key in ("n", "difference", "low", "high")] == [
        same[key] for key in ("n", "difference", "low", "high")
    ]
    with Store.open("sqlite:///runs/out/predibot.db", create=False) as store, store.write() as connection:
        # In one run a model differed too, in all others the prompts are equal.
        least = "run_id = (SELECT min(run_id) FROM bots)"
        connection.execute(text(f"UPDATE bots SET model = 'x/z' WHERE name = 'underdog' AND {least}"))
    (fewer,) = json.loads(predibot("skill", "--by", "prompt", *RESULT).out)["comparisons"]
    assert 0 < fewer["n"] < pair["n"]
    with Store.open("sqlite:///runs/out/predibot.db", create=False) as store, store.write() as connection:
        connection.execute(text("UPDATE bots SET arguments_json = '{}' WHERE name IN ('always_half', 'underdog')"))
    assert predibot("skill", "--by", "prompt").out.startswith("No two bots differ in their prompt alone.")
    assert predibot("skill", "--by", "propmt").code == 2


def test_a_file_says_what_can_be_told_and_what_rests_on_few_rows(predibot: Predibot, tmp_path: Path) -> None:
    lines = ["model,question,p,outcome,m,before,on"]
    lines += [f"a,q{n},{0.9 if n % 2 else 0.2},{n % 2},0.5,0.4,2026-01-{1 + n // 4:02d}" for n in range(40)]
    (tmp_path / "f.csv").write_text("\n".join(lines), encoding="utf-8")
    columns = "model=forecaster,p=probability,m=market_probability,before=earlier_price,on=date"
    said = predibot("skill", "--file", "f.csv", "--columns", columns, "--resamples", "100")
    assert said.code == 0
    assert "No verdict: 40 events are fewer than 1,000" in said.out
    assert "Placebo, the price blended toward that of 10 days before" in said.out
    assert "blend .2" in said.out
    assert predibot("skill", "market_price", "--file", "f.csv").code == 2
    assert (
        "no settled forecast with a market_probability"
        in predibot("skill", "--file", "f.csv", "--columns", "p=probability,model=forecaster").err
    )


def test_recorded_forecasts_give_the_figures_of_the_docs(shared_data: Path, predibot: Predibot, tmp_path: Path) -> None:
    with (shared_data / "forecasts" / "forecasts.csv").open(encoding="utf-8") as file:
        rows = [
            row for row in csv.reader(file) if row[9] != "1" and ("live" in row or AFTERWARDS in row or "due" in row)
        ]
    with (tmp_path / "f.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    columns = "due=date,price_on_due_date=market_probability,price_shown=earlier_price"
    found = json.loads(predibot("skill", "--file", "f.csv", "--columns", columns, *RESULT).out)
    blends = {each["forecaster"]: each for each in found["tries"] if each["variant"] == "blend .1"}
    live = [each for name, each in blends.items() if name not in (AFTERWARDS, "all pooled")]
    assert round(blends[AFTERWARDS]["difference"], 4) == -0.0018
    assert round(sum(each["difference"] * each["n"] for each in live) / sum(each["n"] for each in live), 4) == -0.0007
    assert sum(each["n"] for each in live) == 812
