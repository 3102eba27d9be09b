"""Tokens of a real provider on loopback, and sign-in through it."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from evidencedesk.errors import SettingsError
from evidencedesk.server.oidc.signin import local_target
from evidencedesk.testing.oidc_provider import OidcProvider, SigningKey

USERS = {
    "erika": {"realm": {"roles": ["staff", "no such role!"]}, "org": "default"},
    "chief": {"realm": {"roles": ["staff", "chiefs"]}, "org": "default"},
    "writer": {"realm": {"roles": ["staff", "writers"]}, "org": "default"},
    "auditor": {"realm": {"roles": ["auditors"]}, "org": "default"},
    "stranger": {"realm": {"roles": ["staff"]}, "org": "other"},
    "homeless": {"realm": {"roles": ["staff"]}},
}
ACCESS = {"aud": "desk-api", "sub": "erika", **USERS["erika"]}


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(USERS) as provider:
        yield provider


def oidc_settings(provider: OidcProvider, **more: Any) -> dict[str, Any]:
    return {
        "issuer": provider.issuer,
        "audience": "desk-api",
        "client_id": provider.client_id,
        "client_secret_env": "TEST_OIDC_SECRET",
        "roles_claim": "realm.roles",
        "tenant_claim": "org",
        "administrator_roles": ("chiefs",),
        "writer_roles": ("writers",),
        "auditor_roles": ("auditors",),
        **more,
    }


@pytest.fixture
def desk(serve: Any, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TEST_OIDC_SECRET", provider.client_secret)
    return serve(authentication=("oidc",), oidc=oidc_settings(provider))


def me(desk: Any, token: str) -> Any:
    return desk.client.get("/v1/me", headers={"Authorization": f"Bearer {token}"})


def test_a_token_says_who_somebody_is(desk: Any, provider: OidcProvider) -> None:
    found = me(desk, provider.token(ACCESS)).json()
    assert (found["subject"], found["tenant"], found["roles"]) == ("erika", "default", ["staff"])
    assert found["permissions"] == ["read"]
    body = {"question": "How long do I have to return a bike?"}
    headers = {"Authorization": f"Bearer {provider.token(ACCESS)}"}
    assert "30 days" in desk.client.post("/v1/ask", json=body, headers=headers).json()["text"]


@pytest.mark.parametrize(
    ("user", "permissions", "administrator"),
    [
        ("chief", ["audit", "read", "write"], True),
        ("writer", ["read", "write"], False),
        ("auditor", ["audit", "read"], False),
    ],
)
def test_roles_decide_what_somebody_may_do(
    desk: Any, provider: OidcProvider, user: str, permissions: list[str], administrator: bool
) -> None:
    found = me(desk, provider.token({**ACCESS, **USERS[user], "sub": user})).json()
    assert (found["permissions"], found["administrator"]) == (permissions, administrator)


def forged(provider: OidcProvider) -> dict[str, str]:
    good = provider.keys[0]
    now = int(time.time())
    stranger = SigningKey(good.kid, "RS256", SigningKey.made().private)
    head, body, _ = provider.token(ACCESS).split(".")
    none = _encoded(b'{"alg":"none","typ":"JWT"}')
    named = json.dumps({"alg": "HS256", "typ": "JWT", "kid": good.kid}).encode()
    signed = f"{_encoded(named)}.{body}"
    pem = good.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    symmetric = f"{signed}.{_encoded(hmac.digest(pem, signed.encode(), 'sha256'))}"
    own = {"jwk": SigningKey.made().jwk()}
    return {
        "expired": provider.token({**ACCESS, "exp": now - 120}),
        "not yet": provider.token({**ACCESS, "nbf": now + 600}),
        "without end": provider.token({**ACCESS, "exp": None}),
        "other audience": provider.token({**ACCESS, "aud": "another-api"}),
        "no audience": provider.token({**ACCESS, "aud": None}),
        "other issuer": provider.token({**ACCESS, "iss": "http://127.0.0.1:1"}),
        "nobody": provider.token({**ACCESS, "sub": None}),
        "half a character": provider.token({**ACCESS, "sub": "\ud800"}),
        "zero byte": provider.token({**ACCESS, "sub": "erika\0"}),
        "other key": provider.token(ACCESS, key=stranger),
        "unknown key": provider.token(ACCESS, key=SigningKey.made()),
        "alg none": f"{none}.{body}.",
        "no signature": f"{head}.{body}.",
        "public key as a secret": symmetric,
        "brings its own key": provider.token(ACCESS, key=SigningKey.made(), **own),
        "identity token": provider.token({**ACCESS, "nonce": "n"}),
        "refresh token": provider.token({**ACCESS, "typ": "Refresh"}),
        "other type": provider.token(ACCESS, typ="logout+jwt"),
        "critical": provider.token(ACCESS, crit=["b64"], b64=True),
        "no tenant": provider.token({**ACCESS, "org": None}),
        "bad tenant": provider.token({**ACCESS, "org": ["default"]}),
        "huge": provider.token({**ACCESS, "x": "a" * 20_000}),
        "not a token": "a.b.c",
        "empty": "",
    }


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_a_forged_token_opens_nothing(desk: Any, provider: OidcProvider) -> None:
    statuses = {name: me(desk, token).status_code for name, token in forged(provider).items()}
    assert set(statuses.values()) == {401}, statuses
    assert me(desk, provider.token(ACCESS)).status_code == 200


def test_a_tenant_is_what_the_token_says(desk: Any, provider: OidcProvider) -> None:
    token = provider.token({**ACCESS, **USERS["stranger"], "sub": "stranger"})
    headers = {"Authorization": f"Bearer {token}"}
    assert me(desk, token).json()["tenant"] == "other"
    assert desk.client.get("/v1/documents", headers=headers).json()["documents"] == []


def test_keys_are_kept_and_rotated(desk: Any, provider: OidcProvider, clock: Any) -> None:
    for _ in range(3):
        assert me(desk, provider.token(ACCESS)).status_code == 200
    assert provider.fetched == 1
    old = provider.token(ACCESS)
    clock._monotonic += 11
    provider.rotate("ES256")
    assert me(desk, provider.token(ACCESS)).status_code == 200
    assert provider.fetched == 2
    assert me(desk, old).status_code == 401


def test_made_up_key_names_do_not_make_us_ask_again_and_again(
    desk: Any, provider: OidcProvider
) -> None:
    for _ in range(5):
        assert me(desk, provider.token(ACCESS, key=SigningKey.made())).status_code == 401
    assert provider.fetched == 1


def test_a_provider_that_cannot_be_reached_is_a_problem_of_its_own(
    desk: Any, provider: OidcProvider
) -> None:
    token = provider.token(ACCESS)
    provider.__exit__()
    assert (me(desk, token).status_code, me(desk, token).json()["code"]) == (
        502,
        "provider_unreachable",
    )


def test_keys_that_are_known_outlive_a_provider_for_a_while(
    desk: Any, provider: OidcProvider, clock: Any
) -> None:
    token = provider.token(ACCESS)
    assert me(desk, token).status_code == 200
    provider.__exit__()
    clock._monotonic += 400
    assert me(desk, token).status_code == 200
    clock._monotonic += 86_400
    assert me(desk, token).status_code == 502


def begun(desk: Any, target: str = "/library") -> Any:
    return desk.client.get("/sign-in", params={"target": target})


def signed_in_at(provider: OidcProvider, address: str, user: str) -> str:
    """Where the provider sends the browser once ``user`` has typed his name."""
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    reply = httpx2.post(f"{provider.issuer}/authorize", data={**asked, "user": user})
    assert reply.status_code == 303, reply.text
    return str(reply.headers["location"])


def sign_in(desk: Any, provider: OidcProvider, user: str = "writer") -> Any:
    back = signed_in_at(provider, begun(desk).headers["location"], user)
    return desk.client.get(back.removeprefix("http://127.0.0.1"))


def test_sign_in_opens_a_session(desk: Any, provider: OidcProvider) -> None:
    reply = sign_in(desk, provider)
    assert (reply.status_code, reply.headers["location"]) == (303, "/library")
    cookie = next(c for c in reply.headers.get_list("set-cookie") if c.startswith("evidencedesk="))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    found = desk.client.get("/v1/me").json()
    assert (found["subject"], found["method"]) == ("writer", "session")
    assert found["permissions"] == ["read", "write"]


def test_who_follows_a_citation_gets_to_it_by_way_of_the_provider(
    desk: Any, provider: OidcProvider
) -> None:
    citation = "/source?document=kc-returns-v3&at=20-250&content=sha256%3Aabc"
    sent = desk.client.get(citation)
    assert sent.status_code == 303
    begun_there = desk.client.get(sent.headers["location"])
    back = signed_in_at(provider, begun_there.headers["location"], "writer")
    reply = desk.client.get(back.removeprefix("http://127.0.0.1"))
    assert reply.headers["location"] == citation


def test_a_session_that_changes_something_repeats_its_token(
    desk: Any, provider: OidcProvider
) -> None:
    sign_in(desk, provider)
    token = desk.client.get("/v1/me").json()["csrf_token"]
    body = {"query": "return"}
    refused = [
        {},
        {"X-CSRF-Token": "wrong"},
        {"X-CSRF-Token": token, "Origin": "https://evil.example"},
        {"X-CSRF-Token": token, "Origin": "null"},
        {"X-CSRF-Token": token, "Sec-Fetch-Site": "cross-site"},
        {"X-CSRF-Token": token, "Sec-Fetch-Site": "same-site"},
    ]
    for headers in refused:
        reply = desk.client.post("/v1/search", json=body, headers=headers)
        assert (reply.status_code, reply.json()["code"]) == (403, "wrong_origin"), headers
    own = {"X-CSRF-Token": token, "Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
    assert desk.client.post("/v1/search", json=body, headers=own).status_code == 200


def test_signing_out_ends_the_session_also_for_whoever_copied_its_cookie(
    desk: Any, provider: OidcProvider
) -> None:
    sign_in(desk, provider)
    copied = desk.client.cookies["evidencedesk"]
    token = desk.client.get("/v1/me").json()["csrf_token"]
    assert desk.client.post("/sign-out", headers={"X-CSRF-Token": token}).status_code == 204
    desk.client.cookies.set("evidencedesk", copied)
    assert desk.client.get("/v1/me").status_code == 401


def test_a_session_ends_by_itself(desk: Any, provider: OidcProvider, clock: Any) -> None:
    sign_in(desk, provider)
    assert desk.client.get("/v1/me").status_code == 200
    clock.move(timedelta(hours=13))
    assert desk.client.get("/v1/me").status_code == 401


def test_a_sign_in_is_completed_once_and_in_its_browser(desk: Any, provider: OidcProvider) -> None:
    back = signed_in_at(provider, begun(desk).headers["location"], "erika")
    path = back.removeprefix("http://127.0.0.1")
    own = desk.client.cookies.get("evidencedesk-sign-in")
    desk.client.cookies.clear()
    assert desk.client.get(path).json()["code"] == "sign_in_failed"
    desk.client.cookies.set("evidencedesk-sign-in", own)
    assert desk.client.get(path).status_code == 303
    desk.client.cookies.clear()
    desk.client.cookies.set("evidencedesk-sign-in", own)
    assert desk.client.get(path).json()["code"] == "sign_in_failed"


def test_what_comes_back_must_fit_what_was_begun(desk: Any, provider: OidcProvider) -> None:
    back = signed_in_at(provider, begun(desk).headers["location"], "erika")
    good = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    other = parse_qs(
        urlsplit(signed_in_at(provider, begun(desk).headers["location"], "chief")).query
    )
    wrong: list[dict[str, str]] = [
        {**good, "state": "made-up"},
        {**good, "iss": "https://evil.example"},
        {**good, "code": "made-up"},
        {**good, "code": other["code"][0]},
    ]
    for query in wrong:
        began = begun(desk)
        mine = parse_qs(urlsplit(began.headers["location"]).query)
        used = query if query["state"] == "made-up" else {**query, "state": mine["state"][0]}
        reply = desk.client.get(f"/sign-in/callback?{urlencode(used)}")
        assert (reply.status_code, reply.json()["code"]) == (400, "sign_in_failed"), query
    assert "evidencedesk" not in desk.client.cookies


def test_an_expired_sign_in_is_worth_nothing(desk: Any, provider: OidcProvider, clock: Any) -> None:
    back = signed_in_at(provider, begun(desk).headers["location"], "erika")
    clock.move(timedelta(minutes=11))
    assert desk.client.get(back.removeprefix("http://127.0.0.1")).status_code == 400


def test_whoever_has_no_tenant_does_not_come_in(desk: Any, provider: OidcProvider) -> None:
    assert sign_in(desk, provider, "homeless").json()["code"] == "sign_in_failed"


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil", "\\/x", "/\n"]
)
def test_sign_in_leads_to_pages_of_this_server_only(target: str) -> None:
    assert local_target(target) == "/"


def test_whoever_is_shut_out_comes_in_by_no_way(desk: Any, provider: OidcProvider) -> None:
    sign_in(desk, provider, "erika")
    key = desk.key("staff", subject="erika")
    token = {"Authorization": f"Bearer {provider.token(ACCESS)}"}
    desk.services.state.suspensions.add("default", "erika")
    assert desk.client.get("/v1/me").status_code == 401
    assert desk.client.get("/v1/me", headers=key).status_code == 401
    assert desk.client.get("/v1/me", headers=token).status_code == 401
    assert sign_in(desk, provider, "erika").status_code == 400
    assert desk.services.state.suspensions.lift("default", "erika")
    assert desk.client.get("/v1/me").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"algorithms": ("RS256", "HS256")},
        {"algorithms": ("none",)},
        {"algorithms": ()},
        {"issuer": "http://login.example.org"},
        {"issuer": None},
        {"audience": None, "client_id": None},
    ],
)
def test_settings_with_which_forged_tokens_would_pass_are_refused(
    serve: Any, provider: OidcProvider, change: Any
) -> None:
    with pytest.raises(SettingsError) as caught:
        serve(authentication=("oidc",), oidc=oidc_settings(provider, **change))
    assert caught.value.code == "bad_authentication"


def test_behind_https_cookies_are_for_https_alone(
    serve: Any, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OIDC_SECRET", provider.client_secret)
    desk = serve(
        authentication=("oidc",),
        oidc=oidc_settings(provider),
        public_url="https://desk.example.org",
    )
    began = begun(desk)
    query = parse_qs(urlsplit(began.headers["location"]).query)
    assert query["redirect_uri"] == ["https://desk.example.org/sign-in/callback"]
    assert "Secure" in began.headers["set-cookie"]
    assert desk.services.authenticator.cookie == "__Host-evidencedesk"
