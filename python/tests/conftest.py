"""What the tests share. TALUS is the program, TALUS_SOURCE_DIR the source tree, TALUS_BUILD_DIR the build; tests/python.sh
sets them."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def program():
    """Runs the program talus and returns what it printed."""

    def run(*words):
        done = subprocess.run([os.environ["TALUS"], *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def source():
    """The source tree."""
    return Path(os.environ["TALUS_SOURCE_DIR"])


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
