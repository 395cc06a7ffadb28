"""Owners of claims: a process by its machine, number and birth, and whether it still runs."""

import secrets
import socket
from contextlib import suppress
from pathlib import Path

import psutil

from predibot.plain_file import plain_text

_SAME_BIRTH_SECONDS = 5.0
"""Setting the clock moves the births of all processes a little."""


def new_owner() -> str:
    """Return a name for this process, new for each call."""
    process = psutil.Process()
    return f"{_machine()}/{process.pid}/{process.create_time():.2f}/{secrets.token_hex(4)}"


def helper_owner(owner: str, number: int | str) -> str:
    """Return the name of a process that works for an owner, and counts as alive while the owner lives."""
    return f"{owner}+{number}"


def is_same_program(owner: str, other: str) -> bool:
    """Return whether two owners are one, or work for the same one."""
    return owner.partition("+")[0] == other.partition("+")[0]


def is_of_this_machine(owner: str) -> bool:
    """Return whether an owner is, or was, a process of this machine and PID namespace."""
    return owner.partition("/")[0] == _machine()


def is_same_kernel(owner: str) -> bool:
    """Return whether an owner is, or was, a process of this machine or of a container on it, which share files.

    Where a machine does not tell its boot, names are compared.
    """
    host, boot, _ = owner.partition("/")[0].split("@")
    own_host, own_boot, _ = _machine().split("@")
    return boot == own_boot if boot and own_boot else host == own_host


def is_gone(owner: str) -> bool:
    """Return whether an owner is a process of this machine that runs no more; of other machines nothing is known."""
    if not is_of_this_machine(owner):
        return False
    _, number, birth, _ = owner.split("/")
    try:
        process = psutil.Process(int(number))
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        return bool(abs(process.create_time() - float(birth)) > _SAME_BIRTH_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def _machine() -> str:
    boot = namespace = ""
    # Two hosts may have one name, and the first PID namespace has the same number everywhere.
    with suppress(OSError):
        boot = plain_text(Path("/proc/sys/kernel/random/boot_id")).strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()}@{boot}@{namespace}".replace("/", "_")
