"""Plants faults in predibot and tells which of them the tests catch.

Drawn by cosmic-ray (`pip install cosmic-ray`), which is no dependency, and by one operator of ours:

    python tests/benchmarks/faults.py draw --seed 1 --number 60 >faults.json

The tests that reach a function are known from a run of all of them on Python 3.12 or later:

    pytest -n 2 --costs costs.tsv --reached build/reached

Each fault is then put into a copy of the project, whose tests that reach it run, the cheapest first, until one fails:

    python tests/benchmarks/faults.py run faults.json --tree COPY --reached build/reached --costs costs.tsv >caught.json
"""

import argparse
import ast
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path

ROOMS = ("predibot", "tools", "strategies")
PAIRS = {
    "operator": ["Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Add_Mul", "Sub_Mul", "FloorDiv_Mul", "Mod_Mul"],
    "bound": ["Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "Gt_LtE"],
    "condition": ["Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"],
}
OPERATORS = {
    "operator": [f"core/ReplaceBinaryOperator_{pair}" for pair in PAIRS["operator"]],
    "bound": [f"core/ReplaceComparisonOperator_{pair}" for pair in PAIRS["bound"]],
    "condition": [
        *(f"core/ReplaceComparisonOperator_{pair}" for pair in PAIRS["condition"]),
        *("core/AddNot", "core/ReplaceAndWithOr", "core/ReplaceOrWithAnd"),
    ],
    "constant": ["core/NumberReplacer", "core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue"],
}
CPU_SECONDS = 90.0
"""Of tests that are tried for one fault."""
LONGEST_SECONDS = 1_800
"""Until a run hangs."""


@dataclass(frozen=True)
class Fault:
    """Lines of a function that are other lines."""

    kind: str
    file: str
    function: str
    line: int
    before: list[str]
    after: list[str]

    def plant(self, tree: Path) -> str:
        """Put the fault into a tree, where the lines now are, and return the text that was there."""
        path = tree / self.file
        text = path.read_text(encoding="utf-8")
        lines, size = text.split("\n"), len(self.before)
        places = [at for at in range(len(lines)) if lines[at : at + size] == self.before]
        if not places:
            raise LookupError(f"{self.file}: the lines of {self.function} are gone")
        at = min(places, key=lambda place: abs(place - self.line))
        path.write_text("\n".join([*lines[:at], *self.after, *lines[at + size :]]), encoding="utf-8")
        return text


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
            yield from _functions(node, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _swapped(text: str) -> Iterator[str]:
    """Yield a module with the first two arguments of one call exchanged, for each such call."""
    lines = text.encode().split(b"\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and len(node.args) >= 2 and node.lineno == node.args[1].end_lineno:
            first, second = node.args[:2]
            if isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
                continue
            line = lines[node.lineno - 1]
            a, b = line[first.col_offset : first.end_col_offset], line[second.col_offset : second.end_col_offset]
            between = line[first.end_col_offset : second.col_offset]
            changed = line[: first.col_offset] + b + between + a + line[second.end_col_offset :]
            yield b"\n".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]]).decode()


def _mutated(kind: str, text: str) -> Iterator[str]:
    if kind == "swapped":
        yield from _swapped(text)
        return
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    for name in OPERATORS[kind]:
        operator = get_operator(name)()
        for occurrence in range(10_000):
            changed = mutate_code(text.encode(), operator, occurrence)
            if changed is None:
                break
            yield changed if isinstance(changed, str) else changed.decode()


def _faults(kind: str, file: str, text: str) -> list[Fault]:
    """Return the faults of a kind that lie within the bodies of a module's functions."""
    found, functions = [], list(_functions(ast.parse(text)))
    lines = text.split("\n")
    for changed in _mutated(kind, text):
        others = changed.split("\n")
        same = next((at for at, pair in enumerate(zip(lines, others, strict=False)) if pair[0] != pair[1]), None)
        if same is None or len(lines) != len(others):
            continue
        end = max(at for at, pair in enumerate(zip(lines, others, strict=True)) if pair[0] != pair[1]) + 1
        inside = [(name, node) for name, node in functions if node.body[0].lineno <= same + 1 <= (node.end_lineno or 0)]
        if inside:
            found.append(Fault(kind, file, inside[-1][0], same, lines[same:end], others[same:end]))
    return found


def draw(seed: int, number: int, root: Path) -> list[Fault]:
    """Return so many faults: rooms and kinds in turn, the module by its length, the place by chance."""
    chance = random.Random(seed)
    rooms = defaultdict(list)
    for top in ROOMS:
        for path in sorted((root / top).rglob("*.py")):
            if "migrations" not in path.parts:
                parts = path.relative_to(root).parts
                rooms[parts[1] if top == "predibot" and len(parts) > 2 else top].append(path)
    drawn: list[Fault] = []
    names = sorted(rooms)
    while len(drawn) < number:
        room = names[len(drawn) % len(names)]
        if len(drawn) % len(names) == 0:
            chance.shuffle(names)
        texts = [path.read_text(encoding="utf-8") for path in rooms[room]]
        kind = chance.choice([*OPERATORS, "swapped"])
        path, text = chance.choices(list(zip(rooms[room], texts, strict=True)), [len(text) for text in texts])[0]
        candidates = _faults(kind, path.relative_to(root).as_posix(), text)
        if candidates:
            drawn.append(chance.choice(candidates))
    return drawn


def _reaching(folder: Path, costs: Path) -> dict[str, list[tuple[float, str]]]:
    """Return the tests of each function, and under its file those of all, with their costs; no test without one."""
    cost = {
        test: float(seconds) for seconds, _, test in (line.split("\t", 2) for line in costs.read_text().splitlines())
    }
    found: dict[str, set[str]] = defaultdict(set)
    for file in folder.glob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            test, functions = json.loads(line)
            for function in functions:
                found[function].add(test)
                found[function.partition(":")[0]].add(test)
    return {name: sorted((cost[test], test) for test in tests if test in cost) for name, tests in found.items()}


def _order(fault: Fault, tests: list[tuple[float, str]]) -> list[str]:
    """Return tests in the order they are tried: those of the same room before others, the cheap before the dear."""
    room = "tests/" + "/".join(Path(fault.file).parent.parts[1:])
    near = [each for each in tests if each[1].startswith((room, fault.file))]
    near += [each for each in tests if not each[1].startswith((room, fault.file))]
    spent = accumulate(seconds for seconds, _ in near)
    return [test for (_, test), seconds in zip(near, spent, strict=True) if seconds <= CPU_SECONDS]


def try_fault(fault: Fault, tree: Path, python: str, tests: list[str]) -> str | None:
    """Return the test that catches a fault, or none."""
    try:
        original = fault.plant(tree)
    except LookupError as gone:
        return f"not planted: {gone}"
    try:
        return _first_failing(tree, python, tests) if tests else None
    finally:
        (tree / fault.file).write_text(original, encoding="utf-8")


def _first_failing(tree: Path, python: str, tests: list[str]) -> str | None:
    chosen = tree / ".venv" / "chosen.txt"
    chosen.parent.mkdir(exist_ok=True)
    chosen.write_text("\n".join(tests), encoding="utf-8")
    command = [python, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", f"@{chosen}"]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0:
        return None
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return said[0] if said else f"exit code {done.returncode}: {(done.stdout + done.stderr)[-300:]}"


def main() -> None:
    """Draw faults, or try them."""
    parser = argparse.ArgumentParser(description=__doc__)
    does = parser.add_subparsers(dest="does", required=True)
    drawing = does.add_parser("draw")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--number", type=int, default=60)
    running = does.add_parser("run")
    running.add_argument("faults", type=Path)
    for name in ("tree", "reached", "costs"):
        running.add_argument(f"--{name}", type=Path, required=True)
    running.add_argument("--python", default=sys.executable)
    running.add_argument("--only", default="", help="numbers of faults, with commas between; all of them if left out")
    given = parser.parse_args()
    if given.does == "draw":
        drawn = draw(given.seed, given.number, Path(__file__).resolve().parents[2])
        print(json.dumps([asdict(fault) for fault in drawn], indent=1))
        return
    only = {int(number) for number in given.only.split(",") if number}
    reaching = _reaching(given.reached, given.costs)
    faults = [Fault(**fault) for fault in json.loads(given.faults.read_text(encoding="utf-8"))]
    for number, fault in enumerate(faults):
        if only and number not in only:
            continue
        tests = reaching.get(f"{fault.file}:{fault.function}", [])
        caught = try_fault(fault, given.tree, given.python, _order(fault, tests))
        print(json.dumps({"fault": number, "reached_by": len(tests), "caught": caught}), flush=True)


if __name__ == "__main__":
    main()
