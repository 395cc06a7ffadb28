"""Passages: nothing of a text is lost, nothing is too long, and what was looked for comes first."""

import base64
import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.research.pages import chunks
from predibot.research.pages.chunks import (
    FOCUS_TOKENS,
    PART_TOKENS,
    estimate_tokens,
    focused_parts,
    mentions,
    parts_of,
)

FILLER = [f"Paragraph {n} tells of the weather in the harbour, of ships and of the price of fish." for n in range(400)]
NEEDLE = "The electoral commission certified turnout of 61 percent in Ruritania."
TEXT = "\n".join([*FILLER[:300], NEEDLE, *FILLER[300:]])
TEXTS = st.text(alphabet="ab .\n選é", max_size=400)


@given(TEXTS, st.integers(10, 60))
def test_the_parts_hold_the_text_in_its_order(text: str, tokens: int) -> None:
    assert "".join("".join(parts_of(text, tokens=tokens)).split()) == "".join(text.split())


@given(TEXTS, st.integers(10, 60))
def test_no_part_is_too_long(text: str, tokens: int) -> None:
    parts = [*parts_of(text, tokens=tokens), *focused_parts(text, "ab", tokens=tokens)]
    # Pieces put together may read as English, or no more; the sum of their costs is what is bounded.
    assert all(estimate_tokens(part) <= 2 * tokens for part in parts)


@given(TEXTS)
def test_focus_moves_passages_and_loses_none(text: str) -> None:
    focused = "".join(focused_parts(text, "ab", tokens=30))
    assert sorted("".join(focused.split())) == sorted("".join(text.split()))


@pytest.mark.parametrize("focus", ["turnout Ruritania", "What was the TURNOUT in ruritania?", "electoral commissions"])
def test_what_was_looked_for_comes_first(focus: str) -> None:
    first = focused_parts(TEXT, focus)[0]
    assert first.startswith(NEEDLE)
    assert estimate_tokens(first) <= FOCUS_TOKENS


def test_without_any_of_the_words_the_order_of_the_text_stays() -> None:
    assert focused_parts(TEXT, "zebra")[0].startswith("Paragraph 0")
    assert not mentions(TEXT, "what is the zebra?")
    assert mentions(TEXT, "ship")


def test_scripts_without_blanks_can_be_looked_for() -> None:
    text = "\n".join(["天気は晴れです。"] * 200 + ["選挙の投票率は六割でした。"])
    assert focused_parts(text, "投票率", tokens=100)[0].startswith("選挙")


def test_a_long_text_comes_in_parts_cut_between_paragraphs() -> None:
    parts = parts_of(TEXT)
    assert len(parts) > 2
    assert "\n".join(parts) == TEXT
    assert all(estimate_tokens(part) <= PART_TOKENS for part in parts)


BYTES = random.Random(1).randbytes(9_000)
BASE64 = base64.b64encode(BYTES).decode()
LETTERS = "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=9_000))
DENSE = {
    "base64": BASE64,
    "base64 for addresses": base64.urlsafe_b64encode(BYTES).decode(),
    "base64 in lines": base64.encodebytes(BYTES).decode(),
    "base64 among words": f"the price of fish and the weather in the harbour {BASE64[:200]} " * 60,
    "base32": base64.b32encode(BYTES).decode(),
    "base85": base64.b85encode(BYTES).decode(),
    "hexadecimal": BYTES.hex(),
    "identifiers": " ".join(LETTERS[n : n + 12] for n in range(0, 9_000, 12)),
    "numbers": "\n".join(" ".join(f"{n * m * 7.31:,.2f}" for m in range(9)) for n in range(300)),
    "Chinese": "选举委员会宣布投票率为百分之六十一，经济增长放缓，政府公布了新的政策。" * 150,
    "Japanese": "選挙管理委員会は投票率が六十一パーセントだったと発表した。" * 150,
    "Korean": "선거관리위원회는 투표율이 육십일 퍼센트였다고 발표했다. " * 150,
    "rare Chinese": "".join(map(chr, range(0x20000, 0x21000))),
    "Hebrew": "ועדת הבחירות הודיעה כי שיעור ההצבעה עמד על שישים אחוז. " * 150,
    "Georgian": "საარჩევნო კომისიამ განაცხადა რომ აქტივობა სამოცი პროცენტი იყო. " * 120,
    "Amharic": "የምርጫ ኮሚሽኑ የመራጮች ተሳትፎ ስልሳ በመቶ እንደነበር አስታወቀ። " * 120,
    "Tamil": "தேர்தல் ஆணையம் அறுபது சதவீத வாக்குப்பதிவு என்று அறிவித்தது. " * 120,
    "accents that stand alone": "a\u0301\u0327\u0304" * 2_000,
    "emoji": "".join(map(chr, range(0x1F300, 0x1F64F))) * 4,
    "families": "👨‍👩‍👧‍👦🏳️‍🌈👩🏽‍💻" * 400,
    "bold letters": "".join(map(chr, range(0x1D400, 0x1D6A0))) * 4,
    "source code": (Path(chunks.__file__).read_text(encoding="utf-8")) * 2,
    "minified code": "".join(f"function h{n}(e,t,n){{return e&&t?n[{n}]:(0,o.x)(t.q||{n})}}" for n in range(300)),
}


@pytest.mark.parametrize("kind", DENSE)
def test_no_part_of_dense_text_costs_more_than_an_agent_is_told(kind: str, tokens_of: Callable[[str], int]) -> None:
    text = DENSE[kind]
    assert tokens_of(text) > 3_000
    # Its heading may take 100 more.
    assert max(map(tokens_of, parts_of(text))) <= 2_400
    assert max(map(tokens_of, focused_parts(text, "turnout"))) <= 1_000


def test_prose_is_not_cut_much_shorter_than_it_has_to_be(tokens_of: Callable[[str], int]) -> None:
    parts = parts_of("the price of fish and the weather in the harbour is said to rise to a new high. \n" * 1_000)
    assert min(map(tokens_of, parts[:-1])) > 0.8 * PART_TOKENS


def test_an_endless_paragraph_is_cut_and_nothing_of_it_is_lost() -> None:
    # Cut by looking at all of its rest again and again, this would take minutes.
    text = "Ab1" * 60_000
    assert "".join(parts_of(text)).replace(" ", "") == text


@pytest.mark.parametrize("text", ["x" * 30_000, "選" * 9_000, "😀" * 5_000, "a1" * 9_000, "word " * 9_000])
def test_a_paragraph_without_end_is_cut(text: str) -> None:
    parts = parts_of(text)
    assert len(parts) > 1
    assert all(estimate_tokens(part) <= PART_TOKENS + 10 for part in parts)
