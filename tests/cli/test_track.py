"""`predibot track`: what is new, once."""

from tests.acceptance.conftest import Predibot


def test_a_second_call_brings_nothing_new(decided: Predibot) -> None:
    first = decided("track", "--json").document
    assert list(first) == ["as_of", "markets", "new_observations", "new_resolutions", "notes", "exit_code"]
    assert first["new_observations"] > 0 < first["new_resolutions"]
    again = decided("track", "--json").document
    assert (again["new_observations"], again["new_resolutions"]) == (0, 0)


def test_an_empty_ledger_says_what_to_do(predibot: Predibot) -> None:
    said = predibot("track", "--json")
    assert said.document["error"]["message"].endswith("Run `predibot decide` first, or name the ledger that is meant.")
