"""The lines of a trace, found without reading it whole, on each kind of database."""

import json
import random
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.ledger.files.content_store import artefacts
from predibot.ledger.files.trace_lines import BLOCK_BYTES, trace_lines
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from tests.soaks import ONE_DATABASE


def kept(store: Store, lines: list[str]) -> str:
    return Traces(store).files.keep("".join(f"{line}\n" for line in lines).encode())


@pytest.fixture
def lines() -> list[str]:
    """Return six megabytes of steps, which are several blocks."""
    rng = random.Random(1)
    letters = "".join(rng.choices("abcdefghij ", k=12_000))
    return [
        json.dumps({"step": n, "kind": "tool", "result": letters[rng.randrange(9_000) :]}, ensure_ascii=False)
        for n in range(800)
    ]


@ONE_DATABASE
def test_every_line_is_read_as_it_was_written(store: Store, lines: list[str]) -> None:
    found = trace_lines(Traces(store).files, kept(store, lines))
    assert len(found) == len(lines)
    whole = [line for _, line in found.read(range(len(lines)), 10**6)]
    assert whole == [line.encode() for line in lines]
    for number in (0, 1, 399, 798, 799):
        assert list(found.read([number], 10**6)) == [(len(lines[number]), lines[number].encode())]
    assert list(found.read([5, 700], 7)) == [(len(lines[n]), lines[n].encode()[:7]) for n in (5, 700)]
    assert b"".join(found.blocks()).decode() == "".join(f"{line}\n" for line in lines)


@ONE_DATABASE
def test_a_text_is_found_wherever_a_block_ends(store: Store, lines: list[str]) -> None:
    lines[3] = json.dumps({"kind": "mine", "said": 'He said "Fünf"\n'}, ensure_ascii=False)
    # This one lies across the end of the first block.
    before = sum(len(line.encode()) + 1 for line in lines[:10])
    lines[10] = "x" * (BLOCK_BYTES - before - 3) + "needle" + "x" * 100
    found = trace_lines(Traces(store).files, kept(store, lines))
    assert found.find("NEEDLE") == (10,)
    assert found.find('said "fünf"\n') == (3,)
    assert found.find("kind") == tuple(n for n in range(800) if n != 10)
    assert found.find("not in it") == ()


@ONE_DATABASE
@pytest.mark.parametrize("cut", [1, 9, 30, 70, 300])
def test_lines_of_models_are_known_from_the_only_reading(store: Store, lines: list[str], cut: int) -> None:
    model = '{"step": 10, "kind": "model", "text": "' + "y" * 500 + '"}'
    # This one begins so many bytes before the end of the first block.
    before = sum(len(line.encode()) + 1 for line in lines[:9])
    lines[9:11] = ["x" * (BLOCK_BYTES - before - cut - 1), model]
    lines[0] = lines[700] = model
    lines[701] = f" {model}"
    found = trace_lines(Traces(store).files, kept(store, lines))
    assert [*found.models] == [0, 10, 700]


@ONE_DATABASE
def test_a_trace_that_was_changed_or_is_not_there_is_refused(store: Store) -> None:
    digest = kept(store, ['{"kind": "mine"}'])
    if store.files is None:
        with store.write() as connection:
            connection.execute(artefacts.update().values(content=b"x"))
    else:
        (path,) = Path(store.files).rglob("*.jsonl")
        path.write_text("{}\n")
    with pytest.raises(UsageError, match="was changed since"):
        trace_lines(Traces(store).files, digest)
    for name in ("0" * 64, "../../etc/passwd"):
        with pytest.raises(UsageError):
            trace_lines(Traces(store).files, name)


def test_a_trace_without_lines_has_none(store: Store) -> None:
    found = trace_lines(Traces(store).files, kept(store, []))
    assert (len(found), found.find("x"), list(found.read([], 5))) == (0, (), [])
