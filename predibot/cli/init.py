"""`predibot init`: write a recipe to start from."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED, environment_secrets
from predibot.cli.options import argument, flag, option

_NO_MODEL = "none"


def init(
    path: Annotated[Path, argument("FILE", "where")] = Path("runs/daily.toml"),
    model: Annotated[str | None, option("--model", "MODEL", "of its agent, such as openai/gpt-5; or none")] = None,
    base_url: Annotated[
        str | None, option("--base-url", "URL", "of an OpenAI-compatible server that has the model")
    ] = None,
    venue: options.Venue = None,
    schedule: Annotated[
        str | None, option("--schedule", "CRON", "when it is to be played, such as '5 12 * * *'")
    ] = None,
    probe: Annotated[
        bool | None, flag("--probe/--no-probe", "ask the model one question, which may cost a cent")
    ] = None,
    force: Annotated[bool, flag("--force", "replace a file that is there")] = False,
    json: options.Json = False,
) -> int:
    """Write a commented recipe, which `predibot decide` uses from then on; a terminal is asked what is left out."""
    from predibot.errors import UsageError
    from predibot.recipe.merged import starter_text
    from predibot.recipe.parse import parse_recipe
    from predibot.recipe.text import RecipeText
    from predibot.whole_file import blame_path

    if path.suffix != ".toml":
        raise UsageError(f"{path} is not the name of a recipe; it ends in .toml, like runs/daily.toml")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already and is kept; name another file, or add --force")
    if model is not None and not model.strip():
        raise typer.BadParameter("--model is empty; write none for a recipe without one")
    if model is None:
        if json or not sys.stdin.isatty():
            raise UsageError("no terminal can be asked for a model; add --model openai/gpt-5 for one, or --model none")
        model = _ask("Model of the agent, as litellm names it (openai/gpt-5), or none", _NO_MODEL)
        if model != _NO_MODEL and base_url is None:
            base_url = _ask("Address of its server; empty for its provider's own", "")
        venue = venue or _ask("Venue; empty for the usual one", "")
        schedule = _ask("When it is played, as a cron line in UTC (5 12 * * *); empty for by hand", "", schedule)
        if model != _NO_MODEL and probe is None:
            probe = typer.confirm("Ask the model one question now? It may cost a cent", default=False, err=True)
    if model == _NO_MODEL and (base_url or probe):
        raise typer.BadParameter("--base-url and --probe are about a model; name it by --model")
    text = starter_text(
        "" if model == _NO_MODEL else model, base_url=base_url or "", venue=venue or "", cron=schedule or ""
    )
    parse_recipe(RecipeText(text, str(path), path.stem))
    with blame_path(path, "; name another file"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    checks: tuple[Any, ...] = ()
    if probe and model != _NO_MODEL:
        from predibot.jobs.doctor import check_recipe

        caller = output.caller()
        _, checks = check_recipe(str(path), caller.settings(), caller.clock)
    seen = tuple(environment_secrets().mask(f"{each.name}: {each.seen}") for each in checks)
    problem = any(each.verdict == "failed" for each in checks)
    code = FAILED if problem else DONE
    if json:
        said = {"error": {"kind": "CheckFailed", "message": "; ".join(seen)}} if problem else {}
        output.print_document({"recipe": str(path), "seen": list(seen), **said}, exit_code=code)
        return code
    typed = shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
    after = f"predibot select {typed}" if model == _NO_MODEL else f"predibot decide {typed} --dry-run"
    later = f", later `predibot schedule {typed}`" if schedule else ""
    output.print_lines(f"wrote {path}. Next: `{after}`{later}", *seen)
    return code


def _ask(question: str, default: str, given: str | None = None) -> str:
    """Return an answer from the terminal, unless it was given as an option."""
    return given if given is not None else str(typer.prompt(question, default=default, err=True)).strip()
