"""Pictures of studies: each number is in its cell, names of others are text, and a file needs nothing else."""

from pathlib import Path
from xml.etree import ElementTree

from predibot.reports.cells import CellPicture, Panel
from predibot.reports.pictures.files import write_svgs

PANEL = Panel("Crypto", ("<script>alert(1)</script>", "b\x1b[31m"), ("QWK", "MSE"), ((0.25, None), (-0.5, 1.0)))
PICTURE = CellPicture("one", 'What "bots" say', (PANEL, PANEL), "bar", "A note.")
SVG = "{http://www.w3.org/2000/svg}"


def test_a_file_is_whole_and_names_of_others_are_text() -> None:
    found = ElementTree.fromstring(PICTURE.file())
    assert not list(found.iter(f"{SVG}script"))
    words = [each.text or "" for each in found.iter(f"{SVG}text")]
    assert words.count("<script>alert(1)</script>") == 2 and "\x1b" not in "".join(words)
    assert found.find(f"{SVG}title") is not None
    assert (found.get("aria-label"), found.find(f"{SVG}script")) == ('What "bots" say', None)


def test_a_missing_number_is_empty_and_the_longest_bar_is_half_a_cell() -> None:
    bars = list(ElementTree.fromstring(PICTURE.svg()).iter(f"{SVG}rect"))
    assert [(each.get("class"), float(each.get("width", 0))) for each in bars[:3]] == [
        ("good", 9.8),
        ("bad", 19.5),
        ("good", 39.0),
    ]
    assert len(bars) == 6


def test_a_shade_is_as_dark_as_its_number() -> None:
    shaded = CellPicture("two", "", (Panel("", ("a",), ("x", "y"), ((0.0, 1.0),)),), "shade", "")
    dark = [float(each.get("fill-opacity", 0)) for each in ElementTree.fromstring(shaded.svg()).iter(f"{SVG}rect")]
    assert dark == [0.05, 0.6]


def test_each_picture_has_a_file(tmp_path: Path) -> None:
    (path,) = write_svgs([PICTURE], tmp_path / "new")
    assert path.name == "one.svg" and path.read_text(encoding="utf-8") == PICTURE.file()
