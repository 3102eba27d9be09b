"""How an answer, an abstention and their explanation are printed."""

from __future__ import annotations

from dataclasses import replace

from evidencedesk.cli.clean import one_line
from evidencedesk.cli.terminal import Terminal
from evidencedesk.model import Answer, Chunk, Citation, Claim, Hit, Location, Reason, Support

_CLOSEST = "`evidencedesk search` shows what comes closest."
_CHECKS = "`--explain` shows which check failed and why."
_FALLBACKS = "[generation] fallbacks name who answers meanwhile."

REASONS: dict[Reason, tuple[str, str]] = {
    Reason.OK: ("every check passed", ""),
    Reason.SOURCES_CONFLICT: ("the sources disagree", "Compare the sources and their dates."),
    Reason.NO_EVIDENCE: ("nothing that you may see answers it well enough", _CLOSEST),
    Reason.MODEL_ABSTAINED: ("the evidence found does not hold the answer", _CLOSEST),
    Reason.TRUNCATED: ("the reply was cut off at its limit", _CHECKS),
    Reason.REFUSED: (
        "the provider refused to answer",
        "`evidencedesk search` finds passages without it.",
    ),
    Reason.INVALID_JSON: ("the reply could not be read", _CHECKS),
    Reason.INVALID_SCHEMA: ("the reply had the wrong form", _CHECKS),
    Reason.UNKNOWN_CITATION: ("the reply cited a source that it was not shown", _CHECKS),
    Reason.SOURCE_CHANGED: (
        "a source changed while the answer was written",
        "`evidencedesk log` shows how.",
    ),
    Reason.MISSING_CITATION: ("the reply made a statement without a source", _CHECKS),
    Reason.QUOTE_NOT_FOUND: ("a quote does not stand in its source", _CHECKS),
    Reason.QUOTE_TOO_WEAK: ("a quote is too short to prove anything", _CHECKS),
    Reason.UNSUPPORTED_NUMBER: ("a number or date stands in none of the quotes", _CHECKS),
    Reason.UNSUPPORTED_CLAIM: ("a statement is not borne out by its quotes", _CHECKS),
    Reason.UNSAFE_OUTPUT: ("the reply held markup, a link or a planted mark", _CHECKS),
    Reason.TIMEOUT: ("the generator did not reply in time", _FALLBACKS),
    Reason.MODEL_ERROR: ("the generator failed", _FALLBACKS),
}


def print_answer(terminal: Terminal, answer: Answer) -> None:
    """The claims with numbered citations, each with title, place and quote; or the abstention."""
    if answer.abstained:
        _print_abstention(terminal, answer)
    else:
        for claim in answer.claims:
            terminal.line(*claim_parts(claim))
    print_rest(terminal, answer)


def print_rest(terminal: Terminal, answer: Answer) -> None:
    """What follows the claims: the citations, a note, what was missing."""
    if not answer.abstained:
        terminal.line("")
        for number, citation in enumerate(answer.citations, start=1):
            _print_citation(terminal, number, citation)
    if answer.note:
        terminal.line(("Note: ", "yellow"), answer.note)
    for missing in answer.degraded:
        terminal.line(("Degraded: ", "yellow"), missing)


def print_explanation(terminal: Terminal, answer: Answer, hits: tuple[Hit, ...]) -> None:
    """What was retrieved with its scores, every check, and where the time went."""
    terminal.line("")
    confidence = f"confidence {answer.confidence:.3f}, threshold {answer.threshold:g}"
    terminal.line(("Retrieved", "bold"), f"  {confidence}")
    print_hits(terminal, hits)
    terminal.line("")
    terminal.line(("Checks", "bold"))
    terminal.table(
        ("check", "claim", "passed", "detail"),
        (
            (c.check, None if c.claim is None else c.claim + 1, _yes(c.passed), c.detail)
            for c in answer.checks
        ),
    )
    terminal.line("")
    spent = ", ".join(f"{stage} {spent:.1f} ms" for stage, spent in answer.timing_ms)
    writer = answer.generator or "none"
    terminal.line(("Generator", "bold"), f"  {writer}  ", ("Time", "bold"), f"  {spent}")


def print_hits(terminal: Terminal, hits: tuple[Hit, ...]) -> None:
    """One row per passage: scores, place, beginning of the text."""
    terminal.table(
        ("#", "chunk", "score", "vector", "keyword", "place", "text"),
        (
            (
                rank,
                hit.chunk.id,
                hit.score,
                hit.vector_score,
                hit.keyword_score,
                titled_place(hit.chunk),
                one_line(hit.chunk.text)[:80],
            )
            for rank, hit in enumerate(hits, start=1)
        ),
    )


def titled_place(chunk: Chunk) -> str:
    """``<title> (<place>)``; only the title where the place is unknown."""
    place = chunk.location.label
    return f"{chunk.title} ({place})" if place else chunk.title


def place_to_open(source: str, location: Location) -> str:
    """The source with its line or page as editors and viewers take it, or the place in words."""
    if location.first_line:
        return f"{source}:{location.first_line}"
    if location.page:
        return f"{source}#page={location.page}"
    words = replace(location, heading=()).label
    return f"{source}, {words}" if words else source


def claim_parts(claim: Claim) -> list[str | tuple[str, str]]:
    """A claim with the numbers of its citations, and whether it is a paraphrase."""
    marks = "".join(f"[{index + 1}]" for index in claim.citations)
    parts: list[str | tuple[str, str]] = [claim.text, (f" {marks}", "cyan")]
    if claim.support is Support.QUOTED:
        parts.append((" (paraphrase; its quotes are verbatim, nobody judged it)", "yellow"))
    return parts


def _print_citation(terminal: Terminal, number: int, citation: Citation) -> None:
    terminal.line((f"[{number}] ", "cyan"), (one_line(citation.label), "bold"))
    terminal.line(f"“{one_line(citation.quote)}”", indent=4)
    place = place_to_open(one_line(citation.source), citation.quote_location)
    version = f"  version {one_line(citation.version)}" if citation.version else ""
    terminal.line((place + version, "dim"), indent=4)
    if citation.also_in:
        terminal.line((f"also in {', '.join(citation.also_in)}", "dim"), indent=4)


def _print_abstention(terminal: Terminal, answer: Answer) -> None:
    meaning, advice = REASONS[answer.reason]
    terminal.line((answer.text, "bold"))
    terminal.line(("Reason: ", "yellow"), f"{answer.reason.value}: {meaning}")
    terminal.line(("Next:   ", "yellow"), advice)


def _yes(passed: bool) -> str:
    return "yes" if passed else "NO"
