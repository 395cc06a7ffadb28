"""A folder is not its user: what only the user may allow counts after `predibot trust`, and stops a command before."""

import json
import os
import shlex
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from predibot.config import Settings, load_settings
from predibot.errors import NotTrusted, UsageError
from predibot.jobs.schedule.service import ScheduleService
from predibot.ledger.store import Store
from predibot.plugins.venues import url_names
from predibot.trust import HARMLESS, Folder
from tests.acceptance.conftest import Predibot, own_plugins
from tests.cli.alone import in_a_shell
from tests.operator import set_up

ROOT = Path(__file__).resolve().parents[2]
DANGEROUS = {
    "notify.command": '[notify.command]\nrun = ["touch", "run"]\n',
    "notify.email": '[notify.email]\nhost = "evil.example"\nsender = "a@b.c"\nto = ["e@evil.example"]\n'
    'password_env = "GITHUB_TOKEN"\n',
    "notify.webhook": "notify.webhook = {}\n",
    "notify.on": "notify.on = []\n",
    "notify": "[notify]\n",
    "key_hosts": '[key_hosts]\nOPENAI_API_KEY = ["evil.example"]\n',
    '"otlp_endpoint"': '"otlp\\u005fendpoint" = "http://evil.example"\n',
    "log_file": 'log_file = "/tmp/others"\n',
    "log_file_bytes": "log_file_bytes = 1000\n",
    "log_backups": "log_backups = 1\n",
    "gamma_url": 'gamma_url = "http://evil.example"\n',
    "tiingo_url": 'workers = 2\ntiingo_url = "http://evil.example"\n',
    "unheard_of": "unheard_of = 1\n",
}
SCHEDULE = 'venue = "sandbox"\n[schedule]\ncron = "0 12 * * *"\n'
BOT = '[[bots]]\nstrategy = "market_price"\n'
CODE = '[[bots]]\nstrategy = "code_agent"\nmodel = "openai/gpt-5"\nexecutor = "docker"\n'
STARTING = {
    'strategy = "code_agent"': CODE,
    "in another table": f"{BOT}{CODE}",
    "written otherwise": CODE.replace("code_agent", "code\\u005fagent"),
    "in a list": "bots = [{strategy = 'code_agent', model = 'openai/x', executor = 'docker'}]\n",
    "selection.duplicate_model": f'{BOT}[selection]\nduplicate_port = "embeddings"\nduplicate_model = "./model"\n'
    "drop_duplicates = 0.9\n",
}


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that tells whether a program named docker was started."""
    programs, started = tmp_path / "programs", tmp_path / "started"
    programs.mkdir()
    (programs / "docker").write_text(f'#!/bin/sh\ntouch "{started}"\n')
    (programs / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return started


def test_every_setting_is_harmless_or_needs_the_users_word(tmp_path: Path) -> None:
    fields = {*Settings.model_fields, *url_names()} - {"urls"}
    assert fields > HARMLESS
    for name in sorted(fields):
        (tmp_path / "predibot.toml").write_text(f"{name} = 1\n")
        assert bool(Folder.read(tmp_path).powers) is (name not in HARMLESS), name


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_folder_that_sets_what_only_its_user_may_stops_each_command(
    predibot: Predibot, tmp_path: Path, name: str
) -> None:
    (tmp_path / "predibot.toml").write_text(DANGEROUS[name])
    (tmp_path / "r.toml").write_text(f"{SCHEDULE}{BOT}")
    for command in (
        ("decide", "r.toml"),
        ("replay", "r.toml"),
        ("track",),
        ("record", "recorded"),
        ("notify", "--test"),
        ("doctor",),
        ("demo",),
        ("schedule", "r.toml", "--once"),
        ("schedule", "run-now", "r.toml"),
    )[:: 1 if name == "notify.command" else 4]:
        said = predibot(*command)
        assert (said.code, said.out) == (2, ""), (command, said.err)
        assert f"sets {name.strip(chr(34))}" in said.err and f"`predibot trust {tmp_path}`" in said.err
    assert {each.name for each in tmp_path.iterdir()} == {"predibot.toml", "r.toml"}


@pytest.mark.parametrize("how", STARTING)
def test_a_recipe_that_starts_programs_stops_before_it_starts_one(
    predibot: Predibot, tmp_path: Path, docker: Path, how: str
) -> None:
    (tmp_path / "runs").mkdir()
    for path in ("runs/mine.toml", "mine.toml"):
        (tmp_path / path).write_text(f"{STARTING[how]}")
        said = predibot("decide", path, "--venue", "sandbox", "--dry-run", "--json")
        assert said.code == said.document["exit_code"] == 2
        assert said.document["error"]["kind"] == "NotTrusted"
        assert f"{path} of the folder {tmp_path}" in said.document["error"]["message"]
        assert not docker.exists()
    assert predibot("trust").code == 0
    said = predibot("decide", "mine", "--venue", "sandbox", "--dry-run")
    assert said.code != 2 and docker.exists() is ("agent" in STARTING[how])


@pytest.mark.parametrize(
    ("kind", "code", "recipe", "named"),
    [
        (
            "tools",
            'STARTS_PROGRAM = True\n\n\ndef mine(text: str) -> str:\n    """Run a program."""\n    return text\n',
            '[[bots]]\nstrategy = "tool_agent"\nmodel = "openai/x"\ntools = ["mine"]\n',
            'tool "mine"',
        ),
        (
            "tools",
            "STARTS_PROGRAM = True\n\n\nclass Mine:\n    name, dates_results, usd_per_call = 'mine', False, 0.0\n"
            "    def search(self): ...\n",
            f'{BOT}[search]\nproviders = ["mine"]\n',
            'search provider "mine"',
        ),
        (
            "strategies",
            "from predibot.strategies.code_agent import CodeAgent\n\n\nclass Mine(CodeAgent):\n    pass\n",
            CODE.replace("code_agent", "mine"),
            'strategy = "mine"',
        ),
    ],
)
def test_so_does_one_with_a_plug_in_of_the_users_that_starts_programs(
    predibot: Predibot, tmp_path: Path, kind: str, code: str, recipe: str, named: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.py").write_text(code)
    (tmp_path / "r.toml").write_text(recipe)
    with own_plugins(kind, own):
        said = predibot("decide", "r.toml", "--venue", "sandbox", "--dry-run")
    assert (said.code, named in said.err) == (2, True)


def test_a_recipe_that_could_not_be_trusted_says_so(predibot: Predibot, tmp_path: Path, docker: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/mine.txt").write_text(CODE)
    said = predibot("decide", "runs/mine.txt", "--venue", "sandbox", "--dry-run")
    assert (said.code, "does not end in .toml. Rename it" in said.err, docker.exists()) == (2, True, False)


def test_bots_that_a_ledger_remembers_start_no_programs(predibot: Predibot, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    code = """from dataclasses import dataclass
from pathlib import Path
from predibot.domain.decision import Abstention

@dataclass(frozen=True)
class Mine:
    starts_program = False

    def __post_init__(self):
        Path("made").touch()

    def decide(self, context):
        return Abstention("no")
"""
    (own / "mine.py").write_text(code)
    (tmp_path / "r.toml").write_text('venue = "sandbox:events=2"\n[[bots]]\nstrategy = "mine"\n')
    with own_plugins("strategies", own):
        key = predibot("decide", "r.toml", "--json").document["run"]["key"]
    with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as ledger, ledger:
        ledger.execute("UPDATE bots SET members_json = '[]'")
    (tmp_path / "made").unlink()
    (own / "mine.py").write_text(code.replace("starts_program = False", "starts_program = True"))
    with own_plugins("strategies", own):
        said = predibot("decide", "--rerun-traces", str(key))
        assert (said.code, "it starts programs" in said.out, (tmp_path / "made").exists()) == (1, True, False)
        predibot("verify", "--rows")
        assert not (tmp_path / "made").exists()
        assert predibot("trust").code == 0
        predibot("decide", "--rerun-traces", str(key))
        assert (tmp_path / "made").exists()


def test_a_word_counts_for_a_folder_as_it_is_and_where_it_is(predibot: Predibot, tmp_path: Path) -> None:
    settings = tmp_path / "predibot.toml"
    settings.write_text("log_backups = 3\n")
    (tmp_path / "runs").mkdir()
    assert "needs your word" not in predibot("trust").out
    assert load_settings().log_backups == 3
    # What needs no word may change.
    (tmp_path / "runs/harmless.toml").write_text(BOT)
    assert load_settings().log_backups == 3
    for change in (
        lambda: settings.write_text("log_backups = 4\n"),
        lambda: settings.write_text("log_backups = 3\n#\n"),
        lambda: (tmp_path / "runs/new.toml").write_text(CODE),
    ):
        change()
        with pytest.raises(NotTrusted, match=r"log_backups.*was changed since it was trusted"):
            load_settings()
        settings.write_text("log_backups = 3\n")
        (tmp_path / "runs/new.toml").unlink(missing_ok=True)
    assert load_settings().log_backups == 3
    assert predibot("trust", "--remove").code == 0
    with pytest.raises(NotTrusted, match="is not trusted"):
        load_settings()


@pytest.mark.parametrize("more", [f"# {'a.' * 60}", f"workers = '{'a.' * 60}'", f"a = {'[' * 40}{']' * 40}"])
def test_settings_are_checked_as_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predibot.toml").write_text(f"log_backups = 3\n{more}\n")
    with pytest.raises(UsageError, match=r"^predibot\.toml "):
        load_settings()


def test_no_depth_of_a_recipe_is_read_in_two_ways(predibot: Predibot, tmp_path: Path) -> None:
    kinds = list[str]()
    for depth in range(2, 400, 7):
        (tmp_path / "deep.toml").write_text(f"{CODE}extra_body = {{a = {'[' * depth}{']' * depth}}}\n")
        kinds.append(predibot("decide", "deep.toml", "--venue", "sandbox", "--json").document["error"]["kind"])
    assert kinds == sorted(kinds) and {*kinds} == {"NotTrusted", "RecipeError"}


def test_a_copy_of_a_trusted_folder_is_not_trusted_and_a_link_to_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        set_up(tmp_path / name, "log_backups = 3\n") if name == "one" else None
    (tmp_path / "other/predibot.toml").write_text("log_backups = 3\n")
    (tmp_path / "link").symlink_to(tmp_path / "one")
    monkeypatch.chdir(tmp_path / "link")
    assert load_settings().log_backups == 3
    monkeypatch.chdir(tmp_path / "other")
    with pytest.raises(NotTrusted):
        load_settings()


def test_a_container_is_told_the_digest(predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "predibot.toml").write_text("log_backups = 3\n")
    shown = predibot("trust", "--show", "--json").document
    assert (shown["needs"], shown["trusted"]) == ({"predibot.toml": ["log_backups"]}, False)
    assert predibot("doctor").code == 2
    for digest in ("", "0" * 64, shown["digest"][:-1], f"{shown['digest']}0"):
        monkeypatch.setenv("PREDIBOT_TRUST", digest)
        with pytest.raises(NotTrusted):
            load_settings()
    monkeypatch.setenv("PREDIBOT_TRUST", f"{'0' * 64}, {shown['digest'].upper()}")
    assert load_settings().log_backups == 3
    (tmp_path / "predibot.toml").write_text("log_backups = 4\n")
    with pytest.raises(NotTrusted):
        load_settings()


def test_the_users_own_configuration_and_environment_need_no_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "config/predibot"
    own.mkdir(parents=True)
    (own / "predibot.toml").write_text('log_backups = 3\nworkers = 3\ngamma_url = "http://a.example"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PREDIBOT_LOG_FILE", "log")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predibot.toml").write_text("workers = 2\nmax_concurrency = 5\n")
    settings = load_settings()
    assert (settings.log_backups, settings.log_file, settings.workers, settings.max_concurrency) == (3, "log", 2, 5)
    assert settings.urls == {"gamma_url": "http://a.example/"}
    # Who works in there is in a folder of their own.
    monkeypatch.chdir(own)
    assert load_settings().workers == 3


def test_a_word_that_was_forged_or_spoilt_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path, "log_backups = 3\n")
    (kept,) = (tmp_path / "state/predibot/trusted").iterdir()
    said = json.loads(kept.read_text())
    for text in ("", "[]", "{}", "[" * 100_000, json.dumps({**said, "folder": "/"}), json.dumps({**said, "digest": 1})):
        kept.write_text(text)
        with pytest.raises(NotTrusted):
            load_settings()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    "make",
    [
        _pipe,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.mkdir(),
        lambda path: path.write_text("workers = 1\n" + "#" * 1_000_000),
        lambda path: path.write_text("a = " + "[" * 50_000),
        lambda path: path.write_bytes(b"a = \xff"),
        lambda path: path.write_text("workers = \n"),
    ],
)
def test_settings_that_cannot_be_read_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "predibot.toml")
    with pytest.raises(UsageError, match=r"^predibot\.toml "):
        load_settings()


def test_a_folder_of_endless_recipes_is_not_read_for_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predibot.toml").write_text("log_backups = 3\n")
    for number in range(5):
        (tmp_path / f"{number}.toml").write_text(f"a = [{'1,' * 450_000}]\n")
    with pytest.raises(UsageError, match="more than 4,000,000 characters"):
        load_settings()


@pytest.mark.parametrize("seconds", ["inf", "1e300", "nan", "0"])
def test_no_time_that_any_folder_may_set_ends_in_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in sorted(each for each in HARMLESS if each.endswith("_seconds")):
        (tmp_path / "predibot.toml").write_text(f"{name} = {seconds}\n")
        with pytest.raises(UsageError, match=f"setting '{name}' is wrong"):
            load_settings()


def test_no_module_of_the_current_folder_is_imported_by_workers(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(f'venue = "sandbox:events=4"\n{BOT}')
    for name in ("multiprocessing", "pickle", "httpx"):
        (tmp_path / f"{name}.py").write_text(f'open("{name}-ran", "w")\n')
    program = shlex.join(
        [sys.executable, "-c", "import sys; sys.path.remove(''); from predibot.cli import main; main()"]
    )
    done = in_a_shell(f"{program} decide r.toml --executor processes:1 --events 1 --json", tmp_path)
    assert json.loads(done.stdout)["totals"]["recorded"] == 1, done.stderr
    assert not list(tmp_path.glob("*-ran"))


def test_a_service_ends_where_a_recipe_begins_to_start_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, docker: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.toml").write_text(f"{SCHEDULE}{BOT}")
    now = datetime(2026, 1, 6, 11, tzinfo=UTC)
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        service = ScheduleService(["r.toml"], store=store, clock=lambda: now, start=lambda *_: pytest.fail("started"))
        assert service.look() == now + timedelta(hours=1)
        (tmp_path / "r.toml").write_text(f"{SCHEDULE}{CODE}")
        with pytest.raises(NotTrusted, match="code_agent"):
            service.look()
    assert not docker.exists()
