"""A client for models that work in the background of OpenAI's Responses API, such as those for deep research.

A job is begun once, looked at until it is done, and cancelled where nobody
waits for it any more. It costs dollars, so none is begun in the place of
another that may still be at work.
"""

import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import httpx

from predibot.agents.budget.price import Price, cost_of
from predibot.agents.models.chat_wire import Unreadable
from predibot.agents.models.endpoint import Endpoint, json_object
from predibot.agents.models.failures import asked_otherwise
from predibot.agents.models.litellm_library import table_usd
from predibot.agents.models.manners import Manners, error_words
from predibot.agents.models.responses_wire import Job, read_job, request_body
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Usage
from predibot.errors import ModelError, ModelRefused
from predibot.net.api_keys import Key
from predibot.net.failures import AnswerLost, TryAgain, one_line

OPENAI_URL = "https://api.openai.com/v1"
ASK_SECONDS = 60.0
"""The longest a single request may take; none of them waits for the work itself."""
CANCEL_SECONDS = 2.0
LEAVING_SECONDS = 0.8
"""What an interrupted caller still gives to ending all jobs."""
FIRST_WAIT_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 30.0
WAIT_GROWTH = 1.5
_PATH = "/responses"


class ResponsesModel:
    """A `ChatModel` that writes a report for minutes, somewhere else; thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        retry: Retry,
        base_url: str | None = None,
        key: Key | None = None,
        price: Price | None = None,
        extra_body: Mapping[str, object] | None = None,
        transport: httpx.BaseTransport | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open the client; connections are made when they are needed.

        Args:
            name: As recipes call it.
            retry: The retry layer, for the beginning of a job.
            base_url: Another server that speaks the Responses API, of whose
                prices litellm's table knows nothing.
            key: Sent as a bearer token; None sends none.
            price: As the recipe states it.
            extra_body: What else stands in each request, as the recipe states it.
            transport: Replaces the network in tests.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds.

        Raises:
            UsageError: If the base URL is none.
        """
        self.name = name
        self._sent_name = name.removeprefix("openai/")
        self._endpoint = Endpoint(base_url or OPENAI_URL, key=key, transport=transport)
        self._is_openai = base_url is None
        self._retry = retry
        self._price = price
        self._extra_body = extra_body or {}
        self._monotonic = monotonic
        self._sleep = sleep
        # For a seed there is no word in this dialect.
        self._manners = Manners(refused=frozenset({"seed"}))
        self._open_jobs: set[str] = set()
        # Also where the program ends while a thread waits, as on Ctrl-C: the job would go on and be charged.
        weakref.finalize(self, _cancel_all, self._endpoint, self._open_jobs)

    def __repr__(self) -> str:
        """Return name and place, and no key."""
        return f"ResponsesModel({self.name!r})"

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's report on a conversation, however many minutes it takes.

        Raises:
            ModelUnavailable: If there was none by the deadline, or the job failed.
            ModelRefused: If the provider refuses the request for good.
        """
        return self._retry.call(
            lambda seconds: self._once(request, seconds),
            provider=self._endpoint.host,
            deadline_seconds=deadline_seconds,
        )

    def _once(self, request: ChatRequest, seconds: float) -> ChatReply:
        """Return the report of a single job."""
        ends = self._monotonic() + seconds
        request, refused = self._manners.fit(request)
        job = self._begun(request, seconds)
        with self._cancelled_if_left(job):
            job = self._followed(job, request, ends)
        if job.answer is None:
            why = one_line(job.problem) or "without a reason"
            raise AnswerLost(f"{self.name}: job {job.id} ended as {job.status}: {why}", tries=1, ill=False)
        return replace(job.answer.reply(self._cost(job.answer.usage)), refused_settings=refused)

    def _begun(self, request: ChatRequest, seconds: float) -> Job:
        """Return a new job.

        Raises:
            TryAgain: If there is none, and may be one later.
            AnswerLost: If there may be one that nobody knows of; it is not begun again.
        """
        body = {**self._extra_body, **request_body(request, self._sent_name)}
        try:
            return self._told("POST", _PATH, body, request=request, seconds=seconds)
        except AnswerLost as error:
            raise AnswerLost(f"{error}; a job may be at work, so no other is begun", tries=1) from None

    def _followed(self, job: Job, request: ChatRequest, ends: float) -> Job:
        """Return the job once it is done, looked at less and less often.

        Raises:
            AnswerLost: If it is not done in time, or cannot be looked at any more.
        """
        wait_seconds, asked_seconds = FIRST_WAIT_SECONDS, 0.0
        while job.is_open:
            self._sleep(max(0.0, min(max(wait_seconds, asked_seconds), ends - self._monotonic())))
            wait_seconds, asked_seconds = min(wait_seconds * WAIT_GROWTH, LONGEST_WAIT_SECONDS), 0.0
            left_seconds = ends - self._monotonic()
            if left_seconds <= 0:
                return self._given_up(job, request)
            try:
                job = self._told("GET", f"{_PATH}/{job.id}", request=request, seconds=left_seconds)
            except TryAgain as error:
                # The job goes on whether or not it could be looked at.
                asked_seconds = error.wait_seconds or 0.0
            except ModelRefused as error:
                raise AnswerLost(f"{error}; job {job.id} is lost", tries=1, ill=False) from None
        return job

    def _given_up(self, job: Job, request: ChatRequest) -> Job:
        """Cancel a job at the deadline and return it if it was done after all.

        Raises:
            AnswerLost: If it was not.
        """
        said = f"{self.name}: job {job.id} was not done in time"
        try:
            job = self._told("POST", f"{_PATH}/{job.id}/cancel", request=request, seconds=CANCEL_SECONDS)
        except (ModelError, TryAgain) as error:
            self._open_jobs.discard(job.id)
            raise AnswerLost(f"{said} and could not be cancelled: {one_line(str(error))}", tries=1, ill=False) from None
        if job.answer is not None:
            return job
        raise AnswerLost(f"{said} and was cancelled", tries=1, ill=False)

    def _told(
        self, method: str, path: str, body: dict[str, object] | None = None, *, request: ChatRequest, seconds: float
    ) -> Job:
        """Return what a single request says of a job."""
        received = self._endpoint.ask(method, path, body, seconds=min(seconds, ASK_SECONDS))
        if not received.is_success:
            said = received.text()
            learned = self._manners.learned(error_words(said), request, status=received.status)
            if body is not None and learned is not None:
                self._manners = learned
                raise asked_otherwise(f"{received.asked} refused a setting: {one_line(said)}")
            raise self._endpoint.failure(received)
        value = json_object(received)
        try:
            job = read_job(value, self._sent_name, max_searches=request.max_searches)
        except Unreadable as error:
            raise AnswerLost(f"{received.asked} answered what is no response: {error}") from None
        if job.is_open:
            self._open_jobs.add(job.id)
        else:
            self._open_jobs.discard(job.id)
        return job

    @contextmanager
    def _cancelled_if_left(self, job: Job) -> Iterator[None]:
        """Cancel the job where the caller that waits for it is interrupted, or it cannot be looked at."""
        try:
            yield
        except BaseException:
            _cancel_all(self._endpoint, self._open_jobs & {job.id})
            raise
        finally:
            self._open_jobs.discard(job.id)

    def _cost(self, usage: Usage) -> Cost:
        """Return what a report cost; searches without a known price leave it unknown."""
        by_table_usd = table_usd(self.name, usage) if self._is_openai else None
        return cost_of(usage, table_usd=by_table_usd, price=self._price)


def _cancel_all(endpoint: Endpoint, jobs: set[str]) -> None:
    """Ask once for each job that it ends, as long as there is time."""
    ends = time.monotonic() + LEAVING_SECONDS
    for job in tuple(jobs):
        left_seconds = ends - time.monotonic()
        if left_seconds > 0:
            endpoint.tell("POST", f"{_PATH}/{job}/cancel", seconds=left_seconds)
