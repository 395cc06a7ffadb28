"""The pages as files: complete, still where nothing changes, and harmless whatever a ledger's texts say."""

import csv
import hashlib
import json
import re
import shutil
import struct
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import select_decisions
from predibot.ledger.store import Store
from predibot.web.data_set import Feed
from tests.acceptance.conftest import done_here, said_here
from tests.cli.conftest import WORLD
from tests.web.test_pages import Links
from tests.worlds import Worlds, one_agent, three_games, two_events


def select_texts(store: Store) -> set[str]:
    """Return what bots said in words."""
    with store.read() as connection:
        return set(connection.exec_driver_sql("SELECT rationale FROM decisions").scalars())


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def site(played: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of the ledger with three games."""
    folder = tmp_path_factory.mktemp("site") / "public"
    done_here("publish", folder, "--since", "2026-01-01", "--ledger", played)
    return folder


def test_every_link_leads_to_a_file_of_the_site_and_no_page_asks_for_anything_else(site: Path) -> None:
    found = contents(site)
    pages = [name for name in found if name.endswith(".html")]
    kinds = {name.partition("/")[0] for name in pages}
    assert {"bot", "decision", "event", "account", "cohort", "tables", "index.html", "search.html"} <= kinds
    assert {"compare", "compare.html", "status.html", "methods"} <= kinds
    told = {
        name: re.findall(r'<meta property="og:description" content="([^"]+)">\n', found[name].decode())
        for name in pages
    }
    assert [name for name, each in told.items() if len(each) != 1] == []
    of_bots = [told[name][0] for name in pages if name.startswith("bot/")]
    assert len(set(of_bots)) == len(of_bots) and "better than the price" in told["index.html"][0]
    assert "Published on" in told["status.html"][0] and "proven</span>" in found["compare.html"].decode()
    # The card leads to the tables.
    reached = {"index.html", "predibot-site.json"}
    reached |= {f"data/{name}" for name in re.findall(r"\]\(([a-z]+\.parquet)\)", found["data/README.md"].decode())}
    for name in pages:
        page = Links(found[name].decode())
        assert page.tags.count("h1") == page.tags.count("main") == 1
        assert "form" not in page.tags
        up = "" if "/" not in name else "../"
        searching = ["search-index.js", "static/search.js"] if name == "search.html" else []
        assert page.scripts == [f"{up}static/page.js", *searching]
        assert not {each for each in page.attributes if each.startswith("on") or each == "style"}
        (picture,) = re.findall(r'<meta property="og:image" content="([^"]+)">', found[name].decode())
        for link in (*page.found, picture):
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


def test_a_second_call_writes_nothing(site: Path, played: str) -> None:
    before = {name: (site / name).stat().st_mtime_ns for name in contents(site)}
    asked = ("--since", "2026-01-01", "--ledger", played, "--json")
    again = said_here("publish", site, *asked).document
    assert (again["written"], again["removed"]) == (0, 0) and again["files"] == len(before) - 1
    assert {name: (site / name).stat().st_mtime_ns for name in contents(site)} == before


def three_days() -> None:
    """Replay two bots on two events of each of three days into `ledger.db`, and publish it as `site`."""
    where, at = ("--ledger", "sqlite:///ledger.db"), ("--from", "2026-01-10T12:00Z", "--to", "2026-01-12T12:00Z")
    done_here("replay", "sandbox", *at, "--bots", "market_price,random_bet", "--events", "2", "--venue", WORLD, *where)
    done_here("publish", "site", "--since", "2026-01-01", *where)


def test_narrower_sites_lose_pages_and_what_a_killed_call_left_out_is_written_and_what_it_left_over_removed(
    worlds: Worlds, tmp_path: Path
) -> None:
    folder, whole = worlds.copy(three_days, tmp_path) / "site", contents(worlds(three_days) / "site")
    played = f"sqlite:///{worlds(three_days)}/ledger.db"
    narrow = said_here("publish", folder, "--ledger", played, "--json", "--since", "2026-01-11").document
    assert narrow["removed"] > 0 and narrow["files"] == len(contents(folder)) - 1
    with Store.open_to_read(played) as store:
        since = RowFilter(since=datetime(2026, 1, 11, tzinfo=UTC), items=False)
        shown = store.run_read(lambda connection: select_decisions(connection, since))
    assert len([*(folder / "decision").iterdir()]) == len(shown)
    # Killed while pages were written: the journal says which, some pages are missing, one is not needed.
    manifest = json.loads((folder / "predibot-site.json").read_text())
    gone = sorted(manifest["files"])[::3]
    for name in gone:
        (folder / name).unlink()
        del manifest["files"][name]
    (folder / "event/of-another-day.html").write_text("old")
    (folder / "notes.txt").write_text("mine")
    (folder / "predibot-site.json").write_text(json.dumps({**manifest, "key": ""}))
    line = f"{hashlib.sha256(b'old').hexdigest()} event/of-another-day.html\n"
    (folder / "predibot-site.journal").write_text(line + line[:40])
    done_here("publish", folder, "--since", "2026-01-01", "--ledger", played)
    left = contents(folder)
    assert left.pop("notes.txt") == b"mine"
    assert left == whole


def test_only_what_changed_is_written(worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(three_days, tmp_path)}/ledger.db"
    before = contents(tmp_path / "site")
    asked = (tmp_path / "site", "--since", "2026-01-01", "--ledger", address, "--json")
    at = ("--from", "2026-01-13T12:00Z", "--to", "2026-01-13T12:00Z", "--bots", "market_price", "--events", "2")
    done_here("replay", "sandbox", *at, "--ledger", address, "--venue", WORLD)
    second = said_here("publish", *asked).document
    assert second["files"] > len(before) - 1
    left = contents(tmp_path / "site")
    changed = {name for name in left if left[name] != before.get(name)} - {"predibot-site.json"}
    # Two events with what was said of them, and the lists; not the pages of other decisions.
    assert (second["written"], {name for name in changed & set(before) if "decision/" in name}) == (len(changed), set())


def test_a_site_of_void_runs_has_one_page_and_what_is_not_its_own(site: Path, worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(three_games, tmp_path)}/ledger.db"
    shutil.copytree(site, tmp_path / "site")
    with Store.open(address) as store, store.write() as connection:
        connection.exec_driver_sql("UPDATE runs SET voided_at = created_at, void_reason = 'wrong prices'")
    (tmp_path / "site/notes.txt").write_text("mine")
    asked = ("--since", "2026-01-01", "--ledger", address, "--json")
    assert said_here("publish", tmp_path / "site", *asked).document["removed"] > len(contents(site)) / 2
    left = contents(tmp_path / "site")
    assert {name.partition("/")[0] for name in left} == {"index.html", "notes.txt", "predibot-site.json", "static"}
    home = left["index.html"].decode()
    assert "Every run of this ledger is void" in home and '""' not in home
    assert {each for each in Links(home).found if each in left or not each.startswith("#")} <= {*left}


def test_what_agents_read_is_shown_only_where_it_is_asked_for(site: Path, worlds: Worlds, tmp_path: Path) -> None:
    # A site may begin on any day.
    asked = ("--since", "0001-01-01", "--ledger", f"sqlite:///{worlds(one_agent)}/ledger.db")
    for folder, more in (("plain", ()), ("traced", ("--with-traces",))):
        done_here("publish", tmp_path / folder, *asked, *more)
    plain, traced = contents(tmp_path / "plain"), contents(tmp_path / "traced")
    assert not any(b"How it got there" in content for content in (*plain.values(), *contents(site).values()))
    assert any(b"How it got there" in content for content in traced.values())
    assert any(b"--with-traces" in content for content in plain.values())
    assert not any(b"--with-traces" in content for content in traced.values())
    assert set(plain) < set(traced)


def test_the_feed_has_an_item_a_run_and_addresses_are_whole_where_one_is_known(worlds: Worlds, tmp_path: Path) -> None:
    ledger = f"sqlite:///{worlds(two_events)}/ledger.db"
    home = "https://example.org/bots/"
    asked = ("--since", "2026-01-01", "--ledger", ledger, "--address", home.rstrip("/"))
    assert said_here("publish", tmp_path / "site", *asked).code == 0
    found = contents(tmp_path / "site")
    channel = ElementTree.fromstring(found["feed.xml"]).find("channel")
    assert channel is not None and channel.findtext("link") == home
    (item,) = channel.findall("item")
    assert (item.findtext("link") or "").removeprefix(home) in found
    assert "1 bot on 2 events" in (item.findtext("title") or "") and item.findtext("guid")
    description = item.findtext("description") or ""
    assert description.count("market_price 0.") >= 2
    # Readers take it for HTML.
    assert set(re.findall("<[^>]*>", description)) == {"<p>", "</p>"}
    assert parsedate_to_datetime(item.findtext("pubDate") or "") == datetime(2026, 1, 6, tzinfo=UTC)
    assert f'<meta property="og:url" content="{home}runs.html">'.encode() in found["runs.html"]
    for name in ("index.html", next(name for name in found if name.startswith("bot/"))):
        (card,) = re.findall(r'<meta property="og:image" content="([^"]+)">', found[name].decode())
        picture = found[card.removeprefix(home)]
        assert picture.startswith(b"\x89PNG") and struct.unpack(">II", picture[16:24]) == (1200, 630)


def test_the_data_set_has_numbers_and_names_and_its_card_tells_every_column(site: Path, played: str) -> None:
    found = contents(site)
    card = found["data/README.md"].decode()
    tables = {name: pq.read_table(site / name) for name in found if name.endswith(".parquet")}
    assert {"data/decisions.parquet", "data/forecasts.parquet", "data/bets.parquet"} <= set(tables)
    for name, table in tables.items():
        part = card.partition(f"]({name.removeprefix('data/')})")[2].partition("##")[0]
        assert f" {table.num_rows:,} rows, {len(found[name]):,} bytes." in part
        assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == table.column_names
        assert not {"rationale", "message", "text", "snippet", "final_url", "recipe_json"} & set(table.column_names)
    assert "Licence: not stated" in card
    with Store.open_to_read(played) as store:
        rationales = {each for each in select_texts(store) if len(each) > 20}
    cells = {cell for table in tables.values() for column in table.columns for cell in column.to_pylist()}
    assert rationales and not rationales & cells
    scores = list(csv.DictReader(found["data/scores.csv"].decode().splitlines()))
    assert {row["bot"] for row in scores} >= {"script_sharp", "market_price"}
    assert {row["bot"] for row in json.loads(found["data/scores.json"])["bots"]} <= {row["bot"] for row in scores}


@pytest.mark.usefixtures("hostile")
def test_hostile_texts_are_text_in_every_file(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/ledger.db"
    assert said_here("publish", tmp_path / "site", "--since", "2026-01-01", "--ledger", address).code == 0
    found = contents(tmp_path / "site")
    for name, content in found.items():
        if name.endswith((".parquet", ".png")):
            continue
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


@pytest.mark.parametrize("manifest", [None, "{", "{}", '{"key": "", "files": {"../x": ""}, "events": {}}'])
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
    assert said.code == 2 and "http(s)://" in said.err
    older = said_here("report", "--html", tmp_path / "site", "--ledger", played)
    assert older.code == 2 and f"`predibot publish {tmp_path / 'site'}`" in older.err
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    "address",
    [
        *("https://", "https:///bots/", "https://:80/", "ftp://example.org/", "https://user:password@example.org/"),
        *(f"https://example.org{end}" for end in ("/a b", '/"x', "/'x", "/<b>", "/\n", "\\x", "/?page=1", "/#bots")),
    ],
)
def test_an_address_with_anything_but_a_host_and_a_plain_path_is_refused(address: str, tmp_path: Path) -> None:
    said = said_here("publish", tmp_path / "site", "--address", address, "--ledger", f"sqlite:///{tmp_path}/none.db")
    assert said.code == 2 and "without user" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "address", ["https://example.org", "http://localhost:8000/bots", "http://[::1]/~me/a%20b/", "HTTPS://x-1.org/"]
)
def test_a_plain_address_is_taken(address: str, tmp_path: Path) -> None:
    said = said_here("publish", tmp_path / "site", "--address", address, "--ledger", f"sqlite:///{tmp_path}/none.db")
    assert said.code == 1 and "none.db" in said.err


def test_the_feed_is_xml_whatever_its_address() -> None:
    address = """https://example.org/"'<&>/"""
    channel = ElementTree.fromstring(Feed(()).rss(address, "runs.html")).find("channel")
    assert channel is not None and channel.findtext("link") == address
    assert channel[2].get("href") == f"{address}feed.xml"


def test_an_empty_ledger_has_no_site_and_says_so(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/empty.db"
    Store.open(address).close()
    said = said_here("publish", tmp_path / "site", "--ledger", address)
    assert said.code == 1 and "predibot decide" in said.err
    assert not (tmp_path / "site").exists()
