"""Reading: files are opened and bytes unpacked in one bounded way, `predibot.plain_file`, and nowhere else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import predibot

PACKAGE = Path(predibot.__file__).parent
ROOT = PACKAGE.parent
READERS = {"read_text", "read_bytes", "decompress", "decompressobj", "iterdir", "listdir", "ParquetFile"}
READERS |= {"read_csv", "read_parquet", "read_table", "loadtxt", "genfromtxt", "memmap", "fromfile"}
NAMED = {"codecs.open", "io.FileIO", "io.open", "json.load", "np.load", "numpy.load", "os.open", "tomllib.load"}
UNPACKERS = {"bz2", "fileinput", "gzip", "linecache", "lzma", "mmap", "pickle", "shelve", "tarfile", "zipfile"}
ELSEWHERE = {
    "predibot/plain_file.py": {"os.open", "decompressobj", "decompress"},
    # Before anything else can be imported: the file beside our own package.
    "predibot/_folders.py": {"read_text"},
    # Files of our own package, wherever it is packed.
    "predibot/agents/loop/container.py": {"read_text"},
    "predibot/cli/place.py": {"read_text"},
    "predibot/agents/prompts/render.py": {"read_text"},
    "predibot/studies/stakebench/collecting/collect.py": {"read_text"},
    "predibot/recipe/text.py": {"iterdir", "read_text"},
    "predibot/research/search/blocked_domains.py": {"read_text"},
    "predibot/web/site.py": {"read_bytes"},
    "predibot/web/site_folder.py": {"iterdir", "os.open"},
    # A bounded part at a time, with a bound on all.
    "predibot/ledger/files/trace_lines.py": {"decompressobj", "decompress"},
    "predibot/research/pages/decode_body.py": {"decompressobj", "decompress"},
    # A table in a child process with a bound on its memory, of a file that is open already.
    "predibot/jobs/score_files/table_reader.py": {"ParquetFile"},
    # A packed table, a mebibyte at a time, up to the bound on files of tables.
    "predibot/jobs/score_files/table_file.py": {"gzip"},
    # To write, to lock, or nothing at all.
    "predibot/studies/stakebench/collecting/raw_store.py": {"iterdir", "os.open"},
    "predibot/jobs/logs/log_file.py": {"os.open"},
    # A table of bytes that were read already, within a bound.
    "predibot/venues/stocks/folder.py": {"loadtxt"},
    # What this user keeps, which is opened above already.
    "predibot/ledger/cache.py": {"np.load"},
    "predibot/whole_file.py": {"os.open"},
    "predibot/cli/ending.py": {"os.open"},
    "predibot/research/pages/parser_child.py": {"os.open"},
}

LAST_WORDS = {name.rpartition(".")[2] for name in NAMED}
WORDS = re.compile(rf"\b(?:{'|'.join({'open', *UNPACKERS, *READERS, *LAST_WORDS})})\b")


def readers(source: str) -> Iterator[str]:
    """Yield what in a source opens a file to read it, lists a folder whole or unpacks bytes."""
    # A name in ASCII has no other way of writing; a source without one of them need not be parsed, which takes longest.
    if source.isascii() and not WORDS.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from UNPACKERS & {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            yield from UNPACKERS & {(node.module or "").partition(".")[0]}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            yield "open"
        elif isinstance(node, ast.Attribute) and node.attr in READERS:
            yield node.attr
        elif isinstance(node, ast.Attribute) and node.attr in LAST_WORDS and ast.unparse(node) in NAMED:
            yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "open":
            yield from ["open"] if ast.unparse(node.func) != "os.open" and is_read(node) else []


def is_read(call: ast.Call) -> bool:
    """Return whether a call of a method `open` opens a path to be read: its mode says so, or is left out."""
    modes = [each for each in (*call.args, *(named.value for named in call.keywords if named.arg == "mode"))]
    others = {named.arg for named in call.keywords} - {"mode", "encoding", "errors", "newline", "buffering"}
    if others:
        return False
    if not modes:
        return True
    return any(re.fullmatch("'[rbt]+'", ast.unparse(each)) for each in ast.walk(modes[0]))


SOURCES = sorted(path for folder in ("predibot", "strategies", "tools") for path in (ROOT / folder).rglob("*.py"))


def test_nothing_else_opens_files_to_read_them_or_unpacks_bytes() -> None:
    found = {str(path.relative_to(ROOT)): set(readers(path.read_text(encoding="utf-8"))) for path in SOURCES}
    unknown = {name: sorted(seen - ELSEWHERE.get(name, set())) for name, seen in found.items()}
    assert {name: seen for name, seen in unknown.items() if seen} == {}
    stale = {name: sorted(allowed - found.get(name, set())) for name, allowed in ELSEWHERE.items()}
    assert {name: seen for name, seen in stale.items() if seen} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "open('a')",
        "Path('a').open()",
        "Path('a').open('rb')",
        "path.open(mode='rt', encoding='utf-8')",
        "os.open(path, os.O_RDONLY)",
        "path.read_bytes()",
        "list(map(Path.read_text, paths))",
        "import gzip",
        "from zipfile import ZipFile",
        "zlib.decompress(content)",
        "tomllib.load(file)",
        "json.load(file)",
        "numpy.load(path)",
        "path.open('r' if plain else 'rb')",
    ],
)
def test_a_planted_reader_is_seen(planted: str) -> None:
    assert list(readers(planted))


@pytest.mark.parametrize(
    "other", ["Store.open(address)", "path.open('wb')", "path.open('w' if force else 'x')", "named.open(spec)"]
)
def test_what_opens_no_file_to_read_it_is_none(other: str) -> None:
    assert not list(readers(other))
