"""Raw payloads: kept whole, of one platform, and never taken for something that they are not."""

import gzip
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.studies.stakebench.collecting.collect import read_or_make_salt
from predibot.studies.stakebench.collecting.raw_store import RawStore


def test_an_answer_with_any_byte_changed_is_refused_in_one_line(tmp_path: Path) -> None:
    answer = [{"id": number, "text": f"{number * number}"} for number in range(40)]
    store = RawStore(tmp_path)
    store.answer("comments", "name", lambda: answer)
    (path,) = tmp_path.glob("raw/comments/*.gz")
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            # Of the header some bytes say nothing.
            assert store.answer("comments", "name", list) == answer
        except UsageError as error:
            assert "delete it and collect again" in str(error)
            refused += 1
    assert refused > len(whole) - 12


@pytest.mark.parametrize(
    "unpacked",
    [
        lambda: bytes(2**26 + 1),
        lambda: b"[" * 100_000,
        lambda: b'{"answer": [' + b"0," * 3_000_000 + b"0]}",
    ],
)
def test_an_answer_that_would_fill_the_memory_is_refused(tmp_path: Path, unpacked: Callable[[], bytes]) -> None:
    store = RawStore(tmp_path)
    store.answer("comments", "name", list)
    (path,) = tmp_path.glob("raw/comments/*.gz")
    path.write_bytes(gzip.compress(unpacked(), 1))
    with pytest.raises(UsageError, match="delete it and collect again"):
        store.answer("comments", "name", list)


def test_answers_of_another_platform_are_not_taken_for_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        with RawStore(tmp_path).lock("sandbox:polymarket"):
            pass
    with (
        pytest.raises(UsageError, match="holds answers of 'sandbox:polymarket', not of 'polymarket'"),
        RawStore(tmp_path).lock("polymarket"),
    ):
        pytest.fail("it was let in")


def test_a_second_collection_into_a_folder_is_refused_and_halves_are_cleared_away(tmp_path: Path) -> None:
    with RawStore(tmp_path).lock("manifold"):
        name = f".unfinished-{'1' * 32}"
        halves = [tmp_path / name, tmp_path / "raw" / "bets" / name]
        halves[1].parent.mkdir()
        for half in halves:
            half.touch()
        with (
            pytest.raises(UsageError, match="another collection is at work"),
            RawStore(tmp_path).lock("manifold"),
        ):
            pytest.fail("it was let in")
        assert all(half.exists() for half in halves)
    with RawStore(tmp_path).lock("manifold"):
        assert not any(half.exists() for half in halves)


def test_many_that_make_a_salt_at_once_have_the_same(tmp_path: Path) -> None:
    for number in range(20):
        path, found, ready = tmp_path / f"salt{number}", [], threading.Barrier(8)

        def make(path: Path = path, found: list[bytes] = found, ready: threading.Barrier = ready) -> None:
            ready.wait()
            found.append(read_or_make_salt(path))

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert len(set(found)) == 1
    assert len(list(tmp_path.iterdir())) == 20
