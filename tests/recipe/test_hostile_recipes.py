"""Recipes made to keep a parser busy: refused in a sentence, in bounded time and memory."""

import os
import socket
from pathlib import Path

import pytest

from predibot.errors import RecipeError
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import MAX_BYTES, RecipeText, find_recipe
from tests.soaks import one_in

BOT = '[[bots]]\nstrategy = "market_price"\n'


def refusal(text: str) -> str:
    with pytest.raises(RecipeError) as refused:
        parse_recipe(RecipeText(text, "r.toml", "r"))
    said = str(refused.value)
    assert "\n" not in said and len(said) < 500
    return said


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "x = " + "[" * 100_000 + "]" * 100_000,
        "x = " + "{a = " * 100_000 + "1" + "}" * 100_000,
    ],
    ids=["open", "closed", "tables"],
)
def test_what_is_nested_too_deep_is_one_sentence(text: str) -> None:
    assert refusal(text) == "r.toml is nested too deep. Write tables and lists of one or two levels"


@pytest.mark.parametrize("depth", range(380, 500, 5))
def test_at_no_depth_does_one_part_of_the_parser_give_up_where_another_did_not(depth: int) -> None:
    assert refusal(f"{BOT}x = {'[' * depth}{']' * depth}").startswith(("r.toml, line 3: unknown", "r.toml is nested"))


@pytest.mark.parametrize(
    "text",
    [
        BOT + "a." * 50_000 + "a = 1",
        BOT + "[" + "a." * 50_000 + "a]",
        BOT + "'a b' . " * 15_000 + "a = 1",
        BOT + '"a" .' * 20_000 + "a = 1",
        BOT + "x = {" + "a." * 50_000 + "a = 1}",
    ],
    ids=["bare", "header", "literal", "quoted", "inline"],
)
def test_a_dotted_key_of_a_hundred_kilobytes_is_one_sentence(text: str) -> None:
    assert refusal(text) == "r.toml, line 3: a key has more than 50 parts. Write one or two"


def test_more_bots_than_anybody_means_are_one_sentence() -> None:
    assert refusal(BOT * 18_000) == "r.toml has 18,000 bots. Write at most 1,000 in a recipe"
    bots = "".join(f'[[bots]]\nname = "b{number}"\nstrategy = "market_price"\n' for number in range(1_000))
    assert len(parse_recipe(RecipeText(bots, "r.toml", "r")).bots) == 1_000


def test_dots_in_prose_are_no_key() -> None:
    prose = "# " + "." * 1_000 + " " + "a sentence. " * 1_000 + "\n# https://a.b.c.example.org/1.2.3.4\n"
    assert parse_recipe(RecipeText(prose + BOT, "r.toml", "r")).bots[0].name == "market_price"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = " + "9" * 5_000, "r.toml has a number of thousands of digits"),
        (f"seed = 0x{'f' * 5_000}", "r.toml, line 1: a number is beyond 64 bits"),
        (f"{BOT}[selection]\nevents = {10**30}", "r.toml, line 4: a number is beyond 64 bits"),
        (f"{BOT}[limits.run]\nusd = -{2**63 + 1}", "r.toml, line 4: a number is beyond 64 bits"),
        (f"{BOT}[limits.run]\nusd = 1e999", "r.toml, line 4: 'usd' in a table of [limits] is inf"),
    ],
)
def test_a_number_beyond_what_toml_holds_is_one_sentence(text: str, said: str) -> None:
    assert refusal(text).startswith(said)


@pytest.mark.parametrize(
    "text",
    one_in(
        2,
        [
            "".join(f"[t{n}]\n" for n in range(30_000)),
            "# " + "a " * 400_000,
            '"' * 400_000,
            "a=1\n" * 200_000,
            f"{BOT}{'k' * 900_000} = 1",
            f"{'k' * 900_000} = 1\n{BOT}",
            f"{BOT}api_key_{'k' * 900_000} = 1",
            f"{BOT}[selection]\ncrypto_words = ['{'a ' * 400_000}']",
            "".join(f'[[bots]]\nname="n{n}"\nstrategy="market_price"\n' for n in range(999))
            + '[[bots]]\nstrategy="ensemble"\nmembers=["n"]',
        ],
    ),
    ids=["tables", "words", "quotes", "twice", "key of a bot", "key", "secret", "crypto word", "names"],
)
def test_a_megabyte_of_anything_else_is_refused_in_a_sentence(text: str) -> None:
    assert refusal(text).startswith("r.toml, line ")


@pytest.mark.parametrize(
    "text",
    one_in(
        3,
        [
            "x = [" + "1," * 200_000 + "]",
            "x = [" + "{a=1}," * 100_000 + "]",
            "".join(f"k{n}=1\n" for n in range(90_000)),
        ],
    ),
    ids=["list", "inline tables", "keys"],
)
def test_more_keys_and_entries_than_anybody_means_are_one_sentence(text: str) -> None:
    said = refusal(BOT + text)
    assert said.endswith(" keys and entries of lists. Write at most 50,000 in a recipe")


@pytest.mark.parametrize(
    ("key", "most"), [("exclude", 1_000), ("include", 1_000), ("crypto_words", 1_000), ("providers", 100)]
)
def test_a_list_of_more_words_than_anybody_means_is_one_sentence(key: str, most: int) -> None:
    table = "search" if key == "providers" else "selection"
    words = [f'"w{n}"' for n in range(most + 1)]
    said = refusal(f"{BOT}[{table}]\n{key} = [{', '.join(words)}]")
    assert said == f"r.toml, line 4: {key!r} in [{table}] has {most + 1:,} entries; write at most {most:,}"
    if table == "selection":
        nothing_out = "" if key == "exclude" else "exclude = []\n"
        text = f"{BOT}[selection]\n{nothing_out}{key} = [{', '.join(words[1:])}]"
        assert parse_recipe(RecipeText(text, "r.toml", "r")).selection.events == 10


def test_a_recipe_above_a_megabyte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    path.write_text(BOT + "#" * (MAX_BYTES - len(BOT)))
    assert find_recipe("big.toml", tmp_path).name == "big"
    path.write_text(BOT + "#" * (MAX_BYTES - len(BOT) + 1))
    with pytest.raises(RecipeError, match=r"big\.toml cannot be read: it has more than 1,000,000 bytes"):
        find_recipe("big.toml", tmp_path)


def test_a_recipe_that_is_a_pipe_a_socket_a_folder_or_has_no_end_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless.toml").symlink_to("/dev/zero")
    os.mkfifo("pipe.toml")
    Path("folder.toml").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.toml")
    for name in ("pipe.toml", "folder.toml", "socket.toml", "endless.toml"):
        with pytest.raises(RecipeError, match=f"{name} cannot be read: .*. Name a recipe file"):
            find_recipe(name, tmp_path)
