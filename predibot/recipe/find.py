"""The file of a recipe: found by path, by name, or by being the daily one."""

from pathlib import Path

from predibot.domain.spelling import nearest
from predibot.errors import RecipeError
from predibot.plain_file import plain_text
from predibot.recipe.packaged import packaged_recipe_names, packaged_recipe_text
from predibot.recipe.parse import RecipeText, parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.trust import MAX_BYTES, check_recipe

DEFAULT = "daily"
_FOLDER = "runs"
_ENDING = ".toml"


def load_recipe(argument: str | None, folder: Path) -> Recipe:
    """Return the recipe somebody asked for; its `source` says which one that is.

    Args:
        argument: A path, a name, or None for the daily one.
        folder: The current folder.

    Raises:
        RecipeError: If there is none, or it has a mistake.
    """
    return parse_recipe(find_recipe(argument, folder))


def find_recipe(argument: str | None, folder: Path) -> RecipeText:
    """Return the text of the recipe somebody asked for, and what messages call it.

    A name, and the daily recipe, are looked for in `runs/` of the folder first
    and then among the packaged recipes.

    Raises:
        RecipeError: If there is none, or it cannot be read.
        NotTrusted: If it needs the user's word, and its folder does not have it.
    """
    name = DEFAULT if argument is None else argument
    is_path = name.endswith(_ENDING) or len(Path(name).parts) > 1
    label = name if is_path else f"{_FOLDER}/{name}{_ENDING}"
    path = folder / label
    text = _read(path, label)
    if text is not None:
        check_recipe(path, text)
        return RecipeText(text, label, path.stem)
    if not is_path and name in packaged_recipe_names():
        return RecipeText(packaged_recipe_text(name), f"the packaged recipe {name!r}", name)
    raise RecipeError(f"no recipe {name!r}. {_suggestion(name, folder)}")


def _suggestion(name: str, folder: Path) -> str:
    """Return the recipe most like a name nobody has, own ones first, or all there are."""
    known = {recipe: repr(recipe) for recipe in packaged_recipe_names()}
    known |= {path.stem: repr(f"{_FOLDER}/{path.name}") for path in sorted((folder / _FOLDER).glob(f"*{_ENDING}"))}
    found = nearest(Path(name).stem, known)
    if found is not None:
        return f"Did you mean {known[found]}?"
    return f"There are: {', '.join(known[recipe] for recipe in sorted(known))}"


def _read(path: Path, label: str) -> str | None:
    """Return the text of a file, or None where there is none."""
    try:
        return plain_text(path, MAX_BYTES, encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RecipeError(f"{label}, line {line}: this is not UTF-8. Save the file as UTF-8") from None
    except OSError as error:
        raise RecipeError(f"{label} cannot be read: {error.strerror}. Name a recipe file") from None
