"""The baselines of text tasks: what a label can be told by without reading the text."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from predibot.contracts import Context, Needs, WordForm
from predibot.domain.decision import Abstention, Decision, Label
from predibot.errors import PluginError

_WORD = re.compile(r"[a-z]+")
_GAINS = frozenset(
    _WORD.findall(
        "agree buy bullish bought certain definitely easy free gain good great happen happens happening high "
        "higher inevitable likely lock long moon more obvious obviously over pass passes rise rising soar strong "
        "surely sure up underpriced undervalued win winning wins won yes "
    )
)
_LOSSES = frozenset(
    _WORD.findall(
        "against bad bearish crash doubt dump dumping fail fails failed fall falling hopeless impossible less lose "
        "loses losing lost low lower never no not nothing overpriced overvalued sell selling short sold unlikely "
        "weak wrong zero down dropping drops doomed "
    )
)
_ABSTAINS = "NEUTRAL"
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class TextBaseline:
    """Label texts by the commonest label, by stakes, by length, by a list of words, or by words learnt elsewhere."""

    by: Literal["majority", "stakes", "length", "words", "tfidf"] = "majority"
    """`majority`: the commonest label of other markets. `stakes`: of a window, where the stakes of its writers point.
    `length`: longer and shorter than the middle, each the label that is commonest there. `words`: a list of words for
    and against. `tfidf`: logistic regression on weighted words. What is learnt is learnt from other markets."""

    games = ("stakebench",)

    @property
    def needs(self) -> Needs:
        """Return that it learns from other texts, unless it only counts words."""
        return Needs(reference=self.by != "words")

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the label of the text, or an abstention where this baseline has none for its task."""
        item, form = context.view, context.form()
        labels = tuple(form.labels) if isinstance(form, WordForm) else ()
        shares: dict[str, float] = {}
        if self.by == "words":
            label = _by_words(item, labels)
        elif self.by == "stakes":
            label = _by_stakes(context.reference().stakes, labels)
        else:
            known = context.reference()
            if not known.examples:
                return Abstention("there is no other market to learn from")
            learn = {"majority": _majority, "length": _by_length, "tfidf": _by_tfidf}[self.by]
            label, shares = known.learnt(self.by, learn)(item)
        if label is None:
            return Abstention(f"{self.by} says nothing about this task")
        return Decision(labels=(Label(item.subject_id, label, shares),))


_Said = tuple[str | None, dict[str, float]]
_Learnt = Callable[[Any], _Said]


def _by_words(item: Any, labels: Sequence[str]) -> str | None:
    """Return the side that more words speak for; whether any does, where the question is who holds a position."""
    words = Counter(_WORD.findall(" ".join(item.texts).lower()))
    gains, losses = (sum(words[word] for word in listed) for listed in (_GAINS, _LOSSES))
    if item.task == "G1":
        return "YES" if gains or losses else "NO"
    if _ABSTAINS not in labels:
        return None
    return _ABSTAINS if gains == losses else labels[0] if gains > losses else labels[1]


def _by_stakes(stakes: Sequence[tuple[str, float]], labels: Sequence[str]) -> str | None:
    if not stakes:
        return None
    total = sum(abs(size) if side == "YES" else -abs(size) for side, size in stakes)
    if abs(total) <= 1e-12 * sum(abs(size) for _, size in stakes):
        return _ABSTAINS
    return labels[0] if total > 0 else labels[1]


def _majority(examples: Sequence[Any]) -> _Learnt:
    counts = Counter(example.truth.label for example in examples)
    # Of equally common ones the first of the alphabet, whatever the order of the examples.
    best = min(counts, key=lambda label: (-counts[label], label)) or None
    shares = {label: round(n / len(examples), _DIGITS) for label, n in sorted(counts.items()) if label}
    return lambda _: (best, shares if best else {})


def _by_length(examples: Sequence[Any]) -> _Learnt:
    lengths = [_length(example) for example in examples]
    middle = statistics.median(lengths)
    short = [example for example, length in zip(examples, lengths, strict=True) if length <= middle]
    long = [example for example, length in zip(examples, lengths, strict=True) if length > middle]
    of_short, of_long = _majority(short), _majority(long or short)
    return lambda item: of_long(item) if _length(item) > middle else of_short(item)


def _length(item: Any) -> float:
    return statistics.fmean(map(len, item.texts))


def _by_tfidf(examples: Sequence[Any]) -> _Learnt:
    truths = [example.truth.label for example in examples]
    if len(set(truths)) < 2:
        return _majority(examples)
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    except ModuleNotFoundError:
        raise PluginError(
            "by = \"tfidf\" needs scikit-learn, which is not installed: pip install 'predibot[agreement]'"
        ) from None
    weighing = TfidfVectorizer(sublinear_tf=True, min_df=min(2, len(examples) // 20 + 1), ngram_range=(1, 2))
    learnt = make_pipeline(weighing, LogisticRegression(max_iter=1_000))
    learnt.fit([_words(example) for example in examples], truths)
    names = [str(name) for name in learnt.classes_]

    def label(item: Any) -> _Said:
        (shares,) = learnt.predict_proba([_words(item)]).tolist()
        stated = {name: round(share, _DIGITS) for name, share in zip(names, shares, strict=True)}
        return max(names, key=lambda name: stated[name]), stated

    return label


def _words(item: Any) -> str:
    """Return what the model reads: the question, the texts, and the side that is shown."""
    side = "" if item.side is None else f" holds{item.side.lower()}"
    return f"{item.question} {' '.join(item.texts)}{side}"
