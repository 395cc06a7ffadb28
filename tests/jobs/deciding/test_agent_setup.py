"""Agent setup: what a bot decides with, opened for real on a sandbox's loopback."""

import hashlib
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from predibot.config import Settings
from predibot.contracts import Context, ModelNeed, Needs, OpenVenue, ToolText
from predibot.domain.account_past import NewsItem
from predibot.domain.budget import Spending
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.event import Event, EventView
from predibot.domain.trace import PageVisitedStep
from predibot.errors import BudgetSpent, PluginError, UsageError
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.jobs.deciding.agent_setup import AgentSetup
from predibot.jobs.deciding.cost_estimate import RunCost, run_cost
from predibot.jobs.open_venue import open_venue
from predibot.ledger.store import Store
from predibot.net.api_keys import ApiKeys
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.agents.chat_server import chat_server, completion
from tests.agents.clients import HELLO

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PRICED = 'base_url = "http://127.0.0.1:9/v1"\nprice_usd_per_million_tokens = 1'
RECIPE = '[[bots]]\nname = "sharp"\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n'


@pytest.fixture(scope="module")
def opened() -> Iterator[OpenVenue]:
    with open_venue("sandbox:events=2", Settings(), as_of=None, purpose="decide", clock=lambda: NOW) as venue:
        yield venue


def agents_of(opened: OpenVenue, text: str, keys: ApiKeys | None = None, **more: Any) -> AgentSetup:
    """Return the agents of the bots of a recipe."""
    recipe = parse_recipe(RecipeText(text, "r.toml", "r"))
    return AgentSetup(recipe, opened, keys or ApiKeys(), "run", 600.0, more.pop("clock", lambda: NOW), **more)


def set_up(agents: AgentSetup, bot: int = 0) -> Context:
    """Return what a bot decides on an event with at the instant of its venue."""
    view = EventView(first_event(agents.opened), "sandbox")
    bare = Context(agents.opened.now, view, DollarPerEvent(), random.Random(0))
    return agents.set_up(bare, agents.recipe.bots[bot])


def first_event(opened: OpenVenue) -> Event:
    return opened.venue.events(opened.now).events[0]


def refuses(agents: AgentSetup, said: str) -> None:
    """Check bots where one is refused with these words."""
    with pytest.raises(UsageError, match=said):
        agents.check(agents.recipe.bots)


def test_a_key_that_a_search_engine_gives_back_is_in_no_news(opened: OpenVenue) -> None:
    def news(key: str) -> tuple[NewsItem, ...]:
        agents = agents_of(opened, RECIPE, ApiKeys({"OPENAI_API_KEY": key}))
        title, after = first_event(opened).title, opened.now - timedelta(days=30)
        return agents.news(title, after=after, before=opened.now, count=3)

    slug = (news("not-on-any-page")[0].url or "").rpartition("/")[2]
    assert slug and slug not in str(news(slug))


REPORTER = (
    '[[bots]]\nstrategy = "{strategy}"\nmodel = "openai/o3-deep-research"\nbase_url = "http://localhost:1/v1"\n'
    "price_usd_per_million_tokens = 1\n"
)
EXTRACTED = 'extract_model = "cheap"\n'


def reporter(opened: OpenVenue, more: str, *, strategy: str = "deep_research") -> AgentSetup:
    """Return the agents of a bot whose model works in the background."""
    return agents_of(opened, REPORTER.format(strategy=strategy) + more)


@pytest.mark.parametrize(
    ("strategy", "more", "said"),
    [
        ("one_shot", "", "searches by itself and writes reports. Give it strategy = 'deep_research'"),
        ("deep_research", EXTRACTED + "[limits.bot]\nusd = 9", "the price of deep_research's model is unknown"),
        ("deep_research", EXTRACTED + "price_usd_per_search = 0.01\n[limits.bot]\nusd = 9", "a model that searches by"),
    ],
)
def test_a_model_that_works_in_the_background_is_refused_where_it_cannot_be_held(
    opened: OpenVenue, strategy: str, more: str, said: str
) -> None:
    refuses(reporter(opened, more, strategy=strategy), said)


def test_the_worst_a_report_can_cost_is_forecast(opened: OpenVenue) -> None:
    agents = reporter(opened, EXTRACTED + "price_usd_per_search = 0.5\nmax_searches = 3\n")
    cost = run_cost(agents.recipe, [first_event(opened)], agents)
    assert cost.usd is not None
    # Four times 200,000 tokens and 100,000 of the report at $1 a million, three searches at $0.50.
    report_usd = 0.8 + 0.1 + 1.5
    # Four calls that read a report of 100,000 tokens of four bytes, a prompt and the answers before.
    assert report_usd + 4 * 0.4 < cost.usd < report_usd + 4 * 0.7
    # Each model at its own price: the report is paid for once, and reading it costs no more than that.
    assert "1 call of openai/o3-deep-research for at most $2.40 and 4 calls of cheap for" in cost.bots[0].basis


def test_a_dry_run_and_the_page_say_the_same_of_a_report(opened: OpenVenue) -> None:
    page = (Path(__file__).parents[3] / "docs/agents.md").read_text("utf-8")
    for model, report, whole in (("o4-mini", "$9.40", "$10.20"), ("o3", "$46.20", "$47.00")):
        text = f'[[bots]]\nstrategy = "deep_research"\nmodel = "openai/{model}-deep-research"\n'
        agents = agents_of(opened, text + 'extract_model = "openai/gpt-5-mini"')
        cost = run_cost(agents.recipe, [first_event(opened)], agents)
        assert f"1 call of openai/{model}-deep-research for at most {report} and 4 calls of" in cost.bots[0].basis
        assert cost.usd == pytest.approx(float(whole[1:]), abs=0.05)
        assert report in page
        assert whole in page


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("", ""),
        ("[limits.decision]\nusd = 5", ""),
        ("[limits.decision]\nusd = 0.02", "usd = 0.15 in [limits.decision] would do"),
        ("[limits.day]\ntokens = 9000", "tokens = 150000 in [limits.day] would do"),
    ],
)
def test_a_limit_without_room_to_think_is_named_with_one_that_would_do(
    opened: OpenVenue, limits: str, said: str
) -> None:
    needs = Needs(models=(ModelNeed("acme/thinker", calls=4, input_tokens=50_000),))
    (bot,) = cost_of(needing(opened, needs, "price_usd_per_million_tokens = 1", limits=limits)).bots
    assert (bot.advice[-len(said) :], "up to 16,000 tokens" in bot.advice) == (said, bool(said))


SONAR = """[[bots]]
strategy = "deep_research"
model = "perplexity/sonar-deep-research"
extract_model = "openai/gpt-5-mini"
"""


def test_nothing_bounds_a_model_that_searches_as_often_as_it_likes(opened: OpenVenue) -> None:
    key = ApiKeys({"PERPLEXITY_API_KEY": "p" * 9})
    agents = agents_of(opened, SONAR, key)
    cost = run_cost(agents.recipe, [first_event(opened)], agents)
    assert cost.usd is None
    assert cost.bots[0].basis == "perplexity/sonar-deep-research searches by itself and cannot be told how often"
    for level in ("decision", "bot", "run", "day"):
        limited = agents_of(opened, f"{SONAR}[limits.{level}]\nusd = 9\n", key)
        refuses(limited, r"searches by itself and cannot be told how often, so .* leave the limit out")


@pytest.mark.parametrize("strategy", ["one_shot", "tool_agent"])
@pytest.mark.parametrize(
    "model",
    ["perplexity/sonar-deep-research", "openrouter/perplexity/sonar", "azure/o3-deep-research",
     "openai/gpt-4o-search-preview", "groq/compound", "openai/jina-deepsearch-v1"],
)  # fmt: skip
def test_a_model_that_searches_is_refused_under_a_limit_whatever_the_strategy(
    opened: OpenVenue, model: str, strategy: str
) -> None:
    bot = f'[[bots]]\nstrategy = "{strategy}"\nmodel = "{model}"\nprice_usd_per_million_tokens = 1'
    agents = agents_of(opened, f"[limits.decision]\nusd = 0.5\n{bot}")
    refuses(agents, rf"{model}' searches by itself and cannot be told how often")


def test_a_model_that_has_the_name_of_a_task_and_searches_with_our_tools_may_have_a_limit(opened: OpenVenue) -> None:
    needs = Needs(models=("alibaba/tongyi-deepresearch-30b-a3b",))
    equipment = needing(opened, needs, PRICED, limits="[limits.run]\nusd = 0.5")
    equipment.check(equipment.recipe.bots)


@pytest.mark.parametrize(
    ("need", "more"),
    [
        (ModelNeed("perplexity/sonar", max_searches=5), ""),
        (
            ModelNeed("openai/o3-deep-research", max_searches=5),
            'client = "litellm"\nbase_url = "http://127.0.0.1:9/v1"\nprice_usd_per_search = 0.01',
        ),
    ],
)
def test_how_often_it_may_search_bounds_no_model_that_is_not_told(
    opened: OpenVenue, need: ModelNeed, more: str
) -> None:
    more += "\nprice_usd_per_million_tokens = 1"
    agents = needing(opened, Needs(models=(need,)), more, limits="[limits.run]\nusd = 0.5")
    refuses(agents, "searches by itself and cannot be told how often")


def needing(opened: OpenVenue, needs: Needs, more: str = "", *, limits: str = "") -> AgentSetup:
    """Return the agents of a bot whose strategy declares these needs."""
    agents = agents_of(opened, f'{limits}\n[[bots]]\nstrategy = "random_bet"\n{more}')
    (bot,) = agents.recipe.bots
    bot = replace(bot, strategy=replace(bot.strategy, needs=needs))
    return replace(agents, recipe=replace(agents.recipe, bots=(bot,)))


def cost_of(agents: AgentSetup) -> RunCost:
    """Return what a run of three equal events costs at the most."""
    return run_cost(agents.recipe, [first_event(agents.opened)] * 3, agents)


def test_one_price_of_two_leaves_the_other_unknown(opened: OpenVenue) -> None:
    needs = Needs(models=(ModelNeed("openai/gpt-5-mini", calls=1), ModelNeed("acme/unpriced", calls=1)))
    cost = cost_of(needing(opened, needs))
    assert (cost.usd, cost.bots[0].basis) == (None, "the price of acme/unpriced is unknown")
    limited = needing(opened, needs, limits="[limits.day]\nusd = 0.5")
    refuses(limited, "model is unknown: 'acme/unpriced', and its budget has a limit in USD")


def test_a_price_of_nothing_for_several_models_makes_no_known_one_free(opened: OpenVenue) -> None:
    needs = Needs(models=(ModelNeed("ollama/tiny", calls=1), ModelNeed("openai/gpt-5", calls=1)))
    cost = cost_of(needing(opened, needs, "price_usd_per_million_tokens = 0"))
    assert "1 call of ollama/tiny for at most $0.00" in cost.bots[0].basis
    assert cost.usd is not None
    assert cost.usd > 0


@pytest.mark.parametrize(
    ("limits", "usd", "basis"),
    [
        ("", None, "nothing limits how often it asks acme/judge"),
        ("[limits.run]\nusd = 0.5", 0.5, "nothing limits how often it asks acme/judge"),
        ("[limits.decision]\ntokens = 1000", 0.003, "the limit of tokens of each decision"),
        ("[limits.decision]\nusd = 0.1", 0.3, "the limit of each decision"),
    ],
)
def test_where_a_strategy_sets_no_end_to_its_calls_only_limits_bound_it(
    opened: OpenVenue, limits: str, usd: float | None, basis: str
) -> None:
    cost = cost_of(needing(opened, Needs(models=("acme/judge",)), PRICED, limits=limits))  # type: ignore[arg-type]
    assert cost.usd == (None if usd is None else pytest.approx(usd))
    assert cost.bots[0].basis == basis


def test_a_limit_in_steps_leaves_the_dearest_calls(opened: OpenVenue) -> None:
    needs = Needs(models=(ModelNeed("acme/short", calls=5), ModelNeed("acme/long", calls=2, output_tokens=10**6)))
    free, limited = (
        cost_of(needing(opened, needs, PRICED, limits=limits)) for limits in ("", "[limits.decision]\nsteps = 3")
    )
    assert "5 calls of acme/short" in free.bots[0].basis
    assert "1 call of acme/short" in limited.bots[0].basis
    assert "2 calls of acme/long" in limited.bots[0].basis


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        (Needs(news=True), "needs news, which game 'dollar_per_event' does not show"),
        (Needs(tools=("websearch",)), "no tool 'websearch'. Did you mean 'web_search'?"),
        (Needs(models=(ModelNeed("acme/deep", max_searches=None),)), "has a model that searches by itself"),
    ],
)
def test_what_nobody_can_give_is_refused_before_any_call(opened: OpenVenue, needs: Needs, said: str) -> None:
    refuses(needing(opened, needs), said)


def test_a_decision_knows_which_models_it_opened(opened: OpenVenue) -> None:
    needs = Needs(models=(ModelNeed("sandbox/sharp"), ModelNeed("sandbox/lazy")))
    seen = set_up(needing(opened, needs))
    assert seen.model.names == ()
    seen.model("sandbox/lazy")
    seen.model("sandbox/lazy")
    with pytest.raises(PluginError, match="the models it declares are: sandbox/sharp, sandbox/lazy"):
        seen.model("sandbox/noisy")
    with pytest.raises(PluginError, match="opens model 'sandbox/noisy'"):
        seen.why_no_tools("sandbox/noisy")
    assert seen.model.names == ("sandbox/lazy",)
    assert (seen.tools.web_search, seen.tools.visit_webpage) == (None, None)


def test_what_a_searching_model_read_is_booked_whatever_its_strategy_says(opened: OpenVenue) -> None:
    with chat_server(completion(usage={"prompt_tokens": 300_000, "completion_tokens": 10})) as server:
        more = f'base_url = "{server.base_url}"\nprice_usd_per_million_tokens = 2'
        seen = set_up(needing(opened, Needs(models=("sonar",)), more))  # type: ignore[arg-type]
        seen.model("sonar").chat(HELLO, deadline_seconds=60.0)
    assert seen.meter.spent().usd == pytest.approx(0.60002)


@pytest.mark.parametrize("searches", [None, 4])
def test_a_model_that_searches_by_itself_is_told_how_often_in_each_request(
    opened: OpenVenue, searches: int | None
) -> None:
    needs = Needs(models=(ModelNeed("openai/o3-deep-research", max_searches=3),))
    seen = set_up(needing(opened, needs, f"{PRICED}\nprice_usd_per_search = 1"))
    request = ChatRequest((Message("user", "Rain?"),), max_searches=searches)
    with pytest.raises(PluginError, match=f"max_searches = 3, and a request says {searches}"):
        seen.model("openai/o3-deep-research").chat(request, deadline_seconds=1.0)
    assert seen.trace.steps == ()


def read_a_page(opened: OpenVenue, file: Path, *, key: str = "not-on-any-page") -> tuple[Context, str]:
    """Return what a bot decides with, and the first page it finds that can be read."""
    with Store.open(f"sqlite:///{file}") as store:
        seen = set_up(agents_of(opened, RECIPE, ApiKeys({"OPENAI_API_KEY": key}), store=store))
        assert seen.tools.web_search is not None
        assert seen.tools.visit_webpage is not None
        for url in re.findall(r"http://\S+", seen.tools.web_search(first_event(opened).title).text):
            said = seen.tools.visit_webpage(url, 1, None)
            if isinstance(said, ToolText):
                return seen, said.text
    raise AssertionError("no page could be read")


def test_a_page_that_repeats_a_key_is_kept_without_it(opened: OpenVenue, tmp_path: Path) -> None:
    _, said = read_a_page(opened, tmp_path / "open.db")
    word = max(re.findall(r"\w+", said.splitlines()[-1]), key=len)
    seen, _ = read_a_page(opened, tmp_path / "hidden.db", key=word)
    (kept,) = (tmp_path / "hidden.db.files/pages").rglob("*.txt")
    (visited,) = (step for step in seen.trace.steps if isinstance(step, PageVisitedStep))
    assert word.encode() not in kept.read_bytes()
    assert b"***" in kept.read_bytes()
    assert visited.sha256 == kept.stem == hashlib.sha256(kept.read_bytes()).hexdigest()


LIMITED = RECIPE + "[limits.day]\nsteps = 2\n[limits.run]\nsteps = 5\n"


@pytest.mark.parametrize("is_stored", [True, False])
def test_at_midnight_the_budget_of_another_day_begins_and_the_runs_goes_on(
    opened: OpenVenue, ledger: Store, is_stored: bool
) -> None:
    instants = [datetime(2026, 3, 1, 23, 59, tzinfo=UTC)]
    agents = agents_of(opened, LIMITED, clock=lambda: instants[-1], store=ledger if is_stored else None)

    def spend() -> Context:
        seen = set_up(agents)
        seen.meter.reserve(Spending(steps=1)).settle(Spending(steps=1))
        return seen

    late = [spend(), spend()]
    with pytest.raises(BudgetSpent, match="the day's limit of 2 steps"):
        spend()
    instants.append(datetime(2026, 3, 2, 0, 1, tzinfo=UTC))
    # What began before midnight stays in the budget of its day.
    with pytest.raises(BudgetSpent, match="the day's limit of 2 steps"):
        late[0].meter.reserve(Spending(steps=1))
    spend()
    spend()
    instants.append(datetime(2026, 3, 3, tzinfo=UTC))
    spend()
    with pytest.raises(BudgetSpent, match="the run's limit of 5 steps"):
        spend()


def test_bots_share_the_accounts_of_their_run_and_wait_for_each_other(opened: OpenVenue) -> None:
    other = RECIPE.replace('name = "sharp"', 'name = "other"')
    agents = agents_of(opened, f"{RECIPE}{other}[limits.run]\nsteps = 1\n")
    here, there = (set_up(agents, bot).meter for bot in (0, 1))
    held = here.reserve(Spending(steps=1))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(there.reserve, Spending(steps=1))
        held.settle(Spending())
        waiting.result(timeout=120.0).settle(Spending(steps=1))
    with pytest.raises(BudgetSpent, match="the run's limit of 1 steps"):
        here.reserve(Spending(steps=1))


SEARCHES = RECIPE.replace("sandbox/sharp", "openai/tiny") + (
    'price_usd_per_million_tokens = 0\n[search]\nproviders = ["brave", "searxng", "ddgs"]\n'
    'base_urls = {{brave = "{brave}", searxng = "http://10.0.0.9:8888"}}\n'
)


def searching(opened: OpenVenue, brave: str, keys: ApiKeys) -> AgentSetup:
    """Return the agents of a bot that searches the web."""
    return agents_of(replace(opened, loopback=None), SEARCHES.format(brave=brave), keys)


def test_where_searches_go_is_known_beforehand(opened: OpenVenue) -> None:
    keys = ApiKeys({"BRAVE_API_KEY": "b" * 20, "SEARXNG_API_KEY": "s" * 20})
    found = searching(opened, "https://api.search.brave.com/", keys).search_destinations()
    assert {name: (at.host, at.key_name, at.key_is_set) for name, at in found.items()} == {
        "brave": ("api.search.brave.com", "BRAVE_API_KEY", True),
        "searxng": ("http://10.0.0.9:8888", None, False),
        "ddgs": ("many", None, False),
    }


def test_a_search_key_goes_to_its_provider_or_where_the_operator_says(opened: OpenVenue) -> None:
    values, brave = {"BRAVE_API_KEY": "b" * 20}, "https://brave.corp:9443"
    with pytest.raises(
        UsageError, match=r"'brave': BRAVE_API_KEY may not be sent to brave\.corp:9443: it belongs to api"
    ):
        searching(opened, brave, ApiKeys(values)).search_usd(("web_search",))
    bound = ApiKeys(values, {"BRAVE_API_KEY": ("brave.corp:9443",)})
    assert searching(opened, brave, bound).search_usd(("web_search",)) is None
