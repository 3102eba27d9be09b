"""Uploading, listing, reading, changing and removing documents over HTTP."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.access import Principal
from evidencedesk.desk.keeping import Said
from evidencedesk.server.identity import Permission
from evidencedesk.server.state.jobs import MOST_ATTEMPTS, JobFile
from evidencedesk.server.working import JobRunner
from evidencedesk.testing.serving import served, settings_for

READ = frozenset({Permission.READ})
NOTE = b"# Parking\n\nVisitors park behind the workshop, in rows 7 and 8.\n"


def upload(server: Any, headers: Any, *files: tuple[str, bytes], **fields: Any) -> Any:
    parts = [("files", (name, data, "application/octet-stream")) for name, data in files]
    extra = {k: fields.pop(k) for k in list(fields) if k == "Idempotency_Key"}
    sent = {**headers, **{k.replace("_", "-"): v for k, v in extra.items()}}
    return server.client.post("/v1/documents", files=parts, data=fields, headers=sent)


def finished(server: Any, headers: Any, job_id: str) -> Any:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        job = server.client.get(f"/v1/jobs/{job_id}", headers=headers).json()
        if job["state"] in {"done", "failed"}:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def brought(server: Any, headers: Any, *files: tuple[str, bytes], **fields: Any) -> Any:
    reply = upload(server, headers, *files, **fields)
    assert reply.status_code == 202, reply.text
    return finished(server, headers, reply.json()["job_id"])


def asked(server: Any, headers: Any, question: str) -> Any:
    return server.client.post("/v1/ask", json={"question": question}, headers=headers).json()


PARKING = "Where do visitors park?"


def test_an_upload_is_taken_at_once_and_can_be_asked_about(server: Any) -> None:
    staff = server.key("staff")
    reply = upload(server, staff, ("parking.md", NOTE), roles="staff")
    assert reply.status_code == 202
    assert reply.headers["location"] == f"/v1/jobs/{reply.json()['job_id']}"
    job = finished(server, staff, reply.json()["job_id"])
    (file,) = job["files"]
    assert file["outcome"]["state"] == "done"
    (document_id,) = file["outcome"]["added"]
    answer = asked(server, staff, PARKING)
    assert "rows 7 and 8" in answer["text"]
    assert answer["citations"][0]["document_id"] == document_id
    assert answer["citations"][0]["source"] == "parking.md"
    original = server.client.get(
        f"/v1/documents/{document_id}/content", params={"original": True}, headers=staff
    )
    assert original.content == NOTE
    assert original.headers["content-disposition"] == "attachment; filename*=UTF-8''parking.md"
    assert original.headers["content-type"] == "application/octet-stream"


def test_each_file_of_an_upload_has_its_own_outcome(server: Any) -> None:
    staff = server.key("staff")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.md", "# A\n\nThe first of two.\n")
        archive.writestr("a.txt", "The second of two.\n")
    job = brought(
        server,
        staff,
        ("good.md", NOTE),
        ("broken.pdf", b"%PDF-1.7 nothing"),
        ("both.zip", packed.getvalue()),
        roles="staff",
    )
    good, broken, both = (file["outcome"] for file in job["files"])
    assert (good["state"], broken["state"], both["state"]) == ("done", "failed", "done")
    assert broken["failed"][0]["code"] == "damaged"
    assert len(set(both["added"])) == 2
    assert job["files_done"] == 3


def test_ids_of_uploads_do_not_tell_which_documents_there_are(server: Any) -> None:
    """wages.md is there, and this caller may not see it: his own upload of that name looks like any."""
    staff = server.key("staff")
    job = brought(server, staff, ("wages.md", NOTE), ("fresh.md", NOTE + b"x\n"), roles="staff")
    ids = [file["outcome"]["added"][0] for file in job["files"]]
    assert [name.partition("~")[0] for name in ids] == ["wages", "fresh"]
    assert all(len(name.partition("~")[2]) == 24 for name in ids)
    assert "31 euros" in asked(server, server.key("board"), "What are instructors paid?")["text"]


def test_front_matter_of_an_upload_opens_nothing(server: Any) -> None:
    staff = server.key("staff")
    sly = (
        b"---\nid: kc-returns-v3\nroles: [staff, everyone]\nsupersedes: kc-returns-v3\n---\n" + NOTE
    )
    job = brought(server, staff, ("sly.md", sly), roles="staff")
    (document_id,) = job["files"][0]["outcome"]["added"]
    found = server.client.get(f"/v1/documents/{document_id}", headers=staff).json()
    assert document_id.startswith("sly~")
    assert found["roles"] == ["staff"]
    assert server.client.get("/v1/documents/kc-returns-v3", headers=staff).status_code == 200


@pytest.mark.parametrize("roles", ["board", "everyone"])
def test_nobody_opens_documents_to_roles_that_he_does_not_have(server: Any, roles: str) -> None:
    reply = upload(server, server.key("staff"), ("parking.md", NOTE), roles=roles)
    assert (reply.status_code, reply.json()["code"]) == (403, "role_not_held")


def test_without_roles_an_upload_has_those_of_the_settings(server: Any) -> None:
    staff, chief = server.key("staff"), server.key(administrator=True)
    job = brought(server, staff, ("parking.md", NOTE))
    (document_id,) = job["files"][0]["outcome"]["added"]
    assert server.client.get(f"/v1/documents/{document_id}", headers=staff).status_code == 404
    assert server.client.get(f"/v1/documents/{document_id}", headers=chief).json()["roles"] == []


def test_the_same_request_again_is_the_same_job(server: Any) -> None:
    staff = server.key("staff")
    files = ("parking.md", NOTE)
    first = upload(server, staff, files, roles="staff", Idempotency_Key="k1").json()["job_id"]
    again = upload(server, staff, files, roles="staff", Idempotency_Key="k1").json()["job_id"]
    other = upload(server, staff, ("parking.md", b"else"), roles="staff", Idempotency_Key="k1")
    somebody = upload(server, server.key("staff"), files, roles="staff", Idempotency_Key="k1")
    assert first == again
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")
    assert somebody.json()["job_id"] != first
    assert len(finished(server, staff, first)["files"]) == 1


def test_a_new_version_takes_the_place_of_the_old_one(server: Any) -> None:
    staff = server.key("staff")
    job = brought(server, staff, ("parking.md", NOTE), roles="staff")
    (document_id,) = job["files"][0]["outcome"]["added"]
    newer = NOTE.replace(b"7 and 8", b"1 and 2")
    job = brought(server, staff, ("renamed.md", newer), replaces=document_id)
    assert job["files"][0]["outcome"]["changed"] == [document_id]
    assert "rows 1 and 2" in asked(server, staff, PARKING)["text"]
    history = server.services.desk.history(
        document_id,
        principal=server.services.state.keys.identify(staff["Authorization"][7:]).principal,
    )
    assert len(history) == 1


def test_a_new_version_that_cannot_be_read_leaves_the_old_one(server: Any) -> None:
    staff = server.key("staff")
    job = brought(server, staff, ("parking.md", NOTE), roles="staff")
    (document_id,) = job["files"][0]["outcome"]["added"]
    job = brought(server, staff, ("parking.md", b"%PDF-1.4 nothing"), replaces=document_id)
    assert job["files"][0]["outcome"]["state"] == "failed"
    content = server.client.get(f"/v1/documents/{document_id}/content?original=true", headers=staff)
    assert content.content == NOTE


def test_only_uploads_that_one_sees_can_be_replaced(server: Any) -> None:
    staff = server.key("staff")
    unseen = upload(server, staff, ("x.md", NOTE), replaces="wages")
    absent = upload(server, staff, ("x.md", NOTE), replaces="nothing")
    operators = upload(server, staff, ("x.md", NOTE), replaces="kc-returns-v3")
    assert (unseen.status_code, absent.status_code) == (404, 404)
    assert unseen.json()["detail"].replace("wages", "nothing") == absent.json()["detail"]
    assert operators.json()["code"] == "not_replaceable"


def test_pages_of_the_list_hold_every_visible_document_once(server: Any) -> None:
    staff = server.key("staff")
    found, cursor = [], ""
    while cursor is not None:
        page = server.client.get(
            "/v1/documents", params={"limit": 4, "cursor": cursor}, headers=staff
        ).json()
        assert len(page["documents"]) <= 4
        found += [each["document_id"] for each in page["documents"]]
        cursor = page["next_cursor"]
    assert found == sorted(set(found))
    assert "wages" not in found
    assert "kc-returns-v3" in found
    old = server.client.get("/v1/documents?status=superseded", headers=staff).json()["documents"]
    assert {each["status"] for each in old} == {"superseded"}


def test_nothing_tells_where_files_lie_on_the_server(server: Any, index: Path) -> None:
    staff = server.key("staff")
    listed = server.client.get("/v1/documents", headers=staff).text
    one = server.client.get("/v1/documents/kc-returns-v3", headers=staff).text
    for told in (listed, one):
        assert str(index.parent) not in told
        assert "/samples" not in told


def test_a_document_is_validated_by_its_etag(server: Any) -> None:
    staff = server.key("staff")
    path = "/v1/documents/kc-returns-v3"
    first = server.client.get(path, headers=staff)
    known = {**staff, "If-None-Match": first.headers["etag"]}
    assert server.client.get(path, headers=known).status_code == 304
    assert server.client.get(f"{path}/content", headers=known).status_code == 304
    unseen = server.client.get("/v1/documents/wages", headers={**staff, "If-None-Match": "*"})
    assert unseen.status_code == 404
    change = {"status": "archived"}
    stale = {**staff, "If-Match": '"other"'}
    fresh = {**staff, "If-Match": first.headers["etag"]}
    assert server.client.patch(path, json=change, headers=stale).status_code == 412
    assert server.client.patch(path, json=change, headers=fresh).json()["status"] == "archived"
    assert server.client.delete(path, headers=fresh).status_code == 412


def test_a_changed_right_takes_effect_with_the_next_request(server: Any) -> None:
    both, staff = server.key("staff", "board"), server.key("staff")
    path = "/v1/documents/kc-returns-v3"
    assert asked(server, staff, "How long do I have to return a bike?")["abstained"] is False
    assert server.client.patch(path, json={"roles": ["board"]}, headers=both).status_code == 200
    assert server.client.get(path, headers=staff).status_code == 404
    assert "30 days" not in json.dumps(asked(server, staff, "How long do I have to return a bike?"))
    again = server.client.patch(
        path, json={"roles": ["board", "staff"]}, headers=server.key("board")
    )
    assert (again.status_code, again.json()["code"]) == (403, "role_not_held")


def test_only_an_administrator_lets_in_whom_a_document_denies(server: Any) -> None:
    staff, chief = server.key("staff"), server.key(administrator=True)
    path = "/v1/documents/kc-returns-v3"
    closed = server.client.patch(path, json={"deny": ["intern"]}, headers=staff)
    assert closed.json()["deny"] == ["intern"]
    assert server.client.get(path, headers=server.key("staff", "intern")).status_code == 404
    opened = server.client.patch(path, json={"deny": []}, headers=staff)
    assert (opened.status_code, opened.json()["code"]) == (403, "deny_kept")
    assert server.client.patch(path, json={"deny": []}, headers=chief).json()["deny"] == []


def test_a_removed_document_is_gone_with_its_file(server: Any) -> None:
    staff = server.key("staff")
    job = brought(server, staff, ("parking.md", NOTE), roles="staff")
    (document_id,) = job["files"][0]["outcome"]["added"]
    kept = list(server.services.originals.folder(document_id.partition("~")[2]).iterdir())
    assert [file.name for file in kept] == ["parking.md"]
    reply = server.client.delete(f"/v1/documents/{document_id}", headers=staff)
    assert reply.json()["removed"] == {"document_id": document_id, "chunks": 1}
    assert not kept[0].exists()
    assert server.client.get(f"/v1/documents/{document_id}", headers=staff).status_code == 404
    assert asked(server, staff, PARKING)["reason"] == "no_evidence"


def test_a_file_that_was_changed_on_the_disk_is_not_handed_out(server: Any) -> None:
    staff = server.key("staff")
    job = brought(server, staff, ("parking.md", NOTE), roles="staff")
    (document_id,) = job["files"][0]["outcome"]["added"]
    path = server.services.originals.kept(document_id.partition("~")[2], "parking.md")
    path.write_bytes(b"something else")
    reply = server.client.get(f"/v1/documents/{document_id}/content?original=true", headers=staff)
    assert (reply.status_code, reply.json()["code"]) == (404, "no_original")


def test_a_job_is_for_whoever_sent_it(server: Any) -> None:
    staff = server.key("staff")
    job_id = upload(server, staff, ("parking.md", NOTE), roles="staff").json()["job_id"]
    finished(server, staff, job_id)
    other = server.client.get(f"/v1/jobs/{job_id}", headers=server.key("staff"))
    absent = server.client.get("/v1/jobs/none", headers=server.key("staff"))
    assert other.status_code == absent.status_code == 404
    assert other.json()["detail"].replace(job_id, "none") == absent.json()["detail"]


def test_who_only_reads_changes_nothing(server: Any) -> None:
    reader = server.key("staff", permissions=READ)
    assert upload(server, reader, ("parking.md", NOTE)).status_code == 403
    path = "/v1/documents/kc-returns-v3"
    assert server.client.patch(path, json={"status": "draft"}, headers=reader).status_code == 403
    assert server.client.delete(path, headers=reader).status_code == 403


@pytest.mark.parametrize(
    ("files", "fields", "code"),
    [
        ([], {"roles": "staff"}, "unsupported_type"),
        ([("a.md", NOTE)], {"principal": "chief"}, "bad_field"),
        ([("a.md", NOTE)], {"roles": "no such role!"}, "bad_role"),
        ([("a.md", NOTE)], {"status": "secret"}, "bad_status"),
        ([("a.md", NOTE)], {"lang": ["en", "de"]}, "bad_field"),
        ([("a.md", NOTE)] * 101, {}, "too_many_files"),
    ],
)
def test_uploads_that_make_no_sense_are_refused(
    server: Any, files: Any, fields: Any, code: str
) -> None:
    reply = upload(server, server.key("staff"), *files, **fields)
    assert reply.json()["code"] == code, reply.text
    assert not list(server.services.originals._coming.glob("*"))


def test_uploads_under_way_go_on_after_a_restart(index: Path) -> None:
    settings = settings_for(index)
    files = [(f"n{n}.md", f"# N{n}\n\nShelf {n} has part {n * 7}.\n".encode()) for n in range(12)]
    with served(settings) as first:
        staff = first.key("staff")
        job_id = upload(first, staff, *files, roles="staff").json()["job_id"]
        path = f"/v1/jobs/{job_id}"
        while first.client.get(path, headers=staff).json()["files_done"] < 1:
            time.sleep(0.01)
    with served(settings) as second:
        job = finished(second, staff, job_id)
        assert [file["outcome"]["state"] for file in job["files"]] == ["done"] * 12
        assert sum(len(file["outcome"]["added"]) for file in job["files"]) == 12
        assert not list(second.services.originals._coming.glob("*"))
        listed = second.client.get("/v1/documents?limit=200", headers=staff).json()["documents"]
    assert sum(each["source"] in dict(files) for each in listed) == 12


def test_a_job_that_keeps_failing_is_given_up(server: Any) -> None:
    """Its worker dies each time: after five attempts nobody tries again."""
    jobs = server.services.state.jobs
    principal = Principal(roles=frozenset({"staff"}))
    file = JobFile(0, "a.md", 3, "sha256:00", "ab" * 12)
    server.services.stopping.set()
    time.sleep(0.05)
    jobs.add("j", "me", principal, Said(), [file], idempotency_key=None, request_hash=b"")
    for _ in range(MOST_ATTEMPTS):
        jobs.claim("dying")
        jobs.put_back("j")
    runner = JobRunner(server.services, "healthy")
    assert runner._step()
    job = jobs.get("j", "me")
    assert (job.state, job.error) == ("failed", "given_up")
