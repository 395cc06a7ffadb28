"""The protocols of a game: what each game must define, and the defaults of the rest."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol, cast, runtime_checkable

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.domain.terms import ModelSettings
from predibot.errors import AnswerError, UsageError
from predibot.games.answers import Words
from predibot.games.cohorts import CohortRules
from predibot.games.fills import FillModel
from predibot.selection import SelectionRules


@runtime_checkable
class AnswerForm(Protocol):
    """How an answer about one view is requested and read. Members with a body are defaults, even if not inherited."""

    __slots__ = ()

    @property
    def schema(self) -> ToolSchema:
        """Return the tool that hands in an answer; `predibot.games.answers.final_answer` makes one."""

    @property
    def shape(self) -> str:
        """Return an example answer for the model, in JSON."""

    @property
    def fields(self) -> Collection[str]:
        """Return the names of the fields of an answer; complaints may repeat no others."""

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the text for the model.

        Args:
            history: Daily prices by market id, called only where they are shown.
            untrusted: Puts foreign words inside the fence.
        """

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer, an object or its JSON text, if it keeps the rules of the game.

        Raises `AnswerError` with every complaint and what to fix.
        """

    @property
    def question(self) -> str:
        """Return the titles and questions of the view; passages of a page with their words are shown first."""
        return ""

    @property
    def market_ids(self) -> Sequence[str]:
        """Return the ids of the markets that an answer may be about; empty where it is about none."""
        return ()

    @property
    def labels(self) -> Sequence[str]:
        """Return the words that an answer can be; none where it is an object.

        A prompt with such words shows the view alone, without the instant.
        """
        return ()

    @property
    def ending(self) -> str:
        """Return the last sentences of a prompt, on the form of a one-word answer."""
        return ""

    @property
    def strict(self) -> bool:
        """Return whether an answer must be exactly what `parse` takes, without marks or words around it."""
        return False


@runtime_checkable
class ReasonedForm(Protocol):
    """A form that can ask for reasons before an answer."""

    def reasoned(self) -> AnswerForm:
        """Return the form that asks for reasons first: before a label on the last line, or before each probability."""


@runtime_checkable
class JudgingForm(Protocol):
    """A form that can ask what kind of reasons led to an answer."""

    def judging(self, reasons: str) -> AnswerForm:
        """Return the form that asks about these reasons of another bot."""


class References(Protocol):
    """What baselines may know of the items of a run; models never see it."""

    def of(self, subject_id: str) -> Any:
        """Return what may be known about a subject, in the game's own form."""


class Game(Protocol):
    """The rules of a game: its subjects, views, answer form, booking and scores; pure. Only the game and the strategies
    that name it know what its view is. Members with a body are defaults, even if not inherited.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the name in recipes."""

    @property
    def stake_usd(self) -> float:
        """Return the dollars a bot has for one subject: to bet, or to begin its account with."""

    @property
    def scores(self) -> tuple[str, ...]:
        """Return the names of its scores; in a game with `forecasts` every bet on an event has a forecast."""

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return the subjects that a bot decides on in a run that plays these events."""

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Any:
        """Return a bot's view of a subject.

        Args:
            subject: One of `subjects`.
            events: With quotes of the decision's instant.
            account: The bot's account; None in a game without accounts.
            past: What else is known of the account.

        Raises:
            UsageError: If it is no subject of these events.
        """

    def form(self, view: Any, *, price_blind: bool = False) -> AnswerForm:
        """Return the form of an answer about a view; a price-blind one mentions no price."""

    def book(
        self, answer: Decision, view: Any, account: Account | None, quotes: Mapping[Instrument, Price], fills: FillModel
    ) -> Booking:
        """Return the booking of an unchecked answer.

        `account` is that of the view; `quotes` are current prices, which may be later than the view's. Raises
        `AnswerError` with every complaint and what to fix, if the answer breaks a rule.
        """

    @property
    def offers(self) -> Collection[str]:
        """Return what a bot may have besides its view: `tools`, `news`, `other bots`."""
        return ("tools", "news", "other bots")

    @property
    def pooled_by(self) -> str:
        """Return the strategy that makes one answer of those of a bot's samples; it takes members and min_share."""
        return "ensemble"

    @property
    def view_fields(self) -> Mapping[str, bool]:
        """Return the names of `Words.parts`, and whether a prompt without the whole view must have them."""
        return {}

    @property
    def judge_fields(self) -> Mapping[str, bool]:
        """Return what `view_fields` is for a judge of another bot's answers: a strategy with models and members."""
        return self.view_fields

    @property
    def model_settings(self) -> ModelSettings:
        """Return how its study has models answer; a bot that is named by its model alone answers so."""
        return ModelSettings()

    @property
    def most_view_tokens(self) -> int | None:
        """Return the most tokens that a view takes; None where the events of a run decide that."""
        return None

    def view_tokens(self, view: Any) -> int:
        """Return about how many tokens a view takes; only for a game with `most_view_tokens`."""
        raise UsageError(f"game {self.name!r} does not bound its views")

    @property
    def repairs(self) -> int | None:
        """Return how many answers may follow a refused one; None leaves it to the strategy."""
        return None

    def given_up(self, complaint: str) -> Decision:
        """Return the decision in place of the last of `repairs` answers, refused for this reason.

        Raises `AnswerError` without one.
        """
        raise AnswerError(complaint)

    def select(self, rules: SelectionRules) -> SelectionRules:
        """Return the default selection rules of the game, from those of all games; a recipe's rules override them."""
        return rules

    @property
    def news_window(self) -> tuple[timedelta, timedelta] | None:
        """Return how long before a decision its news begins and ends; None for no news."""
        return None

    @property
    def fills(self) -> str:
        """Return the price source of a trade: the `mid`, the `quote` or the recorded `book`."""
        return "mid"

    @property
    def fee_bps(self) -> float:
        """Return the cost of a trade besides the venue's fees, in hundredths of a percent of its money."""
        return 0.0

    @property
    def spread_bps(self) -> float:
        """Return the spread between buying and selling, in hundredths of a percent of the price."""
        return 0.0

    @property
    def trades_at_closes(self) -> bool:
        """Return whether accounts trade, and are valued, only at the closes of trading days."""
        return False

    @property
    def methodology(self) -> str:
        """Return the version of its rules, where it has several."""
        return ""

    @property
    def methodology_key(self) -> str:
        """Return the version of its rules with their parameters, as ledgers store it; scores never mix them."""
        return self.methodology

    def by_methodology(self, key: str) -> "Game":
        """Return the game by the rules that a ledger stores under this name; raise `UsageError` if it has none."""
        try:
            return cast(Game, replace(cast(Any, self), methodology=key))
        except TypeError:
            raise UsageError(f"game {self.name!r} has no methodology {key[:40]!r}") from None

    def price_of(self, price: Price) -> Price:
        """Return a venue's price as the orders of a decision are booked at it."""
        return price

    @property
    def cohorts(self) -> CohortRules | None:
        """Return the rules of its cohorts, or None. A game with cohorts decides on those; `subjects` is not called."""
        return None

    def misplayed(self, journal: Sequence[JournalRow], orders: Mapping[str, Sequence[Any]]) -> Iterator[str]:
        """Yield how an account of a cohort broke the rules of its bets; `orders` are the ledger's, by decision."""
        return iter(())

    @property
    def has_items(self) -> bool:
        """Return whether its subjects are the items of a data set, such as comments.

        Each item is frozen with the run as an event without markets, and bots may look at nothing else.
        The recipe and the digest of the data set make the run, whenever it is asked for.
        """
        return False

    def drawn(self, rows: Callable[[str], Iterable[Any]], seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return the items that a run plays, and notes; the same on every machine. `rows` reads a file of the data set
        by name.
        """
        return (), ()

    def references(self, events: Sequence[Event]) -> References:
        """Return what baselines may know of the frozen items of a run."""
        raise UsageError(f"game {self.name!r} has no items")
