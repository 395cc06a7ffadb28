"""Trust in the usual certificate authorities, which are read when the first connection over TLS needs them."""

import ssl
import threading
from collections.abc import Iterable
from typing import Any

from httpx import create_ssl_context


class LateTrust(ssl.SSLContext):
    """What `httpx` trusts by itself, read late: it costs 50 ms, and neither loopback nor plain HTTP needs it.

    Before that it trusts nobody, so that a use we did not think of fails closed.

    Examples:
        >>> LateTrust().verify_mode.name, LateTrust().check_hostname
        ('CERT_REQUIRED', True)
    """

    def __new__(cls) -> "LateTrust":
        """Return a context that holds no authority yet."""
        return super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)

    def __init__(self) -> None:
        """Start without authorities."""
        self._lock = threading.Lock()
        self._read: ssl.SSLContext | None = None

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Set what the connection that is about to be made may speak."""
        self._trusting().set_alpn_protocols(alpn_protocols)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        """Return a socket through TLS."""
        return self._trusting().wrap_socket(*args, **kwargs)

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        """Return TLS over memory, as it is wanted through a proxy that speaks TLS itself."""
        return self._trusting().wrap_bio(*args, **kwargs)

    def _trusting(self) -> ssl.SSLContext:
        with self._lock:
            if self._read is None:
                self._read = create_ssl_context()
            return self._read
