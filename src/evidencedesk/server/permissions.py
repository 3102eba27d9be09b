"""The permission matrix: one row per route. What is not in it is not served.

``docs/server.md`` holds the same table; a test compares them, and another walks every route of the
application with every kind of caller.
"""

from __future__ import annotations

from dataclasses import dataclass

from evidencedesk.server.identity import Permission

PUBLIC, READ, WRITE = Permission.PUBLIC, Permission.READ, Permission.WRITE
AUDIT, METRICS = Permission.AUDIT, Permission.METRICS


@dataclass(frozen=True, slots=True)
class RouteRow:
    """One route and what it needs.

    Attributes:
        method: HTTP method.
        path: path as the application declares it, ``{name}`` for a parameter.
        permission: what the caller must have been granted.
        meaning: what it does, for the documentation.
        page: whether it is a page for people, who are sent to sign in when they are not known.
        upload: whether its body may be as large as an upload.
    """

    method: str
    path: str
    permission: Permission
    meaning: str
    page: bool = False
    upload: bool = False


ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", "/health", PUBLIC, "the process answers"),
    RouteRow("GET", "/health/ready", PUBLIC, "index and model answer"),
    RouteRow("GET", "/metrics", METRICS, "figures for Prometheus"),
    RouteRow("GET", "/openapi.json", PUBLIC, "the description of this interface"),
    RouteRow("GET", "/sign-in", PUBLIC, "on to the provider"),
    RouteRow("GET", "/sign-in/callback", PUBLIC, "back from the provider"),
    RouteRow("POST", "/sign-out", READ, "end one's session"),
    RouteRow("GET", "/v1/me", READ, "who the caller is taken for"),
    RouteRow("POST", "/v1/ask", READ, "answer a question"),
    RouteRow("POST", "/v1/search", READ, "find chunks"),
    RouteRow("GET", "/v1/documents", READ, "list documents"),
    RouteRow("POST", "/v1/documents", WRITE, "upload files", upload=True),
    RouteRow("GET", "/v1/documents/{document_id:path}/content", READ, "text or file of a document"),
    RouteRow("GET", "/v1/documents/{document_id:path}", READ, "read a document"),
    RouteRow("PATCH", "/v1/documents/{document_id:path}", WRITE, "change status, rights, owner"),
    RouteRow("DELETE", "/v1/documents/{document_id:path}", WRITE, "remove a document"),
    RouteRow("GET", "/v1/jobs/{job_id}", WRITE, "what became of one's own upload"),
    RouteRow("GET", "/v1/answers", READ, "one's own answers; all for who oversees"),
    RouteRow("GET", "/v1/answers/{answer_id}", READ, "the receipt of an answer"),
    RouteRow("POST", "/v1/answers/{answer_id}/feedback", READ, "say what an answer is worth"),
    RouteRow("POST", "/v1/answers/{answer_id}/recheck", READ, "whether an answer still holds"),
    RouteRow("GET", "/v1/gaps", AUDIT, "questions without a good answer"),
    RouteRow("POST", "/v1/chat/completions", READ, "ask as OpenAI's clients do"),
    RouteRow("GET", "/v1/models", READ, "the one model there is"),
    RouteRow("GET", "/v1/models/{model}", READ, "the one model there is"),
    RouteRow("POST", "/mcp", READ, "the Model Context Protocol"),
    RouteRow("GET", "/", READ, "the room Ask", page=True),
    RouteRow("GET", "/answers/{answer_id}", READ, "a stored answer as a page", page=True),
    RouteRow("GET", "/library", READ, "the room Library", page=True),
    RouteRow("GET", "/source", READ, "a document as a page", page=True),
    RouteRow("GET", "/source/part", READ, "the part of a document around a quote"),
    RouteRow("GET", "/source/page", READ, "a page of a PDF as a picture"),
    RouteRow("GET", "/quality", AUDIT, "the room Quality", page=True),
    RouteRow("GET", "/quality/gaps", AUDIT, "gaps as a part of that page"),
    RouteRow("GET", "/quality/lapsed", AUDIT, "answers that no longer hold, likewise"),
    RouteRow("GET", "/quality/run", AUDIT, "an evaluation run as a page", page=True),
    RouteRow("GET", "/activity", AUDIT, "the room Activity", page=True),
    RouteRow("GET", "/language/{code}", READ, "switch the language of the pages", page=True),
    RouteRow("GET", "/static/{name}", PUBLIC, "styles, scripts and icon of the pages"),
)


def permission_for(method: str, path: str) -> Permission | None:
    """What the route that is declared as ``method`` and ``path`` needs; None for no such row."""
    wanted = "GET" if method == "HEAD" else method
    rows = (row.permission for row in ROUTES if (row.method, row.path) == (wanted, path))
    return next(rows, None)


def render_markdown() -> str:
    """The table as ``docs/server.md`` shows it."""
    lines = ["| method | route | needs | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {row.method} | `{row.path}` | {row.permission.value} | {row.meaning} |"
        for row in ROUTES
    ]
    return "\n".join(lines) + "\n"
