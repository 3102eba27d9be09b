"""The conformance suite of ``protocols.Store``: subclass it, say how to open yours, run pytest.

    class TestMyStore(StoreContract):
        open_store = staticmethod(open_my_store)   # a function of a module: (path: str) -> Store

``open_store`` opens the store at a path, making it with the toy model ``strategies.SPEC`` when it is
not there. It is called in other processes too, so it must be importable. A store with upkeep of its
own (compaction, say) overrides ``tidy`` so that it takes part in every history.
"""

from __future__ import annotations

from evidencedesk.testing.store_documents import DocumentContract
from evidencedesk.testing.store_generations import GenerationContract
from evidencedesk.testing.store_ledger import LedgerContract
from evidencedesk.testing.store_permissions import PermissionContract
from evidencedesk.testing.store_processes import ProcessContract
from evidencedesk.testing.store_search import SearchContract
from evidencedesk.testing.store_vectors import VectorContract


class StoreContract(
    DocumentContract,
    GenerationContract,
    SearchContract,
    VectorContract,
    PermissionContract,
    ProcessContract,
    LedgerContract,
):
    """Everything that a store promises."""


__all__ = ["StoreContract"]
