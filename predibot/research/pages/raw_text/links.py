"""The links of a page: what it leads to, under the words that lead there."""

from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

MAX_LINKS = 200
_WORDS_CHARACTERS, _URL_CHARACTERS = 120, 300


def links_of(tree: "HtmlElement", url: str) -> dict[str, str]:
    """Return the words of a page's links by their addresses, in the order of the page.

    Args:
        tree: The page.
        url: Where it is from; its own places are left out.

    Returns:
        At most `MAX_LINKS`, whole addresses of the web only.
    """
    found: dict[str, str] = {}
    base = next((each.strip() for each in tree.xpath("//base/@href")), "")
    for link in tree.iter("a"):
        try:
            address = urldefrag(urljoin(urljoin(url, base), (link.get("href") or "").strip())).url
        except ValueError:
            continue
        words = " ".join(link.text_content().split())[:_WORDS_CHARACTERS]
        if address.startswith(("http://", "https://")) and len(address) <= _URL_CHARACTERS and address != url and words:
            found.setdefault(address, words)
        if len(found) == MAX_LINKS:
            break
    return found
