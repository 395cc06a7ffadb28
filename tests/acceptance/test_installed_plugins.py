"""Plug-ins of an installed package: docs/plugins.md, as it stands there, built as a wheel and played by a recipe."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from predibot.environment import DEFAULT_LEDGER
from predibot.ledger.store import Store
from predibot.web.app import PAGES, all_pages, create_app
from tests.acceptance.conftest import said_here
from tests.plugins.conftest import Install, installed

__all__ = ["installed"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
_FILE = re.compile(r"^`([\w/.]+)`[^\n]*\n(?:[^`\n][^\n]*\n)*\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
_RECIPE_LINE = re.compile(r"^The recipe, `([\w.]+)`:\n\n```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of installed packages that has the one of the page."""
    source = tmp_path_factory.mktemp("source")
    for name, code in _FILE.findall(PAGE):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(code, encoding="utf-8")
    (source / "acme_bots/__init__.py").touch()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, check=True, capture_output=True
    )
    (wheel,) = (source / "dist").glob("*.whl")
    folder = tmp_path_factory.mktemp("site")
    ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def predibot(*arguments: str, at: Sequence[Path] = (), code: int = 0) -> str:
    """Run the program as a user does who has packages in these folders, and return what it prints."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in at[::-1]:
            patch.syspath_prepend(folder)
        done = said_here(*arguments)
    for name in [name for name in sys.modules if name.startswith(("acme_bots", "broken_moon"))]:
        del sys.modules[name]
    assert done.code == code, done.out + done.err
    return done.out if "--json" in arguments else done.out + done.err


def write_recipe(folder: Path, *more: str) -> None:
    ((name, recipe),) = _RECIPE_LINE.findall(PAGE)
    (folder / name).write_text("\n".join((recipe, *more)), encoding="utf-8")


def test_a_recipe_plays_game_venue_search_tool_and_strategy_of_a_package(tmp_path: Path, site: Path) -> None:
    write_recipe(tmp_path)
    decided = json.loads(predibot("decide", "acme.toml", "--json", at=[site]))
    (decision,) = decided["decisions"]
    (bet,) = decision["bets"]
    assert (decided["run"]["game"], decided["run"]["venue"]) == ("acme_pick", "acme")
    said = (decision["status"], bet["market_id"], bet["bet_usd"], bet["probability"])
    assert said == ("recorded", "in-time", 1.0, 0.7)
    traced = predibot("trace", f"{decided['run']['key']}/acme_hunch/delivery", "--json", at=[site])
    assert "acme_index" in traced and "acme_polls" in traced
    # It said 0.7 and the market 0.6 of what came true.
    (scored,) = json.loads(predibot("evaluate", "--json", at=[site]))["bots"]
    assert (scored["bot"], scored["brier"]) == ("acme_hunch", pytest.approx(0.3**2))
    predibot("verify", "--rows", at=[site])
    # What was stored is scored without the package too.
    gone = json.loads(predibot("evaluate", "--json"))
    assert [each["brier"] for each in gone["bots"]] == [scored["brier"]]
    assert "no venue 'acme'" in json.dumps(gone)


def test_a_study_of_a_package_has_commands_tables_and_a_page(tmp_path: Path, site: Path) -> None:
    assert "acme_lengths  print how long the keys of runs are" in predibot("study", "--help", at=[site])
    made = predibot("collect", "acme_lines", "data", "--line", "four", at=[site])
    assert "data: 1 line of 4 characters" in made
    again = json.loads(predibot("study", "acme_lengths", "collect", "data", "--json", at=[site]))
    assert (again["folder"], again["lines"]) == ("data", 1)
    assert (tmp_path / "data/lines.txt").read_text() == "no line\n"
    write_recipe(tmp_path)
    key = json.loads(predibot("decide", "acme.toml", "--json", at=[site]))["run"]["key"]
    (table,) = json.loads(predibot("tables", "acme_lengths", "--json", at=[site]))["tables"]
    assert table["rows"] == [{"run": key, "length": len(key)}]
    said = predibot("study", "acme_lengths", "tables", "--run", key, at=[site])
    assert "Runs of acme_pick" in said and "length: in characters." in said
    assert "Runs of acme_pick" not in predibot("tables", "acme_lengths", "--least", "2", at=[site])
    assert "No such command 'acme_lengths'" in predibot("tables", "acme_lengths", code=2)
    with pytest.MonkeyPatch.context() as patch, Store.open_to_read(DEFAULT_LEDGER) as store:
        patch.syspath_prepend(site)
        browser = TestClient(create_app(store, lambda: datetime.now(UTC)), base_url="http://127.0.0.1")
        page = browser.get("/acme_lines").text
    assert "<h1>Lengths" in page and key in page


def test_a_study_that_does_not_work_says_so_and_harms_no_other(tmp_path: Path, installed: Install, site: Path) -> None:
    installed("STUDY = 7", "[predibot.studies]\nbroken = polling_for_tests:STUDY\n")
    assert "this study does not work" in predibot("study", "--help", at=[site])
    assert "is a int; make it a Study of predibot.reports.study" in predibot("study", "broken", code=1)
    assert "acme_lines" in predibot("collect", "--help", at=[site])


STUDY = """from predibot.reports.study import Study, StudyParameter
STUDY = Study({name!r}, "h", {data_set!r}, {{}}, None, lambda store: (), "f", "t", parameters=({parameters}))
"""


@pytest.mark.parametrize(
    ("name", "data_set", "parameters", "words"),
    [
        ("stakebench", "mine", "", "names itself 'stakebench'"),
        ("odd", None, "", "the data set None"),
        ("odd", "comments", "", "as another study has"),
        ("odd", "mine", 'StudyParameter("json", "h", "M"),', "a parameter 'json'"),
        ("odd", "mine", 'StudyParameter("x-y", "h", "M"),', "a parameter 'x-y'"),
    ],
)
def test_a_study_takes_nothing_of_another(
    tmp_path: Path, installed: Install, name: str, data_set: str | None, parameters: str, words: str
) -> None:
    code = STUDY.format(name=name, data_set=data_set, parameters=parameters)
    installed(code, "[predibot.studies]\nodd = polling_for_tests:STUDY\n")
    assert words in predibot("study", "odd", code=1)
    assert "StakeBench" in predibot("study", "--help")


@pytest.mark.parametrize(("read", "words"), [("1 / 0", "division by zero"), ("7", "returned a int")])
def test_what_goes_wrong_in_a_study_of_a_package_is_one_sentence(
    tmp_path: Path, installed: Install, read: str, words: str
) -> None:
    code = STUDY.format(name="odd", data_set="mine", parameters="").replace("None", f"lambda *_, **__: {read}")
    installed(code, "[predibot.studies]\nodd = polling_for_tests:STUDY\n")
    Store.open("sqlite:///empty.db").close()
    said = predibot("tables", "odd", "--ledger", "sqlite:///empty.db", code=1)
    assert words in said and "Traceback" not in said


def test_a_study_takes_no_page_of_predibots_own(installed: Install) -> None:
    installed(
        STUDY.format(name="odd", data_set="runs", parameters=""), "[predibot.studies]\nodd = polling_for_tests:STUDY\n"
    )
    assert all_pages()["/runs"] is PAGES["/runs"]


def test_what_is_installed_is_listed_and_tried_and_what_is_gone_is_said(tmp_path: Path, site: Path) -> None:
    listed = json.loads(predibot("bots", "--json", at=[site]))
    installed = {
        each["name"]: each["problem"]
        for each in (*listed["strategies"], *listed["tools"])
        if each["origin"] == "an installed package"
    }
    assert installed == {"acme_hunch": "", "acme_polls": "", "acme_index": ""}
    write_recipe(tmp_path)
    said = predibot("select", "acme.toml", code=1)
    assert "acme.toml, line 1: no game 'acme_pick'. Valid are: beliefbench, dollar_per_event" in said


def test_a_broken_package_is_one_sentence_with_its_name_and_entry_point(tmp_path: Path, site: Path) -> None:
    about = tmp_path / "site/broken-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", encoding="utf-8")
    venues = "[predibot.venues]\nmoon = broken_moon:VENUE\nacme = broken_moon:VENUE\n"
    (about / "entry_points.txt").write_text(f"{venues}[predibot.games]\ngo = json:loads\n", encoding="utf-8")
    (tmp_path / "site/broken_moon.py").write_text("1 / 0\n", encoding="utf-8")
    both = (tmp_path / "site", site)
    said = predibot("select", "--venue", "moon", at=both, code=1)
    broken = "venue 'moon' of package broken (broken_moon:VENUE) does not load: ZeroDivisionError: division by zero"
    assert said.splitlines()[-1].startswith(f"error: {broken}")
    said = predibot("select", "--venue", "acme", at=both, code=1)
    assert "several packages have a venue 'acme': acme-bots, broken. Uninstall all but one" in said
    (tmp_path / "go.toml").write_text('game = "go"\n[[bots]]\nstrategy = "market_price"\n', encoding="utf-8")
    said = predibot("select", "go.toml", at=both, code=1)
    assert "go.toml, line 1: game 'go' of package broken (json:loads) has no class Go" in said
