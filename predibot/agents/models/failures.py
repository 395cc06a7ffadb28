"""Failed calls of models: whether to try again, when, and what to fix."""

from dataclasses import dataclass

from predibot.errors import ModelRefused, ModelUnavailable
from predibot.net.failures import MAX_ASKED_TRIES, LostAnswer, TryAgain

_RETRIED_BELOW_500 = frozenset({409, 425, 429})
_LOST = frozenset({408, 499, 504, 520, 522, 524, 598, 599})
"""A gateway gave up waiting, so the model may have been at work."""
_FINAL_ABOVE_500 = frozenset({501, 505})
_NO_CREDIT = ("insufficient_quota", "insufficient credits", "credit balance is too low")
_TOO_LONG = (
    *("context_length_exceeded", "context length", "context window", "contextwindowexceeded", "exceed context limit"),
    *("exceed_context_size", "available context size", "input token count", "too many tokens", "model token limit"),
    *("prompt is too long", "input is too long", "input token length", "range of input length"),
    *("maximum prompt length", "prompt exceeds max length"),
)


class GivenUp(ModelUnavailable):
    """No try within the deadline brought an answer."""

    def __init__(self, message: str, *, lost_tries: int) -> None:
        """Keep how many of the tries may have been paid for."""
        super().__init__(message)
        self.lost_tries = lost_tries


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no success: its meaning, and the words and status that manners learn from."""

    failure: TryAgain | ModelRefused
    words: str
    status: int


class AnswerUnusable(ModelRefused):
    """An unusable answer came, and asking again would not help: it may have been paid for."""


def is_too_long(message: str) -> bool:
    """Return whether a refusal says that a conversation exceeds the model's context."""
    return any(words in message.lower() for words in _TOO_LONG)


def failure_of_status(
    status: int, message: str, *, key_name: str, wait_seconds: float | None = None, is_charged: bool = False
) -> TryAgain | ModelRefused:
    """Return the meaning of an HTTP status other than success.

    `message` says on one line, without secrets, who answered what. `key_name` is the setting that holds the key.
    `wait_seconds` is the wait that the provider asks for. An answer with a usage `is_charged`: it may have been paid
    for.
    """
    lowered = message.lower()
    has_credit = status != 402 and not any(words in lowered for words in _NO_CREDIT)
    is_passing = has_credit and (status in _RETRIED_BELOW_500 or (status >= 500 and status not in _FINAL_ABOVE_500))
    if has_credit and (status in _LOST or (is_charged and is_passing)):
        return LostAnswer(message, wait_seconds=wait_seconds, ill=status >= 500)
    if is_passing:
        tries = None if wait_seconds is None and status != 429 else MAX_ASKED_TRIES
        return TryAgain(message, wait_seconds=wait_seconds, tries=tries, ill=status >= 500, too_many=status == 429)
    mend = _advice(status, lowered, key_name) if has_credit else "the account has no credit left, top it up"
    return (AnswerUnusable if is_charged else ModelRefused)(f"{message}; {mend}")


def _advice(status: int, lowered: str, key_name: str) -> str:
    if status in (401, 403):
        return f"the key is refused, set {key_name} to one that may use this model"
    if status == 413 or is_too_long(lowered):
        return "the conversation is too long for this model, shorten it or take another"
    if 300 <= status < 400:
        return "redirects are not followed, set the base URL to where the model really is"
    if status in (404, 405):
        return "see whether the model's name and the base URL are right"
    return "fix the request or the model's settings, trying again does not help"
