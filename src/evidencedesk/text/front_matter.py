"""Front matter: YAML between ``---`` lines at the top of a Markdown or text file.

**What counts as front matter.** The first line is ``---`` and the line after it (comment lines
skipped) starts a mapping: a key without spaces and a colon (``title: ...``, ``"id": ...``), or is
the closing line. Anything else after a leading ``---``, a blank line for one, makes that line a
thematic break, and the whole file is text. The closing line is ``---`` or ``...``.

**Values are text.** YAML's guesses would turn ``version: 1.10`` into 1.1 and ``country: NO`` into
False, so every plain scalar is kept as it is written; only an empty value (also ``~`` and ``null``)
is none. Lists are lists and mappings are mappings.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field

import yaml

from evidencedesk.errors import MetadataError

TEXT_KEYS = frozenset(
    {"id", "title", "version", "status", "lang", "owner", "supersedes", "mask"},
)
LIST_KEYS = frozenset({"roles", "deny"})

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_OPENING = re.compile(r"---[ \t]*[\r\n]")
_CLOSING = re.compile(r"(?:---|\.\.\.)[ \t]*[\r\n]*\Z")
_COMMENT = re.compile(r"[ \t]*#")
_KEY = re.compile(r"""(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\W\d][\w.-]*)[ \t]*:(?:\s|\Z)""")
_HINT = "Correct it; front matter is YAML between two '---' lines at the top of the file."


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stood at the top of a file.

    Attributes:
        metadata: keys and values as written; empty when there is no front matter.
        start: code point at which the text after the front matter begins; 0 without any.
        first_line: file line on which that text begins; 1 without any.
    """

    metadata: dict[str, object] = field(default_factory=dict)
    start: int = 0
    first_line: int = 1


def split_front_matter(text: str, file_name: str) -> FrontMatter:
    """Split the front matter off a decoded file (byte order mark already removed).

    Raises:
        MetadataError: naming the file, the line and the key: ``front_matter_unclosed``,
            ``front_matter_yaml``, ``duplicate_key`` or ``wrong_type``.
    """
    if not _OPENING.match(text):
        return FrontMatter()
    lines = _LINE.finditer(text)
    opening = next(lines)
    return _read_lines(text, opening.end(), file_name)


def _read_lines(text: str, start: int, file_name: str) -> FrontMatter:
    opened = False
    for number, line in enumerate(_LINE.finditer(text, start), start=2):
        if line.start() == line.end():
            break
        if _CLOSING.match(line.group()):
            source = text[start : line.start()]
            metadata = load_metadata(source, file_name=file_name, first_line=2)
            return FrontMatter(metadata, line.end(), number + 1)
        if not opened and not _COMMENT.match(line.group()):
            if not _KEY.match(line.group()):
                return FrontMatter()
            opened = True
    if not opened:
        return FrontMatter()
    raise MetadataError(
        f"{file_name}, line 1: front matter opens with '---' and is never closed"
        f" (its first key is {_first_key(text[start:])!r}).",
        code="front_matter_unclosed",
        hint="Put a line '---' after the last key, or a blank line after the first '---' if it is a rule.",
    )


def _first_key(source: str) -> str:
    match = re.search(r"^([^#\s:][^:\r\n]*?)[ \t]*:", source, re.MULTILINE)
    return match.group(1) if match else ""


def load_metadata(source: str, *, file_name: str, first_line: int = 1) -> dict[str, object]:
    """The mapping that a piece of YAML holds, with the types of known keys checked.

    Args:
        source: the YAML text.
        file_name: named in errors.
        first_line: file line of the first line of ``source``, for errors.

    Raises:
        MetadataError: ``front_matter_yaml``, ``duplicate_key`` or ``wrong_type``.
    """
    mapping = load_yaml(source, file_name=file_name, first_line=first_line)
    for key, value in mapping.items():
        _check_type(key, value, _Place(source, file_name, first_line))
    return mapping


def load_yaml(source: str, *, file_name: str, first_line: int = 1) -> dict[str, object]:
    """The mapping that a piece of YAML holds, scalars as text; refuses a key given twice.

    Raises:
        MetadataError: ``front_matter_yaml`` or ``duplicate_key``.
    """
    try:
        value = _construct(source)
    except yaml.MarkedYAMLError as error:
        raise _located(error, file_name, first_line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise MetadataError(
            f"{file_name}, line {first_line}: not YAML: {error}",
            code="front_matter_yaml",
            hint=_HINT,
        ) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MetadataError(
            f"{file_name}, line {first_line}: expected keys and values, found {value!r}.",
            code="wrong_type",
            hint=_HINT,
        )
    return {str(key): item for key, item in value.items()}


def _construct(source: str) -> object:
    loader = _TextLoader(source)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


class _DuplicateKeyError(yaml.MarkedYAMLError):
    """A key that occurs twice in one mapping."""


class _TextLoader(yaml.SafeLoader):
    """A safe loader that guesses no types and refuses duplicate keys, merges and aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases, with which a few lines can stand for gigabytes."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(
                problem="aliases are not read", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML's signature
    ) -> dict[Hashable, object]:
        """The mapping, unless a key occurs twice in it."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _DuplicateKeyError(problem=str(key.value), problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


_TextLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] == "tag:yaml.org,2002:null"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _located(error: yaml.MarkedYAMLError, file_name: str, first_line: int) -> MetadataError:
    mark = error.problem_mark or error.context_mark
    line = first_line + (mark.line if mark else 0)
    if isinstance(error, _DuplicateKeyError):
        return MetadataError(
            f"{file_name}, line {line}: the key {error.problem!r} is given twice.",
            code="duplicate_key",
            hint="Keep one of the two.",
        )
    return MetadataError(
        f"{file_name}, line {line}: not YAML, {error.problem or error.context}"
        f" (near {_line_text(mark)!r}).",
        code="front_matter_yaml",
        hint=_HINT,
    )


def _line_text(mark: yaml.Mark | None) -> str:
    if mark is None or mark.buffer is None:
        return ""
    lines = re.split(r"\r\n|\n|\r", mark.buffer.rstrip("\0"))
    return str(lines[mark.line])[:80] if mark.line < len(lines) else ""


@dataclass(frozen=True, slots=True)
class _Place:
    source: str
    file_name: str
    first_line: int

    def line_of(self, key: str) -> int:
        found = re.search(rf"""^["']?{re.escape(key)}["']?[ \t]*:""", self.source, re.MULTILINE)
        before = self.source[: found.start()] if found else ""
        return self.first_line + len(re.findall(r"\r\n|\n|\r", before))


def _check_type(key: str, value: object, place: _Place) -> None:
    if key in TEXT_KEYS and not (value is None or isinstance(value, str)):
        raise _wrong_type(key, value, "text", place)
    if key in LIST_KEYS and not _is_list_of_text(value):
        raise _wrong_type(key, value, f"a list of names, as in {key}: [staff]", place)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _wrong_type(key: str, value: object, wanted: str, place: _Place) -> MetadataError:
    return MetadataError(
        f"{place.file_name}, line {place.line_of(key)}: {key} must be {wanted}, not {value!r}.",
        code="wrong_type",
        hint=_HINT,
    )
