"""Taking files: what came is written down, and a job brings it into the index."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from evidencedesk.desk.keeping import Said
from evidencedesk.errors import IndexUnavailableError, UsageError
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.originals import safe_name
from evidencedesk.server.problems import RequestError
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import as_json, described
from evidencedesk.server.state.jobs import JobFile

Caller = Annotated[Identity, Depends(identity_of)]

_MOST_FIELDS = 64
_MOST_FIELD_BYTES = 4096
_KEY_BYTES = 255
_UTF_8 = re.compile(r"charset=\"?utf-8\"?\s*(?=;|$)")
_FIELDS = frozenset({"files", "roles", "deny", "status", "lang", "owner", "replaces"})
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                        },
                        "roles": {"type": "array", "items": {"type": "string"}},
                        "deny": {"type": "array", "items": {"type": "string"}},
                        "status": {"type": "string"},
                        "lang": {"type": "string"},
                        "owner": {"type": "string"},
                        "replaces": {
                            "type": "string",
                            "description": "Id of an uploaded document that the one file is a new version of.",
                        },
                    },
                }
            }
        },
    },
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "maxLength": _KEY_BYTES},
            "description": "The same key with the same files again gives the same job.",
        }
    ],
}


def uploads_router(services: Services) -> APIRouter:
    """``POST /v1/documents`` and ``GET /v1/jobs/{job_id}``."""
    router = APIRouter(tags=["documents"])

    @router.post(
        "/v1/documents",
        response_model=None,
        status_code=202,
        responses=described(as_json("Taken; the job tells the rest."), 404, 415, status=202),
        openapi_extra=_FORM,
    )
    async def upload(request: Request, caller: Caller) -> Response:
        """Take files. Rights come from the form; a file's own front matter can only narrow them."""
        _check_type(request)
        async with request.form(
            max_files=services.settings.server.limits.upload_files,
            max_fields=_MOST_FIELDS,
            max_part_size=_MOST_FIELD_BYTES,
        ) as form:
            job_id = await run_in_threadpool(
                take, services, form, caller, _idempotency_key(request)
            )
        return JSONResponse(
            {"job_id": job_id, "state": "queued"},
            202,
            headers={"Location": f"/v1/jobs/{job_id}"},
        )

    @router.get(
        "/v1/jobs/{job_id}",
        response_model=None,
        responses=described(as_json("The upload, with an outcome per file."), 404),
    )
    async def job(job_id: str, caller: Caller) -> Response:
        """What became of an upload of one's own, file by file."""
        found = await run_in_threadpool(services.state.jobs.get, job_id, caller.owner)
        if found is None:
            raise UsageError(f"There is no upload {job_id!r} of yours.", code="not_found")
        return JSONResponse(found.to_json())

    return router


def too_many_files(error: HTTPException) -> bool:
    """Whether reading a form was given up because of the number of files."""
    return error.status_code == 400 and str(error.detail).startswith("Too many files")


def take(services: Services, form: FormData, caller: Identity, key: str | None) -> str:
    """Write the files down and make their job; its id.

    Raises:
        RequestError: nothing to take, unknown fields, too many jobs, a key used otherwise.
        UsageError: ``not_found``, of what is to be replaced.
        AccessRuleError: rights that the caller cannot give.
    """
    files, said, replaces = _read(form)
    replaced = _replaced(services, files, said, replaces, caller)
    root, said = replaced if replaced is not None else (None, said)
    if replaced is None:
        services.desk.check_said(said, principal=caller.principal)
    if services.state.jobs.waiting(caller.owner) >= services.settings.server.limits.waiting_jobs:
        raise RequestError(
            "Too many of your uploads are still on their way.",
            code="too_many_jobs",
            hint="Wait until some are done.",
            retry_after=10,
        )
    job_id = services.new_secret()
    with ExitStack() as undo:
        undo.callback(services.originals.drop_incoming, job_id)
        rows = [_written(services, job_id, *each) for each in enumerate(files)]
        rows = rows if root is None else [_as_new_version(rows[0], root)]
        made = services.state.jobs.add(
            job_id,
            caller.owner,
            caller.principal,
            said,
            rows,
            idempotency_key=key,
            request_hash=_hash_of(rows, said, replaces),
        )
        if made == job_id:
            undo.pop_all()
    if made is None:
        raise RequestError(
            "This Idempotency-Key was used for another request.",
            code="idempotency_conflict",
            hint="Use a new key for a new request.",
        )
    services.job_arrived.set()
    return made


def _check_type(request: Request) -> None:
    """A form in another charset is refused: some decoders fail on it, others make half characters."""
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "multipart/form-data" or "charset" in _UTF_8.sub("", parameters):
        raise RequestError(
            "An upload is multipart/form-data, its text in UTF-8.",
            code="unsupported_type",
            hint="Send the files as parts called 'files'.",
        )


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= _KEY_BYTES:
        raise RequestError(
            f"An Idempotency-Key has 1 to {_KEY_BYTES} characters.", code="bad_idempotency_key"
        )
    return key


def _read(form: FormData) -> tuple[list[UploadFile], Said, str | None]:
    unknown = sorted(set(form) - _FIELDS)
    if unknown:
        raise RequestError(
            f"There is no field {unknown[0][:100]!r}.",
            code="bad_field",
            hint=f"Send: {', '.join(sorted(_FIELDS))}.",
        )
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not files or len(files) != len(form.getlist("files")):
        raise RequestError(
            "There is no file in the upload.",
            code="no_files",
            hint="Send each as a part called 'files', with a file name.",
        )
    said = Said(
        roles=_names(form, "roles"),
        deny=_names(form, "deny"),
        status=_text(form, "status"),
        lang=_text(form, "lang"),
        owner=_text(form, "owner"),
    )
    return files, said, _text(form, "replaces")


def _text(form: FormData, name: str) -> str | None:
    values = form.getlist(name)
    if len(values) > 1 or any(isinstance(value, UploadFile) for value in values):
        raise RequestError(f"The field {name!r} is one piece of text.", code="bad_field")
    text = str(values[0]).strip() if values else ""
    return text or None


def _names(form: FormData, name: str) -> frozenset[str] | None:
    values = form.getlist(name)
    if any(isinstance(value, UploadFile) for value in values):
        raise RequestError(f"The field {name!r} is text.", code="bad_field")
    return frozenset(text for value in values if (text := str(value).strip())) if values else None


def _replaced(
    services: Services,
    files: Sequence[UploadFile],
    said: Said,
    replaces: str | None,
    caller: Identity,
) -> tuple[tuple[str, str], Said] | None:
    """Key and name of the file that is replaced, and what holds of its new version."""
    if replaces is None:
        return None
    record, holds = services.desk.replacing(replaces, said, principal=caller.principal)
    key = services.originals.key_of(record.root)
    if key is None or "!/" in record.source or len(files) != 1:
        raise RequestError(
            "A new version is one file, of a document that was uploaded as a file of its own.",
            code="not_replaceable",
            hint="Change the operator's own files where they are, and ingest them.",
        )
    return (key, record.source), holds


def _written(services: Services, job_id: str, number: int, file: UploadFile) -> JobFile:
    """The file on the disk, for its owner only, with the hash of its bytes."""
    path = services.originals.incoming(job_id, number)
    try:
        size, digest = _copy(file, path)
    except OSError as error:
        raise IndexUnavailableError(
            f"An upload cannot be written: {error}.", code="disk_full", hint="Free some space."
        ) from error
    return JobFile(
        number=number,
        name=safe_name(file.filename or ""),
        bytes=size,
        file_hash=f"sha256:{digest}",
        key=hashlib.sha256(services.new_secret().encode()).hexdigest()[:24],
    )


def _copy(file: UploadFile, path: Path) -> tuple[int, str]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        file.file.seek(0)
        shutil.copyfileobj(file.file, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
    with path.open("rb") as written:
        return path.stat().st_size, hashlib.file_digest(written, "sha256").hexdigest()


def _as_new_version(row: JobFile, place: tuple[str, str]) -> JobFile:
    key, name = place
    return replace(row, key=key, name=name, replaces=key)


def _hash_of(rows: Sequence[JobFile], said: Said, replaces: str | None) -> bytes:
    values = {
        name: sorted(each) if isinstance(each, frozenset) else each
        for name, each in asdict(said).items()
    }
    parts = [[(row.name, row.file_hash) for row in rows], values, replaces]
    return hashlib.sha256(json.dumps(parts).encode()).digest()
