"""Retries, deadline, breaker, fallbacks and cost over a provider that does as it is told."""

from __future__ import annotations

from collections.abc import Generator as Iteration
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import CallCancelledError, ProviderError, SettingsError
from evidencedesk.generation import build_request
from evidencedesk.generation.breaker import CircuitBreaker
from evidencedesk.generation.calls import CallSettings, ModelCalls
from evidencedesk.generation.fallback import FallbackChain, UnavailableGenerator, stream_of
from evidencedesk.generation.prices import Price, Prices, read_prices
from evidencedesk.generation.retries import RetryPolicy
from evidencedesk.generator_wiring import prices_of
from evidencedesk.model import (
    CallBounds,
    Evidence,
    Reply,
    Request,
    StopReason,
    StreamBreak,
    Usage,
)
from evidencedesk.settings import Settings

REQUEST = build_request("How long?", Evidence(()))
ANSWER = Reply("{}", usage=Usage(10, 5))
LATER = ProviderError("HTTP 500.", retryable=True)
NEVER = ProviderError("HTTP 401.")

Step = str | Reply | ProviderError


class Time:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> object:
        raise AssertionError("nothing here needs the time of day")

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class ScriptedProvider:
    """Each call takes the next script: pieces, then a reply or an error."""

    name = "scripted"
    model = "m"

    def __init__(self, *scripts: Step | list[Step], time: Time | None = None, takes: float = 0.0):
        self.scripts = [script if isinstance(script, list) else [script] for script in scripts]
        self.calls = 0
        self.closed = 0
        self._time = time
        self._takes = takes

    def call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Iteration[str | Reply, None, None]:
        assert request.prompt.startswith(REQUEST.prompt)
        script = self.scripts[min(self.calls, len(self.scripts) - 1)]
        self.calls += 1
        if self._time is not None:
            self._time.seconds += self._takes
            bounds.remaining()
        try:
            for step in script:
                if isinstance(step, ProviderError):
                    raise step
                if stream or isinstance(step, Reply):
                    yield step
        finally:
            self.closed += 1

    def close(self) -> None:
        self.closed = -1


def calls(
    provider: ScriptedProvider,
    time: Time | None = None,
    *,
    retries: int = 2,
    timeout_s: float = 60.0,
    breaker: CircuitBreaker | None = None,
    random: float = 0.5,
) -> ModelCalls:
    time = time or Time()
    settings = CallSettings(
        clock=time,  # type: ignore[arg-type]
        sleep=time.sleep,
        random=lambda: random,
        retries=RetryPolicy(retries),
        prices=Prices({"m": Price(input_usd=1.0, output_usd=2.0)}),
        timeout_s=timeout_s,
    )
    return ModelCalls(provider, settings, breaker)


def test_a_retryable_error_is_retried_until_it_passes() -> None:
    time = Time()
    reply = calls(ScriptedProvider(LATER, LATER, ANSWER), time).generate(REQUEST)
    assert (reply.stop_reason, reply.attempts) == (StopReason.END, 3)
    assert sum(time.slept) == pytest.approx(0.25 + 0.5)


def test_retries_are_bounded_and_the_failure_says_why() -> None:
    provider = ScriptedProvider(LATER)
    reply = calls(provider, retries=4).generate(REQUEST)
    assert (provider.calls, reply.attempts) == (5, 5)
    assert reply.stop_reason is StopReason.ERROR
    assert reply.detail == "scripted: HTTP 500."


def test_any_other_error_is_not_retried() -> None:
    provider = ScriptedProvider(NEVER, ANSWER)
    assert calls(provider).generate(REQUEST).stop_reason is StopReason.ERROR
    assert provider.calls == 1


def test_cost_is_tokens_times_price() -> None:
    reply = calls(ScriptedProvider(ANSWER)).generate(REQUEST)
    assert reply.usage == Usage(10, 5, pytest.approx(20e-6))


@given(
    attempts=st.integers(1, 12),
    random=st.floats(0, 0.999),
    left=st.floats(0.001, 100),
    after=st.none() | st.floats(0, 200),
)
def test_a_wait_fits_into_the_time_left_and_is_what_the_provider_asked_for(
    attempts: int, random: float, left: float, after: float | None
) -> None:
    policy = RetryPolicy(max_retries=8)
    error = ProviderError("x", retryable=True, retry_after=after)
    wait = policy.wait(error, attempts, left, lambda: random)
    if attempts > 8:
        assert wait is None
    elif after is not None:
        assert wait == (after if after < left else None)
    elif wait is not None:
        assert 0 <= wait < left
        assert wait <= min(policy.longest_s, policy.first_s * 2 ** (attempts - 1))


def test_everything_together_ends_at_the_deadline() -> None:
    time = Time()
    provider = ScriptedProvider(LATER, time=time, takes=3.0)
    reply = calls(provider, time, retries=100, timeout_s=10.0, random=0.9).generate(REQUEST)
    assert time.seconds <= 10.0 + 3.0
    assert reply.stop_reason in {StopReason.TIMEOUT, StopReason.ERROR}
    assert 1 < provider.calls <= 4


def test_a_wait_is_cut_short_when_the_asker_goes() -> None:
    time = Time()
    request = replace(REQUEST, cancelled=lambda: time.seconds > 0.25)
    error = ProviderError("HTTP 429.", retryable=True, retry_after=30.0)
    with pytest.raises(CallCancelledError):
        calls(ScriptedProvider(error), time).generate(request)
    assert time.seconds < 0.5


def test_the_breaker_leaves_a_failing_provider_alone_and_tries_again_later() -> None:
    time, breaker = Time(), CircuitBreaker(failures=3, cooldown_s=30)
    provider = ScriptedProvider(LATER)
    generator = calls(provider, time, retries=0, breaker=breaker)
    for _ in range(3):
        generator.generate(REQUEST)
    refused = generator.generate(REQUEST)
    assert (provider.calls, refused.attempts) == (3, 0)
    assert refused.stop_reason is StopReason.ERROR
    assert "not called" in refused.detail
    time.seconds += 31
    generator.generate(REQUEST)
    generator.generate(REQUEST)
    assert provider.calls == 4
    time.seconds += 31
    provider.scripts = [[ANSWER]]
    assert generator.generate(REQUEST).stop_reason is StopReason.END
    assert generator.generate(REQUEST).stop_reason is StopReason.END
    assert provider.calls == 6


def test_errors_of_the_request_do_not_open_the_breaker() -> None:
    provider = ScriptedProvider(NEVER)
    generator = calls(provider, breaker=CircuitBreaker(failures=2))
    for _ in range(5):
        generator.generate(REQUEST)
    assert provider.calls == 5


def test_a_stream_gives_pieces_then_the_reply() -> None:
    whole = replace(ANSWER, text="ab")
    items = list(calls(ScriptedProvider(["a", "b", whole])).stream(REQUEST))
    assert items[:2] == ["a", "b"]
    assert isinstance(items[2], Reply)
    assert items[2].text == "ab"


def test_a_stream_that_breaks_says_so_before_it_begins_anew() -> None:
    provider = ScriptedProvider(["a", LATER], [LATER], ["b", replace(ANSWER, text="b")])
    kinds = [type(item) for item in calls(provider).stream(REQUEST)]
    assert kinds == [str, StreamBreak, str, Reply]


def test_closing_a_stream_closes_the_call() -> None:
    provider = ScriptedProvider(["a", "b", ANSWER])
    items = stream_of(calls(provider), REQUEST)
    assert next(items) == "a"
    items.close()
    assert provider.closed == 1


def test_a_chain_takes_the_first_that_does_not_fail_and_adds_up() -> None:
    failing = calls(ScriptedProvider(LATER), retries=1)
    chain = FallbackChain([failing, calls(ScriptedProvider(ANSWER))])
    reply = chain.generate(REQUEST)
    assert (reply.fallback_from, reply.attempts) == (("scripted",), 3)
    assert reply.usage.input_tokens == 10


@pytest.mark.parametrize("stop", [StopReason.REFUSED, StopReason.LENGTH])
def test_a_refusal_or_a_cut_is_not_asked_for_elsewhere(stop: StopReason) -> None:
    second = ScriptedProvider(ANSWER)
    chain = FallbackChain([calls(ScriptedProvider(Reply("", stop))), calls(second)])
    assert chain.generate(REQUEST).stop_reason is stop
    assert second.calls == 0


def test_a_chain_in_which_all_fail_names_them_with_their_reasons() -> None:
    forbidden = UnavailableGenerator("openai", "offline")
    chain = FallbackChain([forbidden, calls(ScriptedProvider(NEVER))])
    reply = chain.generate(REQUEST)
    assert reply.stop_reason is StopReason.ERROR
    assert (reply.generator, reply.fallback_from) == ("scripted", ("openai",))
    assert reply.detail == "openai: offline; scripted: HTTP 401."


@given(failures=st.lists(st.sampled_from([LATER, NEVER]), max_size=4), said=st.booleans())
def test_the_stream_of_a_chain_ends_with_the_reply_that_it_gives_whole(
    failures: list[ProviderError], said: bool
) -> None:
    def chain() -> FallbackChain:
        scripts: list[list[Step]] = [["x", failure] if said else [failure] for failure in failures]
        providers = [ScriptedProvider(script) for script in scripts]
        providers.append(ScriptedProvider(["{", "}", ANSWER]))
        return FallbackChain([calls(provider, retries=1) for provider in providers])

    *before, last = chain().stream(REQUEST)
    assert last == chain().generate(REQUEST)
    assert before[-2:] == ["{", "}"]
    assert all(isinstance(item, str | StreamBreak) for item in before)


def test_closing_a_chain_closes_its_generators() -> None:
    provider = ScriptedProvider(ANSWER)
    FallbackChain([UnavailableGenerator("a", "b"), calls(provider)]).close()
    assert provider.closed == -1


def test_prices_are_found_by_name_and_by_family() -> None:
    prices = prices_of(Settings())
    assert prices.of("gpt-4o-mini") == prices.of("gpt-4o-mini-2024-07-18")
    assert prices.of("gpt-4o-mini") != prices.of("gpt-4o")
    assert prices.of("claude-sonnet-4-5-20250929") == prices.of("claude-sonnet-4-5")
    assert prices.of("somebody-elses-model") is None
    assert prices.of(None) is None
    assert prices.charged(Usage(1, 1), "somebody-elses-model") == Usage(1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "[m\n",
        "m = 3\n",
        "[m]\ninput_usd = -1\noutput_usd = 1\n",
        "[m]\ninput_usd = 1\n",
        "[m]\ninput_usd = nan\noutput_usd = 1\n",
        "[m]\ninput_usd = 1\noutput_usd = 1\nother = 2\n",
    ],
)
def test_a_table_of_prices_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"mine\.toml") as raised:
        read_prices(text, "mine.toml")
    assert raised.value.code == "bad_prices"
