"""The tear sheet: one HTML file about a bot, with its pictures in it; no script, and nothing asked of any host."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from predibot.jobs.histories.bot import BotHistory
from predibot.jobs.histories.event import MarketHistory
from predibot.jobs.worst_decisions import WorstDecision
from predibot.plain_file import plain_text
from predibot.reports import figures
from predibot.reports.pictures.canvas import inline, render_figure, style
from predibot.reports.pictures.draw import draw_picture
from predibot.reports.pictures.series import Picture, bot_pictures
from predibot.reports.table import Table
from predibot.reports.terminal.closeups.rows import bot_grids, circumstances, head_lines, question_of
from predibot.reports.terminal.terminal import plain
from predibot.whole_file import whole_file

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARACTERS = 80
_NAME_CELLS = 80
_RATIONALE_CELLS = 600
_CELL_CHARACTERS = 400


def write_tearsheet(history: BotHistory, file: Path | None) -> Path:
    """Write the tear sheet of a bot, by default `runs/out/tearsheet-BOT.html`; return the file, or raise `OSError`."""
    with figures.in_currency(history.evaluation.currency):
        page = tearsheet(history)
    if file is None:
        file = Path("runs/out") / f"tearsheet-{_UNSAFE.sub('_', history.bot)[:_NAME_CHARACTERS]}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as stream:
        stream.write(page.encode())
    return file


def tearsheet(history: BotHistory) -> str:
    """Return the page, equal for equal histories; raise `ImportError` without matplotlib (see `require_matplotlib`)."""
    name = _text(history.bot, _NAME_CELLS)
    head, *claims = head_lines(history)
    body = [
        f"<h1>{name}</h1>",
        *(f"<p>{_text(line)}</p>" for line in (head, *claims[:2])),
        *(f'<p class="claim">{_text(line)}</p>' for line in claims[2:]),
        *_pictures(tuple(picture for _, picture in bot_pictures(history))),
        *_tables(tuple(bot_grids(history))),
        # Accounts have their best and worst slots among the tables.
        *(_decisions("Best decisions", "No bet gained money.", history.best) if history.scored else ()),
        *(_decisions("Worst decisions", "No bet lost money.", history.worst) if history.scored else ()),
        f'<p class="small">Made by predibot from what its ledger held as of {figures.instant(history.as_of)}. '
        "A dash is a number that is missing, never zero.</p>",
    ]
    page = plain_text(Path(__file__).with_name("tearsheet.html"))
    return Template(page).substitute(name=name, body="\n".join(body))


def _pictures(pictures: Sequence[Picture]) -> Iterator[str]:
    if not pictures:
        yield "<p>Nothing to draw yet: no decision has a price or has paid.</p>"
        return
    yield "<h2>Pictures</h2>"
    with style():
        for number, picture in enumerate(pictures):
            if isinstance(picture, MarketHistory):
                title = f"Price and decisions: {picture.market.question or picture.market.title}"
            else:
                title = picture.title
            svg = render_figure(draw_picture(picture), "svg")
            yield f"<figure>{inline(svg, number, _text(title, 160))}</figure>"


def _tables(grids: Sequence[Table]) -> Iterator[str]:
    if grids:
        yield "<h2>Numbers</h2>"
    for grid in grids:
        kinds = ["number" if column.kind == "number" else "text" for column in grid.columns]
        yield f"<h3>{_text(grid.title)}</h3>"
        # A part that scrolls must be reachable by keyboard.
        yield f'<div class="wide" tabindex="0" role="region" aria-label="{_text(grid.title)}"><table>'
        headers = zip(grid.columns, kinds, strict=True)
        cells = "".join(f'<th scope="col" class="{kind}">{_text(column.header)}</th>' for column, kind in headers)
        yield f"<thead><tr>{cells}</tr></thead><tbody>"
        for row in grid.rows:
            cells = "".join(
                f'<td class="{kind}">{_text(cell, _CELL_CHARACTERS)}</td>'
                for cell, kind in zip(row, kinds, strict=True)
            )
            yield f"<tr>{cells}</tr>"
        yield "</tbody></table></div>"
        for line in (*grid.below, *grid.legend_lines()):
            yield f'<p class="small">{_text(line)}</p>'


def _decisions(title: str, none: str, decisions: Sequence[WorstDecision]) -> Iterator[str]:
    yield f"<h2>{title}</h2>"
    if not decisions:
        yield f"<p>{none}</p>"
        return
    yield '<p class="small">At the mid, by the payout or the last price.</p>'
    yield "<ol>"
    for each in decisions:
        why = _text(each.reason.rationale, _RATIONALE_CELLS) or figures.MISSING
        yield (
            f"<li><strong>{figures.gain_usd(each.loss.gain_usd)}</strong> {_text(question_of(each))}"
            f'<br>{_text(circumstances(each))}<br><span class="small">why: {why}</span></li>'
        )
    yield "</ol>"


def _text(text: str, cells: int = 1_000) -> str:
    """Return a text as one bounded line without markup, for a page and for an attribute."""
    # Combining marks have no width, so there may be any number of them.
    return escape(plain(text[: 8 * cells], cells)[: 2 * cells])
