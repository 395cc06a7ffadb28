"""`predibot doctor`: whether everything predibot needs is there."""

from dataclasses import asdict, replace
from typing import Annotated

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED, environment_secrets
from predibot.cli.options import argument, flag

_Recipe = Annotated[
    str | None, argument("RECIPE", "ask each model of this recipe one question too, which costs a little")
]


_Live = Annotated[bool, flag("--live", "try what is assumed of the venues' hosts, with a dozen requests")]


def doctor(
    recipe: _Recipe = None,
    live: _Live = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> int:
    """Print a line for each check; the exit code is 1 if one failed. Keys are shown by name only."""
    from predibot.jobs.doctor import check_all, check_live, check_recipe

    caller = output.caller()
    hidden = environment_secrets().mask
    settings = caller.settings()
    models, of_models = ((), ()) if recipe is None else check_recipe(recipe, settings, caller.clock)
    # The error of a plug-in may quote a key, and an address may hold one.
    checks = [
        replace(check, seen=hidden(check.seen))
        for check in (*check_all(settings, ledger), *(check_live(settings) if live else ()), *of_models)
    ]
    failed = [f"{check.name}: {check.seen}" for check in checks if check.verdict == "failed"]
    code = FAILED if failed else DONE
    if json:
        error = {"error": {"kind": "CheckFailed", "message": "; ".join(failed)}} if failed else {}
        shown_models = [asdict(replace(model, problem=hidden(model.problem))) for model in models]
        document = {**error, "checks": [asdict(check) for check in checks], "models": shown_models}
        output.print_document(document, exit_code=code)
    else:
        rows = ((check.verdict, check.name, check.seen) for check in checks)
        output.print_cells("Doctor", {"verdict": "key", "what": "key", "seen": "text"}, rows)
    return code
