"""Examples of docstrings, of docs/how-to/python.md and in examples/python do what they say."""

import doctest
import importlib
import importlib.util
import os
import re
import runpy
import sys
from pathlib import Path

import pytest

import talus

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FILES = sorted(Path(talus.__file__).parent.glob("*.py"))
MODULES = [f"talus.{path.stem}" for path in FILES if path.stem not in ("__init__", "_declarations")] + ["talus"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(module):
        if "scipy" not in test.name or importlib.util.find_spec("scipy"):
            runner.run(test)
    assert runner.failures == 0


def test_the_rules_that_read_headers(source, monkeypatch):
    monkeypatch.syspath_prepend(str(source / "python"))
    assert doctest.testmod(importlib.import_module("declarations")).failed == 0


def test_public_names_have_docstrings():
    """Every public function, class and method says what it does."""
    for name in talus.__all__:
        thing = getattr(talus, name)
        assert (thing.__doc__ or "").strip(), name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                assert (getattr(thing, member).__doc__ or getattr(value, "__doc__", "")), f"{name}.{member}"


def test_the_page(source):
    """The examples of the page, as one session."""
    text = (source / "docs" / "how-to" / "python.md").read_text()
    blocks = re.findall(r"(?m)(?:^    .*\n|^\n)+", text)
    examples = "\n".join(re.sub("(?m)^    ", "", block) for block in blocks if ">>>" in block)
    assert examples.count(">>>") > 20
    test = doctest.DocTestParser().get_doctest(examples, {}, "python.md", None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0


def examples():
    return sorted((Path(os.environ["TALUS_SOURCE_DIR"]) / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.stem)
def test_examples(path, monkeypatch, capsys):
    needs = set(re.findall(r"^(?:from|import) (scipy|pandas|matplotlib)", path.read_text(), re.M))
    for package in needs:
        pytest.importorskip(package)
    if "matplotlib" in needs:
        import matplotlib

        matplotlib.use("Agg")
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
