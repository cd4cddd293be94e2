"""The declarations are those of the headers, and structs have the layout that the C compiler gives them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from talus._library import CONSTANTS, ffi, lib


def test_they_are_current(source, tmp_path):
    sys.path.insert(0, str(source / "python"))
    from declarations import write_module

    import talus._declarations as used

    write_module(source / "include" / "talus", tmp_path / "anew.py")
    assert Path(used.__file__).read_text() == (tmp_path / "anew.py").read_text()


def test_every_exported_function_is_declared(source):
    names = (source / "tests" / "library_symbols.txt").read_text().split()
    assert len(names) > 200
    missing = []
    for name in names:
        try:
            getattr(lib, name)
        except AttributeError:
            missing.append(name)
    assert missing == []


def structs():
    """Names of all structs of the headers with fields."""
    names = []
    for name in ffi.list_types()[0]:
        try:
            kind = ffi.typeof(name)
        except ffi.error:  # a type of functions
            continue
        if kind.kind == "struct" and kind.fields is not None:
            names.append(name)
    return names


def test_layouts(source, tmp_path):
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    lines, expected = [], []
    for name in structs():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ffi.sizeof(name)}")
        for field, about in ffi.typeof(name).fields:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
            expected.append(f"{name}.{field} {about.offset}")
    assert len(expected) > 500
    text = "#include <stdio.h>\n#include <talus/talus.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    (tmp_path / "layout.c").write_text(text)
    command = [compiler, "-std=c17", f"-I{source}/include", "layout.c", "-o", "layout"]
    subprocess.run(command, check=True)
    assert subprocess.run(["./layout"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1] == expected


def test_constants(source):
    text = (source / "include" / "talus" / "base.h").read_text()
    assert CONSTANTS["TALUS_ABI_VERSION"] == int(re.search(r"TALUS_ABI_VERSION (\d+)", text)[1])
    assert CONSTANTS["TALUS_COMPLIANCE_AUTO"] == -1.0


def test_a_library_of_another_interface_is_refused(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "other.c").write_text("int talus_abi_version(void) { return 99; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "other.c", "-o", "other.so"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", "import talus"],
        env={**os.environ, "TALUS_LIBRARY": str(tmp_path / "other.so")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "has binary interface 99" in done.stderr
