"""Prompts: the packaged ones, and files of the user's own below the folder of a recipe."""

from contextlib import suppress
from pathlib import Path

from predibot.agents.prompts.fields import CHOICES, PROMPTS, game_fields, prompt_problem
from predibot.agents.prompts.fields import FIELDS as FIELDS
from predibot.agents.prompts.render import fields_of, packaged_prompt
from predibot.contracts import Game
from predibot.domain.spelling import did_you_mean
from predibot.errors import PluginError, UsageError
from predibot.plain_file import plain_text
from predibot.plugins.games import game_names, make_game

MAX_PROMPT_BYTES = 64_000


def read_prompt(name: str, folder: Path | None, game: Game, *, judges: bool = False) -> str:
    """Return the text of a bot's prompt: a packaged one of `CHOICES`, or a file below the folder of the recipe.

    `folder` is None for a packaged prompt, `game` the game whose fields it may have, and `judges` whether it is for a
    judge of other bots' answers. Raises `ValueError` that says what is wrong with the file, and what to do.
    """
    if name in CHOICES:
        text = packaged_prompt(name)
        if prompt_problem(text, game, judges=judges):
            raise ValueError(f"it asks for probabilities of events, as game {game.name!r} does not. Take it out")
        return text
    if name in PROMPTS:
        raise ValueError("it is what a strategy plays by without this key. Leave prompt out")
    if folder is None:
        raise ValueError("a recipe that is no file has no folder with prompts. Write it to a file")
    try:
        path = (folder / name).resolve()
        if ".." in Path(name).parts or not path.is_relative_to(folder.resolve()):
            raise ValueError(f"it is not below the folder of the recipe. Put it there, as {Path(name).name[:60]!r}")
        text = plain_text(path, MAX_PROMPT_BYTES, encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError("there is no such file. `predibot prompts` lists prompts to begin with") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8. Save the file as UTF-8") from None
    except (OSError, RuntimeError) as error:
        # A loop of links is a RuntimeError.
        what = error.strerror if isinstance(error, OSError) else "its links lead to each other"
        raise ValueError(f"it cannot be read: {what}. Name another file") from None
    if problem := prompt_problem(text, game, judges=judges):
        raise ValueError(problem)
    return text


def list_prompts() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the name of each packaged prompt, what it is for, and its fields."""
    return tuple((name, purpose, fields_of(packaged_prompt(name))) for name, purpose in PROMPTS.items())


def fields_by_game() -> dict[str, tuple[str, ...]]:
    """Return the fields that a prompt may have, by game, and for its judges; games that do not load are left out."""
    games = dict[str, tuple[str, ...]]()
    for name in game_names():
        with suppress(PluginError):
            game = make_game(name)
            games[name] = game_fields(game)
            if game.judge_fields != game.view_fields:
                games[f"{name}, a judge"] = game_fields(game, judges=True)
    return games


def packaged_text(name: str) -> str:
    """Return the text of a packaged prompt; raise `UsageError` if there is none of that name."""
    if name not in PROMPTS:
        raise UsageError(f"there is no packaged prompt {name[:40]!r}. {did_you_mean(name, PROMPTS)}")
    return packaged_prompt(name)
