"""The data set of a ledger: ids that lead to people are hashed with a key that stays here."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from predibot.plain_file import plain_bytes
from predibot.web.data_set import _hash_ids, _read_key


def test_ids_of_comments_are_hashed_by_a_key_that_only_its_user_reads(tmp_path: Path) -> None:
    file = tmp_path / "predibot/publish.key"
    key = _read_key(file)
    assert _read_key(file) == key and file.stat().st_mode & 0o777 == 0o600
    batch = [("comment", "window", "event"), ("4711", "4711", "4711")]
    kinds, (comment, window, event) = _hash_ids(batch, 0, [1], lambda: key)
    assert kinds == batch[0] and event == "4711" and comment == window != "4711" and len(comment) == 32
    _, (other, *_) = _hash_ids(batch, 0, [1], lambda: _read_key(None))
    assert other != comment


def test_calls_at_once_that_make_the_key_get_the_same_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_and_pause(file: Path) -> bytes:
        try:
            return plain_bytes(file)
        finally:
            threading.Event().wait(0.02)

    monkeypatch.setattr("predibot.web.data_set.plain_bytes", look_and_pause)
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(_read_key, [tmp_path / "publish.key"] * 4)}) == 1
