"""`predibot notify`: the channels that get messages about runs that nobody watches."""

from dataclasses import asdict
from typing import Annotated

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED
from predibot.cli.options import flag


def notify(
    test: Annotated[bool, flag("--test", "send a message over each, and say which arrived")] = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Print a line for each channel of [notify] in predibot.toml; the exit code is 1 if one fails."""
    from predibot.api.notify import list_channels
    from predibot.errors import UsageError
    from predibot.trust import SETTINGS_FILE

    found = list_channels(output.caller(verbose=verbose), test=test)
    if not found:
        raise UsageError(
            f"nobody is told: {SETTINGS_FILE} names no channel. Add [notify.webhook], [notify.email], "
            "[notify.command], [notify.apprise] or [notify.ping]"
        )
    failed = [f"{each.channel}: {each.seen}" for each in found if each.verdict == "failed"]
    code = FAILED if failed else DONE
    if json:
        error = {"error": {"kind": "NotTold", "message": "; ".join(failed)}} if failed else {}
        output.print_document({**error, "channels": [asdict(each) for each in found]}, exit_code=code)
    else:
        rows = ((each.verdict, each.channel, each.seen) for each in found)
        output.print_cells("Channels", {"verdict": "key", "channel": "key", "where": "text"}, rows)
    return code
