"""The pages as files: complete, still where nothing changes, and harmless whatever a ledger's texts say."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from tests.acceptance.conftest import said_here
from tests.web.test_pages import Links
from tests.worlds import Worlds, three_games, two_events


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def site(played: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of the ledger with three games."""
    folder = tmp_path_factory.mktemp("site") / "public"
    said = said_here("publish", folder, "--since", "2026-01-01", "--ledger", played)
    assert said.code == 0, said.err
    return folder


def test_every_link_leads_to_a_file_of_the_site_and_no_page_asks_for_anything_else(site: Path) -> None:
    found = contents(site)
    pages = [name for name in found if name.endswith(".html")]
    kinds = {name.partition("/")[0] for name in pages}
    assert {"bot", "decision", "event", "account", "cohort", "tables", "index.html", "search.html"} <= kinds
    reached = {"index.html", "predibot-site.json"}
    for name in pages:
        page = Links(found[name].decode())
        assert page.tags.count("h1") == page.tags.count("main") == 1
        assert "form" not in page.tags
        up = "" if "/" not in name else "../"
        searching = ["search-index.js", "static/search.js"] if name == "search.html" else []
        assert page.scripts == [f"{up}static/page.js", *searching]
        assert not {each for each in page.attributes if each.startswith("on") or each == "style"}
        for link in page.found:
            address = urlsplit(link)
            assert not address.scheme and not address.netloc and not address.path.startswith("/")
            if address.path:
                target = (site / name).parent.joinpath(unquote(address.path)).resolve().relative_to(site.resolve())
                assert target.as_posix() in found
                reached.add(target.as_posix())
    assert reached == set(found)


def test_the_pages_say_what_the_app_says(site: Path, browser: TestClient) -> None:
    text = re.sub(r"<[^>]*>|\s+", " ", (site / "index.html").read_text())
    board = browser.get("/api/v1/leaderboard").json()["rankings"]["clean"]
    assert all(row["bot"] in text for row in board)
    shown = re.sub(r"<[^>]*>|\s+", " ", browser.get("/").text)
    for row in board:
        after = shown.partition(f" {row['bot']} ")[2][:80]
        assert after and after in text


def test_a_second_call_writes_nothing_and_another_folder_gets_the_same_bytes(
    site: Path, played: str, tmp_path: Path
) -> None:
    before = {name: (site / name).stat().st_mtime_ns for name in contents(site)}
    asked = ("--since", "2026-01-01", "--ledger", played, "--json")
    again = said_here("publish", site, *asked).document
    assert (again["written"], again["removed"]) == (0, 0) and again["files"] == len(before) - 1
    assert {name: (site / name).stat().st_mtime_ns for name in contents(site)} == before
    assert said_here("publish", tmp_path / "other", *asked).code == 0
    assert contents(tmp_path / "other") == contents(site)


def test_what_a_killed_call_left_out_is_written_and_what_it_left_over_removed(
    site: Path, played: str, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(site, folder)
    # Killed while pages were written: the manifest says what was planned, some pages are missing, one is not needed.
    manifest = json.loads((folder / "predibot-site.json").read_text())
    gone = sorted(manifest["files"])[::3]
    for name in gone:
        (folder / name).unlink()
        del manifest["files"][name]
    (folder / "event/of-another-day.html").write_text("old")
    (folder / "notes.txt").write_text("mine")
    planned = [*gone, "event/of-another-day.html"]
    (folder / "predibot-site.json").write_text(json.dumps({**manifest, "key": "", "planned": planned}))
    said = said_here("publish", folder, "--since", "2026-01-01", "--ledger", played)
    assert said.code == 0, said.err
    left = contents(folder)
    assert left.pop("notes.txt") == b"mine"
    assert left == contents(site)


def test_only_what_changed_is_written(site: Path, worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(three_games, tmp_path)}/ledger.db"
    shutil.copytree(site, tmp_path / "site")
    files = len(contents(site)) - 1
    asked = (tmp_path / "site", "--since", "2026-01-01", "--ledger", address, "--json")
    at = ("--from", "2026-01-13T12:00Z", "--to", "2026-01-13T12:00Z", "--bots", "market_price", "--events", "2")
    said = said_here("replay", "sandbox", *at, "--ledger", address, "--venue", "sandbox:events=40,named=1")
    assert said.code == 0, said.err
    second = said_here("publish", *asked).document
    assert second["files"] > files
    # Two events with what was said of them, and the lists; not the pages of other decisions.
    assert 0 < second["written"] < files / 2


def test_narrower_sites_lose_pages_and_keep_whole_ones(site: Path, played: str, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(site, folder)
    asked = (folder, "--ledger", played, "--json")
    narrow = said_here("publish", *asked, "--since", "2026-01-11").document
    assert narrow["removed"] > 0 and narrow["files"] == len(contents(folder)) - 1
    assert said_here("publish", *asked, "--since", "2026-01-01").code == 0
    assert contents(folder) == contents(site)


def test_what_agents_read_is_shown_only_where_it_is_asked_for(site: Path, played: str, tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    asked = ("--since", "2026-01-01", "--ledger", played, "--with-traces")
    assert said_here("publish", folder, *asked).code == 0
    plain, traced = contents(site), contents(folder)
    assert not any(b"How it got there" in content for content in plain.values())
    assert sum(b"How it got there" in content for content in traced.values()) > 3
    assert set(plain) < set(traced)


def test_the_feed_is_rss_with_links_where_the_address_is_known(worlds: Worlds, tmp_path: Path) -> None:
    ledger = f"sqlite:///{worlds(two_events)}/ledger.db"
    asked = ("--since", "2026-01-01", "--ledger", ledger, "--address", "https://example.org/bots")
    assert said_here("publish", tmp_path / "site", *asked).code == 0
    channel = ElementTree.fromstring((tmp_path / "site/feed.xml").read_bytes()).find("channel")
    assert channel is not None
    items = channel.findall("item")
    assert items and len({item.findtext("guid") for item in items}) == len(items)
    for item in items:
        link = item.findtext("link") or ""
        assert link.startswith("https://example.org/bots/event/")
        assert (tmp_path / "site" / link.removeprefix("https://example.org/bots/")).is_file()
        assert item.findtext("title") and item.findtext("pubDate")


@pytest.mark.usefixtures("hostile")
def test_hostile_texts_are_text_in_every_file(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/ledger.db"
    assert said_here("publish", tmp_path / "site", "--since", "2026-01-01", "--ledger", address).code == 0
    found = contents(tmp_path / "site")
    for name, content in found.items():
        said = content.decode()
        assert "\u202e" not in said and "\x1b" not in said
        assert re.fullmatch(r"(?:[a-z]+/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,80}", name)
        if name.endswith(".html"):
            page = Links(said)
            assert "img" not in page.tags and "onerror" not in page.attributes
            assert all(each and "/" not in each.removeprefix("../").removeprefix("static/") for each in page.scripts)
            assert len(content) < 300_000
        if name.endswith(".js"):
            assert "</script" not in said.casefold() and "<script" not in said.casefold()
    ElementTree.fromstring(found["feed.xml"])
    assert json.loads(found["search-index.js"].decode().partition("= ")[2].rstrip(";\n"))


@pytest.mark.parametrize(
    "manifest", [None, "{", "{}", '{"key": "", "files": {"../x": ""}, "events": {}, "planned": []}']
)
def test_a_folder_of_others_is_not_touched(manifest: str | None, played: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    (tmp_path / "x").write_text("mine")
    if manifest is not None:
        (folder / "predibot-site.json").write_text(manifest)
    before = contents(tmp_path)
    said = said_here("publish", folder, "--ledger", played)
    assert said.code == 1 and "name" in said.err
    assert contents(tmp_path) == before


def test_an_address_is_one_of_a_web_server_and_the_older_option_names_the_command(played: str, tmp_path: Path) -> None:
    said = said_here("publish", tmp_path / "site", "--address", "javascript:alert(1)", "--ledger", played)
    assert said.code == 2 and "https://" in said.err
    older = said_here("report", "--html", tmp_path / "site", "--ledger", played)
    assert older.code == 2 and f"`predibot publish {tmp_path / 'site'}`" in older.err
    assert not (tmp_path / "site").exists()


def test_an_empty_ledger_has_no_site_and_says_so(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/empty.db"
    Store.open(address).close()
    said = said_here("publish", tmp_path / "site", "--ledger", address)
    assert said.code == 1 and "predibot decide" in said.err
    assert not (tmp_path / "site").exists()
