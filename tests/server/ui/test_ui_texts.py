from __future__ import annotations

import re
from importlib.resources import files
from string import Formatter

import pytest

from evidencedesk.model import Reason
from evidencedesk.records import Lapse
from evidencedesk.server.ui.texts import LANGUAGES, NAMES, Texts, chosen_language

STATIC = files("evidencedesk.server.ui").joinpath("static")
TEMPLATES = files("evidencedesk.server.ui").joinpath("templates")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything_with_the_same_values(language: str) -> None:
    english = LANGUAGES["en"]
    texts = LANGUAGES[language]
    assert texts.keys() == english.keys()
    assert language in NAMES
    for key, text in texts.items():
        assert text.strip(), key
        assert _fields(text) == _fields(english[key]), key


def test_every_text_that_a_template_or_a_script_asks_for_is_there() -> None:
    templates = [path.read_text("utf-8") for path in TEMPLATES.iterdir()]
    scripts = [path.read_text("utf-8") for path in STATIC.iterdir() if path.name.endswith(".js")]
    in_templates = set(re.findall(r"""\bt\(["']([a-z0-9_.]+)["'][,)]""", "\n".join(templates)))
    in_scripts = set(re.findall(r"""\btext\("([a-z_.]+)"[,)]""", "\n".join(scripts)))
    assert min(len(in_templates), len(in_scripts)) > 10
    assert in_templates | {f"js.{key}" for key in in_scripts} <= LANGUAGES["en"].keys()


def test_every_reason_and_lapse_has_words() -> None:
    english = LANGUAGES["en"]
    assert {f"reason.{reason.value}" for reason in Reason} <= english.keys()
    assert {f"lapse.{lapse.value}" for lapse in Lapse} <= english.keys()


@pytest.mark.parametrize(
    ("cookie", "accepted", "chosen"),
    [
        (None, "", "en"),
        (None, "de-AT,de;q=0.9,en;q=0.8", "de"),
        (None, "fr, en;q=0.5, de;q=0.7", "de"),
        (None, "de;q=0, en", "en"),
        (None, "fr", "en"),
        (None, "de;q=high, ;;,", "en"),
        ("de", "en", "de"),
        ("xx", "de", "de"),
    ],
)
def test_the_language_is_the_one_switched_to_else_the_first_accepted(
    cookie: str | None, accepted: str, chosen: str
) -> None:
    assert chosen_language(cookie, accepted) == chosen


def test_a_value_is_filled_in() -> None:
    assert Texts("de")("source.page", number=3) == "Seite 3"


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
