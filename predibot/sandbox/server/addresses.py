"""Where a sandbox on this machine answers, in each of its dialects."""


class SandboxAddresses:
    """The addresses of a sandbox, which may run in a process of its own that somebody else ends."""

    def __init__(self, port: int | None = None) -> None:
        """Know its port, None before it is started."""
        self._port = port

    @property
    def search_url(self) -> str:
        """Return the base address of the search engine, as SearXNG's is given, and of providers of stock prices."""
        return f"http://127.0.0.1:{self.address[1]}"

    @property
    def gamma_url(self) -> str:
        """Return the base address of the Gamma dialect."""
        return f"{self.search_url}/gamma"

    @property
    def clob_url(self) -> str:
        """Return the base address of the CLOB dialect."""
        return f"{self.search_url}/clob"

    @property
    def mana_url(self) -> str:
        """Return the base address of the dialect of play money: without `/v0`."""
        return f"{self.search_url}/mana"

    @property
    def chat_url(self) -> str:
        """Return the base address of the forecasters, as that of an OpenAI-compatible provider is given."""
        return f"{self.search_url}/v1"

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port, which a run over the sandbox may visit although they are private."""
        if self._port is None:
            raise RuntimeError("the sandbox has no address before it is started; use it as a context manager")
        return "127.0.0.1", self._port
