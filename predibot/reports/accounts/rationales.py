"""The table of rationales: how often those of each bot refer to position, price history and news."""

from collections.abc import Sequence

from predibot.jobs.accounts.statement import BotRationales
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain
from predibot.scoring.accounts.rationale import FACTORS

_SHORT = {"position": "position", "price_history": "price", "news": "news"}


def rationale_tables(found: Sequence[BotRationales]) -> tuple[Table, ...]:
    """Return a row for each bot with the shares by rules, and a table of a model's reading if there is one."""
    tables = [table_of("What rationales refer to, by rules", (*_BOT, _N, *_RULES), found, (_NOTE,))]
    if any(each.factors.judged for each in found):
        tables.append(table_of("As the model reads them", (*_BOT, *_MODEL), found))
    return tuple(tables)


def rationale_documents(found: Sequence[BotRationales]) -> list[Document]:
    """Return the same as JSON has it."""
    return [
        {
            **document(each, "recipe game mode venue bot rationales=factors.n judged=factors.judged"),
            "factor_shares": dict(each.factors.by_rules),
            "judged_shares": dict(each.factors.by_judge),
            "kappa": dict(each.factors.kappa),
        }
        for each in found
    ]


def _columns(of: str, meaning: str, *, before: str = "") -> tuple[Column, ...]:
    write = figures.ratio if before else figures.percent
    return tuple(
        Column(f"{before}{_SHORT[factor]}", f"factors.{of}.{factor}", write, meaning="" if number else meaning, drop=0)
        for number, factor in enumerate(FACTORS)
    )


_NOTE = "Several may be in one rationale, or none; what is named only to deny it does not count."
_BOT = (
    Column("bot", "bot", plain, kind="name"),
    Column("game", "game", plain, drop=3, kind="key"),
    Column("recipe", "recipe", plain, drop=2, kind="name"),
    Column("venue", "venue", plain, drop=1, kind="key"),
)
_N = Column("n", "factors.n", figures.count).means("rationales")
_RULES = _columns("by_rules", "the share of rationales that refer to what is held; likewise past prices and news")
_MODEL = (
    Column("read", "factors.judged", figures.count).means("rationales that the model read"),
    *_columns("by_judge", "the share of these that refer to what is held; likewise past prices and news"),
    *_columns("kappa", "Cohen's kappa of rules and model; a dash where both always say the same", before="κ "),
)
