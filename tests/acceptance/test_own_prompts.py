"""A prompt of the user's own, from the packaged one to the model, the trace and the ledger, at the command line."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.acceptance.test_outage import Provider
from tests.agents.chat_server import serving

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WORLD = ("--venue", "sandbox:events=20", "--events", "1", "--json")
MINE = Path("prompts", "mine.md")


@pytest.fixture
def provider() -> Iterator[Provider]:
    """Return a provider that answers each prompt."""
    with serving(Provider()) as server:
        yield server


def test_a_copied_and_changed_prompt_is_what_the_model_reads_and_makes_another_bot(
    predibot: Predibot, provider: Provider
) -> None:
    MINE.parent.mkdir()
    MINE.write_text(f"Think twice.\n{predibot('prompts', 'one_shot').out}", encoding="utf-8")
    Path("r.toml").write_text(
        '[[bots]]\nname = "agent"\nstrategy = "one_shot"\nmodel = "local/tiny"\nprice_usd_per_million_tokens = 0\n'
        f'base_url = "{provider.base_url}"\nprompt = "prompts/mine.md"\n',
        encoding="utf-8",
    )
    said = predibot("decide", "r.toml", *WORLD)
    assert said.code == 0, said.err
    (asked,) = provider.asked
    content = asked.body["messages"][-1]["content"]
    assert content.startswith("Think twice.\nYou forecast a real event") and "{{" not in content
    assert "<<untrusted" in content
    run, (decision,) = said.document["run"]["key"], said.document["decisions"]
    digest = hashlib.sha256(MINE.read_bytes()).hexdigest()
    named = f"{run}/agent/{decision['event_id']}"
    assert f"prompt of its own {digest}" in predibot("trace", named).out
    assert predibot("trace", named, "--json").document["decision"]["prompt_sha256"] == digest
    again = predibot("decide", "--rerun-traces", run, "--json")
    assert (again.code, len(provider.asked)) == (0, 1), again.out + again.err
    MINE.write_text(f"Think thrice.\n{MINE.read_text(encoding='utf-8')}", encoding="utf-8")
    changed = predibot("decide", "r.toml", *WORLD)
    assert changed.code == 1 and "start over with --new-run" in changed.out and digest in changed.out
    assert len(provider.asked) == 1
