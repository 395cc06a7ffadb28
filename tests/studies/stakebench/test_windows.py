"""Windows and cleaning, by hand and against versions of few lines."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib.resources import files

import pytest

from predibot.studies.stakebench.cleaning import is_puzzle, parse_words, rejection_reason, split_of
from predibot.studies.stakebench.data_set import StepPath, stake_weighted_direction, windows_of

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WORDS = parse_words(files("predibot").joinpath("studies", "stakebench", "words.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", range(20))
def test_a_mean_price_is_that_of_its_minutes(seed: int) -> None:
    rng = random.Random(seed)
    minutes = sorted(rng.sample(range(600), 12))
    path = StepPath(tuple(START + timedelta(minutes=m) for m in minutes), tuple(rng.random() for _ in minutes))
    first, last = minutes[3] + 1, minutes[3] + 200
    by_minute = [path.yes[max(k for k, at in enumerate(minutes) if at <= m)] for m in range(first, last)]
    found = path.mean(START + timedelta(minutes=first), START + timedelta(minutes=last))
    assert found == pytest.approx(sum(by_minute) / len(by_minute))


def test_before_the_first_price_and_after_the_end_nothing_is_known() -> None:
    path = StepPath((START,), (0.5,), ends_at=START + DAY)
    assert path.mean(START - HOUR, START + HOUR) is None
    assert path.mean(START, START + DAY) == 0.5
    assert path.mean(START, START + DAY + HOUR) is None


def test_a_window_has_the_fewest_whole_days_that_hold_ten() -> None:
    commented = [START + 10 * HOUR * number for number in range(10)]
    path = StepPath((START, START + 4 * DAY), (0.4, 0.5))
    (window,) = windows_of(commented, path, Counter())
    # The tenth is 90 hours after the first: three days do not hold it, four do.
    assert (window.days, len(window.comments), window.direction) == (4, 10, "UP")
    assert (window.price_before, window.price_after) == pytest.approx((0.4, 0.5))


def test_a_comment_at_the_very_end_of_a_day_belongs_to_the_next() -> None:
    commented = [START] * 9 + [START + DAY]
    assert windows_of(commented, StepPath((START, START + 2 * DAY), (0.4, 0.5)), Counter())[0].days == 2


def test_near_ties_and_windows_without_prices_are_counted() -> None:
    commented = [START + HOUR * number for number in range(10)]
    paths = StepPath((START, START + DAY), (0.4, 0.405)), StepPath((START,), (0.4,), ends_at=START + 1.5 * DAY)
    counts = [Counter[str](), Counter[str]()]
    assert [windows_of(commented, path, of) for path, of in zip(paths, counts, strict=True)] == [[], []]
    assert [+of for of in counts] == [{"- windows with a near tie": 1}, {"- windows without prices": 1}]


def test_thirty_days_with_fewer_than_ten_begin_at_the_next_comment() -> None:
    commented = [START, *(START + 25 * DAY + HOUR * number for number in range(10))]
    path = StepPath((START, START + 26 * DAY), (0.4, 0.6))
    assert windows_of(commented, path, Counter())[0].start == START
    later = [START, *(START + 40 * DAY + HOUR * number for number in range(10))]
    path = StepPath((START, START + 41 * DAY), (0.4, 0.6))
    assert windows_of(later, path, Counter())[0].start == later[1]


def test_windows_do_not_overlap_and_a_tie_of_stakes_points_nowhere() -> None:
    commented = [START + HOUR * number for number in range(60)]
    path = StepPath(tuple(START + DAY * k for k in range(8)), tuple(0.1 * k + 0.1 for k in range(8)))
    found = windows_of(commented, path, Counter())
    assert [len(window.comments) for window in found] == [24, 24, 12]
    assert stake_weighted_direction(["YES", "NO"], [0.1 + 0.2, 0.3]) is None
    assert stake_weighted_direction(["YES", "NO"], [-8.0, 3.0]) == "UP"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I think that this will resolve to YES soon", None),
        ("see https://example.org/very/long/address/indeed it is", "short"),
        ("Ich glaube nicht, dass daraus noch etwas werden wird", "not English"),
        ("the " + "и" * 40, "not English"),
        ("the 1234567890 1234567890 1234567890 1234567890", "not words"),
    ],
)
def test_comments_are_taken_by_length_language_and_letters(text: str, why: str | None) -> None:
    assert rejection_reason(text, WORDS) == why


def test_eighteen_splits_come_from_one_file() -> None:
    assert {platform: len(names) for platform, names in WORDS.splits.items()} == {"manifold": 12, "polymarket": 6}


@pytest.mark.parametrize(
    ("question", "labels", "manifold", "polymarket"),
    [
        ("Will Bitcoin close above $100k?", (), "crypto", "crypto"),
        ("Will Russia and Ukraine sign a ceasefire?", (), "politics_intl", "politics_intl"),
        ("Will OpenAI release GPT-5 in May?", (), "tech_ai", "tech_other"),
        ("Will the Netherlands win?", ("world-cup",), "sports_other", "other"),
        ("Will method X beat method Y?", (), "other", "other"),
    ],
)
def test_markets_are_sorted_by_whole_words(
    question: str, labels: tuple[str, ...], manifold: str, polymarket: str
) -> None:
    assert split_of("manifold", question, labels, WORDS) == manifold
    assert split_of("polymarket", question, labels, WORDS) == polymarket


def test_puzzles_are_left_out() -> None:
    assert is_puzzle("Will the Wordle of today be solved in three?", WORDS)
    assert not is_puzzle("Will Bitcoin crash?", WORDS)


def test_a_file_of_words_that_lacks_a_split_says_which() -> None:
    with pytest.raises(ValueError, match="splits of manifold lack words of crypto"):
        parse_words("splits.manifold: crypto, other\nsplits.polymarket: other")
