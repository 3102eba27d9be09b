"""Long alternations of words, as regular expressions that try few of them."""

from __future__ import annotations


def alternatives(pattern: str) -> list[str]:
    """``pattern`` cut at the bars that stand in no brackets."""
    parts, depth = [""], 0
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def by_first_letter(pattern: str) -> str:
    """The alternation ``pattern`` with those that begin alike behind one letter.

    Matches what ``pattern`` matches: only alternatives with the same first letter can match at one
    place, and they keep their order. Each must begin with a letter that no quantifier follows.
    """
    groups: dict[str, list[str]] = {}
    for each in alternatives(pattern):
        groups.setdefault(each[0], []).append(each[1:])
    return "|".join(
        first + (rest[0] if len(rest) == 1 else f"(?:{'|'.join(rest)})")
        for first, rest in groups.items()
    )
