"""A venue as Polymarket was in late 2026: lists in disorder, volumes missing, No before Yes, an old list gone."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot

PAGES = "sandbox:events=130"
"""Two pages of open events."""
CROWDED = "sandbox:events=300"
"""More than 500 open markets."""
LATER = "2026-01-19T12:00Z"
"""A fortnight after: each further day of prices is of 500 markets, and nothing is stranger in it."""
DAILY = 'venue = "{venue}"\n[[bots]]\nstrategy = "market_price"\n'
COHORT = 'venue = "{venue}"\nevery = "7d"\n[game]\nname = "weekly_cohort"\n[[bots]]\nstrategy = "random_trade"\n'


def test_a_day_in_disorder_plays_and_settles_the_same_with_a_note_on_each_oddity(predibot: Predibot) -> None:
    boards, chosen = [], []
    for name, venue in (("orderly", PAGES), ("odd", f"{PAGES},fault=disorder")):
        ledger = ("--ledger", f"sqlite:///{name}.db")
        Path(f"{name}.toml").write_text(DAILY.format(venue=venue))
        decided = predibot("decide", f"{name}.toml", "--events", "30", "--json", *ledger)
        assert decided.code == 0, decided.err
        chosen.append(sorted({each["event_id"] for each in decided.document["decisions"]}))
        evaluated = predibot("evaluate", "--as-of", LATER, "--venue", venue, "--json", *ledger)
        assert evaluated.code == 0, evaluated.err
        boards.append({each["bot"]: each for each in evaluated.document["bots"]})
    notes = "\n".join(decided.document["notes"])
    assert chosen[0] == chosen[1]
    for bot, orderly in boards[0].items():
        odd = boards[1][bot]
        assert (odd["forecasts"], odd["n_brier"]) == (orderly["forecasts"], orderly["n_brier"])
        assert odd["brier"] == pytest.approx(orderly["brier"], abs=0.002)
    assert "events listed stand below one with less volume; they are ranked here" in notes
    assert "events state no volume of a week, which is the sum of their markets'" in notes


def test_a_cohort_in_disorder_decides_and_is_tracked(predibot: Predibot) -> None:
    venue = f"{CROWDED},fault=disorder"
    Path("cohort.toml").write_text(COHORT.format(venue=venue))
    decided = predibot("decide", "cohort.toml", "--json")
    assert decided.code == 0, decided.err
    notes = "\n".join(decided.document["notes"])
    assert "38 events state no volume of a week, which is the sum of their markets'" in notes
    tracked = predibot("track", "--as-of", LATER, "--venue", venue, "--json")
    assert tracked.code == 0, tracked.err
    assert (tracked.document["markets"], tracked.document["notes"]) == (500, [])
    assert tracked.document["new_resolutions"] > 100
