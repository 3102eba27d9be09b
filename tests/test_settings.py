"""The table of settings, what is made from it, and where values come from."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.assembly.assemble import DEFAULT_BUDGET_TOKENS
from evidencedesk.chunking import DEFAULT_STRATEGY, STRATEGIES, default_options
from evidencedesk.errors import SettingsError
from evidencedesk.ingestion.load import DEFAULT_MAX_BYTES
from evidencedesk.ingestion.process import ParseLimits
from evidencedesk.model import ChunkingSettings
from evidencedesk.retrieval.calibration import DEFAULT_THRESHOLD
from evidencedesk.settings import (
    LoadedSettings,
    Settings,
    effective,
    load_settings,
    render_markdown,
    render_toml,
    rows,
    tables,
)
from evidencedesk.settings.render import masked, toml_value

ROOT = Path(__file__).parents[1]


def load(folder: Path, text: str | None = None, **options: Any) -> LoadedSettings:
    if text is not None:
        (folder / "evidencedesk.toml").write_text(text, "utf-8")
    return load_settings(folder=folder, environment=options.pop("environment", {}), **options)


def refused(folder: Path, text: str | None = None, **options: Any) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(folder, text, **options)
    return caught.value


def test_every_setting_and_table_has_help() -> None:
    assert [row.name for row in rows() if len(row.help) < 10] == []
    assert [name for name, about in tables().items() if len(about) < 10] == []


def test_every_number_has_a_unit_or_says_what_it_counts() -> None:
    counted = {"chunking.overlap_sentences", "retrieval.candidates"}
    scores = {"retrieval.threshold", "retrieval.min_vector_score", "retrieval.min_keyword_score"}
    numbers = {row.name for row in rows() if type(row.default) in {int, float}}
    assert {name for name in numbers - counted - scores if not row_of(name).unit} == set()


def row_of(name: str) -> Any:
    return next(row for row in rows() if row.name == name)


def test_the_documentation_is_the_table() -> None:
    written = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert written == render_markdown(), "run: evidencedesk doctor --settings --markdown"
    assert [row.name for row in rows() if f"| `{row.key}` |" not in written] == []


def test_the_written_file_has_every_setting_and_means_the_defaults(tmp_path: Path) -> None:
    text = render_toml({})
    assert load(tmp_path, text).settings.model_dump(exclude={"index"}) == Settings().model_dump(
        exclude={"index"}
    )
    assert [row.name for row in rows() if f"# {row.key} = " not in text] == []


def test_the_written_file_with_every_line_switched_on_is_accepted(tmp_path: Path) -> None:
    switched = [
        line.removeprefix("# ")
        if " = " in line and line.startswith("# ") and "(" not in line
        else line
        for line in render_toml({}).split("\n")
    ]
    loaded = load(tmp_path, "\n".join(switched))
    assert all(origin.kind == "file" for origin in loaded.origins.values())


def test_what_init_sets_is_set(tmp_path: Path) -> None:
    text = render_toml({"access.default_roles": ("everyone",)}, {"access.default_roles": "Mind."})
    assert '# Mind.\ndefault_roles = ["everyone"]' in text
    assert load(tmp_path, text).settings.access.default_roles == ("everyone",)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_toml(text: str) -> None:
    assert tomllib.loads(f"key = {toml_value(text)}")["key"] == text


def test_without_a_file_nobody_has_a_role(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.file is None
    assert loaded.settings.access.default_roles == ()
    assert loaded.settings.access.local.roles == ()
    assert loaded.settings.index.url == str(tmp_path / "evidencedesk.desk")


def test_the_nearest_file_above_is_found_and_paths_are_relative_to_it(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "evidencedesk.toml").write_text('[embedding]\nmodel = "./models/x"\n')
    loaded = load(below)
    assert loaded.file == tmp_path / "evidencedesk.toml"
    assert loaded.settings.index.url == str(tmp_path / "evidencedesk.desk")
    assert loaded.settings.embedding.model == str(tmp_path / "models" / "x")


def test_a_model_name_is_no_path(tmp_path: Path) -> None:
    assert load(tmp_path, '[embedding]\nmodel = "minilm"\n').settings.embedding.model == "minilm"


def test_a_named_file_wins_over_the_variable_and_that_over_the_nearest(tmp_path: Path) -> None:
    for name, k in (("evidencedesk.toml", 1), ("variable.toml", 2), ("named.toml", 3)):
        (tmp_path / name).write_text(f"[retrieval]\nk = {k}\n")
    environment = {"EVIDENCEDESK_CONFIG": "variable.toml"}
    assert load(tmp_path).settings.retrieval.k == 1
    assert load(tmp_path, environment=environment).settings.retrieval.k == 2
    assert load(tmp_path, config="named.toml", environment=environment).settings.retrieval.k == 3


def test_later_layers_win_and_say_where_they_came_from(tmp_path: Path) -> None:
    text = "[retrieval]\nk = 1\ncandidates = 11\nthreshold = 0.1\n"
    loaded = load(
        tmp_path,
        text,
        environment={"EVIDENCEDESK_RETRIEVAL__K": "2", "EVIDENCEDESK_RETRIEVAL__THRESHOLD": "0.2"},
        overrides={"retrieval.k": 3, "retrieval.candidates": None},
    )
    found = loaded.settings.retrieval
    assert (found.k, found.candidates, found.threshold) == (3, 11, 0.2)
    origins = {name: str(loaded.origins[f"retrieval.{name}"]) for name in ("k", "threshold")}
    assert origins == {
        "k": "command line",
        "threshold": "environment (EVIDENCEDESK_RETRIEVAL__THRESHOLD)",
    }
    file = tmp_path / "evidencedesk.toml"
    assert str(loaded.origins["retrieval.candidates"]) == f"file ({file}, line 3)"
    assert str(loaded.origins["retrieval.languages"]) == "default"


def test_the_index_on_the_command_line_is_relative_to_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "evidencedesk.toml").write_text("")
    below = tmp_path / "below"
    below.mkdir()
    loaded = load(below, overrides={"index.url": "x.desk"})
    assert loaded.settings.index.url == str(below / "x.desk")


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("OFFLINE", "1", "offline", True),
        ("OFFLINE", "false", "offline", False),
        ("RETRIEVAL__LANGUAGES", "en, bn", "retrieval.languages", ("en", "bn")),
        ("ACCESS__KNOWN_ROLES", "", "access.known_roles", ()),
        ("RETRIEVAL__THRESHOLD", "0", "retrieval.threshold", 0.0),
        ("RETRIEVAL__MIN_VECTOR_SCORE", "0.25", "retrieval.min_vector_score", 0.25),
        ("ACCESS__LOCAL__SUBJECT", "ann", "access.local.subject", "ann"),
        ("EMBEDDING__LANGUAGES", "en", "embedding.languages", ("en",)),
        ("VERIFICATION__ON_FAILURE", "trim", "verification.on_failure", "trim"),
    ],
)
def test_the_environment_is_read_by_type(
    tmp_path: Path, variable: str, text: str, name: str, value: object
) -> None:
    loaded = load(tmp_path, environment={f"EVIDENCEDESK_{variable}": text})
    assert loaded.settings.value(name) == value


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[retrieval]\ntreshold = 0.5\n", "retrieval.threshold"),
        ("[retreival]\nk = 5\n", "retrieval.k"),
        ("[retrieval.k]\nx = 1\n", "retrieval.k"),
        ("ofline = true\n", "offline"),
    ],
)
def test_an_unknown_key_names_the_nearest(tmp_path: Path, text: str, nearest: str) -> None:
    error = refused(tmp_path, text)
    assert error.code == "unknown_setting"
    assert "line" in error.message or "." in error.message
    assert error.hint == f"Did you mean {nearest!r}?"


def test_an_unknown_key_far_from_all_points_at_the_list(tmp_path: Path) -> None:
    error = refused(tmp_path, "[zzz]\nqqq = 1\n")
    assert "zzz.qqq" in error.message
    assert "docs/settings.md" in error.hint


@pytest.mark.parametrize(
    "variable", ["EVIDENCEDESK_RETRIEVAL__KK", "EVIDENCEDESK_OFLINE", "EVIDENCEDESK_ZZZ__QQQ"]
)
def test_an_unknown_variable_is_an_error(tmp_path: Path, variable: str) -> None:
    error = refused(tmp_path, environment={variable: "1"})
    assert error.code == "unknown_setting"
    assert variable in error.message


def test_variables_that_are_no_settings_are_left_alone(tmp_path: Path) -> None:
    foreign = {"EVIDENCEDESKTOP_X": "1", "EVIDENCEDESK_PROVIDER_KEY": "secret"}
    assert load(tmp_path, environment=foreign) == load(tmp_path, environment={})


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('[retrieval]\n\nk = "8"\n', "retrieval.k", 3),
        ("[retrieval]\nk = 0\n", "retrieval.k", 2),
        ("[retrieval]\nthreshold = 1.5\n", "retrieval.threshold", 2),
        ("[access]\ndefault_roles = [1]\n", "access.default_roles", 2),
        ('[access]\ndefault_roles = "staff"\n', "access.default_roles", 2),
        ('offline = "yes"\n', "offline", 1),
        ('[chunking]\nstrategy = "magic"\n', "chunking.strategy", 2),
        ("[verification]\non_failure = 1\n", "verification.on_failure", 2),
    ],
)
def test_a_wrong_value_names_file_line_and_key(
    tmp_path: Path, text: str, name: str, line: int
) -> None:
    error = refused(tmp_path, text)
    assert error.code == "bad_setting"
    assert error.message.startswith(
        f"{name} in file ({tmp_path / 'evidencedesk.toml'}, line {line})"
    )


@pytest.mark.parametrize("content", [b"[retrieval\n", b"k = \xff\n", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "evidencedesk.toml").write_bytes(content)
    error = refused(tmp_path)
    assert error.code == "settings_unreadable"
    assert str(tmp_path / "evidencedesk.toml") in error.message


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert refused(tmp_path, config="nowhere.toml").code == "settings_missing"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().retrieval.k = 3  # type: ignore[misc]


def test_effective_values_are_complete_and_hide_passwords(tmp_path: Path) -> None:
    listed = effective(load(tmp_path))
    assert [entry["name"] for entry in listed] == [row.name for row in rows()]
    assert masked("scheme://me:secret@host/x") == "scheme://me:***@host/x"
    assert masked("a:b@c") == "a:b@c"


def test_numbers_agree_with_the_stages() -> None:
    settings = Settings()
    limits = ParseLimits()
    assert settings.retrieval.threshold == DEFAULT_THRESHOLD
    assert settings.generation.evidence_tokens == DEFAULT_BUDGET_TOKENS
    assert settings.ingestion.max_file_mb << 20 == DEFAULT_MAX_BYTES
    assert settings.ingestion.memory_mb << 20 == limits.memory_bytes
    assert settings.ingestion.timeout_s == limits.wall_seconds
    assert settings.ingestion.max_pages == limits.max_pages
    assert settings.chunking.strategy == DEFAULT_STRATEGY
    assert ChunkingSettings().options == tuple(sorted(settings.chunking.options.items()))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_options_agree_with_the_strategies(strategy: str) -> None:
    settings = Settings.model_validate({"chunking": {"strategy": strategy}})
    assert settings.chunking.options == default_options(strategy)


def test_the_table_knows_every_strategy() -> None:
    annotation = row_of("chunking.strategy").field.annotation
    assert set(annotation.__args__) == set(STRATEGIES)
