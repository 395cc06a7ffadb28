"""Passages: the sentences of a text that a question is about."""

from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.related.passages import GAP, best_passage

QUESTION = "Will the mayor of Rome resign before July 2026?"


def test_the_rarest_words_of_the_question_decide_and_not_how_many_there_are() -> None:
    common = "\n".join(f"Rome had visitors, number {number}." for number in range(20))
    passage = best_passage(f"{common}\nOn Monday he may resign.\n{common}", QUESTION, 60)
    assert "On Monday he may resign." in passage.split(GAP)


def test_without_any_word_of_the_question_the_beginning_is_taken_and_what_is_in_view_is_left_out() -> None:
    assert best_passage("Hail fell. Wind came. Fog went.", QUESTION, 24) == f"Hail fell.{GAP}Wind came."
    text = "Mayor of Rome\nThe mayor spoke."
    assert best_passage(text, QUESTION, 100, known="The mayor of Rome") == "The mayor spoke."
    assert best_passage("", QUESTION, 100) == ""


@settings(max_examples=25)
@given(st.text(max_size=300), st.text(max_size=30), st.integers(1, 80))
def test_a_passage_is_of_the_text_and_fits(text: str, question: str, characters: int) -> None:
    passage = best_passage(text, question, characters)
    assert len(passage) <= characters
    assert "\n" not in passage
    assert all(word in text for piece in passage.split(GAP) for word in piece.split() if "…" not in word)
    assert bool(passage) == bool(text.replace(GAP, " ").strip())
