"""A client for every provider that litellm knows; litellm is imported with the first call."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from predibot.agents.models.clients.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.clients.chat_wire import has_usage, json_or_none, load_json, request_body
from predibot.agents.models.clients.litellm_library import KEEPS_TASKS, load_litellm, openai_error, send_deadline
from predibot.agents.models.failures import AnswerUnusable, Refusal, failure_of_status
from predibot.agents.models.manners import Manners, error_words, settings_of
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import ApiKeys, Key, key_names, mask_json, mask_text
from predibot.net.deadline import GRACE_SECONDS, call_within
from predibot.net.failures import MAX_CONNECT_TRIES, LostAnswer, TryAgain, one_line
from predibot.net.retry import retry_after_seconds

TIMEOUT_STEPS_SECONDS = (10.0, 60.0, 300.0, 1_200.0, 3_600.0)
"""Only a few, because litellm keeps a connection pool for each timeout; we keep the deadline ourselves."""
_COST_HEADER = "llm_provider-x-litellm-response-cost"
_MODEL_NAME = re.compile(r"[A-Za-z0-9@._:/+-]+")
_ARN = re.compile(r"(?:^|/)arn:|arn:aws", re.IGNORECASE)
_NAME_WITH_ARN = re.compile(r"[^:]*/arn:aws[a-z-]*:[a-z0-9-]+:[a-z]{2}(?:-[a-z]+)+-[0-9]+:[0-9]*:[^:].*")
"""The fourth part, the region, becomes part of a host's name."""
_OLLAMA_OPTIONS = frozenset({"num_ctx", "num_gpu", "num_thread", "top_k", "min_p", "repeat_penalty"})
_NO_KEY = ("missing credentials", "api_key", "api key")


@dataclass(eq=False, repr=False)
class LiteLLMModel(ChatClient):
    """A model through litellm, which is silent and does not retry."""

    _: KW_ONLY
    keys: ApiKeys
    base_url: str | None = None
    """Another address, for names that start with `openai/`; litellm's table does not know its prices."""
    key_name: str | None = None
    """The name of the key's setting; by default the usual one, or none for a base URL."""
    try_seconds: float = TRY_SECONDS

    def __post_init__(self) -> None:
        """Refuse a base URL for a provider that litellm might ask elsewhere."""
        self.sent_name = self.sent_name or self.name
        ChatClient.__post_init__(self)
        self.table_name = "" if self.base_url else self.sent_name
        if self.base_url is not None and not self.sent_name.startswith("openai/"):
            raise UsageError(f"a base URL is for names that start with openai/, not for {self.name!r}; name it so")

    @property
    def _provider(self) -> str:
        return self.base_url or provider_of(self.sent_name)

    @property
    def _key_name(self) -> str:
        return self.key_name or key_names(provider_of(self.sent_name))[0]

    def _key(self) -> Key | None:
        if self.base_url is None:
            return self.keys.of_provider(provider_of(self.sent_name), self.key_name)
        return self.keys.get_named(self.key_name, self.base_url) if self.key_name else None

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's reply; see `ChatClient`."""
        ends = time.monotonic() + deadline_seconds
        # Importing litellm can take longer than the deadline.
        load_litellm()
        return super().chat(request, deadline_seconds=ends - time.monotonic())

    def _send(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        key = self._key()
        litellm, seconds = load_litellm(), min(seconds, self.try_seconds)
        arguments = self._arguments(request, manners, seconds)
        if self.base_url is not None:
            # Always set a key, so that litellm sends none of the environment's there.
            arguments |= {"api_base": self.base_url, "api_key": "none"}
        if key is not None:
            arguments["api_key"] = key.value
        ends = time.monotonic() + seconds

        def complete() -> Any:
            with send_deadline(ends):
                response = litellm.completion(**arguments)
                return litellm.stream_chunk_builder(list(response)) if manners.streams else response

        try:
            response = call_within(complete, seconds + GRACE_SECONDS)
        except TimeoutError:
            raise LostAnswer(f"{self.name}: no whole answer in {seconds:.3g} s") from None
        except openai_error() as error:
            return self._refusal(error, key)
        try:
            # litellm returns nothing for a 422 when it may drop parameters.
            return {"error": {"code": 422}} if response is None else _decode_response(response, key)
        except (ValueError, RecursionError) as error:
            message = f"{self.name} answered what cannot be read ({type(error).__name__})"
            raise LostAnswer(message, tries=1, ill=False) from None

    def _arguments(self, request: ChatRequest, manners: Manners, seconds: float) -> dict[str, Any]:
        """Return the arguments for litellm, without address and key; litellm may drop none silently."""
        # litellm does not know the models of the user's own server, which refuses settings itself.
        allowed = {"allowed_openai_params": list(settings_of(request))} if self.base_url is not None else {}
        body: dict[str, Any] = request_body(request, self.sent_name, manners)
        task = next((each for each in body["messages"] if each["role"] == "user"), None)
        if task is not None and request.tools and provider_of(self.sent_name) == KEEPS_TASKS:
            # Its provider keeps tools, system and task from turn to turn.
            task["content"] = [{"type": "text", "text": task["content"], "cache_control": {"type": "ephemeral"}}]
        return {
            **body,
            **allowed,
            **self._extra(),
            # Our own deadline comes first; this timeout ends the thread that is left behind.
            "timeout": next((step for step in TIMEOUT_STEPS_SECONDS if step >= seconds), TIMEOUT_STEPS_SECONDS[-1]),
            "num_retries": 0,
            "max_retries": 0,
            "stream": manners.streams,
            "drop_params": False,
        }

    def _extra(self) -> dict[str, Any]:
        """Return the extra body; Ollama's options go into a place of their own."""
        options = _OLLAMA_OPTIONS if provider_of(self.sent_name) in ("ollama", "ollama_chat") else frozenset()
        extra = {name: value for name, value in (self.extra_body or {}).items() if name not in options}
        given = {name: value for name, value in (self.extra_body or {}).items() if name in options}
        return {**given, "extra_body": extra} if extra else given

    def _refusal(self, error: Exception, key: Key | None) -> Refusal:
        """Return the meaning of litellm's error, with the words of the answer behind it."""
        kept = [getattr(cause, "response", None) for cause in _causes(error)]
        bodies = [each.content for each in kept if isinstance(each, httpx.Response) and each.is_stream_consumed]
        words = (error_words(body.decode(errors="replace")) for body in bodies)
        failure = self._failure(error, key, is_counted=any(has_usage(json_or_none(body)) for body in bodies))
        return Refusal(failure, ": ".join((str(error), *words)), getattr(error, "status_code", 0))

    def _failure(self, error: Exception, key: Key | None, *, is_counted: bool) -> TryAgain | ModelRefused:
        # Mask before cutting: a cut could leave an unrecognisable piece of the key.
        message = one_line(f"{self.name}: {mask_text(str(error), key)}")
        causes = _causes(error)
        headers = _headers(causes)
        status = getattr(error, "status_code", None)
        if headers is None and any(isinstance(each, httpx.ConnectError | httpx.ConnectTimeout) for each in causes):
            return TryAgain(f"{message}; no connection", tries=MAX_CONNECT_TRIES)
        if any(isinstance(each, httpx.DecodingError) for each in causes):
            return AnswerUnusable(f"{message}; the answer was too long or compressed")
        if headers is None and key is None and any(words in message.lower() for words in _NO_KEY):
            return ModelRefused(f"{self.name} needs a key; set {self._key_name}")
        if not isinstance(status, int) or status < 300 or (headers is None and status >= 500) or status == 408:
            # litellm calls a missing or partial answer a server's error.
            return LostAnswer(message)
        # An error inside a successful answer is charged; litellm keeps neither its usage nor its headers.
        in_a_success = headers is None and type(causes[-1]) is Exception
        return failure_of_status(
            status,
            message,
            key_name=self._key_name,
            wait_seconds=retry_after_seconds(headers or {}, datetime.now(UTC)),
            is_charged=in_a_success or is_counted,
        )


def provider_of(name: str) -> str:
    """Return a model's provider: the part before the slash, else what litellm makes of the name.

    Raises `ModelRefused` if litellm does not know it either, and `UsageError` if litellm could make an address of the
    name and send the provider's key there.
    """
    # litellm copies parts of some names into addresses, so marks of an address could lead elsewhere.
    if "://" in name or not _MODEL_NAME.fullmatch(name) or (_ARN.search(name) and not _NAME_WITH_ARN.fullmatch(name)):
        raise UsageError(
            "a model's name holds no address, and only letters, digits and @ . _ : / + - of ASCII; "
            f"set base_url beside it, and name the model alone: {name[:200]!a}"
        )
    provider, slash, _ = name.partition("/")
    if slash:
        return provider
    litellm = load_litellm()
    try:
        return str(litellm.get_llm_provider(name)[1])
    except openai_error():
        raise ModelRefused(
            f"nobody knows whose model {name!r} is; write provider/model, such as openai/gpt-5"
        ) from None


def _decode_response(response: Any, key: Key | None) -> object:
    """Return litellm's response as the JSON it was made from, without the key."""
    value = mask_json(load_json(response.model_dump_json(exclude_none=True, warnings=False)), key)
    if isinstance(value, dict):
        usage = value.get("usage")
        if isinstance(usage, dict) and not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
            # litellm writes zeros for a missing usage; no request has zero tokens.
            value["usage"] = {}
        for choice in value.get("choices") or ():
            message = choice.get("message") or {}
            message.setdefault("refusal", (message.get("provider_specific_fields") or {}).get("refusal"))
        # litellm's proxy states the provider's charge in a header.
        hidden = getattr(response, "_hidden_params", None) or {}
        value["charged"] = (hidden.get("additional_headers") or {}).get(_COST_HEADER)
    return value


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, nearest first."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _headers(causes: Sequence[BaseException]) -> Mapping[str, str] | None:
    """Return the headers of an error's answer, or None if there was no answer."""
    for cause in causes:
        headers = getattr(cause, "litellm_response_headers", None)
        if headers is None and isinstance(cause, httpx.HTTPStatusError):
            headers = cause.response.headers
        if headers is not None:
            return {str(name).lower(): str(text) for name, text in dict(headers).items()}
    return None
