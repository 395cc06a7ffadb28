"""What a game is: what it has to say, and what is so where it says nothing."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.errors import AnswerError, UsageError
from predibot.games.answers import Words
from predibot.games.cohorts import CohortRules
from predibot.games.fills import FillModel
from predibot.selection import SelectionRules


@runtime_checkable
class AnswerForm(Protocol):
    """How an answer about one view is asked for and read.

    What has a body here need not be said; a form of an installed package need not inherit it either.
    """

    __slots__ = ()

    @property
    def schema(self) -> ToolSchema:
        """Return the tool by which an answer is handed in; `predibot.games.answers.final_answer` makes one."""

    @property
    def shape(self) -> str:
        """Return an answer as it is shown to a model, in JSON."""

    @property
    def fields(self) -> Collection[str]:
        """Return the names of the fields an answer may have, which are no page's words."""

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told.

        Args:
            history: Daily prices, asked only where they are shown.
            untrusted: Puts foreign words inside the fence.
        """

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer, an object or its JSON text, which keeps the rules of the game.

        Raises:
            AnswerError: The message names every complaint and what to fix.
        """

    @property
    def labels(self) -> Sequence[str]:
        """Return the words of which an answer is one; none where it is an object.

        With such words a prompt shows the view alone, without the instant.
        """
        return ()

    @property
    def ending(self) -> str:
        """Return how a prompt ends: in which form one of the words is answered."""
        return ""

    @property
    def strict(self) -> bool:
        """Return whether only what `parse` takes as text is an answer, without marks or words around it."""
        return False


@runtime_checkable
class ReasonedForm(Protocol):
    """A form that can ask for reasons before an answer."""

    def reasoned(self) -> AnswerForm:
        """Return the form that asks for reasons first, and takes the answer from the last line."""


@runtime_checkable
class JudgingForm(Protocol):
    """A form that can ask of what kind the reasons for an answer are."""

    def judging(self, reasons: str) -> AnswerForm:
        """Return the form that asks about these reasons, which are another bot's."""


class References(Protocol):
    """What baselines may know of the items of a run, and no model is shown."""

    def of(self, subject_id: str) -> Any:
        """Return what may be known about a subject, in a form of its game's own."""


class Game(Protocol):
    """What is asked of a bot, and what becomes of its answer; pure.

    A game owns its subjects, the view a bot is shown, the form of an answer,
    the booking, and which scores apply. What its view is, only the game and
    the strategies that name it know. What has a body here need not be said;
    a game of an installed package need not inherit it either.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the word recipes use."""

    @property
    def stake_usd(self) -> float:
        """Return the dollars a bot has for one subject: those it may bet, or those its account begins with."""

    @property
    def scores(self) -> tuple[str, ...]:
        """Return the names of the scores that apply; in a game with `forecasts` every bet on an event has one."""

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return what a bot decides on in a run that plays these events."""

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Any:
        """Return what a bot is shown of a subject.

        Args:
            subject: One of `subjects`.
            events: With the quotes of the decision's instant.
            venue: Whose instruments these are.
            account: The bot's, as its journal comes to; None in a game without accounts.
            past: What is known of the account besides; only for a subject with one.

        Raises:
            UsageError: If it is no subject of these events.
        """

    def form(self, view: Any, *, price_blind: bool = False) -> AnswerForm:
        """Return how an answer about a view is asked for and read.

        Args:
            view: Of this game.
            price_blind: Whether no price may be said in words and complaints.
        """

    def book(
        self,
        answer: Decision,
        view: Any,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the booking of an answer.

        Args:
            answer: As a bot gave it; nothing of it is checked yet.
            view: That it was given about.
            account: As it was when the view was made.
            quotes: Of now, which may be later than the view.
            fills: Sets the price of each order.

        Raises:
            AnswerError: If the answer breaks a rule; the message names every
                complaint and what to fix.
        """

    @property
    def offers(self) -> Collection[str]:
        """Return what a bot may have beside its view: `tools`, `news`, `other bots`."""
        return ("tools", "news", "other bots")

    @property
    def most_view_tokens(self) -> int | None:
        """Return how many tokens a view takes at most; None where that follows from the events of a run."""
        return None

    def view_tokens(self, view: Any) -> int:
        """Return about how many tokens a view takes, where `most_view_tokens` is said."""
        raise UsageError(f"game {self.name!r} does not bound its views")

    @property
    def repairs(self) -> int | None:
        """Return how many answers may follow a refused one; None leaves it to the strategy."""
        return None

    def given_up(self, complaint: str) -> Decision:
        """Return what is decided where `repairs` is said and the last answer was refused too, for this reason.

        Raises:
            AnswerError: If nothing is put in the place of an answer.
        """
        raise AnswerError(complaint)

    def select(self, rules: SelectionRules) -> SelectionRules:
        """Return the rules of its universe, as far as a recipe does not state others; these are the defaults of all."""
        return rules

    @property
    def news_window(self) -> tuple[timedelta, timedelta] | None:
        """Return how long before a decision news begins and ends that is shown; None where none is."""
        return None

    @property
    def fills(self) -> str:
        """Return what sets the price of a trade: the `mid`, the `quote` or the recorded `book`."""
        return "mid"

    @property
    def fee_bps(self) -> float:
        """Return what a trade costs beside what the venue states, in hundredths of a percent of its money."""
        return 0.0

    @property
    def spread_bps(self) -> float:
        """Return how far apart buying and selling are around the price, in hundredths of a percent of it."""
        return 0.0

    @property
    def trades_at_closes(self) -> bool:
        """Return whether accounts trade, and are valued, at the closes of trading days alone."""
        return False

    @property
    def methodology(self) -> str:
        """Return the version of its rules, where it has several; results of two are never mixed."""
        return ""

    @property
    def cohorts(self) -> CohortRules | None:
        """Return how its cohorts go on, which start in a run with its markets and its bots; None without cohorts.

        Then what is decided on in a run are the cohorts that go on, and `subjects` is not asked.
        """
        return None

    def misplayed(self, journal: Sequence[JournalRow], orders: Mapping[str, Sequence[Any]]) -> Iterator[str]:
        """Yield what an account of a cohort did that the rules of its bets forbid.

        Args:
            journal: Its rows.
            orders: Those of each decision that the rows follow from, as the ledger has them.
        """
        return iter(())

    @property
    def has_items(self) -> bool:
        """Return whether it is played over the items of a data set, such as comments.

        Each is frozen with the run as an event without markets. What its bots are shown is all that they may look at.
        A run of it is known by the recipe and the digest of the data set, so that the same of both is the same run,
        whenever it is asked for.
        """
        return False

    def drawn(self, rows: Callable[[str], Iterable[Any]], seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return the items that a run plays, and notes; the same on every machine.

        Args:
            rows: Reads a file of the data set from its beginning, by its name.
            seed: Of the recipe.
        """
        return (), ()

    def references(self, events: Sequence[Event]) -> References:
        """Return what baselines may know, from all that a run froze."""
        raise UsageError(f"game {self.name!r} has no items")
