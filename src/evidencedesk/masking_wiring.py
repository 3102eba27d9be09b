"""From settings to what masks: detectors by kind, made when a folder wants them first."""

from __future__ import annotations

from functools import partial

from evidencedesk.ingestion.masking_policy import DetectorMaker, DetectorSet, Masking
from evidencedesk.protocols import Detector
from evidencedesk.registry import adapter
from evidencedesk.settings import Settings

_WITH_REGIONS = "phone"


def masking_of(settings: Settings) -> Masking:
    """What masking policies mean under these settings; nothing is loaded yet."""
    table = settings.masking
    kinds = dict.fromkeys((*table.kinds, *table.identifiers))
    makers: dict[str, DetectorMaker] = {
        kind: partial(_made, kind, table.phone_regions) for kind in kinds
    }
    return Masking(table.default, DetectorSet(makers, ",".join(table.phone_regions)))


def _made(kind: str, regions: tuple[str, ...]) -> Detector:
    made = adapter("detectors", kind)
    detector: Detector = made(regions) if kind == _WITH_REGIONS else made()
    return detector
