"""Whether two checkouts are the same to a user: both play the same worlds, and all they print and write is compared.

    python -m tests.benchmarks.same_for_users BEFORE AFTER FOLDER [WORLD ...]

Each checkout has an environment of its own in `.venv`. What a command printed
lies in FOLDER/before and FOLDER/after, a file a command, with its exit code;
what differs is listed with its first line, and ends with exit code 1. Masked is
what differs between two runs of one checkout, see `MASKED`.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import repeat, zip_longest
from pathlib import Path

from tests.studies.stakebench.readers import data_set

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BASELINES = ("market_price", "always_half", "favourite", "random_bet")
EVENTS = "".join(f'[[bots]]\nstrategy = "{name}"\n' for name in BASELINES)
COMMENTS = """
game = {name = "stakebench", per_split = 40}
venue = "comments:comments"
seed = 42
[[bots]]
name = "majority"
strategy = "text_baseline"
[[bots]]
name = "words"
strategy = "text_baseline"
by = "words"
"""
WORLDS: Mapping[str, tuple[str, ...]] = {
    "demo": ("demo --days 12",),
    "portfolio": ("demo --game portfolio_weights --days 12",),
    "weekly": ("demo --game weekly_cohort --days 30",),
    "stocks": ("demo --game portfolio_weights --market stocks --days 20",),
    "daily": (f"replay events.toml --venue archive:{DATA}/polymarket-daily --every 28d --ledger LEDGER",),
    "february": (f"replay events.toml --venue archive:{DATA}/polymarket-2026-02 --ledger LEDGER",),
    "comments": ("decide comments.toml --as-of 2026-11-01 --ledger LEDGER", "tables stakebench --full --ledger LEDGER"),
}
READ = (
    "report",
    "report --full --all",
    "report --csv",
    "report --json",
    "evaluate --no-track --json",
    "evaluate --no-track --by bot --delay 1 --sizing flat,kelly",
    "report --worst 5",
    *(f"report --table {name} --csv" for name in ("forecasts", "returns", "quote", "pairs", "accounts")),
    *(f"account {bot}{more}" for bot in ("script_sharp", "market_price", "all_cash") for more in ("", " --json")),
    "report --bot script_sharp",
    "status",
    "status --json",
    "runs",
    "runs --json",
    "cohort",
    "cohort --json",
    "verify",
    "verify --json",
    "verify --publish roots.txt",
    "verify --rows",
    "trace --cost",
    "graph --json",
    "publish pages",
    "export tables --format csv",
    "export lines --format jsonl",
    "export canonical --canonical --format jsonl",
)
"""What is asked of each ledger, on 80 and on 120 columns where it draws a table."""
MASKED = (
    (re.compile(r"/[\w/.-]*/(?:before|after)/"), "FOLDER/"),
    (re.compile(r"127\.0\.0\.1:\d+"), "LOOPBACK"),
    (re.compile(r"(untrusted) \d+"), r"\1"),
    (re.compile(rf"{datetime.now(UTC):%Y-%m-%d}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?"), "NOW"),
    (re.compile(r"(\b(?:root|receipt \d+|trace_sha256)\b\W*)[0-9a-f]{64}"), r"\1ROOT"),
    (re.compile(r"(\"\w*(?:seconds|latency)\w*\": )[\d.e-]+"), r"\1SECONDS"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms)\b"), "SECONDS"),
    (re.compile(r"predibot 0\.[\w.+]+"), "VERSION"),
)


def play(checkout: Path, folder: Path, world: str) -> None:
    """Play a world with a checkout, ask of its ledger all that is asked, and write down what was said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "events.toml").write_text('every = "28d"\n' + EVENTS, encoding="utf-8")
    (folder / "comments.toml").write_text(COMMENTS, encoding="utf-8")
    if world == "comments":
        data_set(folder / "comments")
    said = folder / "said"
    said.mkdir()
    for number, command in enumerate(WORLDS[world]):
        _say(checkout, folder, command.replace("LEDGER", "sqlite:///world.db"), said / f"0{number}")
    found = next(iter([*folder.glob("*.db"), *folder.glob("runs/out/*.db")]))
    ledger = f"sqlite:///{found.relative_to(folder)}"
    for command in READ:
        for columns in (80,) if re.search(r"--(?:json|csv|html|format|publish)", command) else (80, 120):
            name = f"{re.sub(r'[^a-z]+', '_', command)}-{columns}"
            _say(checkout, folder, f"{command} --ledger {ledger}", said / name, columns)


def _say(checkout: Path, folder: Path, command: str, into: Path, columns: int = 80) -> None:
    around = {name: value for name, value in os.environ.items() if not name.startswith("PREDIBOT_")}
    around |= {"COLUMNS": str(columns), "PREDIBOT_WORKERS": "1", "HOME": str(folder), "NO_COLOR": "1"}
    program = checkout / ".venv" / "bin" / "predibot"
    done = subprocess.run([program, *command.split()], cwd=folder, env=around, capture_output=True, check=False)
    into.write_bytes(done.stdout + b"\n--- stderr\n" + done.stderr + f"\n--- exit {done.returncode}\n".encode())


def files_of(folder: Path) -> Mapping[str, Path]:
    """Return what a world left behind, by name: texts that people read, so no ledger, cache or list of hashes."""
    kinds = {"", ".csv", ".jsonl", ".json", ".html", ".xml", ".txt", ".svg", ".toml"}
    return {
        str(path.relative_to(folder)): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in kinds and not re.search(r"\.files|\.cache|predibot-site", str(path))
    }


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each file that differs, with the first line that does."""
    old, new = files_of(before), files_of(after)
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield f"{name}: only {'before' if name in old else 'after'}"
            continue
        one, other = (_masked(each[name]) for each in (old, new))
        unequal = [(a, b) for a, b in zip_longest(one, other, fillvalue="(no more)") if a != b]
        if unequal:
            yield f"{name}: {len(unequal)} lines, first\n    {unequal[0][0][:200]}\n    {unequal[0][1][:200]}"


def _masked(path: Path) -> Sequence[str]:
    """Return the lines of a file without what is masked; of a CSV file without its columns of seconds."""
    text = path.read_text("utf-8", "replace")
    if path.suffix == ".csv":
        rows = list(csv.reader(text.splitlines()))
        kept = [number for number, name in enumerate(rows[0] if rows else []) if "seconds" not in name]
        text = "\n".join(",".join(row[number] for number in kept if number < len(row)) for row in rows)
    for form, instead in MASKED:
        text = form.sub(instead, text)
    return text.splitlines()


def main(before: Path, after: Path, folder: Path, worlds: Sequence[str]) -> int:
    """Play all worlds with both, and print what differs."""
    found: list[str] = []
    for world in worlds or tuple(WORLDS):
        sides = ((before, folder / "before" / world), (after, folder / "after" / world))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(play, *zip(*sides, strict=True), repeat(world)))
        found += [f"{world}/{each}" for each in differences(sides[0][1], sides[1][1])]
        print(f"{world}: {len(files_of(sides[1][1]))} files")
    print(*found, sep="\n")
    print(f"{len(found)} differ")
    return bool(found)


if __name__ == "__main__":
    first, second, into, *chosen = sys.argv[1:]
    sys.exit(main(Path(first).resolve(), Path(second).resolve(), Path(into).resolve(), chosen))
