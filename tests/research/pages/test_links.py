"""Links of a page: whole addresses, in the order of the page, under the words that lead there."""

import pytest

from predibot.research.pages.html_text import tree_of
from predibot.research.pages.parse import MAX_LINKS, links_of

URL = "https://news.example/politics/vote?page=2"


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ("<a href=/a>A</a><a href=b>B <b>b</b></a>", {"https://news.example/a": "A", f"{URL[:30]}b": "B b"}),
        ("<base href=//other.example/x/><a href=a>A</a>", {"https://other.example/x/a": "A"}),
        ("<a href=#top>Top</a><a href='?page=2#x'>Here</a><a href=mailto:a@b.example>Mail</a><a>None</a>", {}),
        (
            "<a href=/a>first</a><a href=/a#part>again</a><a href=/b><img alt=B></a>",
            {"https://news.example/a": "first"},
        ),
        ("<a href='http://[::1'>broken</a><a href='javascript:x()'>run</a>", {}),
    ],
)
def test_links_are_whole_addresses_of_the_web_up_to_a_number(html: str, links: dict[str, str]) -> None:
    tree = tree_of(f"<p>{html}</p>")
    assert tree is not None
    assert links_of(tree, URL) == links
    # Of many the first are shown.
    tree = tree_of("".join(f"<a href=/{n}>{n}</a>" for n in range(MAX_LINKS + 5)))
    assert tree is not None
    assert len(links_of(tree, URL)) == MAX_LINKS
