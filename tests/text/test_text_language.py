from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.language import detect, question_languages, unknown_script_share
from evidencedesk.text.scripts import script_of, script_shares

ENGLISH = (
    "A new bike that has not been ridden can be returned within thirty days of delivery. "
    "It must come in its original box with every part that was delivered, and the shop pays the "
    "price back in full. The delivery fee is paid back only where the bike arrived damaged."
)
GERMAN = (
    "Ein neues Fahrrad, das nicht gefahren wurde, kann innerhalb von dreißig Tagen nach der "
    "Lieferung zurückgegeben werden. Es muss mit allen Teilen in der ursprünglichen Verpackung "
    "kommen, und der Laden erstattet den vollen Preis. Die Versandkosten werden nur erstattet, "
    "wenn das Fahrrad beschädigt angekommen ist."
)
HINDI = "नई साइकिल तीस दिनों के भीतर लौटाई जा सकती है। " * 12


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (HINDI, "hi"),
        ("নতুন বাইক", "bn"),
        ("自転車を返す", "ja"),
        ("自行车", "zh"),
        ("자전거", "ko"),
        ("จักรยาน", "th"),
        ("ποδήλατο", "el"),
        ("Returns policy", "und"),
        ("велосипед", "und"),
        ("12345", "und"),
        ("", "und"),
    ],
)
def test_language_of_documents(text: str, language: str) -> None:
    assert detect(text) == language


def test_fewer_than_200_letters_are_not_guessed_at() -> None:
    letters = [index for index, character in enumerate(ENGLISH) if character.isalpha()]
    assert detect(ENGLISH[: letters[199]]) == "und"
    assert detect(ENGLISH[: letters[199] + 1]) == "en"


def test_a_script_of_one_language_tells_the_question_s() -> None:
    assert question_languages("কত দিন?", ("en", "de")) == ("bn",)


def test_settings_tell_the_rest() -> None:
    assert question_languages("how long", ("en", "de")) == ("en", "de")
    assert question_languages("how long", ("en", "bn")) == ("en",)
    assert question_languages("как долго", ("en",)) == ("en",)
    assert question_languages("как долго", ("en", "ru")) == ("ru",)
    assert question_languages("42", ("en", "ru")) == ("en", "ru")


def test_share_of_letters_a_model_cannot_read() -> None:
    assert unknown_script_share("bike", ("en",)) == 0.0
    assert unknown_script_share("বাইক", ("en",)) == 1.0
    assert unknown_script_share("বাইক", ("en", "bn")) == 0.0
    assert unknown_script_share("aaa яя", ("en",)) == pytest.approx(0.4)
    assert unknown_script_share("42", ("en",)) == 0.0


@given(st.text(min_size=1))
def test_shares_add_up_to_one(text: str) -> None:
    shares = script_shares(text)
    assert not shares or sum(shares.values()) == pytest.approx(1.0)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


@given(st.characters())
def test_only_letters_have_a_script(character: str) -> None:
    assert (script_of(character) == "Zyyy") is not character.isalpha()
