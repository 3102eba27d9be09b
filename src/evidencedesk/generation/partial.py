"""Reading a reply while it is written: each claim as soon as its object is closed.

Nothing here is believed: a claim goes through :func:`parse_reply` on its own before it is given out,
and the whole reply does at the end. Claims are held back until the reply has said
``"insufficient": false`` or is closed, so that nothing is given out of a reply that then says it has
no answer.
"""

from __future__ import annotations

import re

from evidencedesk.generation.reply import MAX_DEPTH, MAX_REPLY_CHARS, RejectedReply, parse_reply
from evidencedesk.model import DraftClaim, Reply

_OPENING = re.compile(r"\s*\ufeff?(?:```(?:json)?[ \t]*\r?\n)?\s*\{", re.IGNORECASE)
_LONGEST_OPENING = 200
_SUFFICIENT = re.compile(r'\s*"insufficient"\s*:\s*false\s*')
_INSUFFICIENT = re.compile(r'\s*"insufficient"\s*:')
_CLAIMS = re.compile(r'\s*"claims"\s*:\s*\[')

_MEMBERS, _CLAIM_LIST, _CLAIM = 1, 2, 3
"""Brackets open among the reply's members, among its claims, and in a claim."""


class PartialReply:
    """One reply while it comes. Its cost is linear in the length of the reply, however it is cut."""

    def __init__(self) -> None:
        self._length = 0
        self._depth = 0
        self._in_string = self._escaped = False
        self._in_claims = self._sufficient = self._over = False
        self._part: list[str] = []
        self._held: list[DraftClaim] = []

    def feed(self, piece: str) -> tuple[DraftClaim, ...]:
        """The claims that ``piece`` completes, in order; none once the text cannot be a reply."""
        self._length += len(piece)
        self._over = self._over or self._length > MAX_REPLY_CHARS
        for character in piece:
            if self._over:
                break
            self._read(character)
        if not self._sufficient:
            return ()
        given, self._held = tuple(self._held), []
        return given

    def _read(self, character: str) -> None:
        if self._depth in (0, _MEMBERS) or self._in_claims:
            self._part.append(character)
        if self._depth == 0:
            self._open_reply()
        elif self._in_string:
            self._read_string(character)
        elif character == '"':
            self._in_string = True
        elif character in "[{":
            self._open_bracket()
        elif character in "]}":
            self._close_bracket()
        elif character == "," and self._depth == _MEMBERS:
            self._end_member()

    def _open_reply(self) -> None:
        if self._part[-1] == "{" and _OPENING.fullmatch("".join(self._part)):
            self._depth, self._part = _MEMBERS, []
        self._over = len(self._part) > _LONGEST_OPENING

    def _read_string(self, character: str) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == '"':
            self._in_string = False

    def _open_bracket(self) -> None:
        self._depth += 1
        self._over = self._depth > MAX_DEPTH
        if self._depth == _CLAIM_LIST:
            self._in_claims = _CLAIMS.fullmatch("".join(self._part)) is not None
        if self._depth == _CLAIM:
            self._part = self._part[-1:]

    def _close_bracket(self) -> None:
        self._depth -= 1
        if self._depth == _CLAIM_LIST and self._in_claims:
            self._hold("".join(self._part))
        if self._depth == _MEMBERS:
            self._in_claims = False
        if self._depth == 0:
            self._end_reply()

    def _end_member(self) -> None:
        member = "".join(self._part[:-1])
        self._sufficient = self._sufficient or _SUFFICIENT.fullmatch(member) is not None
        self._over = not self._sufficient and _INSUFFICIENT.match(member) is not None
        self._part = []

    def _end_reply(self) -> None:
        """Only now is it known that a reply that never said so is not insufficient."""
        self._end_member()
        self._sufficient = self._sufficient or not self._over
        self._over = True

    def _hold(self, claim: str) -> None:
        draft = parse_reply(Reply(f'{{"claims": [{claim}]}}'))
        if isinstance(draft, RejectedReply):
            self._over = True
        else:
            self._held += draft.claims
