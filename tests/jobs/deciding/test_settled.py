"""What a bot learns from settled forecasts: only what was known at the instant, and only of the same bot."""

import json
from pathlib import Path

from sqlalchemy import text

from predibot.ledger.read.details.bots import settled_forecasts_of_bot
from predibot.ledger.store import Store
from predibot.scoring import fit_step
from tests.jobs.tiny import DAY, canonical, decide_on, recipe_of, request_of
from tests.ledger.statements import found
from tests.venues.payloads import NOW

LEARNS = 'name = "cal"\nstrategy = "calibrated"\nbot = "half"'
HALF = 'name = "half"\nstrategy = "always_half"'
NESTED = 'name = "outer"\nstrategy = "calibrated"\nbot = "cal"'


def play(store: Store, archive: Path, *days: int) -> None:
    """Decide on event 1 on some days after the first, with bots that are named before those they wait for."""
    for day in days:
        request = request_of(recipe_of(LEARNS, HALF), event_id="1")
        report = decide_on(store, archive, request, as_of=NOW + day * DAY)
        assert {each.status for each in report.decisions} == {"recorded"}


def notes(store: Store, bot: str = "cal") -> list[str]:
    query = (
        "SELECT DISTINCT r.as_of, d.notes_json FROM decisions d JOIN runs r ON r.id = d.run_id "
        "JOIN bots b ON b.id = d.bot_id WHERE b.name = :bot ORDER BY r.as_of"
    )
    return [note for _, row in found(store, query, bot=bot) for note in json.loads(row)]


def test_only_what_settled_before_the_instant_is_learnt_from(ledger: Store, archive: Path) -> None:
    # Market 1 settles at day 3; on event 2 one market is void and one settles at day 5.
    play(ledger, archive, 0)
    step = fit_step([0.41], [0.5], [1.0])
    assert step > 0.0
    request = request_of(recipe_of(NESTED, LEARNS, HALF), event_id="2")
    learnt = {0: "step 0 from n = 0", 3: "step 0 from n = 0", 4: f"step {step:.4g} from n = 1"}
    for day in (3, 4):
        decide_on(ledger, archive, request, as_of=NOW + day * DAY)
    assert notes(ledger) == [f"{said} settled events of half" for said in learnt.values()]
    assert notes(ledger, "outer") == [f"step 0 from n = {n} settled events of cal" for n in (0, 1)]
    with ledger.write() as connection:
        # The last run has bots of the same specification as the first; void runs and other arguments count nothing.
        run_id = connection.execute(text("SELECT max(id) FROM runs")).scalar_one()

        def count(bot: str, days: float) -> int:
            return len(settled_forecasts_of_bot(connection, run_id, bot, before=NOW + days * DAY))

        assert [count("half", days) for days in (3, 3.01)] == [0, 1]
        assert (count("cal", 4), count("outer", 4), count("nobody", 4)) == (1, 0, 0)
        connection.execute(text("UPDATE bots SET model = 'x/other' WHERE name = 'half' AND run_id = 1"))
        # What wraps another bot is another one by that.
        assert (count("cal", 4), count("half", 4)) == (0, 0)
        connection.execute(text("UPDATE bots SET model = NULL WHERE name = 'half' AND run_id = 1"))
        assert (count("cal", 4), count("half", 4)) == (1, 1)
        # What a model may use, and where it is, is the bot's too; what a search costs is not.
        connection.execute(text("UPDATE bots SET model = 'x/m' WHERE name = 'half'"))
        stored = connection.execute(text("SELECT recipe_json FROM runs WHERE id = 1")).scalar_one()
        recipe = json.loads(stored)
        half = next(each for each in recipe["bots"] if each["name"] == "half")
        other: tuple[tuple[dict[str, object], int], ...] = (
            ({"search": {**recipe["search"], "usd_per_call": {"ddgs": 0.01}}, "limits": {"day": {"usd": 1}}}, 1),
            ({"search": {**recipe["search"], "providers": ["brave"]}}, 0),
            ({"limits": {"decision": {"searches": 2}}}, 0),
            ({"bots": [{**half, "terms": {**half["terms"], "base_url": "http://a.example/v1"}}]}, 0),
            ({}, 1),
        )
        for change, n in other:
            update = text("UPDATE runs SET recipe_json = :recipe WHERE id = 1")
            connection.execute(update, {"recipe": json.dumps({**recipe, **change})})
            assert (count("half", 4), count("cal", 4)) == (n, n)
        connection.execute(text("UPDATE bots SET arguments_json = '{}' WHERE name = 'cal' AND run_id = 1"))
        assert count("cal", 4) == 0
        connection.execute(text("UPDATE runs SET voided_at = as_of, void_reason = 'test' WHERE id = 1"))
        assert count("half", 4) == 0


def test_another_future_changes_no_decision(ledger: Store, archive: Path, tmp_path: Path) -> None:
    request = request_of(recipe_of(LEARNS, HALF), event_id="2")
    resolutions = archive / "resolutions.json"
    known = json.loads(resolutions.read_text(encoding="utf-8"))
    first = next(iter(known))
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        for store, past in ((ledger, known), (other, {first: known[first]})):
            resolutions.write_text(json.dumps(past), encoding="utf-8")
            play(store, archive, 0)
            decide_on(store, archive, request, as_of=NOW + 4 * DAY)
        assert canonical(other) == canonical(ledger)
        assert notes(other)[1] == f"step {fit_step([0.41], [0.5], [1.0]):.4g} from n = 1 settled events of half"
