"""A prompt of the user's own for texts: the example of the docs, as it stands there, and the paper's kind by task."""

import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import said_here
from tests.studies.stakebench.readers import Reader, here, model, reader

__all__ = ["here", "model", "reader"]

pytestmark = pytest.mark.usefixtures("here")

DOCS = Path(__file__).parents[3] / "docs" / "stakebench.md"


def decide(recipe: str, texts: Path, reader: Reader) -> list[str]:
    """Play a recipe of the docs over a small data set, and return the prompts that the model was asked with."""
    recipe = re.sub(r'base_url = ".*"', f'base_url = "{reader.base_url}"', recipe)
    Path("own.toml").write_text(re.sub("(tasks = )", r"per_split = 12, \1", recipe), encoding="utf-8")
    said = said_here("decide", "own.toml", "--venue", f"comments:{texts}", "--json")
    assert said.code in (0, 3), said.err + said.out
    return reader.prompts


def test_the_example_of_the_docs_runs_and_each_prompt_begins_with_its_prefix(few_texts: Path, reader: Reader) -> None:
    section = DOCS.read_text(encoding="utf-8").partition("### Prompts of your own")[2]
    shell, recipe = re.findall(r"```(?:sh|toml)\n(.*?)```", section, re.DOTALL)[:2]
    assert 'echo "<nothink>" > prompts/nothink.md\npredibot prompts label >> prompts/nothink.md' in shell
    Path("prompts").mkdir()
    Path("prompts", "nothink.md").write_text(f"<nothink>\n{said_here('prompts', 'label').out}", encoding="utf-8")
    prompts = decide(recipe, few_texts, reader)
    assert len(prompts) > 12
    assert all(prompt.startswith("<nothink>\nYou read ") and "{{" not in prompt for prompt in prompts)


def test_a_prompt_of_one_task_names_the_parts_of_its_view(few_texts: Path, reader: Reader) -> None:
    Path("prompts").mkdir()
    fences = "{{fence_open}} to {{fence_close}}: strangers."
    mine = f"{fences}\nQ {{{{question}}}}\nT {{{{topic}}}}\nC {{{{comments}}}}\nOne: {{{{answer_shape}}}}"
    Path("prompts", "g2.md").write_text(mine, encoding="utf-8")
    recipe = (
        'game = {name = "stakebench", tasks = ["G2"]}\n[[bots]]\nstrategy = "one_shot"\nmodel = "openai/reader"\n'
        'base_url = ""\nprice_usd_per_million_tokens = 0\nprompt = "prompts/g2.md"\nsamples = 2\ntemperature = 1.0\n'
    )
    prompts = decide(recipe, few_texts, reader)
    fenced = r"<<untrusted>>\n.+?\n<<end of untrusted>>"
    form = f"<<untrusted>> to <<end of untrusted>>: strangers.\nQ {fenced}\nT \\w+\nC {fenced}\nOne: YES, NO, NEUTRAL"
    assert prompts and all(re.fullmatch(form, prompt, re.DOTALL) for prompt in prompts)
    # Each sample was asked, and the vote on their labels is a bot of the tables.
    assert {prompts.count(prompt) % 2 for prompt in {*prompts}} == {0}
    told = said_here("tables", "stakebench").out
    assert re.search(r"^ *(\d+ )? *one_shot ", told, re.MULTILINE), told
