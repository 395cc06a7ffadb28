"""Agents that read ten pages, each with one fact that shares one word with the event."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

from predibot.tools.visit_webpage import make_visit_webpage
from predibot.tools.web_search import SearchPolicy, make_web_search

from predibot.agents.loop.evidence import Research
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.agents.prompts.render import decide_prompt
from predibot.contracts import Toolbox
from predibot.domain.event import Event, Market, MarketRef
from predibot.research.pages.fetch import Page
from predibot.research.search.provider import SearchAnswer, SearchResult
from tests.agents.scripted import FENCE, GOOD, ScriptedModel, Turn, context, rain

TITLE = "Will the central bank of Norway raise its policy rate above 4.5 percent before July 2026?"
TOPIC = ("bank", "rate", "percent")
"""Words of the event that its pages have again and again."""
RARE = ("central", "norway", "raise", "policy", "above", "july")
_COMMON = ("the", "of", "a", "to", "in", "that", "it", "was", "on", "for", "with", "by", "as", "before", "will", "and")
_SYLLABLES = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "o", "an", "or", "il")]
PAGES = 10


@dataclass
class Found:
    """What the last request of an agent held."""

    addresses: list[bool] = field(default_factory=list)
    facts: list[bool] = field(default_factory=list)
    sent_characters: int = 0


def page(rng: random.Random, fact: str, *, title: str) -> bytes:
    """Return a page of about 2,000 tokens with the fact in one of its paragraphs."""
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3))) for _ in range(300)]

    def sentence() -> str:
        said = rng.choices([*words, *_COMMON * 6], k=rng.randint(7, 18))
        if rng.random() < 0.15:
            said[rng.randrange(len(said))] = rng.choice(TOPIC)
        return f"{' '.join(said).capitalize()}."

    paragraphs = [[sentence() for _ in range(rng.randint(2, 6))] for _ in range(25)]
    chosen = rng.choice(paragraphs)
    chosen.insert(rng.randint(0, len(chosen)), fact)
    body = "".join(f"<p>{' '.join(each)}</p>" for each in paragraphs)
    html = f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body></html>"
    return html.encode()


def reader(seed: int) -> tuple[Toolbox, list[str], list[str]]:
    """Return the tools of a world, the addresses of its pages, and the fact of each."""
    rng = random.Random(seed)
    numbers = [rng.randrange(100_000, 999_999) for _ in range(PAGES)]
    facts = [f"The {rng.choice((*TOPIC, *RARE))} notice has number {number}." for number in numbers]
    paths = [f"news.example/{seed}/{number}" for number in range(PAGES)]
    title = "Bank of Norway: what its policy rate does"
    bodies = {f"http://{path}": page(rng, fact, title=title) for path, fact in zip(paths, facts, strict=True)}
    at = datetime(2026, 1, 4, tzinfo=UTC)
    unread = [f"other.example/{seed}/{number}" for number in range(PAGES)]
    results = tuple(
        SearchResult(f"{title} {path}", f"http://{path}", "Snippet.", at, "made") for path in paths + unread
    )

    class Provider:
        name, dates_results, usd_per_call = "made", True, 0.0

        def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
            return SearchAnswer(results if query == "rate" else (), 0.0)

    search = make_web_search([Provider()], SearchPolicy(count=2 * PAGES))
    visit = make_visit_webpage(fetch=lambda url: Page(url, "text/html", None, bodies[url], at, None))
    addresses = [f"http://{path}" for path in (*paths, *unread)]
    return Toolbox(search, visit), addresses, [str(number) for number in numbers]


def read_ten_pages(seed: int) -> Found:
    """Return what is in view after ten pages of an agent that never writes anything down."""
    quote = rain().markets[0].quote
    where = context(Event("e1", TITLE, (Market(MarketRef("m1"), TITLE, ("Yes", "No"), quote=quote),)))
    toolbox, addresses, numbers = reader(seed)
    visits: list[Turn] = [("visit_webpage", {"url": url}) for url in addresses[:PAGES]]
    # One more search, so that the last page is not in view as a whole either.
    model = ScriptedModel([("web_search", {"query": "rate"}), *visits, ("web_search", {"query": "bank"}), GOOD])
    prompt = decide_prompt(where, FENCE, where.form(), min_searches=0, min_pages=0)
    research = Research(toolbox, FENCE, 0, 0)
    run_agent(model, prompt, research, where.form(), where, LoopLimits(max_steps=14), clock=lambda: 0.0)
    sent = ["".join(message.text for message in request.messages) for request in model.requests]
    return Found(
        [url in sent[-1] for url in addresses], [number in sent[-1] for number in numbers], sum(map(len, sent))
    )
