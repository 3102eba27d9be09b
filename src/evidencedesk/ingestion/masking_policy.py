"""What is done with the documents of a folder that may hold personal data or secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evidencedesk.errors import MetadataError, ParseError
from evidencedesk.ingestion.masking import Masker, mask_document
from evidencedesk.model import ParsedDocument
from evidencedesk.model.document import MASKED
from evidencedesk.protocols import Detector

DetectorMaker = Callable[[], Detector]


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done with the documents of a folder.

    Attributes:
        detectors: what is looked for.
        refuses: whether a document that holds any of it is refused instead of masked.
        fingerprint: changes when the result may change.
    """

    detectors: tuple[Detector, ...]
    refuses: bool
    fingerprint: str

    def apply(self, parsed: ParsedDocument, file_name: str) -> ParsedDocument:
        """The masked document.

        Raises:
            ParseError: ``refused`` when the policy refuses and something was found; it says what
                kinds of things, never which.
        """
        masked = mask_document(parsed, self.detectors)
        found = next((text for text in masked.warnings if text.startswith(MASKED)), "")
        if found and self.refuses:
            raise ParseError(
                f"{file_name}: refused, it holds {found.removeprefix(MASKED)}.",
                code="refused",
                hint="Remove them, or let the folder mask instead of refuse.",
            )
        return masked

    def finds(self, text: str) -> bool:
        """Whether ``text`` holds any of what is looked for."""
        return bool(Masker(self.detectors).spans(text))

    def hide(self, text: str) -> str:
        """``text`` (a message about a document) without what is looked for."""
        return Masker(self.detectors).mask(text)


@dataclass(frozen=True, slots=True)
class Masking:
    """Which policy a name means.

    Attributes:
        default: name of the policy of folders that name none.
        detectors: detectors by kind, made when they are needed first.
    """

    default: str = "none"
    detectors: DetectorSet | None = None

    def policy(self, name: str | None, origin: str = "") -> Policy | None:
        """The policy called ``name``: ``none``, ``mask``, ``refuse``, or kinds to be masked.

        Raises:
            MetadataError: ``bad_mask``.
        """
        wanted = (name or self.default).strip().lower()
        if wanted == "none" or self.detectors is None:
            return None
        kinds = tuple(self.detectors.kinds)
        named = tuple(filter(None, re.split(r"[,\s]+", wanted)))
        if wanted not in {"mask", "refuse"}:
            unknown = sorted(set(named) - set(kinds))
            if unknown or not named:
                raise MetadataError(
                    f"{origin or 'masking'}: mask is {wanted!r}.",
                    code="bad_mask",
                    hint=f"Write none, mask, refuse, or some of: {', '.join(kinds)}.",
                )
            kinds = named
        fingerprint = f"{wanted == 'refuse'}:{','.join(sorted(kinds))}:{self.detectors.fingerprint}"
        return Policy(tuple(map(self.detectors.get, kinds)), wanted == "refuse", fingerprint)


class DetectorSet:
    """Detectors by kind; each is made once, when it is needed first."""

    def __init__(self, makers: Mapping[str, DetectorMaker], fingerprint: str = "") -> None:
        """Make them with ``makers``; ``fingerprint`` says what else decides what they find."""
        self.kinds = tuple(makers)
        self.fingerprint = fingerprint
        self._makers = dict(makers)
        self._made: dict[str, Detector] = {}

    def get(self, kind: str) -> Detector:
        """The detector of ``kind``."""
        if kind not in self._made:
            self._made[kind] = self._makers[kind]()
        return self._made[kind]
