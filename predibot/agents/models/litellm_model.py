"""A client for every provider litellm knows; litellm itself is imported when the first call is made."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx

from predibot.agents.budget.price import Price, cost_of
from predibot.agents.models.chat_wire import (
    Answer,
    Unreadable,
    error_of,
    has_usage,
    json_or_none,
    known_usd,
    loaded_json,
    read_answer,
    request_body,
)
from predibot.agents.models.failures import AnswerUnusable, RequestRefused, asked_otherwise, failure_of_status
from predibot.agents.models.litellm_library import (
    KEEPS_TASKS,
    loaded_litellm,
    openai_error,
    sent_before,
    table_price,
    table_usd,
)
from predibot.agents.models.manners import Manners, error_words, named_in, settings_of
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import ApiKeys, Key, key_names, masked, masked_text
from predibot.net.deadline import GRACE_SECONDS, in_time
from predibot.net.failures import MAX_CONNECT_TRIES, AnswerLost, TryAgain, one_line
from predibot.net.retry import asked_wait_seconds

TRY_SECONDS = 300.0
TIMEOUT_STEPS_SECONDS = (10.0, 60.0, 300.0, 1_200.0, 3_600.0)
"""litellm keeps a connection pool for each timeout, so there are few; the deadline is kept by us."""
_COST_HEADER = "llm_provider-x-litellm-response-cost"
_MODEL_NAME = re.compile(r"[A-Za-z0-9@._:/+-]+")
_ARN = re.compile(r"(?:^|/)arn:|arn:aws", re.IGNORECASE)
_NAME_WITH_ARN = re.compile(r"[^:]*/arn:aws[a-z-]*:[a-z0-9-]+:[a-z]{2}(?:-[a-z]+)+-[0-9]+:[0-9]*:[^:].*")
"""The fourth part, the region, becomes part of a host's name."""
_DROPPED = ("tools",)
"""What a model is asked without where litellm says that it cannot; whether it calls tools is found out by asking."""
_OLLAMA_OPTIONS = frozenset({"num_ctx", "num_gpu", "num_thread", "top_k", "min_p", "repeat_penalty"})
_NO_KEY = ("missing credentials", "api_key", "api key")


class LiteLLMModel:
    """A `ChatModel` through litellm, silent and without its own retries; thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        keys: ApiKeys,
        retry: Retry,
        base_url: str | None = None,
        key_name: str | None = None,
        sent_name: str | None = None,
        price: Price | None = None,
        extra_body: Mapping[str, object] | None = None,
        try_seconds: float = TRY_SECONDS,
    ) -> None:
        """Set it up; nothing is imported or looked up yet.

        Args:
            name: As recipes call it, such as `openai/gpt-5`.
            keys: Where keys are found.
            retry: The retry layer.
            base_url: Another address, for names that start with `openai/`.
                It gets no key unless `key_name` says which, and litellm's table
                knows nothing of its prices.
            key_name: The setting that holds the key, where it is not the usual one.
            sent_name: As litellm calls it, where recipes call it something else.
            price: As the recipe states it.
            extra_body: What else stands in each request, as the recipe states it.
            try_seconds: The longest a single try may take.

        Raises:
            UsageError: If a base URL is given for a provider that might be redirected elsewhere.
        """
        self.name = name
        self._sent_name = name if sent_name is None else sent_name
        if base_url is not None and not self._sent_name.startswith("openai/"):
            raise UsageError(f"a base URL is for names that start with openai/, not for {name!r}; name it so")
        self._keys = keys
        self._retry = retry
        self._base_url = base_url
        self._key_name = key_name
        self._price = price
        self._extra_body = extra_body or {}
        self._try_seconds = try_seconds
        self._manners = Manners.of(self._sent_name)
        self._dropped: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Return the name, and no key."""
        return f"LiteLLMModel({self.name!r})"

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the provider refuses the request for good.
            UsageError: If the named key is not set, or may not go there.
        """
        ends = time.monotonic() + deadline_seconds
        provider = provider_of(self._sent_name)
        key = litellm_key(provider, self._keys, base_url=self._base_url, key_name=self._key_name)
        # Loading it can take longer than there is.
        litellm = loaded_litellm()
        return self._retry.call(
            lambda seconds: self._once(litellm, request, seconds, key),
            provider=self._base_url or provider,
            deadline_seconds=ends - time.monotonic(),
        )

    def _once(self, litellm: Any, request: ChatRequest, seconds: float, key: Key | None) -> ChatReply:
        """Return the answer of a single try."""
        seconds = min(seconds, self._try_seconds)
        manners, dropped = self._manners, self._dropped
        fitting, left_out = manners.fit(request)
        arguments = self._arguments(fitting, manners, seconds) | self._access(key)
        ends = time.monotonic() + seconds

        def complete() -> Any:
            with sent_before(ends):
                response = litellm.completion(**arguments)
                return litellm.stream_chunk_builder(list(response)) if manners.streams else response

        failure: TryAgain | ModelRefused
        try:
            response = in_time(complete, seconds + GRACE_SECONDS)
        except TimeoutError:
            raise AnswerLost(f"{self.name}: no whole answer in {seconds:.3g} s") from None
        except openai_error() as error:
            failure = self._failure(error, key)
            # What may have been paid for is no refusal.
            is_paid = isinstance(failure, AnswerUnusable | AnswerLost)
            if not is_paid and self._has_learned(error, request, manners, dropped):
                failure = asked_otherwise(str(failure))
        else:
            reply = self._reply(response, key)
            if not reply.message.tool_calls and reply.finish_reason == "stop":
                self._manners = manners.unheeded(request) or self._manners
            return replace(reply, refused_settings=left_out, most_tokens=manners.lowered(request))
        # Outside of the handler, so that litellm's error, which may hold the key, is no context of ours.
        raise failure

    def _arguments(self, request: ChatRequest, manners: Manners, seconds: float) -> dict[str, Any]:
        """Return what litellm is called with, but for address and key; it may leave out nothing without saying so."""
        # A server of the user's own says itself what it takes; litellm knows nothing of its models.
        allowed = {"allowed_openai_params": list(settings_of(request))} if self._base_url is not None else {}
        body = request_body(request, self._sent_name, manners)
        if request.tools and provider_of(self._sent_name) == KEEPS_TASKS:
            _keep_task(body["messages"])
        return {
            **body,
            **allowed,
            **self._extra(),
            # Ours ends first; this ends the thread that is then left behind.
            "timeout": next((step for step in TIMEOUT_STEPS_SECONDS if step >= seconds), TIMEOUT_STEPS_SECONDS[-1]),
            "num_retries": 0,
            "max_retries": 0,
            "stream": manners.streams,
            "drop_params": False,
            "additional_drop_params": sorted(self._dropped),
        }

    def _extra(self) -> dict[str, Any]:
        """Return what else stands in a request; Ollama's own address has its options in a place of their own."""
        options = _OLLAMA_OPTIONS if provider_of(self._sent_name) in ("ollama", "ollama_chat") else frozenset()
        extra = {name: value for name, value in self._extra_body.items() if name not in options}
        given = {name: value for name, value in self._extra_body.items() if name in options}
        return {**given, "extra_body": extra} if extra else given

    def _has_learned(self, error: Exception, request: ChatRequest, manners: Manners, dropped: frozenset[str]) -> bool:
        """Note what litellm or the provider says that the model does not take; return whether there is anything."""
        # litellm repeats the message, which may name nothing.
        bodies = (error_words(body.decode(errors="replace")) for body in _bodies(_causes(error)))
        said = ": ".join((str(error), *bodies))
        learned = manners.learned(said, request, status=getattr(error, "status_code", 0))
        if learned is not None:
            self._manners = learned
            return True
        if type(error).__name__ != "UnsupportedParamsError" or not named_in(str(error), {*_DROPPED} - dropped):
            return False
        self._dropped = dropped | {*_DROPPED}
        return True

    def _access(self, key: Key | None) -> dict[str, str]:
        """Return address and key as litellm takes them."""
        access: dict[str, str] = {}
        if self._base_url is not None:
            # A key in any case, so that none of the environment goes to this address.
            access = {"api_base": self._base_url, "api_key": "none"}
        return access if key is None else {**access, "api_key": key.value}

    def _reply(self, response: Any, key: Key | None) -> ChatReply:
        """Return litellm's response in our words."""
        if response is None:
            # What litellm makes of a 422 when it may drop parameters.
            raise failure_of_status(422, f"{self.name} answered 422", key_name=self._usual_key_name())
        try:
            value = _decoded(response, key)
        except (ValueError, RecursionError) as error:
            said = f"{self.name} answered what cannot be read ({type(error).__name__})"
            raise AnswerLost(said, tries=1, ill=False) from None
        failure = error_of(value)
        if failure is not None:
            status, words = failure
            said = f"{self.name} answered an error: {one_line(words)}"
            raise failure_of_status(
                502 if status is None else status, said, key_name=self._usual_key_name(), is_charged=has_usage(value)
            )
        try:
            answer = read_answer(value, self._sent_name)
        except Unreadable as error:
            raise AnswerLost(f"{self.name} answered what is no chat completion: {error}") from None
        hidden = getattr(response, "_hidden_params", None) or {}
        provider_usd, table_usd = _provider_usd(answer, hidden), self._table_usd(answer, hidden)
        cost = cost_of(answer.usage, provider_usd=provider_usd, table_usd=table_usd, price=self._price)
        return answer.reply(cost)

    def _table_usd(self, answer: Answer, hidden: Mapping[str, Any]) -> float | None:
        """Return what litellm's table makes of the usage, where the table can be believed."""
        counted = answer.usage.input_tokens is not None and answer.usage.output_tokens is not None
        if self._base_url is not None or not counted or table_price(self._sent_name) is None:
            return None
        if answer.usage.output_tokens != answer.usage.raw.get("completion_tokens"):
            # litellm priced what stands there, without the thoughts that are counted elsewhere.
            return table_usd(self._sent_name, answer.usage)
        by_litellm_usd = known_usd(hidden.get("response_cost"))
        return table_usd(self._sent_name, answer.usage) if by_litellm_usd is None else by_litellm_usd

    def _failure(self, error: Exception, key: Key | None) -> TryAgain | ModelRefused:
        """Return what one of litellm's errors means."""
        # Masked first: a cut could leave a piece of the key that is no longer found.
        said = one_line(f"{self.name}: {masked_text(str(error), key)}")
        causes = _causes(error)
        headers = _headers(causes)
        status = getattr(error, "status_code", None)
        if headers is None and any(isinstance(each, httpx.ConnectError | httpx.ConnectTimeout) for each in causes):
            return TryAgain(f"{said}; no connection", tries=MAX_CONNECT_TRIES)
        if any(isinstance(each, httpx.DecodingError) for each in causes):
            return AnswerUnusable(f"{said}; the answer was too long or compressed")
        if headers is None and key is None and any(words in said.lower() for words in _NO_KEY):
            return RequestRefused(f"{self.name} needs a key; set {self._usual_key_name()}", 401)
        if not isinstance(status, int) or status < 300 or (headers is None and status >= 500) or status == 408:
            # No answer at all, or a part of one: litellm calls both a server's error.
            return AnswerLost(said)
        wait_seconds = asked_wait_seconds(headers or {}, datetime.now(UTC))
        # What came in an answer of success, of which litellm keeps no usage and no headers, is charged.
        in_a_success = headers is None and type(causes[-1]) is Exception
        return failure_of_status(
            status,
            said,
            key_name=self._usual_key_name(),
            wait_seconds=wait_seconds,
            is_charged=in_a_success or any(has_usage(json_or_none(body)) for body in _bodies(causes)),
        )

    def _usual_key_name(self) -> str:
        """Return the setting that should hold the key, for messages."""
        return self._key_name or key_names(provider_of(self._sent_name))[0]


def _keep_task(messages: Any) -> None:
    """Mark the task of a conversation, so that its provider keeps tools, system and task from turn to turn."""
    task = next((each for each in messages if each["role"] == "user"), None)
    if task is not None:
        task["content"] = [{"type": "text", "text": task["content"], "cache_control": {"type": "ephemeral"}}]


def litellm_key(provider: str, keys: ApiKeys, *, base_url: str | None, key_name: str | None) -> Key | None:
    """Return the key that litellm is given for a provider, or for a base URL, which gets none that is not named.

    Raises:
        UsageError: If the named key is not set, or may not go there.
        ModelRefused: If it cannot be a key.
    """
    if base_url is None:
        return keys.of_provider(provider, key_name)
    return keys.named(key_name, base_url) if key_name else None


def provider_of(name: str) -> str:
    """Return who is asked for a model: what stands before the slash, else what litellm makes of the name.

    Raises:
        ModelRefused: If litellm does not know either.
        UsageError: If litellm could make an address of the name and send the provider's key there.
    """
    # litellm puts parts of some names into addresses as they stand: marks of an address could lead elsewhere.
    if "://" in name or not _MODEL_NAME.fullmatch(name) or (_ARN.search(name) and not _NAME_WITH_ARN.fullmatch(name)):
        raise UsageError(
            "a model's name holds no address, and only letters, digits and @ . _ : / + - of ASCII; "
            f"set base_url beside it, and name the model alone: {name[:200]!a}"
        )
    provider, slash, _ = name.partition("/")
    if slash:
        return provider
    litellm = loaded_litellm()
    try:
        return str(litellm.get_llm_provider(name)[1])
    except openai_error():
        raise ModelRefused(
            f"nobody knows whose model {name!r} is; write provider/model, such as openai/gpt-5"
        ) from None


def _decoded(response: Any, key: Key | None) -> object:
    """Return litellm's response as the JSON it was made from, without the key."""
    value = masked(loaded_json(response.model_dump_json(exclude_none=True, warnings=False)), key)
    if isinstance(value, dict):
        usage = value.get("usage")
        if isinstance(usage, dict) and not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
            # litellm makes zeros of a usage that is missing, and no request has zero tokens.
            value["usage"] = {}
        for choice in value.get("choices") or ():
            message = choice.get("message") or {}
            message.setdefault("refusal", (message.get("provider_specific_fields") or {}).get("refusal"))
    return value


def _provider_usd(answer: Answer, hidden: Mapping[str, Any]) -> float | None:
    """Return what the provider says the call costs, in its answer or, as a proxy of litellm does, in a header."""
    if answer.provider_usd is not None:
        return answer.provider_usd
    stated = (hidden.get("additional_headers") or {}).get(_COST_HEADER)
    try:
        return known_usd(None if stated is None else float(stated))
    except (TypeError, ValueError):
        return None


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and what it came from, nearest first."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _bodies(causes: Sequence[BaseException]) -> list[bytes]:
    """Return what was answered, as far as the errors keep it."""
    responses = [getattr(cause, "response", None) for cause in causes]
    return [each.content for each in responses if isinstance(each, httpx.Response) and each.is_stream_consumed]


def _headers(causes: Sequence[BaseException]) -> Mapping[str, str] | None:
    """Return the headers of the answer that was an error, or None where there was no answer."""
    for cause in causes:
        headers = getattr(cause, "litellm_response_headers", None)
        if headers is None and isinstance(cause, httpx.HTTPStatusError):
            headers = cause.response.headers
        if headers is not None:
            return {str(name).lower(): str(text) for name, text in dict(headers).items()}
    return None
