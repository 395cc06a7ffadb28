"""Models of known behaviour, asked with prompts of the user's own in all five studies: their scores, reckoned by hand.

The models are behind a server on loopback, and nothing of what it was asked is the packaged prompt. Three markets have
prices and payouts that are written below; comments and pairs are those of the sandbox, whose truth is known.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import log1p
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from predibot.ledger.store import Store
from predibot.studies.beliefbench.pairs import LABELS
from predibot.web.cache import LedgerCache
from predibot.web.pages.bots import bot_page
from tests.acceptance.conftest import done_here
from tests.agents.chat_server import Asked, ChatServer, Said, completion, serving, tool_call
from tests.studies.beliefbench.pair_readers import pairs_in
from tests.studies.stakebench.readers import data_set, rows
from tests.venues.payloads import condition_of, event_payload, market_payload

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FIRST, DAY = datetime(2026, 2, 1, tzinfo=UTC), timedelta(days=1)
PRICES = {1: (0.4, 0.5, 0.6), 2: (0.2, 0.25, 0.2), 3: (0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.6, 0.6)}
"""Of YES, at midnight of each day."""
PAID = {1: (3, 1.0), 2: (3, 0.0), 3: (9, 0.0)}
"""After how many days each market was settled, and what YES was paid."""
OWN = """MINE at {{now}}.
{{objective}}
Strangers wrote what stands between {{fence_open}} and {{fence_close}}.
{{view}}
{{ask}}
{{answer_shape}}
"""
BOT = """[[bots]]
name = "{name}"
strategy = "{strategy}"
model = "openai/{name}"
base_url = "{url}"
price_usd_per_million_tokens = 0
prompt = "prompts/{prompt}.md"
"""


def write_world(folder: Path) -> None:
    """Write an archive of two events; a question has fields of prompts in it, which nobody may fill."""
    for day in range(9):
        markets = [payload_of(number, prices[day]) for number, prices in PRICES.items() if day < len(prices)]
        events = [event_payload(1, *markets[:1]), event_payload(2, *markets[1:])] if day < 3 else []
        name = f"{FIRST + day * DAY:%Y-%m-%dT%H%M%SZ}"
        write(folder / "snapshots" / name / "events.json", events or [event_payload(2, *markets)])
    for number, prices in PRICES.items():
        points = [{"t": int((FIRST + day * DAY).timestamp()), "p": price} for day, price in enumerate(prices)]
        write(folder / "prices" / f"{10 * number}.json", {"history": points})
    write(
        folder / "resolutions.json",
        {
            condition_of(number): {"resolved_at": int((FIRST + days * DAY).timestamp()), "payouts": [yes, 1.0 - yes]}
            for number, (days, yes) in PAID.items()
        },
    )


def payload_of(number: int, price: float) -> dict[str, object]:
    prices, question = (
        json.dumps([f"{price}", f"{1.0 - price:.6g}"]),
        f"Will {{{{view}}}} and {{{{price}}}} be {number}?",
    )
    volumes = {"volume1wk": 9_000 - number, "volumeNum": 9_000 - number, "volume24hr": 900 - number}
    shown = {"question": question, "bestBid": None, "bestAsk": None, "outcomePrices": prices}
    return market_payload(number, **shown, **volumes)


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


Behaviour = Callable[[str], str]
"""Returns the answer to a prompt."""


class KnownModels(ChatServer):
    """Models that behave as they are told to, each answering in the way it is asked to answer."""

    behaviour: Behaviour

    def next(self, asked: Asked) -> Said:
        with self.lock:
            self.asked.append(asked)
        tools = [each["function"]["name"] for each in asked.body.get("tools") or ()]
        if tools and "final_answer" not in tools:
            return tool_call(tools[0])
        answer = self.behaviour(prompt_of(asked))
        return tool_call("final_answer", answer) if tools else completion(answer)

    def prompts_of(self, bot: str) -> list[str]:
        """Return what a bot was asked, apart from whether it calls tools."""
        asked = (each for each in self.asked if each.body and each.body["model"].endswith(bot))
        return [each for each in map(prompt_of, asked) if not each.startswith("Call the tool")]


def prompt_of(asked: Asked) -> str:
    return next(str(each["content"]) for each in asked.body["messages"] if each["role"] == "user")


@contextmanager
def models(behaviour: Behaviour) -> Iterator[KnownModels]:
    """Serve models of a behaviour until the block ends."""
    with serving(KnownModels()) as server:
        server.behaviour = staticmethod(behaviour)
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Be in a folder with the world and the prompts."""
    folder = tmp_path_factory.mktemp("known")
    write_world(folder / "world")
    (folder / "prompts").mkdir()
    with chdir(folder):
        yield folder


def play(
    game: str,
    top: str,
    bots: Mapping[str, str],
    server: KnownModels,
    *,
    days: Sequence[int],
    every: str,
    at: str,
    venue: str = "archive:world",
) -> Any:
    """Replay a game over days of the world, and return its evaluation ten days after the first one."""
    recipe = f'venue = "{venue}"\nevery = "{every}"\n{top}\n'
    for name, more in bots.items():
        strategy, _, more = more.partition("\n")
        recipe += BOT.format(name=name, strategy=strategy, url=server.base_url, prompt=game) + more + "\n"
    Path(f"{game}.toml").write_text(recipe, encoding="utf-8")
    ledger = f"sqlite:///{game}.db"
    first, last = (f"{FIRST + day * DAY:%Y-%m-%d}T{at}Z" for day in (days[0], days[-1]))
    end = f"{FIRST + 10 * DAY:%Y-%m-%d}"
    done_here("replay", f"{game}.toml", "--from", first, "--to", last, "--as-of", end, "--ledger", ledger)
    return done_here("evaluate", "--no-track", "--as-of", end, "--json", "--ledger", ledger).document


def digests_of(game: str) -> dict[tuple[str, str], str]:
    """Return the digest of each bot's own prompt, by run and bot, as they are exported."""
    found = rows(f"sqlite:///{game}.db", "bots")
    return {(each["run"], each["bot"]): json.loads(each["arguments_json"])["prompt_sha256"] for each in found}


def own_prompt(game: str, text: str = OWN) -> str:
    """Write the prompt of a game, and return its digest."""
    Path("prompts", f"{game}.md").write_text(text, encoding="utf-8")
    return sha256(text.encode()).hexdigest()


RULES = "[selection]\nends_within_days = 99"


def bets_on_events(prompt: str) -> str:
    said = {"1": (0.7, 0.5), "2": (0.1, -0.8), "3": (0.6, 0.2)}
    names = ("market_id", "estimated_probability", "bet", "confidence", "rationale")
    ids = dict.fromkeys(re.findall(r"market id: (\d)", prompt)) or re.findall(r'"id": "(\d)"', prompt)
    return json.dumps({"market_decisions": [dict(zip(names, (id_, *said[id_], 5, "x"), strict=True)) for id_ in ids]})


def test_bets_on_events(home: Path) -> None:
    bots = {
        "agent": "tool_agent\nmin_searches = 0\nmin_pages = 0\ntools = []",
        "at_once": "one_shot",
        "samples": 'ensemble\nsamples = 1\nsizing = "flat"',
    }
    digest = own_prompt("events")
    with models(bets_on_events) as server:
        found = play("events", RULES, bots, server, days=[0], every="1d", at="00:00")
    assert set(digests_of("events").values()) == {digest}
    cards = {card["bot"]: card for card in found["bots"]}
    for bot in bots:
        asked_with(server.prompts_of(bot), "Two things count", 2)
        # YES happened, NO, and NO.
        assert cards[bot]["brier"] == pytest.approx(((1 - 0.7) ** 2 + 0.1**2 + 0.6**2) / 3)
    gains = [0.5 * (1 / 0.4 - 1), 0.8 * (1 / 0.8 - 1) - 0.2]
    a_day_later = [0.5 * (0.5 / 0.4 - 1), 0.8 * (0.75 / 0.8 - 1)]
    # A dollar on the side that is thought better than its price, and parts of one where there are several.
    flat = [1 / 0.4 - 1, 0.5 * (1 / 0.8 - 1) + 0.5 * (1 / 0.3 - 1)]
    for bot, settled in (("agent", gains), ("at_once", gains), ("samples", flat)):
        assert cards[bot]["horizons"]["settled"]["mean_return"] == pytest.approx(sum(settled) / 2)
    assert cards["agent"]["horizons"]["1"]["mean_return"] == pytest.approx(sum(a_day_later) / 2)


def asked_with(prompts: list[str], objective: str, times: int) -> None:
    """Assert that each prompt is the user's own, filled, and that a stranger's fields in it are not."""
    assert len(prompts) == times
    for prompt in prompts:
        lines = prompt.splitlines()
        assert re.fullmatch(r"MINE at 2026-02-0\dT\d\d:0\dZ\.", lines[0]) and lines[1].startswith(objective)
        assert re.fullmatch(r"Strangers wrote what stands between <<untrusted \d+>> and <<end of .*>>\.", lines[2])
        assert {"view", "price"} == {*re.findall(r"{{(.*?)}}", prompt)}


def weights(_prompt: str) -> str:
    return json.dumps({"reasoning": "x", "allocations": {"1_Yes": 0.5, "2_No": 0.25, "CASH": 0.25}})


def test_weights_of_a_portfolio(home: Path) -> None:
    bots = {"agent": "tool_agent\nmin_searches = 0\nmin_pages = 0\ntools = []", "at_once": "one_shot"}
    digest = own_prompt("portfolio")
    game = '[game]\nname = "portfolio_weights"\nfill = "same"'
    with models(weights) as server:
        found = play("portfolio", game, bots, server, days=[0, 2], every="1d", at="00:00")
    assert set(digests_of("portfolio").values()) == {digest}
    a_day_later = 500 * (0.5 * 0.5 / 0.4 + 0.25 * 0.75 / 0.8 + 0.25)
    two = a_day_later * (0.5 * 0.6 / 0.5 + 0.25 * 0.8 / 0.75 + 0.25)
    # The first market pays for YES, the second for NO.
    settled = two * (0.5 / 0.6 + 0.25 / 0.8 + 0.25)
    (board,) = found["accounts"]
    assert [row["bot"] for row in board["leaderboard"]] == [*bots]
    for row in board["leaderboard"]:
        asked_with(server.prompts_of(row["bot"]), "What counts is what the portfolio gains", 3)
        assert row["values_usd"] == pytest.approx([500, a_day_later, two])
        assert row["value_usd"] == pytest.approx(settled)


def shares(_prompt: str) -> str:
    return json.dumps({"reasoning": "x", "allocations": {"AAA": 0.5, "BBB": 0.25, "CASH": 0.25}})


def test_weights_of_stocks(home: Path) -> None:
    closes = {"AAA": (100, 110, 99), "BBB": (50, 50, 65)}
    Path("stocks").mkdir()
    for ticker, prices in closes.items():
        lines = (
            f"{FIRST + day * DAY:%Y-%m-%d},{price},{price},{price},{price},1000" for day, price in enumerate(prices, 1)
        )
        Path("stocks", f"{ticker}.csv").write_text("\n".join(("date,open,high,low,close,volume", *lines)) + "\n")
    Path("stocks", "sectors.csv").write_text("ticker,sector,name\nAAA,Tools,The {{view}} and {{price}} Company\n")
    digest = own_prompt("stocks")
    game = '[game]\nname = "portfolio_weights"\ntickers = ["AAA", "BBB"]\nfill = "same"'
    with models(shares) as server:
        found = play(
            "stocks", game, {"at_once": "one_shot"}, server, days=[1, 3], every="1d", at="21:05", venue="stocks:stocks"
        )
    assert set(digests_of("stocks").values()) == {digest}
    asked_with(server.prompts_of("at_once"), "What counts is what the portfolio gains", 3)
    first = 1_000 * (0.5 * 110 / 100 + 0.25 + 0.25)
    (row,) = found["accounts"][0]["leaderboard"]
    assert row["values_usd"] == pytest.approx([1_000, first, first * (0.5 * 99 / 110 + 0.25 * 65 / 50 + 0.25)])


def acts(prompt: str) -> str:
    """Bet in the first cohort's first week, sell in its second, and hold in the second cohort."""
    action: dict[str, object] = {"action": "HOLD"}
    if "cohort: 2026-02-01, decision week 1" in prompt:
        bets = [("1", "YES", 1_000), ("2", "NO", 800), ("3", "YES", 700)]
        action = {
            "action": "BET",
            "bets": [dict(zip(("market_id", "side", "amount"), bet, strict=True)) for bet in bets],
        }
    elif held := re.search(r"^(\S+) \| 3 \| YES", prompt, re.MULTILINE):
        action = {"action": "SELL", "sells": [{"position_id": held[1], "percentage": 40}]}
    return json.dumps({**action, "reasoning": "x"})


def test_bets_of_a_cohort_which_keeps_the_prompt_it_began_with(home: Path) -> None:
    game = '[game]\nname = "weekly_cohort"\nweeks = 2'
    digests = []
    with models(acts) as server:
        for week, text in enumerate((OWN, f"{OWN}Think twice.\n")):
            digests.append(own_prompt("cohorts", text))
            found = play("cohorts", game, {"at_once": "one_shot"}, server, days=[7 * week], every="7d", at="00:05")
    prompts = server.prompts_of("at_once")
    asked_with(prompts, "What counts first is what the account is worth", 3)
    ends = {re.search(r"cohort: (.*)", each)[1]: each.endswith("Think twice.\n") for each in prompts}  # type: ignore[index]
    assert ends == {
        "2026-02-01, decision week 1": False,
        "2026-02-01, decision week 2": False,
        "2026-02-08, decision week 1": True,
    }
    line_ups = done_here("cohort", "--ledger", "sqlite:///cohorts.db", "--json").document["cohorts"]
    assert [each["line_up"][0]["prompt_version"] for each in line_ups] == [digest[:12] for digest in digests]
    with Store.open_to_read("sqlite:///cohorts.db") as store:
        for traces in (True, False):
            page = bot_page(LedgerCache(store, lambda: FIRST, traces=traces), "at_once").shown
            assert ("MINE at" in str(page["prompt"])) is traces
            assert f"SHA-256 {digests[1]}" in str(page["setup"]) and "MINE" not in str(page["setup"])
    cash = 10_000 - 1_000 - 800 - 700
    won, sold = 1_000 / 0.4 + 800 / 0.8, 0.4 * (700 / 0.7) * 0.6
    row, other = found["cohorts"][0]["leaderboard"]
    # With another prompt it is another bot.
    assert (row["bot"], other["bot"], other["profit_usd"]) == ("at_once", "at_once~2", 0.0)
    assert row["profit_usd"] == pytest.approx(cash + won + sold - 10_000)
    assert row["mean_return"] == pytest.approx(row["profit_usd"] / 10_000)
    # The parts of the largest bets that there could be, of two bets that won and one that lost.
    parts = 1_000 / 2_500, 800 / 2_250, 700 / 2_050
    implied = ((1 - parts[0]) ** 2 + (1 - parts[1]) ** 2 + parts[2] ** 2) / 3
    assert row["brier_implied_confidence"] == pytest.approx(implied)


def labelled(study: str, top: str, bots: Mapping[str, str], server: KnownModels) -> tuple[Any, list[Any]]:
    """Play a study of labels, and return the rows of its tables, and its items with their truth."""
    recipe = top + "".join(
        f'[[bots]]\nname = "{name}"\nmodel = "openai/{name}"\nbase_url = "{server.base_url}"\n'
        f"price_usd_per_million_tokens = 0\n{more}\n"
        for name, more in bots.items()
    )
    Path(f"{study}.toml").write_text(recipe, encoding="utf-8")
    ledger = f"sqlite:///{study}.db"
    done_here("decide", f"{study}.toml", "--ledger", ledger)
    tables = done_here("tables", study, "--json", "--ledger", ledger).document["tables"]
    payloads = (json.loads(row["payload"]) for row in rows(ledger, "run_events"))
    return {each["name"]: each["rows"] for each in tables}, [each for each in payloads if "texts" in each]


FENCED = r"<<untrusted \d+>>\n(.*?)\n<<end of untrusted \d+>>\n"
MARKS = "MINE {{fence_open}}{{fence_close}}\n"


def even_is_yes(prompt: str) -> str:
    return said_of(re.findall(FENCED, prompt, re.DOTALL)[1])


def said_of(comment: str) -> str:
    return ("YES", "NO")[len(comment) % 2]


Labelled = Sequence[tuple[str, str, float]]
"""What was said, what is true, and the logarithm of one and the stake."""


def hits(found: Labelled) -> float:
    return mean(said == truth for said, truth, _ in found)


def f1_of_yes(found: Labelled) -> float:
    is_said, is_true = ([each[place] == "YES" for each in found] for place in (0, 1))
    return 2 * sum(a and b for a, b in zip(is_said, is_true, strict=True)) / (sum(is_said) + sum(is_true))


def stakes(found: Labelled) -> float:
    whole = sum(weight for *_, weight in found)
    return sum(weight for said, truth, weight in found if said == truth) / whole if whole else 0.0


def test_labels_of_comments(home: Path) -> None:
    data_set(home / "comments", comments=300)
    own_prompt("comment", MARKS + "{{question}}\n{{comments}}\n{{ending}}\n")
    top = 'venue = "comments:comments"\ngame = {name = "stakebench", per_split = 12, tasks = ["G1", "G2"]}\n'
    with models(even_is_yes) as server:
        tables, items = labelled("stakebench", top, {"at_once": f"{AT_ONCE}'prompts/comment.md'"}, server)
    ending = "Answer with exactly one of these and nothing else: YES, NO(, NEUTRAL)?\n"
    marks = r"MINE <<untrusted \d+>><<end of untrusted \d+>>\n"
    assert all(re.fullmatch(marks + 2 * FENCED + ending, each, re.DOTALL) for each in server.prompts_of("at_once"))
    by_split: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for item in items:
        (_, stake), *_ = item["truth"]["stakes"] or [("", 0.0)]
        found = by_split.setdefault((item["task"], item["split"]), [])
        found.append((said_of(item["texts"][0]), item["truth"]["label"], log1p(abs(stake))))
    accuracy, in_yes, by_stake = (
        {key: of(found) for key, found in by_split.items()} for of in (hits, f1_of_yes, stakes)
    )
    (row,) = tables["3"]
    for name, task, expected in (
        ("G1 Acc", "G1", accuracy), ("G1 F1", "G1", in_yes), ("G2 strict", "G2", accuracy), ("G2 DA", "G2", accuracy),
        ("G2 CCA", "G2", by_stake),
    ):  # fmt: skip
        assert row[name] == pytest.approx(mean(value for key, value in expected.items() if key[0] == task)), name


AT_ONCE = 'strategy = "one_shot"\nprompt = '


def test_labels_of_pairs(home: Path) -> None:
    pairs_in(home / "markets")
    own_prompt("pair", MARKS + "{{first}}\n{{second}}\n{{ending}}\n")
    own_prompt("judge", MARKS + "{{first}}\n{{second}}\nThey say: {{reasons}}\n{{ending}}\n")
    top = 'venue = "pairs:markets/pairs"\ngame = {name = "beliefbench", per_class = 2}\n'
    bots = {
        "at_once": f"{AT_ONCE}'prompts/pair.md'",
        "reasons": f"{AT_ONCE}'prompts/pair.md'\nchain_of_thought = true",
        "judge": "strategy = 'reasoning_judge'\nof = 'reasons'\nprompt = 'prompts/judge.md'",
    }
    with models(relates) as server:
        tables, items = labelled("beliefbench", top, bots, server)
    marks = r"MINE <<untrusted \d+>><<end of untrusted \d+>>\n"
    forms = {"at_once": "Answer with", "reasons": "First say", "judge": "They say: " + FENCED + "Answer with"}
    steps = [
        LABELS.index(label_of(f"{item['texts'][0][0]}\n  {item['texts'][0][1]}")) - LABELS.index(item["truth"]["label"])
        for item in items
    ]
    for bot, form in forms.items():
        prompts = server.prompts_of(bot)
        assert len(prompts) == len(items)
        assert all(re.match(marks + 2 * FENCED + form, each, re.DOTALL) for each in prompts)
    assert "Because {{first}} of it." in prompts[0]
    for row in tables["all"]:
        assert row["Acc"] == pytest.approx(mean(step == 0 for step in steps))
        assert row["MSE"] == pytest.approx(mean((step / 5) ** 2 for step in steps))
        assert row["MAE"] == pytest.approx(mean(abs(step) / 5 for step in steps))
    assert [row["bot"] for row in tables["all"]] == ["at_once", "reasons"]
    judged = rows("sqlite:///beliefbench.db", "labels")
    assert {row["label"] for row in judged if row["bot"] == "judge"} == {"causal"}


def relates(prompt: str) -> str:
    if "They say: " in prompt:
        return '{"label": "causal"}'
    label = json.dumps({"label": label_of(re.findall(FENCED, prompt, re.DOTALL)[0])})
    return f"Because {{{{first}}}} of it.\n{label}" if "First say" in prompt else label


def label_of(event: str) -> str:
    return ("0.0-0.2", "0.8-1.0")[len(event) % 2]
