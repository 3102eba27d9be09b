from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter, Status
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.errors import MetadataError
from evidencedesk.ingestion.document import build_document, document_id_for, slug_of
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.metadata import (
    AccessDefaults,
    DeclaredMetadata,
    ResolvedMetadata,
    front_matter_metadata,
    inputs_hash_of,
    resolve_metadata,
)
from evidencedesk.model import Document, ParsedDocument

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NOTHING = DeclaredMetadata()
ROLES = st.frozensets(st.sampled_from(["a", "b", "c"]))
STATUSES = st.sampled_from([None, *(status.value for status in Status)])
DECLARED = st.builds(
    DeclaredMetadata,
    origin=st.just("x"),
    title=st.none() | st.just("t"),
    roles=st.none() | ROLES,
    deny=st.none() | ROLES,
    status=STATUSES,
)


def resolve(
    document: DeclaredMetadata = NOTHING,
    manifest: DeclaredMetadata = NOTHING,
    request: DeclaredMetadata = NOTHING,
    defaults: AccessDefaults = AccessDefaults(),  # noqa: B008 - frozen
    trusted: bool = True,
) -> ResolvedMetadata:
    return resolve_metadata(
        document=document, manifest=manifest, request=request, defaults=defaults, trusted=trusted
    )


@pytest.mark.parametrize("key", ["title", "version", "lang", "owner", "id", "supersedes"])
@pytest.mark.parametrize(
    ("front", "manifest", "request_", "wins"),
    [
        ("aa", "bb", "cc", "aa"),
        (None, "bb", "cc", "bb"),
        (None, None, "cc", "cc"),
        (None, None, None, None),
        ("aa", None, "cc", "aa"),
    ],
)
def test_descriptive_metadata_comes_from_the_author_first(
    key: str, front: str | None, manifest: str | None, request_: str | None, wins: str | None
) -> None:
    layers = [DeclaredMetadata(**{key: value}) for value in (front, manifest, request_)]
    assert getattr(resolve(*layers), key) == wins


@pytest.mark.parametrize("key", ["roles", "deny", "status"])
@pytest.mark.parametrize(
    ("front", "manifest", "request_", "wins"),
    [
        (0, 1, 2, 2),
        (0, 1, None, 1),
        (0, None, None, 0),
        (0, None, 2, 2),
        (None, 1, 2, 2),
        (None, None, None, None),
    ],
)
def test_access_metadata_comes_from_the_operator_first(
    key: str, front: int | None, manifest: int | None, request_: int | None, wins: int | None
) -> None:
    sets = [frozenset({"r0"}), frozenset({"r1"}), frozenset({"r2"})]
    values = ["superseded", "draft", "archived"] if key == "status" else sets
    layers = [
        NOTHING if index is None else DeclaredMetadata(**{key: values[index]})
        for index in (front, manifest, request_)
    ]
    unsaid = "current" if key == "status" else frozenset()
    assert getattr(resolve(*layers).access, key) == (unsaid if wins is None else values[wins])


def test_default_roles_are_for_documents_about_which_nobody_says_anything() -> None:
    defaults = AccessDefaults(roles=frozenset({"everyone"}), tenant="acme")
    assert resolve(defaults=defaults).access.roles == {"everyone"}
    assert resolve(defaults=defaults).access.tenant == "acme"
    nobody = DeclaredMetadata(roles=frozenset())
    assert resolve(nobody, defaults=defaults).access.roles == frozenset()
    assert resolve(NOTHING, nobody, defaults=defaults).access.roles == frozenset()


@given(DECLARED, DECLARED, DECLARED, ROLES, ROLES, st.sampled_from(list(Status)))
def test_untrusted_front_matter_only_narrows(
    document: DeclaredMetadata,
    manifest: DeclaredMetadata,
    request_: DeclaredMetadata,
    default_roles: frozenset[str],
    reader: frozenset[str],
    status: Status,
) -> None:
    defaults = AccessDefaults(roles=default_roles)
    without = resolve(NOTHING, manifest, request_, defaults).access
    with_it = resolve(document, manifest, request_, defaults, trusted=False).access
    current = AccessFilter(roles=reader)
    assert current.admits(without) or not current.admits(with_it)
    every = AccessFilter(roles=reader, statuses=frozenset({status}))
    if with_it.status is without.status:
        assert every.admits(without) or not every.admits(with_it)


def test_untrusted_front_matter_still_describes() -> None:
    said = DeclaredMetadata(title="T", roles=frozenset({"staff"}))
    resolved = resolve(said, trusted=False)
    assert (resolved.title, resolved.access.roles) == ("T", frozenset())


@pytest.mark.parametrize(
    ("declared", "code", "says"),
    [
        (DeclaredMetadata(origin="a.md", roles=frozenset({"no space"})), "bad_role", "a.md: "),
        (DeclaredMetadata(origin="a.md", deny=frozenset({""})), "bad_role", "a.md: "),
        (DeclaredMetadata(origin="a.md", roles=frozenset({"staf"})), "unknown_role", "staf"),
        (DeclaredMetadata(origin="a.md", status="old"), "bad_status", "'old'"),
        (DeclaredMetadata(origin="a.md", lang="English please"), "bad_lang", "a.md: lang"),
        (DeclaredMetadata(origin="a.md", id="two words"), "bad_id", "a.md: id"),
    ],
)
def test_mistakes_name_the_file(declared: DeclaredMetadata, code: str, says: str) -> None:
    defaults = AccessDefaults(known_roles=frozenset({"staff"}))
    with pytest.raises(MetadataError, match=says) as caught:
        resolve(declared, defaults=defaults)
    assert caught.value.code == code


def test_a_mistake_in_overruled_front_matter_is_still_a_mistake() -> None:
    with pytest.raises(MetadataError):
        resolve(DeclaredMetadata(status="old"), request=DeclaredMetadata(status="draft"))


def parsed(front: str, body: str = "# Heading\n\ntext\n") -> ParsedDocument:
    return MarkdownParser().parse(f"---\n{front}\n---\n{body}".encode(), "a.md")


def test_front_matter_says_what_it_says_and_never_the_tenant() -> None:
    said = front_matter_metadata(
        parsed("id: x\nversion: 3\nroles: [a]\ntenant: other\nowner:\norigin: evil"), "a.md"
    )
    assert said == DeclaredMetadata(origin="a.md", id="x", version="3", roles=frozenset({"a"}))
    assert resolve(said).access.tenant == "default"


def built(content: ParsedDocument, metadata: ResolvedMetadata | None = None) -> Document:
    return build_document(
        content,
        source="folder/my file.md",
        root="/r",
        document_id="d",
        metadata=metadata or resolve(),
        file_hash="sha256:0",
        ingested_at=NOW,
        detect_language=lambda _: "xx",
    )


def test_titles_come_from_the_first_that_has_one() -> None:
    content = parsed("id: x")
    assert built(content, resolve(DeclaredMetadata(title="Declared"))).title == "Declared"
    assert built(replace(content, title=" From\n the file ")).title == "From the file"
    assert built(content).title == "Heading"
    assert built(parsed("id: x", "no heading")).title == "my file"


def test_languages_come_from_the_first_that_has_one() -> None:
    content = parsed("id: x")
    assert built(replace(content, lang="bn"), resolve(DeclaredMetadata(lang="en"))).lang == "en"
    assert built(replace(content, lang="bn")).lang == "bn"
    assert built(content).lang == "xx"


def test_a_document_has_everything() -> None:
    said = DeclaredMetadata(
        version="3",
        owner="o",
        supersedes="old",
        roles=frozenset({"a"}),
        deny=frozenset({"b"}),
        status="draft",
    )
    document = built(parsed("id: x"), resolve(said))
    assert (document.version, document.owner, document.supersedes) == ("3", "o", "old")
    assert (document.roles, document.deny, document.status) == ({"a"}, {"b"}, "draft")
    assert (document.ingested_at, document.root, document.file_hash) == (NOW, "/r", "sha256:0")
    assert (document.parser, document.first_line) == ("markdown", 4)


def source(relative: str, root: str = "/data") -> SourceFile:
    return SourceFile(Path(root, relative), Path(root), relative)


@pytest.mark.parametrize(
    ("relative", "expected"),
    [
        ("Returns Policy.md", "returns-policy"),
        ("hr/2024/Pay & Benefits.v2.md", "hr-2024-pay-benefits-v2"),
        ("ফেরত নীতি.md", "ফেরত-নীতি"),
        ("!!!.md", "document"),
        ("README", "readme"),
        ("Größe.md", "größe"),
    ],
)
def test_ids_are_readable(relative: str, expected: str) -> None:
    assert document_id_for(source(relative), taken=lambda _: False) == expected


def test_collisions_get_a_suffix_that_stays_and_differs() -> None:
    first = document_id_for(source("a.md"), taken=lambda name: name == "a")
    again = document_id_for(source("a.md"), taken=lambda name: name == "a")
    other = document_id_for(source("a.md", "/elsewhere"), taken=lambda name: name == "a")
    assert first == again != other
    assert first.startswith("a~")
    assert len(first) == len("a~") + 6


@given(st.text())
def test_slugs_are_short_and_have_no_blanks(name: str) -> None:
    slug = slug_of(name)
    assert 0 < len(slug) <= 120
    assert slug == "-".join(slug.split())
    assert "/" not in slug
    assert "~" not in slug


def test_inputs_differ_when_anything_differs() -> None:
    plain = {
        "file_hash": "h",
        "parser": ("markdown", "1"),
        "manifest": NOTHING,
        "request": NOTHING,
        "defaults": AccessDefaults(),
        "trusted": True,
    }
    changed = [
        {"file_hash": "other"},
        {"parser": ("markdown", "2")},
        {"manifest": DeclaredMetadata(owner="o")},
        {"request": DeclaredMetadata(roles=frozenset())},
        {"defaults": AccessDefaults(roles=frozenset({"a"}))},
        {"trusted": False},
        {"others": ["root"]},
    ]
    hashes = [inputs_hash_of(**{**plain, **change}) for change in [{}, *changed]]
    assert len(set(hashes)) == len(hashes)
    same = {**plain, "manifest": DeclaredMetadata(origin="elsewhere")}
    assert inputs_hash_of(**same) == hashes[0]
