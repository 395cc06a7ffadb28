"""`predibot publish`: a ledger as a site of files, for any web server."""

import re
from dataclasses import asdict
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE
from predibot.cli.options import argument, flag, option

_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:/[a-z0-9._~!$&()*+,;=:@%/-]*)?",
    re.IGNORECASE | re.ASCII,
)
"""Plain enough to be quoted anywhere; other characters of a path are written as %C3%A9."""


def publish(
    folder: Annotated[Path, argument("DIR", "the site's own folder, made if it is missing", file_okay=False)],
    recipe: Annotated[str | None, argument("RECIPE", "only runs of this recipe are scored; left out: all runs")] = None,
    address: Annotated[str, option("--address", "URL", "where the site will be found: https://example.org/bots/")] = "",
    licence: Annotated[
        str, option("--licence", "TEXT", "terms of the data set, such as 'CC BY 4.0', for its card")
    ] = "",
    since: Annotated[
        datetime | None, option("--since", "INSTANT", "first day whose decisions have pages", parser=options.instant)
    ] = None,
    venue: options.LookBackVenue = None,
    with_traces: Annotated[
        bool, flag("--with-traces", "show what agents did, and the texts of pages they read")
    ] = False,
    with_items: Annotated[
        bool, flag("--with-items", "show each text that bots labelled; texts of real people among them")
    ] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Write the pages of a ledger as files; only what changed since the last call is written."""
    from predibot.environment import configuration_folder
    from predibot.errors import UsageError
    from predibot.whole_file import blame_path

    if address and not _ADDRESS.fullmatch(address):
        raise typer.BadParameter(
            f"--address is {address[:80]!r}; write http(s)://, a host and a path, without user, query and fragment"
        )
    try:
        from predibot.web.site import SiteOptions, write_site
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "jinja2":
            raise
        raise UsageError("predibot publish needs what is not installed: pip install 'predibot[web]'") from None
    configuration = configuration_folder()
    site = SiteOptions(
        since,
        recipe or "",
        venue or "",
        items=with_items,
        with_traces=with_traces,
        address=address and f"{address.rstrip('/')}/",
        cards=find_spec("matplotlib") is not None,
        licence=licence,
        key_file=None if configuration is None else configuration / "predibot" / "publish.key",
    )
    caller = output.caller()
    with caller.reading(ledger) as store, caller.progress() as listener, blame_path(folder):
        written = write_site(store, folder, site, caller.clock, listener)
    if json:
        output.print_document({"folder": folder.as_posix(), **asdict(written)}, exit_code=DONE)
        return
    print((folder / "index.html").as_posix())
    output.say(
        f"{written.files:,} files, {written.bytes / 1e6:,.1f} MB: {written.written:,} new or changed, "
        f"{written.removed:,} removed"
    )
    if not site.cards:
        output.say("no pictures for links on other sites: they need pip install 'predibot[plots]'")
