"""The JSON behind the pages: decisions, forecasts, runs and scores, a page at a time."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, create_model

from predibot.jobs.read_traces import read_trace
from predibot.jobs.status import status_of
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import (
    LedgerDecision,
    LedgerForecast,
    LedgerRun,
    count_decisions,
    newest_decisions,
    told_forecasts,
)
from predibot.reports.document import json_value
from predibot.reports.terminal.trace import trace_document
from predibot.reports.views.evaluation_json import evaluation_document
from predibot.reports.views.leaderboard import leaderboard
from predibot.reports.views.metrics import row_document
from predibot.reports.views.schedule import status_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.web.cache import LedgerCache
from predibot.web.pages.leaderboard import PartTexts

_MOST = 500
_Text = Annotated[str, Query(max_length=500)]
_Limit = Annotated[int, Query(ge=1, le=_MOST)]
_Cursor = Annotated[int, Query(ge=0, le=10**9, description="`next_cursor` of the page before")]


class Said(BaseModel):
    """Why there is no answer."""

    detail: str


def _list_model(noun: str, row: type) -> type[BaseModel]:
    fields: dict[str, Any] = {f"{noun.lower()}s": (list[row], ...), "total": (int, ...)}  # type: ignore[valid-type]
    fields["next_cursor"] = (int | None, ...)
    return create_model(f"{noun}List", __doc__="A part of a list, and the cursor of the next.", **fields)


class Rankings(BaseModel):
    """The leaderboard, by what is known of the models' cutoffs."""

    as_of: datetime | None
    rankings: dict[str, list[dict[str, Any]]]


class Document(BaseModel):
    """What a command prints with `--json`."""

    model_config = ConfigDict(extra="allow")


_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "What is known already, by its `ETag`"},
    400: {"description": "This machine is asked by a name that is not its own", "content": {"text/plain": {}}},
    401: {"description": "The token is missing, or another one", "content": {"text/plain": {}}},
    404: {"model": Said, "description": "There is no such thing"},
    503: {"model": Said, "description": "The ledger cannot be read now"},
}


def api(cache: LedgerCache) -> APIRouter:
    """Return the routes of `/api/v1` over a ledger."""
    router = APIRouter(prefix="/api/v1", responses=_RESPONSES)

    def respond(request: Request, document: Callable[[], Any]) -> Response:
        # Taken before anything is read, so that a change meanwhile gets another tag next time.
        tag = f'"{cache.version()}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return JSONResponse(json_value(jsonable_encoder(document())), headers=headers)

    def respond_with_part(
        request: Request, name: str, read: Callable[[], Sequence[Any]], cursor: int, limit: int
    ) -> Response:
        def document() -> Any:
            rows, following = read(), cursor + limit
            return {
                name: [asdict(each) for each in rows[cursor:following]],
                "total": len(rows),
                "next_cursor": following if following < len(rows) else None,
            }

        return respond(request, document)

    @router.get("/runs", responses={200: {"model": _list_model("Run", LedgerRun)}})
    def runs(request: Request, cursor: _Cursor = 0, limit: _Limit = 100) -> Response:
        """Return runs, void ones too, newest slot first."""
        return respond_with_part(request, "runs", cache.runs, cursor, limit)

    @router.get("/decisions", responses={200: {"model": _list_model("Decision", LedgerDecision)}})
    def decisions(
        request: Request,
        recipe: _Text = "",
        bot: _Text = "",
        run: _Text = "",
        status: _Text = "",
        subject: _Text = "",
        venue: _Text = "",
        void: bool = False,
        cursor: Annotated[int | None, Query(ge=1, le=2**62, description="`next_cursor` of the page before")] = None,
        limit: _Limit = 100,
    ) -> Response:
        """Return decisions, the last stored first; also those that were refused, failed or abstained."""
        asked = RowFilter(
            run=run or None,
            recipe=recipe or None,
            bots=(bot,) if bot else (),
            status=status or None,
            subject=subject or None,
            venue=venue or None,
            void=void,
        )

        def document() -> Any:
            rows, following = cache.read(newest_decisions, asked, limit=limit, before=cursor)
            total = sum(cache.read(count_decisions, asked).values())
            return {"decisions": [asdict(each) for each in rows], "total": total, "next_cursor": following}

        return respond(request, document)

    @router.get("/forecasts", responses={200: {"model": _list_model("Forecast", LedgerForecast)}})
    def forecasts(request: Request, run: _Text, cursor: _Cursor = 0, limit: _Limit = 100) -> Response:
        """Return the forecasts and bets of a run, by bot, event and market."""
        return respond_with_part(
            request, "forecasts", lambda: cache.read(told_forecasts, RowFilter(run=run)), cursor, limit
        )

    def read_part(
        recipe: _Text = "",
        venue: _Text = "",
        since: _Text = "",
        until: _Text = "",
        category: _Text = "",
        mode: _Text = "",
        bots: _Text = "",
    ) -> PartTexts:
        return PartTexts(recipe, venue, since, until, category, mode, bots)

    @router.get("/leaderboard", responses={200: {"model": Rankings}})
    def board(request: Request, part: Annotated[PartTexts, Depends(read_part)]) -> Response:
        """Return the leaderboard of the part that is asked for, its rows as `predibot report --json` has them.

        Those of models without a known cutoff are apart.
        """

        def document() -> Any:
            found = part.evaluation(cache, Question(wanted=("evidence", "curves")))
            return {
                "as_of": found.as_of,
                "rankings": {
                    name: [{**row_document(row), "knowledge": name} for row in leaderboard(ranking)]
                    for name, ranking in found.rankings.items()
                },
            }

        return respond(request, document)

    @router.get("/evaluation", responses={200: {"model": Document}})
    def evaluation(request: Request, part: Annotated[PartTexts, Depends(read_part)]) -> Response:
        """Return every score of the part that is asked for, as `predibot evaluate --json` has them."""
        return respond(request, lambda: evaluation_document(part.evaluation(cache, Question())))

    @router.get("/trace", responses={200: {"model": Document}})
    def trace(request: Request, sha256: Annotated[str, Query(pattern="^[0-9a-f]{64}$")]) -> Response:
        """Return a trace step by step, as `predibot trace --json` has it."""
        return respond(request, lambda: trace_document(read_trace(cache.store, sha256)))

    @router.get("/status", responses={200: {"model": Document}})
    def status() -> Response:
        """Return how schedules stand, as `predibot status --json` has it."""
        # It depends on the time, so it has no tag.
        return JSONResponse(json_value(jsonable_encoder(status_document(status_of(cache.store, cache.clock)))))

    return router
