"""What a strategy declares: the models, tools and prices it is given, and what it costs at the most."""

import json
from math import fsum

import pytest

from tests.agents.chat_server import ChatServer, Said, chat_server, completion, hang
from tests.jobs.program import PATIENCE_SECONDS, Program, document_of
from tests.ledger.statements import found

HEAD = '''"""A probe."""

from dataclasses import dataclass
from typing import ClassVar

from predibot.contracts import ModelNeed, Needs
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.decision import Decision, MarketDecision


def say(context, p):
    return Decision(tuple(MarketDecision(m.id, p, 0.0) for m in context.subject.markets))


def ask(context, name):
    request = ChatRequest((Message("user", "How likely?"),), max_output_tokens=100)
    return context.model(name).chat(request, deadline_seconds=20.0)


@dataclass(frozen=True, slots=True)
class {name}:
    """Do one thing."""

    judge_model: str = ""
    writer: str = ""
'''
JUDGED = '''
    {needs}

    def decide(self, context):
        """Ask who is named, and say a half whatever they answer."""
        for name in filter(None, (self.writer, self.judge_model)):
            ask(context, name)
        return say(context, 0.5)
'''
BY_PROPERTY = """@property
    def needs(self):
        models = (ModelNeed(each, calls=1, output_tokens=100) for each in (self.writer, self.judge_model) if each)
        return Needs(models=tuple(models))"""
BY_NAMES = """@property
    def needs(self):
        return Needs(models=(self.judge_model,))"""
BY_ATTRIBUTE = 'needs: ClassVar[Needs] = Needs(models=("acme/unpriced",))'
SEARCHER = '''
    needs = Needs(tools=("web_search",))

    def decide(self, context):
        """Search without a model; no other tool is there."""
        found = context.tools.web_search(context.subject.title).text
        assert context.tools.visit_webpage is None
        return say(context, 0.75 if "url: http" in found else 0.25)
'''
HISTORIAN = '''
    {needs}

    def decide(self, context):
        """Say the first price of the past."""
        return say(context, context.history(context.subject.markets[0].id)[0].price)
'''


@pytest.fixture
def probes(program: Program) -> Program:
    """Return the program with strategies that declare what they need, each in its way, or do not."""
    bodies = {
        "judged": JUDGED.replace("{needs}", BY_PROPERTY),
        "named": JUDGED.replace("{needs}", BY_NAMES),
        "fixed": JUDGED.replace("{needs}", BY_ATTRIBUTE),
        "undeclared": JUDGED.replace("{needs}", ""),
        "searcher": SEARCHER,
        "historian": HISTORIAN.replace("{needs}", "needs = Needs(history=True)"),
        "forgetful": HISTORIAN.replace("{needs}", ""),
    }
    for name, body in bodies.items():
        program.strategy(name, HEAD.replace("{name}", name.capitalize()) + body)
    return program


def recipe(program: Program, strategy: str, more: str = "", *, limits: str = "") -> str:
    (program.folder / "r.toml").write_text(f'{limits}\n[[bots]]\nname = "bot"\nstrategy = "{strategy}"\n{more}\n')
    return "r.toml"


def served(server: ChatServer, more: str = "") -> str:
    """Return what a recipe says of a model on loopback."""
    return f'judge_model = "acme/unpriced"\nbase_url = "{server.base_url}"\n{more}'


def refused(program: Program, *arguments: str) -> str:
    """Return the sentence a call of `decide` is refused with."""
    process = program.decide(*arguments)
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1, out
    return str(json.loads(out)["error"]["message"])


LIMIT = "[limits.run]\nusd = 0.5"


@pytest.mark.parametrize(
    ("strategy", "more"), [("judged", ()), ("named", ()), ("fixed", ()), ("judged", ("--dry-run",))]
)
def test_an_unpriced_model_is_refused_before_any_call_whatever_names_it(
    probes: Program, strategy: str, more: tuple[str, ...]
) -> None:
    with chat_server(completion()) as server:
        said = refused(probes, recipe(probes, strategy, served(server), limits=LIMIT), *more)
    assert "'acme/unpriced'" in said
    assert "set price_usd_per_million_tokens" in said
    assert server.asked == []


def test_a_model_that_is_not_declared_is_not_opened(probes: Program) -> None:
    with chat_server(completion()) as server:
        stated = served(server, "price_usd_per_million_tokens = 1")
        process = probes.decide(recipe(probes, "undeclared", stated, limits=LIMIT))
        rows = json.loads(process.communicate(timeout=PATIENCE_SECONDS)[0])["decisions"]
    assert {row["status"] for row in rows} == {"failed"}
    said = "strategy 'undeclared' opens model 'acme/unpriced', and the models it declares are: none. Declare it"
    assert all(said in row["message"] for row in rows)
    assert server.asked == []


def test_a_limit_holds_for_a_model_of_any_name(probes: Program) -> None:
    with chat_server(completion()) as server:
        # A call is 25 tokens, $0.025; before it, more than $0.18 is set aside for what it can be.
        stated = served(server, "price_usd_per_million_tokens = 1000")
        report = document_of(probes.decide(recipe(probes, "judged", stated, limits="[limits.bot]\nusd = 0.22")))
    asked = len(server.asked)
    assert {row["status"] for row in report["decisions"]} == {"recorded", "abstained"}
    assert 0 < asked < len(report["decisions"])
    costs = found(probes.ledger, "SELECT cost_usd FROM decisions")
    assert fsum(costs) == pytest.approx(0.025 * asked)
    assert fsum(costs) <= 0.22


def test_every_model_that_is_opened_is_on_the_trace(probes: Program) -> None:
    with chat_server(completion()) as server:
        more = served(server, 'writer = "acme/writer"\nprice_usd_per_million_tokens = 1')
        report = document_of(probes.decide(recipe(probes, "judged", more, limits=LIMIT)))
    traces = [
        path.read_text("utf-8").splitlines() for path in (probes.folder / "ledger.db.files/traces").rglob("*.jsonl")
    ]
    names = [[json.loads(line)["model_name"] for line in lines] for lines in traces]
    assert names
    assert all(each == ["acme/writer", "acme/unpriced"] for each in names)
    assert len(server.asked) == 2 * len(report["decisions"])


def test_a_strategy_without_a_model_searches_with_the_tools_it_declares(probes: Program) -> None:
    name = recipe(probes, "searcher")
    process = probes.start("decide", name, "--venue", "sandbox:events=20", "--events", "2", "--json")
    report = document_of(process)
    assert {row["status"] for row in report["decisions"]} == {"recorded"}
    chances = {bet["probability"] for row in report["decisions"] for bet in row["bets"]}
    assert chances == {0.75}


def test_a_search_of_unknown_price_is_refused_under_a_limit_in_dollars(
    probes: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = f'[search]\nproviders = ["exa"]\n{LIMIT}'
    monkeypatch.setenv("EXA_API_KEY", "not-a-key-of-anybody")
    assert "set usd_per_call = {exa = ...}" in refused(probes, recipe(probes, "searcher", limits=limits))


def test_prices_of_the_past_are_given_to_who_declares_them(probes: Program) -> None:
    report = document_of(probes.decide(recipe(probes, "historian")))
    assert {row["status"] for row in report["decisions"]} == {"recorded"}
    process = probes.decide(recipe(probes, "forgetful"), "--new-run")
    rows = json.loads(process.communicate(timeout=PATIENCE_SECONDS)[0])["decisions"]
    assert {row["status"] for row in rows} == {"failed"}
    assert all("Set needs = Needs(history=True)" in row["message"] for row in rows)


GIVEN_UP = '''
    {needs}

    def decide(self, context):
        """Ask again and again, for longer than there is time."""
        while True:
            request = ChatRequest((Message("user", "How likely?"),), max_output_tokens=100)
            context.model(self.judge_model).chat(request, deadline_seconds=600.0)
'''


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_a_decision_given_up_keeps_trace_and_known_cost_and_what_is_in_flight_is_booked(
    probes: Program, executor: str
) -> None:
    probes.strategy("endless", HEAD.replace("{name}", "Endless") + GIVEN_UP.replace("{needs}", BY_PROPERTY))
    probes.settings = {"PREDIBOT_DECISION_DEADLINE_SECONDS": "3"}
    with chat_server(completion(), Said(act=hang)) as server:
        more = served(server, "price_usd_per_million_tokens = 1000")
        path = recipe(probes, "endless", more, limits="[limits.run]\nusd = 9")
        document_of(probes.decide(path, "--events", "1", "--executor", executor), code=4)
        assert len(server.asked) == 2
    (row,) = found(probes.ledger, "SELECT status, cost_usd, cost_known_usd, trace_sha256 FROM decisions")
    (settled,) = found(probes.ledger, "SELECT usd FROM spending WHERE account LIKE 'run/%'")
    assert probes.count("reservations") == 0
    assert row[:3] == ("failed", None, pytest.approx(0.025))
    assert row[3] is not None
    # The known answer, and the worst case of the one that was under way: 100 tokens out and a request of 91 bytes.
    assert settled / 1e12 == pytest.approx(0.025 + 0.1 + 0.091)


def test_a_decision_given_up_after_a_call_that_failed_is_not_rerun(probes: Program) -> None:
    patient = GIVEN_UP.replace(
        "            context.model", "            with suppress(ModelError):\n                context.model"
    )
    imports = "from contextlib import suppress\nfrom predibot.errors import ModelError\n"
    head = HEAD.replace("{name}", "Endless").replace("from dataclasses", f"{imports}from dataclasses")
    probes.strategy("endless", head + patient.replace("{needs}", BY_PROPERTY))
    probes.settings = {"PREDIBOT_DECISION_DEADLINE_SECONDS": "3"}
    with chat_server(Said(status=400), Said(act=hang)) as server:
        path = recipe(probes, "endless", served(server, "price_usd_per_million_tokens = 1000"))
        document = document_of(probes.decide(path, "--events", "1"), code=4)
    run = document["run"]["key"]
    rerun = probes.start("decide", "--rerun-traces", run, "--ledger", "sqlite:///ledger.db", "--json")
    # Where nothing of a run could be rerun, nothing is known to be the same.
    (row,) = document_of(rerun, code=1)["decisions"]
    assert (row["equal"], row["difference"]) == (None, "what failed it is not recorded: gave no answer within 3 s")
