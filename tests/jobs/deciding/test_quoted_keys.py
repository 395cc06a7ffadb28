"""Keys that a user's own code quotes: in no output, no ledger and no trace, in whatever form."""

from base64 import b64decode
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, error
from tests.jobs.deciding.test_failing_strategies import TEMPLATE
from tests.jobs.program import PATIENCE_SECONDS, Program

KEY = "sk+SECRET/0123456789=abcdef"
KEYS = {name: KEY for name in ("OPENAI_API_KEY", "ACME_API_KEY", "SERVICE_TOKEN")}
READ = "import base64, json, urllib.parse; key = os.environ['{name}']; "
FORMS = {
    "plain": "key",
    "quoted": "urllib.parse.quote(key, safe='')",
    "lower": "urllib.parse.quote_plus(key).replace('%2B', '%2b').replace('%2F', '%2f')",
    "escaped": "json.dumps({'key': key})",
    "basic": "'Basic ' + base64.b64encode(b'user:' + key.encode()).decode()",
}
PLACES = {
    "raised": "raise RuntimeError('GET /?key=' + {form})",
    "raised_own": "raise VenueUnavailable('GET /?key=' + {form})",
    "odd_base": "raise type('Odd', (BaseException,), {{}})({form})",
    "chained": "raise ValueError('outer') from RuntimeError({form})",
    "refused": "return say(context, 0.1, p={form})",
    "abstained": "return Abstention({form})",
    "rationale": "return say(context, 0.1, rationale={form})",
    "note": "return say(context, 0.1, notes=({form}, 'source: https://a.example/?k=' + {form}))",
}
TRACES_OF_IT = ("SECRET", "0123456789", "U0VDUkV", "NFQ1JFV", "TRUNSRV")
"""Of the key, and of its base64 in all three positions."""


def leaks(text: str) -> list[str]:
    return [part for part in TRACES_OF_IT if part in text]


def clean_files(folder: Path) -> set[str]:
    """Return the names of what stands in a folder beside strategies, nothing of which has a key in it."""
    kept = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "probes"]
    assert [path for path in kept if leaks(path.read_bytes().decode("latin-1"))] == []
    return {path.name for path in kept}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("keys"), {**KEYS, "PREDIBOT_WORKERS": "8"})


@pytest.mark.parametrize("verbose", [[], ["--verbose"]])
def test_a_key_that_a_strategy_quotes_is_nowhere(program: Program, verbose: list[str]) -> None:
    names = []
    for number, (form, written) in enumerate(FORMS.items()):
        for place, body in PLACES.items():
            names.append(f"{place}_{form}")
            words = "".join(part.capitalize() for part in names[-1].split("_"))
            read = READ.format(name=sorted(KEYS)[number % len(KEYS)])
            program.strategy(names[-1], TEMPLATE.format(name=words, body=read + body.format(form=written)))
    process = program.decide("--bots", ",".join(names), "--events", "1", "--new-run", *verbose)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 3, err
    assert out.count("***") >= len(names) // 2
    assert leaks(out) == leaks(err) == []
    assert "ledger.db" in clean_files(program.folder)


def test_a_key_that_a_plug_in_quotes_as_it_loads_is_not_shown(program: Program) -> None:
    body = f"import os\nraise RuntimeError('GET /?key={quote(KEY, safe='')} ' + os.environ['ACME_API_KEY'])\n"
    program.strategy("torn", body)
    tools = program.folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "torn_tool.py").write_text(body)
    torn = Program(program.folder, {**program.settings, "PREDIBOT_TOOLS": str(tools)})
    for arguments in (["bots"], ["doctor", "--json"]):
        out, err = torn.start(*arguments).communicate(timeout=PATIENCE_SECONDS)
        assert "***" in out
        assert leaks(out) == leaks(err) == []
    process = torn.decide("--bots", "torn")
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "torn.py does not load: RuntimeError: GET /?key=*** ***" in out
    assert leaks(out) == leaks(err) == []


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"])
def test_what_amazon_calls_its_keys_is_masked_too(tmp_path: Path, name: str) -> None:
    program = Program(tmp_path, {name: KEY})
    program.strategy("torn", f"import os\nraise RuntimeError(os.environ[{name!r}])\n")
    out, err = program.start("bots").communicate(timeout=PATIENCE_SECONDS)
    assert "RuntimeError: ***" in out
    assert leaks(out) == leaks(err) == []


class TellingProxy(ChatServer):
    """Refuses everything, and says with which name and password it was asked."""

    def next(self, asked: Asked) -> Said:
        super().next(asked)
        sent = asked.headers["Proxy-Authorization"]
        return error(403, f"not for {sent} which is {b64decode(sent.split()[1]).decode()}, as in {PROXY_USER}")


PROXY_USER = "alice:0123456789%2FSECRET"


def test_the_password_of_a_proxy_that_says_it_is_nowhere(tmp_path: Path) -> None:
    with chat_server(error(403)) as server:
        server.__class__ = TellingProxy
        proxy = server.base_url.removesuffix("/v1").replace("//", f"//{PROXY_USER}@")
        program = Program(tmp_path, {"http_proxy": proxy})
        bot = 'strategy = "one_shot"\nmodel = "openai/tiny"\nbase_url = "http://model.example/v1"\n'
        recipe = f'[[bots]]\nname = "asks"\n{bot}price_usd_per_million_tokens = 0\n'
        (tmp_path / "r.toml").write_text(recipe, encoding="utf-8")
        process = program.start("decide", "r.toml", "--venue", "sandbox:events=3", "--events", "1", "--json")
        out, err = process.communicate(timeout=240)
        assert server.asked[0].path == "http://model.example/v1/chat/completions"
    assert process.returncode == 4, err
    assert "not for Basic ***" in out
    assert leaks(out) == leaks(err) == []
    assert {Path(name).suffix for name in clean_files(tmp_path)} > {".db", ".jsonl"}
