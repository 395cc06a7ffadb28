"""Crypto: whole words decide, in tags where there are any, and the ground is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.category import CryptoWords, crypto_grounds, parse_crypto_words
from tests.selection.worlds import WORDS, event


@pytest.mark.parametrize(
    "title",
    [
        "Next Prime Minister of the Netherlands",
        "Will 3 Coin win the 2025 National Heads-Up Poker Championship?",
        "How much spending will DOGE cut in 2025?",
        "Elon Musk out as head of DOGE?",
    ],
)
def test_events_that_only_look_like_crypto_stay(title: str) -> None:
    assert crypto_grounds(event(title=title), WORDS) is None


@pytest.mark.parametrize(
    ("title", "word"),
    [
        ("MegaETH market cap (FDV) one day after launch?", "megaeth"),
        ("Based FDV above $500M one day after launch?", "fdv"),
        ("Will Monad perform an airdrop by November 30?", "airdrop"),
        ("Will $BTC hit 200k?", "btc"),
        ("DOGE above $1?", "doge"),
        ("Will Musk tweet about DOGE or dogecoin?", "dogecoin"),
    ],
)
def test_crypto_events_go_and_the_word_is_said(title: str, word: str) -> None:
    assert crypto_grounds(event(title=title), WORDS) == f"the word {word!r} in its title"


def test_hyphens_separate_the_words_of_a_slug() -> None:
    assert crypto_grounds(event(title="Up or down?", slug="eth-up-or-down"), WORDS) == "the word 'eth' in its slug"


@pytest.mark.parametrize("tag", ["Crypto", "Crypto Prices", "bitcoin-prices", "NFTs"])
def test_a_tag_with_one_of_the_words_decides(tag: str) -> None:
    assert f"in its tag {tag!r}" in (crypto_grounds(event(tags=["Hit price", tag]), WORDS) or "")


def test_the_title_does_not_count_where_the_event_has_tags() -> None:
    assert crypto_grounds(event(title="Will Coinbase hire an ex-senator?", tags=["Politics"]), WORDS) is None


def test_the_office_of_the_same_name_is_known_by_title_and_slug_also_for_a_tag() -> None:
    assert crypto_grounds(event(title="How many federal jobs?", slug="doge-budget", tags=["DOGE"]), WORDS) is None
    assert crypto_grounds(event(title="How high?", tags=["DOGE"]), WORDS) == "the word 'doge' in its tag 'DOGE'"


@given(st.sampled_from(sorted(WORDS.unless)), st.text("abcdefgh", min_size=1, max_size=5))
def test_a_word_inside_another_word_never_counts(word: str, more: str) -> None:
    title = f"{word}{more}zq"
    assert crypto_grounds(event(title=title), WORDS) is None


def test_a_recipe_adds_words_in_any_case_and_keeps_the_exceptions() -> None:
    extended = WORDS.extend(["Monad", "doge"])
    assert crypto_grounds(event(title="Monad mainnet?"), extended) == "the word 'monad' in its title"
    assert extended.unless["doge"] == WORDS.unless["doge"]


def test_a_list_has_one_word_a_line_comments_and_exceptions() -> None:
    assert parse_crypto_words("# a\nBTC # b\n\ndoge unless cut Musk\n") == CryptoWords(
        {"btc": frozenset(), "doge": frozenset({"cut", "musk"})}
    )


@pytest.mark.parametrize("line", ["two words", "doge unless", "bit-coin", "doge unless e-lon"])
def test_a_line_that_could_never_match_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"neither|never match"):
        parse_crypto_words(line)
