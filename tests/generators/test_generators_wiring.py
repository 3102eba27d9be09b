"""From settings to generators: keys, addresses, extras, and what is never reachable by default."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.errors import ModelMissingError, SettingsError
from evidencedesk.generation import build_request
from evidencedesk.generation.calls import ModelCalls
from evidencedesk.generation.fallback import FallbackChain, UnavailableGenerator
from evidencedesk.generator_wiring import generator_finding, generator_of, prices_of
from evidencedesk.model import Evidence, Finding, StopReason
from evidencedesk.protocols import Generator
from evidencedesk.settings import Settings
from evidencedesk.settings.table import GenerationTable
from evidencedesk.testing.provider import misbehaving_provider
from evidencedesk.wiring import SystemClock

REQUEST = build_request("How long?", Evidence(()))


def made(
    environment: dict[str, str] | None = None, *, offline: bool = False, **generation: object
) -> Generator:
    settings = Settings(offline=offline, generation=GenerationTable.model_validate(generation))
    return generator_of(settings, SystemClock(), environment or {})


def refused(**generation: object) -> SettingsError:
    with pytest.raises(SettingsError) as raised:
        made(**generation)  # type: ignore[arg-type]
    return raised.value


def test_the_default_needs_no_model() -> None:
    assert isinstance(made({"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}), ExtractiveReader)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_hosted_model_needs_a_name_and_a_key(name: str) -> None:
    assert refused(generator=name).code == "no_model"
    assert refused(generator=name, model="m").code == "no_key"
    variable = f"{name.upper()}_API_KEY"
    generator = made({variable: "k"}, generator=name, model="m")
    assert isinstance(generator, ModelCalls)
    assert (generator.name, generator.model) == (name, "m")


def test_a_key_of_the_provider_is_sent_to_no_other_address() -> None:
    with misbehaving_provider() as server:
        generator = made(
            {"OPENAI_API_KEY": "sk-of-openai"},
            generator="openai",
            model="m",
            base_url=server.openai_url,
        )
        generator.generate(REQUEST)
        assert "sk-of-openai" not in str(server.headers)


def test_the_key_comes_from_the_variable_or_the_file_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n", "utf-8")
    with misbehaving_provider() as server:
        common = {"generator": "openai", "model": "m", "base_url": server.openai_url}
        made({"MINE": "from-variable"}, api_key_env="MINE", **common).generate(REQUEST)
        made({}, api_key_file=str(tmp_path / "key"), **common).generate(REQUEST)
        sent = [headers["authorization"] for headers in server.headers]
    assert sent == ["Bearer from-variable", "Bearer from-file"]


def test_a_key_file_that_is_not_there_is_named() -> None:
    error = refused(generator="openai", model="m", api_key_file="/nowhere/key")
    assert "/nowhere/key" in error.message


def test_fallbacks_have_their_own_model_address_and_key() -> None:
    with misbehaving_provider() as server:
        generator = made(
            {"OPENAI_API_KEY": "a", "OTHER": "b"},
            generator="openai",
            model="m",
            base_url="http://127.0.0.1:9",
            max_retries=0,
            fallbacks=(f"openai:org/llama3:8b@{server.openai_url}#OTHER", "extractive"),
        )
        assert isinstance(generator, FallbackChain)
        reply = generator.generate(REQUEST)
        assert reply.fallback_from == ("openai",)
        assert server.requests[0]["model"] == "org/llama3:8b"
        assert server.headers[0]["authorization"] == "Bearer b"


@pytest.mark.parametrize("text", ["", "open ai", "openai:m@ftp://x", "openai:m#"])
def test_a_fallback_that_names_nothing_is_refused(text: str) -> None:
    assert refused(fallbacks=(text,)).code in {"bad_fallback", "no_model", "no_key"}


def test_an_unknown_generator_is_told_which_there_are() -> None:
    error = refused(generator="opnai")
    assert error.code == "unknown_adapter"
    for name in ("anthropic", "extractive", "local", "openai"):
        assert name in error.message


def test_offline_no_provider_is_called_and_the_next_in_the_chain_answers() -> None:
    alone = made(offline=True, generator="openai", model="m")
    assert isinstance(alone, UnavailableGenerator)
    assert alone.generate(REQUEST).stop_reason is StopReason.ERROR
    chain = made(offline=True, generator="openai", model="m", fallbacks=("extractive",))
    reply = chain.generate(REQUEST)
    assert (reply.generator, reply.fallback_from) == ("extractive", ("openai",))
    assert "offline" in reply.detail


def test_a_local_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=r"no\.gguf"):
        made(generator="local", model=str(tmp_path / "no.gguf"))


def test_doctor_says_who_writes_replies_and_what_is_wrong() -> None:
    def finding(**generation: object) -> Finding:
        settings = Settings(generation=GenerationTable.model_validate(generation))
        return generator_finding(settings, SystemClock(), {"OPENAI_API_KEY": "sk-secret"})

    assert finding() == Finding("generator", ok=True, message="extractive")
    named = finding(generator="openai", model="gpt-4o", fallbacks=("extractive",))
    assert named == Finding("generator", ok=True, message="openai, then extractive")
    assert "has no price" in finding(generator="openai", model="m").message
    missing = finding(generator="anthropic", model="m")
    assert not missing.ok
    assert "ANTHROPIC_API_KEY" in missing.message
    assert missing.hint


def test_own_prices_win(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["gpt-4o"]\ninput_usd = 1\noutput_usd = 7\n', "utf-8")
    prices = prices_of(Settings(generation=GenerationTable(prices=str(own))))
    shipped = prices_of(Settings())
    row = prices.of("gpt-4o")
    assert row is not None
    assert row.output_usd == 7
    assert prices.of("gpt-4o-mini") == shipped.of("gpt-4o-mini")


@pytest.mark.parametrize(
    ("name", "package"), [("openai", "openai"), ("anthropic", "anthropic"), ("local", "xllamacpp")]
)
def test_a_missing_extra_is_named(name: str, package: str) -> None:
    program = f"""
import sys
sys.modules[{package!r}] = None
import evidencedesk, evidencedesk.__main__
from evidencedesk.errors import ModelMissingError
from evidencedesk.generator_wiring import generator_of
from evidencedesk.settings import Settings
from evidencedesk.settings.table import GenerationTable
generator_of(Settings(), None, {{}})
try:
    generator_of(Settings(generation=GenerationTable(generator={name!r}, model="m")), None, {{}})
except ModelMissingError as error:
    print(error.code, error.hint)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f'package_missing Install it with: pip install "evidencedesk[{name}]"\n'
