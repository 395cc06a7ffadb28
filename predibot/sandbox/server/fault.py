"""Faults: ways in which the sandbox can be told to misbehave, each one the habit of a real venue or network."""

from dataclasses import dataclass

FAULT_KINDS = {
    "rate_limit": "429 with Retry-After",
    "server_error": "500",
    "slow": "the right answer, after `seconds`",
    "truncated_json": "half of the body, and a Content-Length that says so",
    "cut_connection": "half of the body, then the connection ends",
    "ignored_cursor": "always the first page, of 20 so that there is a second",
    "repeated_cursor": "the second page of 20 and its cursor, again and again",
    "clamped_page": "pages of 7, with a proper cursor",
    "unordered_page": "a page back to front",
    "disorder": "of ten events one out of its place and one without volumes, of ten markets one with No first, and the "
    "old list of markets gone (410)",
    "missing_fields": "objects without id, outcomes, prices or title",
    "wrong_shape": "a list where an object is due, and the other way round",
    "empty_history": "a price history without a point",
    "redirect": "302 to another host",
    "huge_answer": "the right answer with 17 MB of blanks behind it",
    "limit_note": "of a stock, a note with status 200 that too much was asked for",
    "bad_prices": "among the latest prices of a stock a 0, a NaN, a word, nothing at all and one below zero",
    "missing_days": "every tenth day of a stock left out",
    "restated": "every price of a stock but the latest one half again as high",
}
"""Every kind of fault, and what the server then does."""

PAGE_SIZES = {"clamped_page": 7, "ignored_cursor": 20, "repeated_cursor": 20}
"""The largest page of the faults that only show where a list has several."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of misbehaviour, how often and where it happens."""

    kind: str
    times: int | None = None
    """It happens to the first so many matching requests; None means to every one."""
    path: str = ""
    """A part of the request's path, such as `/events`; requests without it are answered as they should be."""
    seconds: float = 1.0
    """How long `slow` waits, and what `rate_limit` says in Retry-After."""

    def __post_init__(self) -> None:
        """Refuse to wait for longer than anybody means to."""
        if not 0.0 <= self.seconds <= 3_600.0:
            raise ValueError(f"a fault waits 0 to 3600 seconds, got {self.seconds:g}")

    def matches(self, path: str) -> bool:
        """Return whether a request to this path is one the fault is about."""
        return self.path in path
