"""The game of labelling pairs: its items, prompts, answers and references."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from scipy import sparse

from predibot.domain.decision import Decision, Label, Subject
from predibot.domain.event import Event
from predibot.domain.price import PricePoint
from predibot.domain.untrusted_text import paragraph, shorten, title_line
from predibot.errors import UsageError
from predibot.games.answers import LABEL, AnswerComplaint, Words, quoted, read_json, words_of_label
from predibot.related.features import tf_idf
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairedMarket, PairItem, draw_pairs
from predibot.studies.label_game import ItemReferences, LabelForm, LabelGame, Learnt, Rows, freeze_item

MAX_DESCRIPTION_CHARACTERS = 8_000
MAX_JUDGED_CHARACTERS = 8_000
_MEANINGS = (
    "nothing connects them: neither what they are about, nor when, nor any influence",
    "they touch on the same field a little; neither has a bearing on the other, by cause or by time",
    "they have actors or circumstances in common, and go mostly their own ways",
    "one bears on the other, or is likely to be moved by it",
    "one plainly follows from the other, brings it about, or says the same again",
)
_REASONS = (
    "one answer follows from the other by rules, definitions or arithmetic",
    "one event is said to bring about the other, or to make it more or less likely",
    "something third is said to be behind both: a common actor, field, time or circumstance",
    "a loose story, a likeness or a feeling connects them, and none of the above",
)


_FIELDS = ("first", "second")
_REASONS_FIELD = "reasons"


def _label_list(labels: tuple[str, ...], meanings: tuple[str, ...]) -> str:
    return "\n".join(f'- "{label}": {meaning}' for label, meaning in zip(labels, meanings, strict=True))


def _texts(item: PairItem) -> Iterator[str]:
    """Yield the title and the description of each event."""
    for title, description in item.texts:
        body = paragraph(description, MAX_DESCRIPTION_CHARACTERS)
        yield title_line(title) + (f"\n  {body}" if body else "")


MAX_REASONS_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class PairForm(LabelForm):
    """The prompt and the parser for the label of a pair."""

    tool_description: ClassVar = "Hand in your label, once."
    with_reasons: bool = False
    """Whether reasons come first, and the label alone on the last line."""
    judged: str | None = None
    """Another bot's reasons to judge; None in the task on the pair itself."""

    def reasoned(self) -> "PairForm":
        """Return the form that asks for reasons first."""
        return replace(self, with_reasons=True)

    def judging(self, reasons: str) -> "PairForm":
        """Return the form that asks for the kind of another bot's reasons."""
        return replace(self, judged=reasons)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of the task."""
        return LABELS if self.judged is None else REASONINGS

    @property
    def shape(self) -> str:
        """Return an answer as it is shown to a model."""
        return f'{{"{LABEL}": "{self.labels[2]}"}}'

    @property
    def ending(self) -> str:
        """Return how a prompt ends."""
        if self.with_reasons:
            return (
                "First say in a few sentences which causal, temporal or thematic links you see. Then give, on a last "
                f"line of its own, one JSON object and nothing else on that line: {self.shape}"
            )
        return f"Answer with one JSON object and nothing else: {self.shape}"

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 400 if self.with_reasons else 50

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the prompt, on a bot's reasons or the events; of the latter only titles and texts show."""
        parts = dict(zip(_FIELDS, map(untrusted, _texts(self.item)), strict=True))
        numbered = (f"event {number}: {text}" for number, text in enumerate(_texts(self.item), start=1))
        events = "# The events\n\n" + untrusted("\n\n".join(numbered))
        if self.judged is None:
            return words_of_label(
                "You read two events that prediction markets ask about, and say how related they are.",
                "What counts is how near your label comes to the one that was measured on both markets: how far their "
                "prices, tags and words go together. An answer that is no label is wrong. Nothing is bet.",
                events,
                "Say how related the two events are, by any link of cause, time or subject that there may be. "
                f"Choose one label:\n{_label_list(LABELS, _MEANINGS)}",
                LABELS,
                report_about="on these two events",
                extract_about="about two events",
                parts=parts,
            )
        fenced = untrusted(shorten(self.judged, MAX_JUDGED_CHARACTERS))
        return words_of_label(
            "Somebody read two events and gave reasons for how related they are. You say of what kind the reasons are.",
            "What counts is that others who judge the same reasons would choose your label; an answer that is no label "
            "is wrong.",
            f"{events}\n\n# The reasons\n\n{fenced}",
            "Say what these reasons mainly rest on. Judge the reasons, not whether they are right. "
            f"Choose one label:\n{_label_list(REASONINGS, _REASONS)}",
            REASONINGS,
            report_about="on these reasons",
            extract_about="about somebody's reasons",
            parts={**parts, _REASONS_FIELD: fenced},
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer `{"label": "0.4-0.6"}`; after reasons it is the last line.

        The reasons become the rationale. Raises `AnswerError` for anything else.
        """
        parsed, reasons = answer, ""
        if isinstance(answer, str):
            text = answer.strip()
            if self.with_reasons:
                before, _, text = text.rpartition("\n")
                reasons = before.strip()[:MAX_REASONS_CHARACTERS]
            parsed = read_json(text, self.fields)
        if not isinstance(parsed, Mapping) or list(parsed) != [LABEL]:
            raise AnswerComplaint(f"the answer is no object with {LABEL} alone; it is such as {self.shape}")
        label = self.find_label(str(parsed[LABEL]))
        if label is None:
            raise AnswerComplaint(
                f"the label is {quoted(parsed[LABEL])}; it is exactly one of {', '.join(self.labels)}"
            )
        return Decision(labels=(Label(self.item.subject_id, label),), rationale=reasons)


@dataclass(frozen=True, slots=True)
class PairReference:
    """What a baseline may know of one pair: never its features, its score or its label."""

    markets: tuple[PairedMarket, PairedMarket]
    _run: "PairReferences"

    def text_similarity(self) -> float:
        """Return the cosine of both texts by TF-IDF over all questions of the run, in [0, 1]."""
        rows, vectors = self._run.once(("tfidf",), self._run.vectors)
        first, second = (vectors[[rows[market.id]]] for market in self.markets)
        return min(1.0, max(0.0, float((first @ second.T).toarray()[0, 0])))

    def volumes(self) -> tuple[float | None, float | None]:
        """Return both markets' normalised volumes, each in [0, 1]; None for an unknown one."""
        normalised = self._run.once(("volumes",), self._run.normalised_volumes)
        first, second = self.markets
        return normalised.get(first.id), normalised.get(second.id)

    def learnt(self, name: str, learn: Callable[[], Learnt]) -> Learnt:
        """Return a value that is made once for all pairs, such as an encoder."""
        return self._run.once(("of the strategy", name), learn)


class PairReferences(ItemReferences):
    """What baselines may know of the pairs of a run."""

    needs: ClassVar = "markets"
    noun: ClassVar = "pairs"

    def of(self, subject_id: str) -> PairReference:
        """Return what may be known about a subject; raise `UsageError` if there is no such subject."""
        return PairReference(self.find_item(subject_id).markets, self)

    def normalised_volumes(self) -> Mapping[str, float]:
        """Return the known volumes of the markets, from 0 for the smallest to 1 for the largest; 1 if all are equal."""
        known = {
            market.id: market.volume_usd
            for item in self.items.values()
            for market in item.markets or ()
            if market.volume_usd is not None
        }
        least, most = min(known.values(), default=0.0), max(known.values(), default=0.0)
        return {name: (each - least) / (most - least) if most > least else 1.0 for name, each in known.items()}

    def vectors(self) -> tuple[Mapping[str, int], sparse.csr_array]:
        """Return the row of each market of the run, and the word vectors of all, (n, words)."""
        texts = {market.id: market.text for item in self.items.values() for market in item.markets or ()}
        names = sorted(texts)
        return {name: row for row, name in enumerate(names)}, tf_idf([texts[name] for name in names])


@dataclass(frozen=True, slots=True)
class Beliefbench(LabelGame):
    """Labels for pairs of questions: how related they are, judged by how their markets moved."""

    name: ClassVar = "beliefbench"
    item: ClassVar = PairItem
    item_noun: ClassVar = "pair"
    per_class: Annotated[int, Field(ge=1, le=100_000)] = 40
    """At most so many pairs of each domain and label."""
    domains: tuple[str, ...] = ()
    """Which domains; empty for all."""
    labels: Literal["lenient", "strict"] = "lenient"
    """Whether words around a label are ignored, or only the bare label is read."""

    @property
    def view_fields(self) -> Mapping[str, bool]:
        """Return the two events."""
        return dict.fromkeys(_FIELDS, True)

    @property
    def judge_fields(self) -> Mapping[str, bool]:
        """Return the two events and the reasons, without which there is nothing to judge."""
        return dict.fromkeys((*_FIELDS, _REASONS_FIELD), True)

    def drawn(self, rows: Rows, seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return the items of a run as events to be frozen, and notes.

        Raises `UsageError` if the rows do not go together, or are of no such domain.
        """
        try:
            items, notes = draw_pairs(rows, per_class=self.per_class, domains=self.domains, seed=seed)
        except ValueError as error:
            raise UsageError(f"the data set cannot be played: {error}") from None
        return tuple(freeze_item(item, " / ".join(title for title, _ in item.texts), "pair") for item in items), notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each pair."""
        return tuple(Subject("pair", event.id) for event in events)

    def form(self, view: PairItem, *, price_blind: bool = False) -> PairForm:
        """Return the answer form; no price is ever shown."""
        return PairForm(view, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> PairReferences:
        """Return what baselines may know, from all pairs of a run."""
        return PairReferences({event.id: PairItem.from_json(event.payload) for event in events})

    def allowed(self, view: PairItem) -> tuple[tuple[str, ...], ...]:
        """Return the labels of bots, then those of judges."""
        return LABELS, REASONINGS
