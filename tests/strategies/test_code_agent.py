"""The agent that writes code: refused wherever there is no container to run it in."""

import pytest

from predibot.errors import PluginError
from predibot.plugins.strategies import spec_of


@pytest.mark.parametrize("executor", ["", "local", "LocalPythonExecutor", "Docker", "none", "e2b"])
def test_without_a_container_it_is_refused_and_says_why(executor: str) -> None:
    with pytest.raises(PluginError, match="runs what a model writes, which only a container can hold; set executor"):
        spec_of("code_agent", {"model": "m", "executor": executor})


def test_a_container_that_is_named_but_not_there_is_refused_too() -> None:
    with pytest.raises(PluginError, match=r"and docker .*; fix that, or use strategy 'tool_agent'"):
        spec_of("code_agent", {"model": "m", "executor": "docker", "image": "predibot.invalid/none:never"})
