"""Sign-in in a browser: the authorisation code flow with PKCE (RFC 6749, 7636, 9207, 9700)."""

from __future__ import annotations

import base64
import functools
import hashlib
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, RedirectResponse, Response

from evidencedesk.server.identity import Identity, Method, identity_of
from evidencedesk.server.oidc.building import client_secret
from evidencedesk.server.oidc.claims import Granted, claim, granted
from evidencedesk.server.oidc.provider import Provider
from evidencedesk.server.oidc.tokens import TokenVerifier
from evidencedesk.server.origin import own_origin
from evidencedesk.server.problems import RequestError
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import as_json, described
from evidencedesk.server.state.sessions import SignIn

Caller = Annotated[Identity, Depends(identity_of)]
Word = Annotated[str, Query(max_length=4096)]

CALLBACK = "/sign-in/callback"
COOKIE = "evidencedesk-sign-in"
_REDIRECT = {"description": "On to another page."}


class SigningIn:
    """The two steps of a sign-in.

    Args:
        services: the server's parts.
        provider: who signs people in.
        tokens: reads the provider's tokens.
        secret: ours at the provider; empty for a public client.
    """

    def __init__(
        self, services: Services, provider: Provider, tokens: TokenVerifier, secret: str
    ) -> None:
        self._services = services
        self._provider = provider
        self._tokens = tokens
        self._secret = secret
        self._oidc = services.settings.server.oidc

    def begin(self, target: str, redirect: str) -> tuple[SignIn, str]:
        """A sign-in, and where the browser goes to.

        Raises:
            RequestError: ``provider_unreachable``.
        """
        address = self._provider.addresses().authorization
        sign_in = self._services.state.sessions.begin(local_target(target))
        digest = hashlib.sha256(sign_in.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._oidc.client_id or "",
            "redirect_uri": redirect,
            "scope": " ".join(self._oidc.scopes),
            "state": sign_in.state,
            "nonce": sign_in.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return sign_in, f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"

    def complete(
        self, *, state: str, code: str, issuer: str, browser: str, redirect: str
    ) -> tuple[str, str]:
        """Token of the new session, and the page to go on to.

        Raises:
            RequestError: ``sign_in_failed``, whatever does not fit; ``provider_unreachable``.
        """
        sign_in = self._services.state.sessions.take(state, browser)
        if sign_in is None or not code or (issuer and issuer != self._provider.issuer):
            raise failed()
        who = self._redeemed(code, sign_in, redirect)
        if who is None or self._services.state.suspensions.holds(who.principal):
            raise failed()
        return self._services.state.sessions.open(who.principal, who.permissions), sign_in.target

    def _redeemed(self, code: str, sign_in: SignIn, redirect: str) -> Granted | None:
        addresses, client = self._provider.addresses(), self._oidc.client_id or ""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": sign_in.verifier,
        }
        if not self._secret:
            form["client_id"] = client
        reply = self._provider.post(
            addresses.token, form, (client, self._secret) if self._secret else None
        )
        text = (reply or {}).get("id_token")
        claims = self._tokens.signed_in(text, sign_in.nonce) if isinstance(text, str) else None
        if reply is None or claims is None:
            return None
        return granted(self._completed(claims, reply), self._services.settings)

    def _completed(self, claims: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        """Claims with the roles that some providers tell at another address only."""
        access, address = reply.get("access_token"), self._provider.addresses().user_info
        if claim(claims, self._oidc.roles_claim) is not None or not address:
            return claims
        more = self._provider.get(address, access) if isinstance(access, str) else {}
        return {**more, **claims} if more.get("sub") == claims.get("sub") else claims


def signin_router(services: Services) -> APIRouter:
    """``/sign-in``, where there is a provider; ``/sign-out`` and ``/v1/me``."""
    router = APIRouter(tags=["sign-in"])
    _add_leaving(router, services)
    if services.provider is not None:
        tokens = TokenVerifier(services.settings, services.provider)
        secret = client_secret(services.settings)
        _add_coming(router, services, SigningIn(services, services.provider, tokens, secret))
    return router


def _add_coming(router: APIRouter, services: Services, steps: SigningIn) -> None:
    @router.get("/sign-in", response_model=None, responses=described(_REDIRECT, 502, status=303))
    async def sign_in(request: Request, target: Word = "/") -> Response:
        """Send the browser to the provider."""
        began, address = await run_in_threadpool(steps.begin, target, _redirect(request, services))
        response = RedirectResponse(address, 303)
        _set_cookie(response, services, COOKIE, began.browser, seconds=600)
        return response

    @router.get(CALLBACK, response_model=None, responses=described(_REDIRECT, 502, status=303))
    async def callback(
        request: Request, state: Word = "", code: Word = "", iss: Word = ""
    ) -> Response:
        """Open a session for whoever the provider has signed in."""
        finish = functools.partial(
            steps.complete,
            state=state,
            code=code,
            issuer=iss,
            browser=request.cookies.get(COOKIE, ""),
            redirect=_redirect(request, services),
        )
        token, target = await run_in_threadpool(finish)
        response = RedirectResponse(target, 303)
        lifetime = round(services.state.sessions.lifetime.total_seconds())
        _set_cookie(response, services, services.authenticator.cookie, token, seconds=lifetime)
        response.delete_cookie(COOKIE)
        services.log.info("signed_in")
        return response


def _add_leaving(router: APIRouter, services: Services) -> None:
    @router.post(
        "/sign-out",
        response_model=None,
        status_code=204,
        responses=described({"description": "Signed out."}, status=204),
    )
    async def sign_out(request: Request, caller: Caller) -> Response:
        """End the session; its cookie is worth nothing any more."""
        cookie = services.authenticator.cookie
        if caller.method is Method.SESSION:
            token = request.cookies.get(cookie, "")
            await run_in_threadpool(services.state.sessions.close, token)
        response = Response(status_code=204)
        response.delete_cookie(cookie)
        return response

    @router.get("/v1/me", response_model=None, responses=described(as_json("The caller.")))
    async def me(caller: Caller) -> Response:
        """Who the server takes the caller for, and what he may do."""
        principal = caller.principal
        return JSONResponse(
            {
                "subject": principal.subject,
                "tenant": principal.tenant,
                "roles": sorted(principal.roles),
                "administrator": principal.administrator,
                "permissions": sorted(caller.permissions),
                "method": caller.method.value,
                "csrf_token": caller.csrf_token or None,
            }
        )


def local_target(target: str) -> str:
    """``target`` if it is a page of this server, else the first page."""
    ours = target.startswith("/") and not target.startswith(("//", "/\\"))
    plain = all(char.isprintable() and char != "\\" for char in target)
    return target if ours and plain else "/"


def failed() -> RequestError:
    """The one error of a sign-in that does not fit."""
    return RequestError(
        "This sign-in cannot be completed.",
        code="sign_in_failed",
        hint="Begin again at /sign-in; it must be finished once, in the same browser, in ten minutes.",
    )


def _redirect(request: Request, services: Services) -> str:
    return own_origin(request, services.settings.server.public_url) + CALLBACK


def _set_cookie(
    response: Response, services: Services, name: str, value: str, *, seconds: int
) -> None:
    secure = (services.settings.server.public_url or "").startswith("https:")
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax"
    )
