"""The tool that reads pages, as an agent meets it: parts, focus, sentences for errors, no look-ahead."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from predibot.tools.visit_webpage import make_visit_webpage, visit_webpage

from predibot.agents.loop.evidence import Research
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Toolbox
from predibot.research.pages.fetch import FetchPolicy, Page
from predibot.tools import visit_webpage as module
from tests.research.pages.hostile_pages import HOSTILE
from tests.research.pages.pdf_files import pdf_of
from tests.research.pages.visits import visited
from tests.research.web_world import World, by_host, reply, running
from tests.tools.told import Steps, told

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URL = "http://www.news.example/a"
LONG = "".join(f"<p>Paragraph {n} tells of the weather in the harbour, of ships and fish.</p>" for n in range(400))
STATED = '<meta property="article:published_time" content="{}">'


@dataclass
class Site:
    """One page, and how often it was asked for."""

    body: bytes
    content_type: str = "text/html"
    last_modified_at: datetime | None = None
    times: int = 0

    def fetch(self, url: str) -> Page:
        self.times += 1
        return Page(url, self.content_type, None, self.body, NOW, self.last_modified_at)


def html(text: str, head: str = "<title>News</title>") -> bytes:
    return f"<html><head>{head}</head><body><article>{text}</article></body></html>".encode()


def tool(
    site: Site, as_of: datetime | None = None, trace: Steps | None = None
) -> Callable[[str, int, str | None], str]:
    visit = make_visit_webpage(FetchPolicy(as_of=as_of), trace=trace, fetch=site.fetch)
    return lambda url, part, focus: told(visit(url, part, focus))


def test_a_page_is_shown_with_title_address_and_date() -> None:
    site = Site(html("<p>The vote is on Tuesday.</p>", "<title>News</title>" + STATED.format("2026-02-13T12:00:00Z")))
    assert tool(site)(URL, 1, None) == f"News\n{URL} · published 2026-02-13T12:00Z\nThe vote is on Tuesday."


def test_a_long_page_comes_in_parts_and_is_fetched_once() -> None:
    site = Site(html(LONG))
    visit = tool(site)
    first, second = visit(URL, 1, None), visit(URL, 2, None)
    assert first.endswith("[part 1 of 4; part=2 goes on]")
    assert "Paragraph 0 " in first
    assert "Paragraph 0 " not in second
    assert site.times == 1


@pytest.mark.parametrize("part", [0, -1, 99, True, "2", 1.5, None])
def test_a_part_that_does_not_exist_is_a_sentence(part: object) -> None:
    said = tool(Site(html(LONG)))(URL, part, None)  # type: ignore[arg-type]
    assert said.startswith("error: there is no part ")
    assert said.endswith("the page has parts 1 to 4.")


def test_focus_shows_the_passages_that_matter_first_or_says_that_there_are_none() -> None:
    visit = tool(Site(html(LONG + "<p>Turnout in Ruritania was 61 percent.</p>" + LONG)))
    lines = visit(URL, 1, "turnout in Ruritania").splitlines()
    assert lines[2] == "Turnout in Ruritania was 61 percent."
    assert "best passages first" in lines[-1]
    assert "[nothing on the page has these words" in visit(URL, 1, "zebra")


def test_a_pdf_and_a_plain_text_are_read() -> None:
    assert "Counted by hand." in tool(Site(pdf_of(["Counted by hand."]), "application/pdf"))(URL, 1, None)
    assert "a\x1b" not in tool(Site(b"a\x1b[31m b", "text/plain"))(URL, 1, None)


def test_a_page_nobody_can_afford_is_read_in_part_and_says_so() -> None:
    visit = tool(Site(b"Fish is dear. " * 50_000, "text/plain"))
    first = visit(URL, 1, None)
    (last,) = re.findall(r"\[part 1 of (\d+)", first)
    assert "[the page goes on; 199,999 characters more]" in visit(URL, int(last), None)


@pytest.mark.parametrize("body", [b"", b"<html></html>", b"\x00" * 50])
def test_a_page_without_text_is_a_sentence(body: bytes) -> None:
    assert tool(Site(body))(URL, 1, None) == "error: the page holds no text; take another source."


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        (STATED.format("2026-02-13T12:00:00Z"), True),
        (STATED.format("2026-03-01T00:00:01Z"), False),
        (STATED.format("2026-02-28"), False),
        (STATED.format("2026-02-27"), True),
        (STATED.format("2026-02-13") + '<meta property="article:modified_time" content="2026-03-02">', False),
        ("", False),
    ],
)
def test_a_replay_sees_only_pages_that_prove_to_be_older(head: str, shown: bool) -> None:
    notes = Steps()
    said = tool(Site(html("<p>The vote is on Tuesday.</p>", head)), as_of=NOW, trace=notes)(URL, 1, None)
    assert said.startswith("error:") is not shown
    assert ("Tuesday" in said) is shown
    assert [getattr(step, "error", None) for step in notes.steps] == [None if shown else "PageTooLate"]


@pytest.mark.parametrize(("at", "shown"), [(datetime(2026, 2, 1, tzinfo=UTC), True), (None, False)])
def test_in_a_replay_a_file_is_dated_by_the_server(at: datetime | None, shown: bool) -> None:
    site = Site(pdf_of(["Counted by hand."]), "application/pdf", last_modified_at=at)
    assert tool(site, as_of=NOW)(URL, 1, None).startswith("error:") is not shown


def test_every_visit_is_written_down_with_the_hash_of_the_page() -> None:
    notes = Steps()
    visit = tool(Site(html("<p>The vote is on Tuesday.</p>")), trace=notes)
    visit(URL, 1, None)
    visit(URL, 7, None)
    shown, refused = notes.steps
    assert (shown.kind, refused.kind) == ("page_visited", "page_refused")
    assert shown.sha256 == hashlib.sha256(b"The vote is on Tuesday.").hexdigest()
    assert shown.body_sha256 == hashlib.sha256(html("<p>The vote is on Tuesday.</p>")).hexdigest()
    assert refused.error == "PageUnreadable"


def test_the_whole_text_of_a_page_that_is_shown_is_kept_and_of_no_other() -> None:
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return "its hash"

    notes, long, late = Steps(), Site(html(LONG)), Site(html("<p>Later.</p>"))
    part = make_visit_webpage(trace=notes, fetch=long.fetch, keep=keep)(URL, 2, None).text
    make_visit_webpage(FetchPolicy(as_of=NOW), fetch=late.fetch, keep=keep)(URL, 1, None)
    assert [text.count("Paragraph") for text in kept] == [400]
    assert part.splitlines()[3] in kept[0]
    assert notes.steps[0].sha256 == "its hash"


@pytest.mark.parametrize(
    "url",
    ["", "nonsense", "file:///etc/passwd", "http://127.0.0.1/", "http://localhost:8080/", "http://[::1]/", "http://\x00",
     "http://2130706433/", "https://polymarket.com/event/x", None, 7],
)  # fmt: skip
def test_the_default_tool_raises_nothing(url: object) -> None:
    said = told(visit_webpage(url))  # type: ignore[arg-type]
    assert said.startswith("error: ")
    assert said.endswith(".")
    assert "\n" not in said


MENU = '<nav><a href="/b#c">Odds</a></nav><p>The vote is on <a href="http://polls.example/d"> the <b>day</b></a>.</p>'
AWAY = '<a href="/b">Again</a><a href="mailto:x@y.example">Mail</a><a href="http://[">Bad</a><a href="#a">Up</a>'


def test_the_links_of_a_page_are_shown_instead_of_its_text_and_do_not_count_as_read() -> None:
    visit = make_visit_webpage(fetch=Site(html(MENU + AWAY)).fetch)
    said = told(visit(URL, 1, None, True))
    assert said.splitlines()[2:] == ["Odds: http://www.news.example/b", "the day: http://polls.example/d"]
    assert "The vote is on" in told(visit(URL, 1, None))
    research = Research(Toolbox(visit_webpage=visit), Fence("1" * 24), min_searches=0, min_pages=1)
    assert "polls.example" in research.visit({"url": URL, "links": True}).words
    assert (research.unread_pages, dict(research.board.pages)) == (set(), {})
    assert research.visit({"url": URL, "links": "yes"}).is_refusal


def test_in_a_replay_no_links_are_shown_and_a_page_without_any_says_so() -> None:
    old = html(MENU, STATED.format("2026-02-13T12:00:00Z"))
    visit = make_visit_webpage(FetchPolicy(as_of=NOW), fetch=Site(old).fetch)
    assert "Odds" not in told(visit(URL, 1, None, True))
    assert told(visit(URL, 1, None, True)).startswith("error: the links of a page may be newer")
    assert "vote" in told(visit(URL, 1, None))
    bare = make_visit_webpage(fetch=Site(html("<p>The vote is on Tuesday.</p>")).fetch)
    assert told(bare(URL, 1, None, True)) == "error: the page has no links; read its text."


WALL = b"<title>Odds</title><div id=app></div><noscript>You need to enable JavaScript to run this app.</noscript>"


def test_a_wall_is_an_error_with_its_kind_and_no_page_that_was_read() -> None:
    notes = Steps()
    toolbox = Toolbox(visit_webpage=make_visit_webpage(trace=notes, fetch=Site(WALL).fetch))
    research = Research(toolbox, Fence("1" * 24), min_searches=0, min_pages=1)
    said = research.visit({"url": URL})
    assert (said.outcome, said.words) == ("error", "the page shows nothing without JavaScript; take another source.")
    assert (research.unread_pages, dict(research.board.pages)) == ({URL}, {})
    assert "under_researched" in research.notes
    assert [step.error for step in notes.steps] == ["PageWalled"]


NAMED = ("Flate over ASCII85, of z", "a tag with 280,000 attributes", "3,000,000 operators")


def test_a_visit_to_a_hostile_page_is_a_sentence_costs_300_mb_at_most_and_leaves_nothing(tmp_path: Path) -> None:
    visits = visited({name: HOSTILE[name]() for name in NAMED}, tmp_path, seconds=1).values()
    assert all(visit["is_error"] for visit in visits), visits
    assert [(visit["threads_left"], visit["children_left"]) for visit in visits] == [(0, 0)] * len(NAMED)
    assert all(visit["resident_mb"] + visit["child_mb"] <= 300 for visit in visits), visits


@pytest.fixture
def world() -> Iterator[World]:
    with running(World()) as made:
        yield made


def test_the_sandbox_of_a_run_can_be_visited_over_a_real_connection(world: World) -> None:
    policy = FetchPolicy(allowed_private=frozenset({("127.0.0.1", world.port)}))
    address = f"127.0.0.1:{world.port}"
    world.answer = by_host({f"{address}/a": reply(), f"{address}/b": reply(status="500 Oh")})
    visit = make_visit_webpage(policy)
    assert "The vote is on Tuesday." in told(visit(f"http://{address}/a", 1, None))
    assert told(visit(f"http://{address}/b", 1, None)).startswith("error: 127.0.0.1 answers 500")


def test_the_tool_is_a_plain_typed_function_with_its_arguments_described() -> None:
    made = make_visit_webpage()
    assert inspect.signature(made) == inspect.signature(visit_webpage)
    assert all(f"{name}:" in (inspect.getdoc(made) or "") for name in ("url", "part", "focus", "links"))
    assert all(hasattr(module, name) for name in module.__all__)
