"""Certificates that are made for a test."""

import subprocess
from pathlib import Path

import pytest


def make_certificate(folder: Path, name: str) -> Path:
    """Return a fresh certificate for a name with its key, in one file, or skip the test."""
    pem = folder / "server.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
               "-keyout", "key.pem", "-out", "cert.pem"]  # fmt: skip
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no openssl here")
    pem.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return pem
