"""The baselines of pairs of questions: how related they are by what can be counted, without reading them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from predibot.contracts import Context, Needs, WordForm
from predibot.domain.decision import Abstention, Decision, Label
from predibot.errors import PluginError
from predibot.scoring.relatedness.relevance import relevance_class

_DECIMALS = 9
"""As scores have them, so that rounding moves none over the end of a class."""
_Scores = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class PairBaseline:
    """Label pairs at random, by volumes, by when they were open, by tags, by words, or by an encoder of both texts."""

    by: Literal[
        "random", "volume_max_to_min", "volume_similarity", "time_overlap", "tag_overlap", "tfidf", "cross_encoder"
    ] = "tfidf"
    """`random`: any label. `volume_max_to_min`: the smaller volume as a part of the larger. `volume_similarity`:
    1 / (1 + |the difference of their logarithms|). `time_overlap`: common days of all days on which either was open.
    `tag_overlap`: common tags of all tags. `tfidf`: the cosine of their weighted words. `cross_encoder`: `encoder`."""
    encoder: str = ""
    """The folder of a cross-encoder of sentence-transformers; nothing is ever downloaded."""

    games = ("beliefbench",)

    @property
    def needs(self) -> Needs:
        """Return that it looks at the markets behind a pair, unless it guesses."""
        return Needs(reference=self.by != "random")

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the label of the pair, or an abstention where what it counts is not known."""
        form = context.form()
        labels = tuple(form.labels) if isinstance(form, WordForm) else ()
        if self.by == "random":
            return Decision(labels=(Label(context.view.subject_id, context.rng.choice(labels)),))
        known = context.reference()
        if self.by == "tfidf":
            score: float | str = known.text_similarity()
        elif self.by == "cross_encoder":
            encoder = known.learnt(f"cross_encoder {self.encoder}", lambda: _cross_encoder(self.encoder))
            first, second = ("\n".join(each) for each in context.view.texts)
            # It reads one text before the other; neither comes first here.
            score = math.fsum(encoder([(first, second), (second, first)])) / 2.0
        else:
            score = _COUNTED[self.by](*known.markets)
        if isinstance(score, str):
            return Abstention(score)
        return Decision(labels=(Label(context.view.subject_id, labels[int(relevance_class(round(score, _DECIMALS)))]),))


def _volumes(first: Any, second: Any) -> tuple[float, float] | str:
    volumes = (first.volume_usd, second.volume_usd)
    if None in volumes:
        return "the venue states no volume of one of the markets"
    return (min(volumes), max(volumes)) if max(volumes) > 0.0 else "neither market was traded"


def _volume_max_to_min(first: Any, second: Any) -> float | str:
    volumes = _volumes(first, second)
    return volumes if isinstance(volumes, str) else volumes[0] / volumes[1]


def _volume_similarity(first: Any, second: Any) -> float | str:
    volumes = _volumes(first, second)
    if isinstance(volumes, str):
        return volumes
    return 1.0 / (1.0 + math.log(volumes[1] / volumes[0])) if volumes[0] > 0.0 else 0.0


def _time_overlap(first: Any, second: Any) -> float | str:
    (ours, our_last), (theirs, their_last) = first.days, second.days
    common: int = max(0, min(our_last, their_last) - max(ours, theirs) + 1)
    days: int = (our_last - ours + 1) + (their_last - theirs + 1) - common
    return common / days


def _tag_overlap(first: Any, second: Any) -> float | str:
    ours, theirs = set(first.tags), set(second.tags)
    both = len(ours | theirs)
    return len(ours & theirs) / both if both else "neither market has a tag"


_COUNTED: dict[str, Callable[[Any, Any], float | str]] = {
    "volume_max_to_min": _volume_max_to_min,
    "volume_similarity": _volume_similarity,
    "time_overlap": _time_overlap,
    "tag_overlap": _tag_overlap,
}


def _cross_encoder(folder: str) -> _Scores:
    """Return what scores pairs of texts, each in [0, 1]."""
    if not folder or not Path(folder).is_dir():
        raise PluginError(
            f'by = "cross_encoder" reads a model from a folder, and encoder = {folder[:80]!r} is none; download one '
            "yourself, such as cross-encoder/nli-deberta-v3-base, and name its folder"
        )
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError:
        raise PluginError(
            'by = "cross_encoder" needs sentence-transformers, which is not installed: '
            "pip install 'predibot[embeddings]'"
        ) from None
    model = CrossEncoder(folder, local_files_only=True)
    kinds = {str(name).casefold(): int(number) for number, name in model.config.id2label.items()}

    def scores(pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        found = []
        for raw in model.predict(list(pairs), convert_to_numpy=True).tolist():
            if isinstance(raw, float):
                # Of one output, which some models end in a sigmoid of their own.
                found.append(raw if 0.0 <= raw <= 1.0 else 1.0 / (1.0 + math.exp(-raw)))
                continue
            powers = [math.exp(each - max(raw)) for each in raw]
            # Of a model of inference: what is not neutral is related.
            aside = kinds.get("neutral")
            entails = kinds.get("entailment", len(raw) - 1)
            related = math.fsum(powers) - powers[aside] if aside is not None else powers[entails]
            found.append(related / math.fsum(powers))
        return found

    return scores
