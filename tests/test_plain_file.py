"""Plain files: what is none, is too large or unpacks to more than it may is refused at once, and in few words."""

import gzip
import os
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from predibot.plain_file import NotPlain, names_in, open_plain, pipe_pieces, plain_bytes, plain_text, unpack


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, Path.mkdir, a_socket, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path)],
    ids=["pipe", "folder", "socket", "device", "circle"],
)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a")
    for read in (open_plain, plain_bytes, plain_text):
        with pytest.raises(OSError):
            read(tmp_path / "a")


def test_a_file_may_have_so_many_bytes_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert plain_bytes(tmp_path / "a", 10) == b"x" * 10
    with pytest.raises(NotPlain, match=r"^it has more than 9 bytes$"):
        plain_bytes(tmp_path / "a", 9)
    # Of these the system says that they have none.
    with pytest.raises(NotPlain, match="more than 3 bytes"):
        plain_bytes(Path("/proc/self/status"), 3)


def test_files_of_more_than_64_mib_are_not_read_unless_asked_for(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    for read in (plain_bytes, plain_text):
        with pytest.raises(NotPlain, match=r"^it has more than 67,108,864 bytes$"):
            read(tmp_path / "a")


def test_lines_end_in_one_way_whatever_system_wrote_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\nd")
    assert plain_text(tmp_path / "a", encoding="utf-8-sig") == "a\nb\nc\nd"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_what_is_packed_unpacks_to_so_many_bytes_and_no_more(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b"x" * 1000)
    assert unpack(packed, 1000) == b"x" * 1000
    for broken in (b"", packed[:-1], packed + b"x", packed + packed, b"no" + packed, packed[:9]):
        with pytest.raises(ValueError, match=r"cannot be unpacked|cut short"):
            unpack(broken, 1000)
    bomb = pack(bytes(50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"^it unpacks to more than 1,000 bytes$"):
            unpack(bomb, 1000)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_folder_may_hold_so_many_names_and_no_more(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).touch()
    assert sorted(names_in(tmp_path, 3)) == ["a", "b", "c"]
    with pytest.raises(NotPlain, match="it holds more than 2 files"):
        names_in(tmp_path, 2)


def test_a_pipe_is_read_until_who_writes_closes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 200_000,))
    writer.start()
    assert b"".join(pipe_pieces(tmp_path / "pipe")) == b"x" * 200_000
    writer.join()
    monkeypatch.setattr("predibot.plain_file._PIPE_SECONDS", 0.01)
    with pytest.raises(NotPlain, match="nothing was written"):
        list(pipe_pieces(tmp_path / "pipe"))
