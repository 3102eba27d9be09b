"""The web page: four rooms and a view of sources, rendered on the server.

Every page is made from templates that escape whatever they are given, loads nothing from elsewhere,
and runs no script but ours (Content-Security-Policy). What a reader may see is decided by the desk,
which is given his principal with every call.
"""

from __future__ import annotations

from fastapi import APIRouter

from evidencedesk.adapters.pages.pdf import PageRenderer
from evidencedesk.server.services import Services
from evidencedesk.server.ui.activity import activity_router
from evidencedesk.server.ui.asking import asking_room_router
from evidencedesk.server.ui.files import files_router
from evidencedesk.server.ui.library import library_router
from evidencedesk.server.ui.quality import quality_router
from evidencedesk.server.ui.rendering import Pages
from evidencedesk.server.ui.sources import sources_router


def router(services: Services) -> APIRouter:
    """All routes of the web page; each has a row in the table of permissions."""
    pages = Pages(services.settings)
    whole = APIRouter(include_in_schema=False)
    whole.include_router(files_router())
    whole.include_router(asking_room_router(services, pages))
    whole.include_router(library_router(services, pages))
    whole.include_router(sources_router(services, pages, PageRenderer()))
    whole.include_router(quality_router(services, pages))
    whole.include_router(activity_router(services, pages))
    return whole
