"""Bots of a run: each stays who it was."""

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from predibot.errors import RunConflict
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.ledger.write.runs import BotPlan, add_bots
from tests.ledger.by_hand import a_run, event_of
from tests.soaks import ONE_DATABASE

BOT = BotPlan("x", "tool_agent", {}, "s", "openai/gpt-5", date(2025, 6, 1))


def test_the_model_and_its_cutoff_are_kept_and_exported(store: Store) -> None:
    run = a_run(store, event_of(1), bots=("plain",))
    with store.write() as connection:
        first = add_bots(connection, run, [BOT])
        assert add_bots(connection, run, [BOT]) == first
        plain, agent = export_rows(connection, "bots")
    assert (plain["model"], plain["knowledge_cutoff"]) == (None, None)
    assert (agent["model"], agent["knowledge_cutoff"]) == ("openai/gpt-5", "2025-06-01")


def test_a_bot_is_another_one_at_another_server_which_rows_of_an_older_predibot_state_in_the_recipe(
    store: Store,
) -> None:
    run = a_run(store, event_of(1))
    there, elsewhere = (replace(BOT, arguments={"base_url": f"http://{host}.example/v1"}) for host in ("a", "b"))
    with store.write() as connection:
        # The row of an older predibot.
        add_bots(connection, run, [BOT])
    recipe = {"bots": [{"name": "x", "terms": {"base_url": "http://a.example/v1"}}]}
    old = replace(run, recipe_json=json.dumps(recipe))
    with store.write() as connection:
        assert add_bots(connection, old, [there])
        # It joined the run later, so the recipe that the run has stored does not name it.
        assert add_bots(connection, run, [there])
    for plan in (elsewhere, BOT):
        with pytest.raises(RunConflict, match="base_url"), store.write() as connection:
            add_bots(connection, old, [plan])


@ONE_DATABASE
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "openai/gpt-6"}, "with openai/gpt-6 trained until 2025-06-01"),
        ({"model": None, "knowledge_cutoff": None}, r"tool_agent \{\}"),
        ({"knowledge_cutoff": date(2025, 6, 2)}, "with openai/gpt-5 trained until 2025-06-02"),
        ({"knowledge_cutoff": None}, "with openai/gpt-5"),
        ({"arguments": {"steps": 3}}, r'tool_agent \{"steps": 3\} with openai/gpt-5 trained until 2025-06-01'),
    ],
)
def test_a_bot_that_is_another_one_now_needs_another_name(store: Store, change: dict[str, Any], said: str) -> None:
    run = a_run(store, event_of(1))
    with store.write() as connection:
        add_bots(connection, run, [BOT])
    before = r"is tool_agent \{\} with openai/gpt-5 trained until 2025-06-01"
    message = rf"bot 'x' .* {before}, the recipe now says .*{said}\. Give it another name"
    with pytest.raises(RunConflict, match=message), store.write() as connection:
        add_bots(connection, run, [replace(BOT, **change)])
