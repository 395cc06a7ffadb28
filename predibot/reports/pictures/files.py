"""Pictures as files: those of a ledger, and the graph of related events."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from predibot.errors import UsageError
from predibot.jobs.histories.ledger import LedgerHistory
from predibot.jobs.relatedness.graph import LabelledGraph
from predibot.reports import figures
from predibot.reports.pictures.canvas import FORMATS, render_figure, style
from predibot.reports.pictures.draw import draw_picture
from predibot.reports.pictures.graph import graph_title, layout_graph, marks_note, svg_of
from predibot.reports.pictures.series import Picture, agreement_pictures, ledger_pictures
from predibot.reports.study import StudyPicture
from predibot.scoring.evaluation.comparison import Agreement
from predibot.whole_file import whole_file


def write_pictures(history: LedgerHistory, folder: Path, agreements: Sequence[Agreement] = ()) -> list[Path]:
    """Draw pictures of a ledger, and of its agreements with scores from outside; raise `OSError` as `draw_files`."""
    with figures.in_currency(history.evaluation.currency):
        return draw_files(chain(ledger_pictures(history), agreement_pictures(agreements)), folder)


def draw_files(pictures: Iterable[tuple[str, Picture]], folder: Path) -> list[Path]:
    """Draw pictures into a folder, created if missing, and return the files.

    Raises `OSError` if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, picture in pictures:
        with style():
            figure = draw_picture(picture)
            for form in FORMATS:
                file = folder / f"{name}.{form}"
                with whole_file(file) as stream:
                    stream.write(render_figure(figure, form))
                files.append(file)
    return files


def write_svgs(pictures: Iterable[StudyPicture], folder: Path) -> list[Path]:
    """Write an SVG file for each picture, and return the files; raise `OSError` if the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for picture in pictures:
        found.append(folder / f"{picture.name}.svg")
        with whole_file(found[-1]) as file:
            file.write(picture.file().encode())
    return found


def write_graph(found: LabelledGraph, file: Path | None) -> str:
    """Write a graph as SVG, if a file is named and events are related; return a sentence on it, or raise UsageError."""
    title = f"{graph_title(found.graph, figures.instant(found.known.as_of))}."
    if file is None:
        return title
    picture = layout_graph(found.graph, found.known.titles, found.chain)
    if picture is None:
        return f"{title} There is nothing to draw."
    try:
        with whole_file(file) as stream:
            stream.write(svg_of(picture, f"{title} {marks_note(picture, found.chain)}").encode())
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}); name another file") from None
    rest = f" without {picture.not_drawn:,} events for which there was no room" if picture.not_drawn else ""
    return f"{title} Drawn into {file}{rest}."
