"""A venue with trading days and a form of words, of a package that inherits nothing of ours, played by a recipe."""

import ast
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from predibot import contracts
from predibot.contracts import (
    AnswerForm,
    EventSource,
    Game,
    OpenVenue,
    PriceSource,
    ResolutionSource,
    Venue,
    complete_plugin,
)
from predibot.errors import PluginError
from tests.acceptance.conftest import said_here
from tests.ledger.statements import found

THUMB = '''"""Thumbs up or down for a share that trades at 21:00 on each day of 2026 but Sundays."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import OpenVenue, VenuePlugin
from predibot.domain.chat import ChatReply, Cost, Message, Usage
from predibot.domain.decision import Booking, Decision, Label, Subject
from predibot.domain.event import Event, EventPage, Market, MarketRef
from predibot.domain.price import EQUITY, Quote
from predibot.games.answers import AnswerComplaint, Words, final_answer

CLOSES = [datetime(2026, 1, 1, 21, tzinfo=UTC) + timedelta(days=day) for day in range(365)]


class Floor:
    name, live = "acme_floor", False

    def events(self, as_of, *, enough=None):
        return EventPage((self.event("ACME", as_of),))

    def event(self, event_id, as_of):
        quote = Quote(self.closes(start=CLOSES[0], until=as_of)[-1], last=5.0, kind=EQUITY)
        return Event("ACME", "ACME", (Market(MarketRef("ACME", kind=EQUITY), "ACME", ("ACME",), quote=quote),))

    def closes(self, *, start, until):
        return tuple(at for at in CLOSES if start < at <= until and at.weekday() != 6)

    def actions(self, instrument, *, start, until):
        return ()

    def last_closes(self, wanted, at):
        return {}


VENUE = VenuePlugin(lambda asked: OpenVenue(asked.spec, Floor(), asked.as_of or CLOSES[-1]), live=False)


@dataclass(frozen=True, slots=True)
class ThumbForm:
    labels = fields = ("UP", "DOWN")
    schema, shape, enough_tokens = final_answer("A thumb.", {"label": {"type": "string"}}), "UP", 50
    ending = "Say UP or DOWN, and no more."

    def words(self, *, history, untrusted):
        return Words("Judge.", "A share.", (), "", "Up or down?", "", "", "", "", "", "")

    def parse(self, answer):
        said = answer["label"] if isinstance(answer, dict) else answer
        if said not in self.labels:
            raise AnswerComplaint("it is no thumb")
        return Decision(labels=(Label("thumb", said),))


@dataclass(frozen=True, slots=True)
class AcmeThumb:
    name, stake_usd, scores = "acme_thumb", 100.0, ("value",)
    trades_at_closes = True

    def select(self, rules):
        return replace(rules, only=("ACME",), ends_within_days="any", min_hours_left="any", min_volume_24h_usd=0.0)

    def subjects(self, events):
        return (Subject("portfolio", "thumb"),)

    def view(self, subject, events, *, venue, account=None, past=None):
        return events

    def form(self, view, *, price_blind=False):
        return ThumbForm()

    def book(self, answer, view, account, quotes, fills):
        return Booking()


class Thinker:
    name = "thinker"

    def chat(self, request, *, deadline_seconds):
        (asked,) = request.messages
        assert asked.text.rstrip().endswith(ThumbForm.ending) and "2026" not in asked.text and request.answer is None
        return ChatReply(Message("assistant", "**UP**"), "stop", Usage(), Cost(0.0, "recipe"), "thinker", 0.0)


@dataclass(frozen=True, slots=True)
class AcmeThinker:
    games = ("acme_thumb",)

    def decide(self, context):
        prompt = one_shot_prompt(context, Fence.of(context), context.form())
        return run_one_shot(Thinker(), prompt, context.form(), context).decision
'''
ENTRY_POINTS = """[predibot.venues]
acme_floor = acme_thumbs:VENUE
[predibot.games]
acme_thumb = acme_thumbs:AcmeThumb
[predibot.strategies]
acme_thinker = acme_thumbs:AcmeThinker
"""
RECIPE = """game = "acme_thumb"
venue = "acme_floor"
every = "1d"
[[bots]]
strategy = "acme_thinker"
"""


def test_a_venue_and_a_form_without_their_base_play_with_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "site/thumbs-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: thumbs\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (tmp_path / "site/acme_thumbs.py").write_text(THUMB, encoding="utf-8")
    (tmp_path / "thumb.toml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "site")
    # The fourth of January is a Sunday, on which a daily recipe does not decide.
    came_to = []
    for day in (3, 4, 6):
        done = said_here("decide", "thumb.toml", "--as-of", f"2026-01-0{day}T22:00Z", "--json")
        assert done.code == 0, done.err
        came_to.append([each["status"] for each in json.loads(done.out)["decisions"]])
    assert came_to == [["recorded"], [], ["recorded"]]
    assert said_here("track").code == said_here("evaluate").code == said_here("verify", "--rows").code == 0
    ledger = "sqlite:///runs/out/predibot.db"
    assert found(ledger, "SELECT label FROM labels") == ["UP", "UP"]
    # At the deposit, and then at each close.
    at = [datetime.fromtimestamp(each / 1e6, UTC) for each in found(ledger, "SELECT at FROM valuations ORDER BY at")]
    assert [f"{each:%d %H}" for each in at] == ["03 22", "05 21", "06 21"]
    told = said_here("record", "recorded", "--venue", "acme_floor")
    assert (told.code, "cannot be recorded" in told.out + told.err) == (1, True)


class Bare:
    """Says all on the object."""

    def __init__(self) -> None:
        self.name, self.live, self.digest = "bare", False, "d"
        self.closes = lambda *, start, until: (until,)


class Around:
    """Hands all on to another."""

    def __init__(self, other: object) -> None:
        self.other = other

    def __getattr__(self, name: str) -> object:
        return getattr(self.other, name)


@dataclass
class Data:
    """Says all in fields."""

    name: str = "data"
    live: bool = True


class Asking:
    """Has a class that takes an argument where it is inherited."""

    name, live = "asking", False

    def __init_subclass__(cls, wanted: str) -> None:
        """Take it."""


class Fixed:
    """Takes nothing more."""

    __slots__ = ()

    def __init_subclass__(cls, wanted: str) -> None:
        """Take it."""


@pytest.mark.parametrize("of", [Bare, lambda: Around(Bare()), Data, SimpleNamespace, Asking])
def test_what_a_venue_says_itself_counts_however_it_says_it(of: Callable[[], Any]) -> None:
    made, plain = of(), of()
    if isinstance(made, SimpleNamespace):
        vars(made).update(name="space", live=False)
        vars(plain).update(name="space", live=False)
    venue = OpenVenue("acme", made, datetime(2026, 1, 1, tzinfo=UTC)).venue
    assert venue is made
    assert (venue.name, venue.live, venue.digest) == (plain.name, plain.live, getattr(plain, "digest", ""))
    has_closes = hasattr(plain, "closes")
    assert (venue.has_sessions, len(venue.closes(start=made, until=made))) == (has_closes, int(has_closes))
    assert (venue.is_recordable, venue.ranks_markets, list(venue.raw_events())) == (False, False, [])
    assert isinstance(made, type(plain)) and complete_plugin(made, Venue) is made


def test_forms_of_one_class_stay_equal_and_say_what_their_fields_say() -> None:
    def form() -> Any:
        return complete_plugin(Answers(("UP", "DOWN")), AnswerForm)

    assert form() == form() and form().labels == ("UP", "DOWN") and form().ending == "" and not form().strict


@dataclass
class Answers:
    """A form without slots."""

    labels: tuple[str, ...]


def test_an_object_that_can_take_nothing_more_is_one_sentence() -> None:
    with pytest.raises(PluginError, match=r"\Aa Fixed cannot be a Venue: write a class"):
        OpenVenue("acme", Fixed(), datetime(2026, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]


def test_nothing_is_made_up_for_a_venue_that_has_no_name() -> None:
    venue = OpenVenue("acme", type("Nameless", (), {})(), datetime(2026, 1, 1, tzinfo=UTC)).venue
    for name in ("name", "live", "events", "event"):
        assert not hasattr(venue, name)


def test_what_has_no_default_is_what_has_no_body() -> None:
    bases = (EventSource, PriceSource, ResolutionSource, Venue, AnswerForm, Game)
    members = [each for base in bases for each in ast.parse(inspect.getsource(base)).body[0].body]  # type: ignore[attr-defined]
    empty = {
        each.name
        for each in members
        if isinstance(each, ast.FunctionDef) and len(each.body) == 1 and isinstance(each.body[0], ast.Expr)
    }
    assert empty == contracts._WITHOUT_DEFAULT
