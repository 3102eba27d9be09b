"""From settings to whoever writes and judges replies: adapters, keys, bounds, the chain of fallbacks."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from evidencedesk.adapters.generators.configuration import ModelConfiguration
from evidencedesk.errors import ModelError, SettingsError
from evidencedesk.generation.calls import CallSettings, ModelCalls
from evidencedesk.generation.fallback import FallbackChain, UnavailableGenerator
from evidencedesk.generation.judging import ModelJudge
from evidencedesk.generation.prices import Prices, read_prices
from evidencedesk.generation.retries import RetryPolicy
from evidencedesk.model import Finding
from evidencedesk.protocols import Clock, Generator, Judge, Provider
from evidencedesk.registry import adapter, adapter_names
from evidencedesk.settings import Settings

_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_CHOICE = re.compile(
    r"(?P<name>[\w-]+)(?::(?P<model>.+?))?(?:@(?P<url>https?://[^#\s]+))?(?:#(?P<key>\w+))?"
)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One generator as the settings name it."""

    name: str
    model: str | None
    base_url: str | None
    key_variable: str | None
    key_file: str | None = None


def generator_of(settings: Settings, clock: Clock, environment: Mapping[str, str]) -> Generator:
    """The generator that the settings name, with its fallbacks behind it.

    Args:
        settings: effective settings.
        clock: the timer of deadlines.
        environment: where keys are looked up (``os.environ``).

    Raises:
        SettingsError: ``unknown_adapter``, ``no_model``, ``no_key`` or ``bad_fallback``.
        ModelMissingError: an extra that is not installed, or a model file that is not there.
    """
    generation = settings.generation
    first = _Choice(
        generation.generator,
        generation.model,
        generation.base_url,
        generation.api_key_env,
        generation.api_key_file,
    )
    choices = [first, *map(_fallback, generation.fallbacks)]
    made = [_made(choice, settings, clock, environment) for choice in choices]
    return made[0] if len(made) == 1 else FallbackChain(made)


def judge_of(settings: Settings, clock: Clock, environment: Mapping[str, str]) -> Judge | None:
    """The judge that the settings name: a folder, or a model as fallbacks are written; None for none.

    Raises:
        SettingsError: ``unknown_adapter``, ``no_model``, ``no_key`` or ``bad_fallback``.
        ModelError: the folder holds no entailment model that can be run.
    """
    named = settings.verification.judge
    if not named:
        return None
    choice = _CHOICE.fullmatch(named)
    if choice is None or choice["name"] not in adapter_names("providers"):
        judge: Judge = adapter("judges", "entailment")(Path(named))
        return judge
    generator = _made(_fallback(named), settings, clock, environment)
    return ModelJudge(generator, f"{choice['name']}:{choice['model']}")


def generator_finding(settings: Settings, clock: Clock, environment: Mapping[str, str]) -> Finding:
    """What ``doctor`` says of whoever writes replies; nobody is called."""
    generation = settings.generation
    names = ", then ".join([generation.generator, *generation.fallbacks])
    try:
        generator_of(settings, clock, environment)
    except (SettingsError, ModelError) as error:
        return Finding("generator", ok=False, message=error.message, hint=error.hint)
    hosted = generation.model is not None and generation.generator != "local"
    if hosted and prices_of(settings).of(generation.model) is None:
        message = f"{names}; {generation.model!r} has no price, so its cost is recorded as 0"
        return Finding("generator", ok=True, message=message)
    return Finding("generator", ok=True, message=names)


def prices_of(settings: Settings) -> Prices:
    """The table that ships, with the rows of the settings' own file over it.

    Raises:
        SettingsError: ``bad_prices``.
    """
    shipped = files("evidencedesk.generation").joinpath("prices.toml").read_text("utf-8")
    prices = read_prices(shipped, "prices.toml")
    own = settings.generation.prices
    return Prices(prices | read_prices(_read(own, "prices"), own) if own else prices)


def _fallback(text: str) -> _Choice:
    parts = _CHOICE.fullmatch(text)
    if parts is None:
        raise SettingsError(
            f"{text!r} in [generation] fallbacks names no generator.",
            code="bad_fallback",
            hint="Write NAME or NAME:MODEL, and where needed @ADDRESS and #KEY_VARIABLE after it.",
        )
    return _Choice(parts["name"], parts["model"], parts["url"], parts["key"])


def _made(
    choice: _Choice, settings: Settings, clock: Clock, environment: Mapping[str, str]
) -> Generator:
    if choice.name in adapter_names("generators"):
        generator: Generator = adapter("generators", choice.name)()
        return generator
    if choice.name not in adapter_names("providers"):
        known = sorted({*adapter_names("generators"), *adapter_names("providers")})
        raise SettingsError(
            f"There is no generator {choice.name!r}. There are: {', '.join(known)}.",
            code="unknown_adapter",
            hint="docs/models.md says what each needs.",
        )
    make = adapter("providers", choice.name)
    if settings.offline and make.connects:
        return UnavailableGenerator(choice.name, "the setting `offline` forbids every connection.")
    provider: Provider = make(_configuration(choice, settings, environment))
    return ModelCalls(provider, _call_settings(settings, clock))


def _configuration(
    choice: _Choice, settings: Settings, environment: Mapping[str, str]
) -> ModelConfiguration:
    generation = settings.generation
    if not choice.model:
        raise SettingsError(
            f"The generator {choice.name!r} needs to know which model.",
            code="no_model",
            hint="Set [generation] model, or write the fallback as NAME:MODEL.",
        )
    return ModelConfiguration(
        model=choice.model,
        base_url=choice.base_url,
        api_key=_key(choice, environment),
        temperature=generation.temperature,
        structured_output=generation.structured_output,
        context_tokens=generation.context_tokens,
        threads=generation.threads,
    )


def _key(choice: _Choice, environment: Mapping[str, str]) -> str | None:
    """The secret. A provider's own variable is read for its own address only: a key goes nowhere else."""
    if choice.key_file:
        return _read(choice.key_file, "api_key_file").strip()
    usual = None if choice.base_url else _KEY_VARIABLES.get(choice.name)
    variable = choice.key_variable or usual
    if variable is None:
        return None
    key = environment.get(variable, "").strip()
    if not key:
        raise SettingsError(
            f"The generator {choice.name!r} needs a key in the environment variable {variable!r}.",
            code="no_key",
            hint="Set it, or name another with [generation] api_key_env or api_key_file.",
        )
    return key


def _read(path: str, name: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path!r}, which [generation] {name} names, cannot be read: {type(error).__name__}.",
            code="settings_unreadable",
            hint="Correct the path, or who may read it.",
        ) from None


def _call_settings(settings: Settings, clock: Clock) -> CallSettings:
    generation = settings.generation
    return CallSettings(
        clock=clock,
        sleep=time.sleep,
        random=random.SystemRandom().random,
        retries=RetryPolicy(generation.max_retries),
        prices=prices_of(settings),
        timeout_s=generation.timeout_s,
        connect_s=generation.connect_timeout_s,
    )
