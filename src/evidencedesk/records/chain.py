"""Checking an audit chain: every entry has its own hash, and the hash of the one before it."""

from __future__ import annotations

from collections.abc import Iterable

from evidencedesk.model.receipt import NO_ENTRY, AuditEntry, Receipt, entry_hash


def check_chain(entries: Iterable[AuditEntry], receipts: Iterable[Receipt] = ()) -> tuple[str, ...]:
    """Everything that is wrong with one tenant's chain and with its receipts; empty when all is well.

    A chain cut off at its end is one that was shorter: compare its last hash with one noted before.

    Args:
        entries: the chain in order.
        receipts: receipts of the tenant, whose digests the chain holds.
    """
    problems: list[str] = []
    previous, number = NO_ENTRY, 0
    digests: dict[int, object] = {}
    for entry in entries:
        number += 1
        if entry.number != number:
            problems.append(f"entry {number} is missing")
            number = entry.number
        if entry.previous != previous:
            problems.append(f"entry {entry.number} does not follow the one before it")
        if entry.hash != entry_hash(entry.number, entry.previous, entry.event):
            problems.append(f"entry {entry.number} was altered")
        previous = entry.hash
        digests[entry.number] = entry.event.get("digest")
    altered = (each for each in receipts if digests.get(each.position) != each.digest)
    problems += [f"the receipt of answer {each.answer_id!r} was altered" for each in altered]
    return tuple(problems)
