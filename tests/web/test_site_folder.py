"""The folder of a site: only its own files are replaced or removed."""

import json
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.web.site_folder import SiteFolder, SiteSummary


def publish(path: Path, key: str, **files: bytes) -> SiteSummary:
    """Write a site of pages with these names."""
    pages = {f"bot/{name}.html": content for name, content in files.items()}
    with closing(SiteFolder.open(path)) as folder:
        folder.begin(pages)
        for name, content in pages.items():
            folder.write(name, content)
        return folder.end(key)


def is_whole(path: Path, key: str) -> bool:
    """Return whether all files of a site are there."""
    with closing(SiteFolder.open(path)) as folder:
        return folder.unchanged(key) is not None


def names_below(path: Path) -> set[str]:
    """Return the names of all files below a folder, links among them."""
    return {each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_symlink() or not each.is_dir()}


@pytest.mark.parametrize("name", ["bot/b.html", "bot/b.html/letter"])
def test_a_file_of_others_at_the_name_of_a_page_is_named_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, "1", a=b"old")
    (site / name).parent.mkdir(exist_ok=True)
    (site / name).write_text("mine")
    before = (site / "predibot-site.json").read_bytes()
    with pytest.raises(UsageError, match=r"bot/b\.html is no file of this site; move it away"):
        publish(site, "2", a=b"new", b=b"new")
    assert (site / name).read_text() == "mine" and (site / "bot/a.html").read_text() == "old"
    assert (site / "predibot-site.json").read_bytes() == before


def test_files_that_are_no_longer_pages_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    publish(tmp_path, "1", a=b"1", b=b"1")
    (tmp_path / "bot/notes.html").write_text("mine")
    assert publish(tmp_path, "2", a=b"2").removed == 1
    assert names_below(tmp_path) == {"bot/a.html", "bot/notes.html", "predibot-site.json"}


def test_a_file_of_others_where_the_site_needs_a_folder_is_named(tmp_path: Path) -> None:
    publish(tmp_path, "1")
    (tmp_path / "bot").write_text("mine")
    with pytest.raises(UsageError, match="bot is no file of this site"):
        publish(tmp_path, "1", a=b"1")


@pytest.mark.parametrize("link", ["bot", "bot/a.html", "predibot-site.json"])
def test_what_a_link_in_the_site_leads_to_is_neither_written_nor_removed(link: str, tmp_path: Path) -> None:
    site, target = tmp_path / "site", tmp_path / "target"
    publish(site, "1", a=b"1")
    (site / link).rename(target)
    (site / link).symlink_to(target)
    before = (site / "predibot-site.json").read_bytes()
    for pages in ({"a": b"1"}, {"a": b"2"}, {"b": b"1"}, {}):
        with pytest.raises(UsageError, match=f"{link} is a link, which may lead out"):
            publish(site, "2", **pages)
    assert (site / "bot/a.html").read_bytes() == b"1" and not (site / "bot/b.html").exists()
    assert (site / "predibot-site.json").read_bytes() == before


def test_a_site_with_a_link_is_not_whole_and_the_folder_itself_may_be_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "site")
    (tmp_path / "site").mkdir()
    publish(tmp_path / "link", "1", a=b"1")
    assert is_whole(tmp_path / "link", "1")
    (tmp_path / "site/bot").rename(tmp_path / "bot")
    (tmp_path / "site/bot").symlink_to(tmp_path / "bot")
    assert not is_whole(tmp_path / "link", "1")


def test_of_two_calls_at_once_the_second_says_so_and_ends(tmp_path: Path) -> None:
    with closing(SiteFolder.open(tmp_path)), pytest.raises(UsageError, match="another call is writing"):
        SiteFolder.open(tmp_path)
    publish(tmp_path, "1", a=b"1")


def test_of_two_calls_that_both_find_no_folder_one_makes_it(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with closing(SiteFolder.open(site)) as first, closing(SiteFolder.open(site)) as second:
        first.begin(["a.html"])
        with pytest.raises(UsageError, match="another call is writing"):
            second.begin(["b.html"])
    with closing(SiteFolder.open(tmp_path / "other")) as late:
        publish(tmp_path / "other", "1", a=b"1")
        late.begin(["bot/a.html"])
        assert "bot/a.html" in late.before["files"]


def test_a_damaged_file_is_written_again_and_whole_ones_are_not(tmp_path: Path) -> None:
    publish(tmp_path, "1", a=b"12", b=b"12")
    assert is_whole(tmp_path, "1")
    (tmp_path / "bot/a.html").write_bytes(b"1")
    assert not is_whole(tmp_path, "1")
    assert publish(tmp_path, "1", a=b"12", b=b"12").written == 1
    assert (tmp_path / "bot/a.html").read_bytes() == b"12"


def test_a_group_with_a_damaged_file_is_made_again_and_a_whole_one_is_not(tmp_path: Path) -> None:
    written = []
    for damaged in (b"12", b"1", b"12"):
        with closing(SiteFolder.open(tmp_path)) as folder:
            folder.begin(["a.html"])
            folder.write_group("a", "same", ["a.html"], partial(folder.write, "a.html", b"12"))
            written.append(folder.end("1").written)
        assert (tmp_path / "a.html").read_bytes() == b"12"
        (tmp_path / "a.html").write_bytes(damaged)
    assert written == [1, 0, 1]


def test_a_site_of_a_version_that_stored_no_sizes_is_written_again(tmp_path: Path) -> None:
    publish(tmp_path, "1", a=b"12")
    file = tmp_path / "predibot-site.json"
    manifest = json.loads(file.read_text())
    del manifest["sizes"]
    file.write_text(json.dumps(manifest))
    assert publish(tmp_path, "1", a=b"12").written == 1
    assert is_whole(tmp_path, "1")


def test_what_a_killed_call_left_unfinished_is_removed_and_files_of_similar_names_stay(tmp_path: Path) -> None:
    left, similar = f".unfinished-{'0' * 32}", ".unfinished-letter"
    (tmp_path / left).write_bytes(b"{")
    publish(tmp_path, "1", a=b"1")
    for name in (left, f"bot/{left}", f"bot/{similar}"):
        (tmp_path / name).write_bytes(b"1")
    publish(tmp_path, "2", a=b"1")
    assert names_below(tmp_path) == {"bot/a.html", f"bot/{similar}", "predibot-site.json"}


def test_what_a_killed_call_wrote_is_its_own_and_a_file_of_others_at_a_name_it_meant_to_write_stays(
    tmp_path: Path,
) -> None:
    publish(tmp_path, "1", a=b"1")
    with closing(SiteFolder.open(tmp_path)) as folder:
        folder.begin([f"bot/{name}.html" for name in "abcd"])
        for name in "bcd":
            folder.write(f"bot/{name}.html", name.encode())
    # Killed here. What its user puts there later is theirs, whatever was planned or written before.
    (tmp_path / "bot/d.html").write_text("mine")
    (tmp_path / "bot/e.html").write_text("mine")
    with pytest.raises(UsageError, match=r"bot/d\.html is no file of this site"):
        publish(tmp_path, "2", a=b"1", d=b"d")
    assert publish(tmp_path, "2", a=b"1", b=b"b") == SiteSummary(2, 0, 1, 2)
    left = {"bot/a.html", "bot/b.html", "bot/d.html", "bot/e.html", "predibot-site.json"}
    assert names_below(tmp_path) == left and (tmp_path / "bot/d.html").read_text() == "mine"
