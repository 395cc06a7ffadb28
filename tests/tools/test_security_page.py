"""The security page: every test it names exists."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_attack_of_the_security_page_has_its_test() -> None:
    page = (HERE.parents[1] / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| attack")]
    tests = "".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_*.py"))
    assert len(rows) >= 30
    for row in rows:
        named = re.findall(r"\b(test_\w+)(?!\.py)\b", row.rpartition("| `")[2].replace(".py:", " "))
        known = [name for name in named if f"def {name}(" in tests]
        assert known, row
        assert all(name in known or (HERE / f"{name}.py").is_file() for name in named), row
