from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.analysis import document_terms, query_groups, terms, words

LANGUAGES = st.sampled_from(["en", "de", "bn", "hi", "ar", "ja", "th", "und", "en-GB", "xx"])


def test_english_words_are_stemmed_and_folded() -> None:
    assert terms("The bikes' Wheels aren't the rider's", "en") == [
        "the", "bike", "wheel", "aren", "t", "the", "rider",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "stem"),
    [
        ("দিনের", "দিন"),
        ("দিনে", "দিন"),
        ("বাইকটি", "বাইক"),
        ("বাইকগুলোর", "বাইক"),
        ("গ্রাহকদের", "গ্রাহক"),
        ("ঘর", "ঘর"),
        ("কার্ড", "কার্ড"),
    ],
)
def test_bengali_nouns_lose_article_and_case(written: str, stem: str) -> None:
    assert terms(written, "bn") == [unicodedata.normalize("NFKC", stem)]


def test_a_question_in_bengali_finds_another_form_of_the_word() -> None:
    groups = query_groups("কত দিনের মধ্যে বাইকটি ফেরত দেওয়া যায়?", ("bn",))
    held = document_terms("", (), "", "৩০ দিন পর বাইক ফেরত দেওয়ার মধ্যে", "bn")
    assert all(held.keys() & set(group) for group in groups)


def test_unknown_language_keeps_words_as_they_stand() -> None:
    assert terms("Returning bikes", "und") == ["returning", "bikes"]


def test_language_tags_with_a_region_use_the_language() -> None:
    assert terms("returning", "en-GB") == terms("returning", "en") == ["return"]


def test_combining_marks_never_split_a_word() -> None:
    assert words("নতুন বাইক ফেরত দেওয়া") == [
        unicodedata.normalize("NFKC", word) for word in ("নতুন", "বাইক", "ফেরত", "দেওয়া")
    ]
    assert words("नई साइकिल") == ["नई", "साइकिल"]
    assert words("cafe\u0301") == ["café"]


def test_invisible_characters_are_not_part_of_a_word() -> None:
    assert words("re\u00adturn\u200bs") == ["returns"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("自転車", ["自転", "転車"]),
        ("猫", ["猫"]),
        ("한국어는", ["한국", "국어", "어는"]),
        ("iPhone手机", ["iphone", "手机"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
    ],
)
def test_scripts_without_spaces_give_pairs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_underscores_and_hyphens_separate() -> None:
    assert words("Super_Bowl_50 RD2-24") == ["super", "bowl", "50", "rd2", "24"]


def test_full_width_and_ligatures_are_folded() -> None:
    assert words("ＲＤ２ ﬁnal") == ["rd2", "final"]


def test_title_counts_three_times() -> None:
    counts = document_terms("Bikes", ("Fees", "Bike"), "Size", "one bike", "en")
    assert counts == {"bike": 5, "fee": 1, "size": 1, "one": 1}
    assert document_terms("Bikes", "Fees\nBike", "Size", "one bike", "en") == counts


def test_a_question_of_one_han_character_finds_it_inside_a_word() -> None:
    ((term,),) = query_groups("猫", ("ja",))
    assert term in document_terms("", (), "", "白猫です", "ja")


def test_question_words_are_dropped() -> None:
    assert query_groups("How long do I have to return a bike?", ("en",)) == (
        ("return",), ("bike",),
    )  # fmt: skip


def test_a_question_of_question_words_alone_keeps_them() -> None:
    assert query_groups("What is it?", ("en",)) == (("what",), ("is",), ("it",))


def test_stems_of_every_language_stand_beside_the_word() -> None:
    assert query_groups("bikes", ("en", "de")) == (("bik", "bike", "bikes"),)


def test_words_that_share_a_stem_are_one_group() -> None:
    assert query_groups("bike bikes", ("en",)) == (("bike",),)


def test_nothing_to_search_gives_no_groups() -> None:
    assert query_groups("?!", ("en",)) == ()


@given(st.text(), LANGUAGES)
def test_terms_are_lower_case_ink(text: str, lang: str) -> None:
    for term in terms(text, lang):
        assert term
        assert not any(character.isspace() or character == "_" for character in term)


@given(st.text(), LANGUAGES)
def test_canonically_equal_texts_have_equal_terms(text: str, lang: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert terms(composed, lang) == terms(decomposed, lang)


@given(st.text(), LANGUAGES)
def test_a_text_is_found_by_its_own_words(text: str, lang: str) -> None:
    held = document_terms("", (), "", text, lang)
    for group in query_groups(text, (lang,)):
        assert held.keys() & set(group)


@given(st.text(), st.lists(LANGUAGES, max_size=3))
def test_groups_share_no_term(question: str, languages: list[str]) -> None:
    groups = query_groups(question, languages)
    flat = [term for group in groups for term in group]
    assert len(flat) == len(set(flat))
    assert all(groups)


@pytest.mark.parametrize("end", ["-\n", "-\r\n", "\u2010\n", "\u00ad\n", "-\n  "])
def test_a_word_broken_at_a_line_end_is_found_whole_and_by_its_halves(end: str) -> None:
    counted = document_terms("", "", "", f"the infor{end}mation of a well{end}known rule", "und")
    assert {"infor", "mation", "information", "well", "known", "wellknown"} <= counted.keys()


def test_a_hyphen_inside_a_line_joins_nothing() -> None:
    assert "wellknown" not in document_terms("", "", "", "a well-known rule\n- and a list", "und")
