"""The language of a document: by script, else by an offline detector, else unknown."""

from __future__ import annotations

import py3langid

from evidencedesk.errors import SourceError
from evidencedesk.text.scripts import (
    language_of_script,
    question_languages,
    script_shares,
    scripts_of_language,
    unknown_script_share,
)

UNKNOWN = "und"
"""BCP 47 for a language that nobody has determined: words are searched as they stand."""

_MIN_LETTERS = 200
_SAMPLE = 4000


def detect(text: str) -> str:
    """Primary BCP 47 subtag of the language of ``text``, ``und`` when it cannot be told.

    A script of one language decides at any length. Otherwise a detector (langid, Lui and Baldwin,
    2012; loaded when first needed, about half a second) is asked about the first 4,000 characters,
    if at least 200 of them are letters, and believed only if its language is written in the
    script of most of them.

    Raises:
        SourceError: ``temporary_files`` when the detector's model cannot be unpacked.
    """
    sample = text[:_SAMPLE]
    told = language_of_script(sample)
    if told is not None:
        return told
    if sum(map(str.isalpha, sample)) < _MIN_LETTERS:
        return UNKNOWN
    language = _classify(sample)
    main = next(iter(script_shares(sample)))
    return language if main in scripts_of_language(language) else UNKNOWN


def _classify(sample: str) -> str:
    try:
        return str(py3langid.classify(sample)[0])
    except OSError as error:
        raise SourceError(
            f"Its language cannot be detected: no temporary file can be written ({error}).",
            code="temporary_files",
            hint="Free space in the folder for temporary files (TMPDIR), or declare `lang`.",
        ) from error


__all__ = ["UNKNOWN", "detect", "question_languages", "script_shares", "unknown_script_share"]
