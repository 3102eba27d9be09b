"""Which receipts a reader may read: his own, and everybody's for who oversees the tenant."""

from __future__ import annotations

from evidencedesk.access import Principal
from evidencedesk.desk.index import OpenIndex
from evidencedesk.desk.telling import can_be_an_id
from evidencedesk.errors import UsageError
from evidencedesk.model.receipt import Receipt
from evidencedesk.protocols import Ledger
from evidencedesk.records import subject_hash


class ReadableReceipts:
    """The receipts of an index by reader. To anybody else a receipt is not there."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    @property
    def ledger(self) -> Ledger:
        """Where they are kept; it trusts its caller."""
        return self._index.store().ledger()

    def all(self, principal: Principal, limit: int | None) -> tuple[Receipt, ...]:
        """The newest receipts that ``principal`` may read."""
        if principal.oversees:
            return self.ledger.receipts(principal.tenant, limit=limit)
        own = self.own_hash(principal)
        if own is None:
            return ()
        return self.ledger.receipts(principal.tenant, subject=own, limit=limit)

    def one(self, answer_id: str, principal: Principal) -> Receipt:
        """The receipt of one answer.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        named = can_be_an_id(answer_id)
        receipt = self.ledger.receipt(principal.tenant, answer_id) if named else None
        if receipt is None or not (
            principal.oversees or receipt.subject == self.own_hash(principal)
        ):
            raise not_found(answer_id)
        return receipt

    def own_hash(self, principal: Principal) -> str | None:
        """How receipts name ``principal``; None when he has none and for nobody in particular."""
        if not principal.subject:
            return None
        key = self.ledger.known_key(principal.tenant, principal.subject)
        return None if key is None else subject_hash(key, principal.tenant, principal.subject)

    def names(self, tenant: str) -> dict[str, str]:
        """Keyed hash to name, of everybody with a name and a key."""
        keys = self.ledger.subjects(tenant)
        return {subject_hash(key, tenant, name): name for name, key in keys.items() if name}

    def keys(self, tenant: str) -> dict[str, bytes]:
        """Keyed hash to key."""
        keys = self.ledger.subjects(tenant)
        return {subject_hash(key, tenant, name): key for name, key in keys.items()}


def not_found(answer_id: str) -> UsageError:
    """The error for an answer that is not there or not for this reader."""
    return UsageError(
        f"There is no answer {answer_id!r} that this reader may see.",
        code="not_found",
        hint="`evidencedesk answers list` shows those there are; name yourself with --as.",
    )
