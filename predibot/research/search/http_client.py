"""HTTP for search providers: one request, JSON back, whole and in time, or a clause that says why not."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from predibot.errors import UsageError
from predibot.net.failures import AnswerLate, AnswerLost, BadAddress, BadAnswer, TryAgain
from predibot.net.json_client import JsonClient, Received
from predibot.research.search.provider import SearchFailed

DEADLINE_SECONDS = 15.0
MAX_BODY_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class SearchHttp:
    """How a provider is asked. Its base address is the user's own and may be private; redirects are not followed."""

    deadline_seconds: float = DEADLINE_SECONDS
    """For the whole exchange."""
    max_body_bytes: int = MAX_BODY_BYTES
    transport: httpx.BaseTransport | None = None
    """Instead of the network, in tests."""

    def ask(
        self,
        name: str,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """Return the JSON object that a provider answers.

        Args:
            name: The provider's, for complaints.
            method: GET or POST.
            url: Without query.
            headers: Keys travel here and nowhere else.
            params: The query.
            content: Sent as JSON.

        Raises:
            SearchFailed: If there is no whole answer in time, or it is no JSON object.
        """
        seconds = self.deadline_seconds
        try:
            # Closed out here, so that a server that drips its headers does not keep the thread that waits for them.
            with JsonClient(max_bytes=self.max_body_bytes, transport=self.transport) as client:
                received = client.ask(
                    method, url, headers=headers, params=params, body=content, seconds=seconds, asked=name
                )
        except UsageError as error:
            raise SearchFailed(f"{name} was not asked: {error}", was_asked=False) from None
        except AnswerLate:
            raise SearchFailed(f"{name} gave no whole answer in {seconds:g} s") from None
        except TryAgain as failure:
            raise SearchFailed(f"{name} could not be reached ({failure.cause})") from None
        except BadAddress as failure:
            raise SearchFailed(f"{name} has an address or a key that cannot be sent ({failure.cause})") from None
        except BadAnswer as failure:
            raise SearchFailed(str(failure)) from None
        return _object(name, received)


def _object(name: str, received: Received) -> dict[str, object]:
    """Return the object in an answer; refuse every status but success."""
    status = received.status
    if status in (401, 403):
        raise SearchFailed(f"{name} refuses us ({status}); see its key, or whether it is set to answer JSON")
    if status in (402, 429, 432, 433):
        raise SearchFailed(f"{name} says that we ask too much ({status})")
    if 300 <= status < 400:
        raise SearchFailed(f"{name} sends us elsewhere ({status}); give its final address")
    if not received.is_success:
        raise SearchFailed(f"{name} answered {status}")
    try:
        content = received.json()
    except (AnswerLost, BadAnswer):
        raise SearchFailed(f"{name} answered no JSON") from None
    if not isinstance(content, dict):
        raise SearchFailed(f"{name} answered something else than its format says")
    return content
