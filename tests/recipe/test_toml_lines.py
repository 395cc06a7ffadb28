"""Lines of a TOML text: every key is found where it stands, and nowhere else."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from predibot.recipe.text import key_lines

WHOLE = '''\
# name = "not a key"
seed = 1  # every = "not a key"
"quoted key".'literal.key' = 2
text = """
venue = "not a key"
\\"""quoted\\""" """
literal = \'\'\'
[not.a.table]\'\'\'
list = [ # game = 3
  "a]b",
  {x = 1, y = [1,
     2]},
]

[selection]
events = 3

[[bots]]
name = "a"

[[bots]]
strategy = 'b'
[bots.options]
deep.er = true
last = 2026-02-13 10:00:00
'''


def test_each_key_has_the_line_it_stands_on() -> None:
    assert tomllib.loads(WHOLE)
    lines = key_lines(WHOLE)
    expected = {
        ("seed",): 2,
        ("quoted key", "literal.key"): 3,
        ("text",): 4,
        ("literal",): 7,
        ("list",): 9,
        ("list", 1, "x"): 11,
        ("list", 1, "y", 1): 12,
        ("selection",): 15,
        ("selection", "events"): 16,
        ("bots", 0): 18,
        ("bots", 0, "name"): 19,
        ("bots", 1, "strategy"): 22,
        ("bots", 1, "options", "deep", "er"): 24,
        ("bots", 1, "options", "last"): 25,
    }
    assert {path: lines.get(path) for path in expected} == expected

    # What only looks like a key is none.
    assert not {"name", "every", "venue", "not", "game"} & {path[0] for path in lines}


def test_lists_of_tables_in_tables_are_counted_apart_and_line_ends_of_windows_once() -> None:
    lines = key_lines("[[a]]\n[[a.b]]\nx=1\n[[a.b]]\nx=2\n[[a]]\n[[a.b]]\nx=3\n")
    assert (lines[("a", 0, "b", 1, "x")], lines[("a", 1, "b", 0, "x")]) == (5, 8)
    assert key_lines("") == key_lines("# nothing\n\n") == {}
    assert key_lines("a = 1\r\nb = '''\r\n'''\r\nc = 2\r\n")[("c",)] == 4


plain = st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["Cs", "Cc"]), max_size=12)


def basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.lists(st.tuples(plain, plain), max_size=6, unique_by=lambda pair: pair[0]))
def test_whatever_keys_and_values_contain_the_lines_are_those_they_were_written_on(
    pairs: list[tuple[str, str]],
) -> None:
    text = "".join(f"{basic(key)} = {basic(value)} # {value}\n" for key, value in pairs)
    assert tomllib.loads(text) == dict(pairs)
    assert key_lines(text) == {(key,): line for line, (key, _) in enumerate(pairs, start=1)}
