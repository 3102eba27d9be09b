"""The routers of pages for people, beside those of the interface for programs."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter

from evidencedesk.server.services import Services
from evidencedesk.server.ui import router

PAGES: tuple[Callable[[Services], APIRouter], ...] = (router,)
