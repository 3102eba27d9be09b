from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from evidencedesk.text.analysis import document_terms
from evidencedesk.text.chunk_terms import TermSource, chunk_terms
from evidencedesk.text.hashing import hash_of

WORDS = st.sampled_from(
    ["Bike", "bikes", "fee-\nbased", "the", "Straße", "STRASSE", "漢字かな", "한국어", "দিনের", "12", "l’été", "’s", " "]
)  # fmt: skip
PARTS = st.lists(WORDS, max_size=6).map(" ".join)
SOURCES = st.lists(
    st.builds(TermSource, PARTS, st.lists(PARTS, max_size=2).map(tuple), PARTS, PARTS), max_size=5
)


@given(SOURCES, st.sampled_from(["en", "de-AT", "bn", "ko", "und", "xx"]))
@example([TermSource("", (), "", "")], "en")
def test_terms_counted_as_numbers_are_the_terms_of_each_chunk(
    sources: list[TermSource], lang: str
) -> None:
    found = chunk_terms(sources, lang)
    assert len(found) == len(sources)
    for source, terms in zip(sources, found, strict=True):
        expected = document_terms(*source, lang)
        assert dict(terms) == expected
        assert len(terms) == len(expected)
        numbers, counts = (values.tolist() for values in terms.counted)
        assert numbers == sorted(numbers)
        assert dict(zip(numbers, counts, strict=True)) == {
            hash_of(term): count for term, count in expected.items()
        }
