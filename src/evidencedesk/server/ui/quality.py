"""The room Quality: abstentions, gaps, answers that no longer hold, evaluation runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from evidencedesk.errors import UsageError
from evidencedesk.evaluation.intervals import mean_of
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.evaluation.summary import METRICS, summarise
from evidencedesk.server.building import state_path
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.services import Services
from evidencedesk.server.ui.figures import FOLLOWED, bars, reliability_plot, trend
from evidencedesk.server.ui.rendering import Pages
from evidencedesk.settings import Settings

Caller = Annotated[Identity, Depends(identity_of)]

_ANSWERS = 500
_RUNS = 20
_SEED = 7


def quality_router(services: Services, pages: Pages) -> APIRouter:
    """``GET /quality`` and its parts ``/quality/gaps``, ``/quality/lapsed``, ``/quality/run``."""
    router = APIRouter()
    runs = RunStore.beside(_folder(services.settings))

    @router.get("/quality")
    def quality(request: Request, caller: Caller) -> Response:
        """Figures of the newest answers and evaluation runs; the slower parts come by themselves."""
        texts = pages.texts(request)
        rows = services.desk.answers.list(principal=caller.principal, limit=_ANSWERS)
        stored = _newest(runs) if _measures(services, caller) else []
        return pages.page(
            request,
            caller,
            "quality.html",
            room="quality",
            answers=len(rows),
            answered=sum(not row["abstained"] for row in rows),
            reasons=bars(_reasons(rows), lambda reason: texts(f"reason.{reason}")),
            runs=list(reversed(stored)),
            trend=trend(stored, texts),
        )

    @router.get("/quality/gaps")
    def gaps(request: Request, caller: Caller) -> Response:
        """What readers asked and did not get."""
        found = services.desk.gaps(principal=caller.principal)
        return pages.page(request, caller, "gaps.html", gaps=found)

    @router.get("/quality/lapsed")
    def lapsed(request: Request, caller: Caller) -> Response:
        """Stored answers that no longer hold."""
        found = services.desk.answers.recheck(principal=caller.principal)
        return pages.page(request, caller, "lapsed.html", lapsed=found)

    _add_run(router, services, pages, runs)
    return router


def _add_run(router: APIRouter, services: Services, pages: Pages, runs: RunStore) -> None:
    @router.get("/quality/run")
    def run(
        request: Request,
        caller: Caller,
        id: Annotated[str, Query(max_length=200)],  # noqa: A002
    ) -> Response:
        """One evaluation run in figures; no question and no answer of it is shown."""
        if not _measures(services, caller) or id not in runs.ids():
            return pages.missing(request, caller)
        try:
            found = runs.load(id)
        except UsageError:
            return pages.missing(request, caller)
        summary = summarise(found, np.random.default_rng(_SEED))
        return pages.page(
            request,
            caller,
            "run.html",
            room="quality",
            run=found,
            summary=summary,
            metrics=[each for each in METRICS if each.name in summary.metrics],
            plot=reliability_plot(found, pages.texts(request)),
        )


def _folder(settings: Settings) -> Path:
    """The folder of the index; of an index on a database server, the one with the server's own files."""
    url = settings.index.url
    return state_path(settings).parent if "://" in url else Path(url)


def _measures(services: Services, caller: Identity) -> bool:
    """Runs are the operator's, over whatever tenants a golden set asks for: his own tenant sees them."""
    return caller.principal.tenant == services.settings.access.tenant


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    counted = Counter(str(row["reason"]) for row in rows if row["abstained"])
    return counted.most_common()


def _newest(runs: RunStore) -> list[dict[str, Any]]:
    """The newest runs in figures, oldest first; a file that is no run is passed over."""
    found = []
    for run_id in runs.ids()[-_RUNS:]:
        try:
            run = runs.load(run_id)
        except UsageError:
            continue
        random = np.random.default_rng(_SEED)
        metrics = {name: mean_of(run.scores(name), random) for name in FOLLOWED}
        found.append({"run": run, "metrics": metrics})
    return found
