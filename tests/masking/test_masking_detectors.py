from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import planted

from evidencedesk.ingestion.masking import Masker, searchable
from evidencedesk.ingestion.masking_policy import DetectorSet, Masking
from evidencedesk.masking_wiring import masking_of
from evidencedesk.protocols import Detector
from evidencedesk.settings import Settings

SETTINGS = Settings.model_validate({"masking": {"identifiers": ("us-ssn", "de-tax-id")}})


def detector(kind: str) -> Detector:
    masking = masking_of(SETTINGS)
    assert isinstance(masking.detectors, DetectorSet)
    return masking.detectors.get(kind)


def found(kind: str, text: str) -> list[str]:
    return [text[span.start : span.end] for span in Masker([detector(kind)]).spans(text)]


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, values in planted().items() for value in values]
)
@pytest.mark.parametrize("frame", ["{}", "call {}, then wait", "({})", "A: {}\nB", "„{}“", "{}."])
def test_planted_values_are_found_whole(kind: str, value: str, frame: str) -> None:
    assert found(kind, frame.format(value)) == [value]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "an @ sign, @name, a@b, user@host and foo@@example.org"),
        ("email", "see https://example.org/@author/page"),
        ("iban", "DE89 3704 0044 0532 0130 01"),
        ("iban", "XX89 3704 0044 0532 0130 00"),
        ("iban", "AB12 is the code of the first of the twelve rooms in the building"),
        ("card", "4111 1111 1111 1112"),
        ("card", "480 433 4 0 0 0 0 0 0 0 0 0 180"),
        ("card", "https://example.org/web/20190410102524/page"),
        ("card", "order 0000 0000 0000 0000"),
        ("card", "12.4111111111111111"),
        ("phone", "in 2024-05-03 12:30, 3.14159 of 1,234,567 or 30 901820"),
        ("phone", "ISBN 978-3-16-148410-0, chapters 1-2-3"),
        ("ip", "version 1.2.3.4 and release 10.0.0.1, section 1.2.3.4"),
        ("ip", "300.1.1.1, 1.2.3, 1.2.3.4.5 at 12:30:45, std::vector, a::b"),
        ("secret", "the secret of the password is that every passphrase must be long"),
        ("secret", "commit 5726222f4a0e5b7d9c1a3e5f7b9d1c3e5a7f9b1d"),
        ("us-ssn", "000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567, 1234-56-78901"),
        ("de-tax-id", "86 095 742 718 and 11 111 111 111"),
    ],
)
def test_what_looks_alike_is_left(kind: str, text: str) -> None:
    assert found(kind, text) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("card", "4111\u200b 1111 1111\u00ad 1111"),
        ("card", "3782 822463 10005"),
        ("card", "6304-0000-0000-0000"),
        ("email", "jana\u2060@mail.example.org"),
        ("email", "jana＠mail．example．org"),
        ("iban", "de89370400440532013000"),
        ("ip", "2001:db8:0:0:1:0:0:1"),
        ("ip", "fe80::204:61ff:fe9d:f156"),
        ("secret", 'api_key = "sfg3h5j6k7l8"'),
        (
            "secret",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\nxyz\n-----END RSA PRIVATE KEY-----",
        ),
        ("secret", "https://user:hunter2secret@example.org/"),
    ],
)
def test_disguises_and_other_forms_are_found(kind: str, text: str) -> None:
    assert found(kind, text)


@given(st.text(max_size=60))
def test_what_detectors_read_leads_back_to_the_text(text: str) -> None:
    plain, places = searchable(text)
    assert len(plain) == len(places)
    assert list(places) == sorted(set(places))
    for char, place in zip(plain, places, strict=True):
        if char.isascii() and text[place].isascii():
            assert char == text[place]


def test_national_identifiers_are_asked_for_by_name() -> None:
    plain = masking_of(Settings()).policy("mask")
    assert plain is not None
    assert plain.hide("536-90-4399") == "536-90-4399"
    asked = masking_of(SETTINGS).policy("mask")
    assert asked is not None
    assert asked.hide("536-90-4399") == "[US_SSN_1]"


def test_masking_is_off_by_default() -> None:
    assert masking_of(Settings()).policy(None) is None
    assert Masking().policy("mask") is None
