"""The data set of a ledger: ids that lead to people are hashed with a key that stays here."""

from pathlib import Path

from predibot.web.data_set import _hash_ids, _read_key


def test_ids_of_comments_are_hashed_by_a_key_that_only_its_user_reads(tmp_path: Path) -> None:
    file = tmp_path / "predibot/publish.key"
    key = _read_key(file)
    assert _read_key(file) == key and file.stat().st_mode & 0o777 == 0o600
    rows = [("comment", "4711"), ("window", "4711"), ("event", "4711")]
    (_, comment), (_, window), event = _hash_ids(rows, 0, [1], lambda: key)
    assert event == ("event", "4711") and comment == window != "4711" and len(comment) == 32
    ((_, other),) = _hash_ids(rows[:1], 0, [1], lambda: _read_key(None))
    assert other != comment
