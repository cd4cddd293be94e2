"""Makes talus/_declarations.py, what cffi must know of libtalus.so, from the public headers.

    python3 declarations.py ../include/talus talus/_declarations.py

The headers are written in a plain style, so a few rules are enough: comments, preprocessor lines, inline functions and the
mark TALUS_API go; what remains are declarations that cffi parses. Constants of #define that are numbers are kept in a
dictionary. Struct layouts follow the rules of the platform's C compiler; python/tests/test_layout.py compares them with
what the compiler says.
"""

import re
import sys
from pathlib import Path

INT32_MIN = "(-2147483647-1)"


def strip_comments(text):
    """Returns the text without comments.

    >>> strip_comments("int a; /* one */ int b; // two")
    'int a;   int b; '
    """
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: " " if m[0].startswith("/*") else "", text, flags=re.S)


def drop_conditionals(text):
    """Returns the lines that a C compiler sees which is neither that of C++ nor that of CUDA."""
    lines, seen = [], [True]
    for line in text.replace("\\\n", " ").split("\n"):
        word = re.match(r"\s*#\s*(\w+)\s*(\w*)", line)
        if word and word[1] in ("ifdef", "ifndef"):
            defined = word[2] == "__GNUC__"
            seen.append(seen[-1] and defined == (word[1] == "ifdef"))
        elif word and word[1] == "else":
            seen[-1] = seen[-2] and not seen[-1]
        elif word and word[1] == "endif":
            seen.pop()
        elif seen[-1]:
            lines.append(line)
    return "\n".join(lines)


def take_constants(text, constants):
    """Moves the #defines that are numbers to `constants`; returns the text without preprocessor lines."""
    rest = []
    for line in text.split("\n"):
        if not line.lstrip().startswith("#"):
            rest.append(line)
            continue
        define = re.match(r"\s*#\s*define\s+(\w+)\s+(\S.*?)\s*$", line)
        value = define and number(define[2], constants)
        if value is not None:
            constants[define[1]] = value
    return "\n".join(rest)


def number(text, constants):
    """Returns the value of a constant expression of C, None if it is none.

    >>> number("(1u << 16)", {}), number("0x1p-52", {}), number("A + 1", {"A": 2}), number("static", {})
    (65536, 2.220446049250313e-16, 3, None)
    """
    if re.fullmatch(r"0x[0-9a-fA-F.]+p[+-]?\d+", text):
        return float.fromhex(text)
    python = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    if not re.fullmatch(r"[\w\s.+\-*/()<>|]+", python):
        return None
    try:
        value = eval(python, {"__builtins__": {}}, dict(constants))  # an expression of our own headers
    except (SyntaxError, NameError, TypeError):
        return None
    return value if isinstance(value, (int, float)) else None


def drop_inline(text):
    """Returns the text without the definitions of inline functions."""
    while True:
        start = text.find("TALUS_INLINE")
        if start < 0:
            return text
        at = text.index("{", start) + 1
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        text = text[:start] + text[at:]


def headers(folder):
    """Lists the headers of the folder, each behind those that it includes."""
    order = []

    def add(path):
        if path in order:
            return
        for name in re.findall(r"#include <talus/(\w+\.h)>", path.read_text()):
            add(folder / name)
        order.append(path)

    for path in sorted(folder.glob("*.h")):
        add(path)
    return order


def declarations(folder):
    """Returns the declarations for cffi, and the constants of #defines, of the headers in a folder."""
    constants, parts = {}, []
    for path in headers(Path(folder)):
        text = drop_conditionals(strip_comments(path.read_text()))
        text = drop_inline(take_constants(text, constants))
        parts.append(re.sub(r"\bTALUS_API\b", "", text).replace("INT32_MIN", INT32_MIN))
    return re.sub(r"\n\s*\n+", "\n", "\n".join(parts)), constants


def write_module(folder, output):
    """Writes the module that the package imports."""
    import cffi

    text, constants = declarations(folder)
    ffi = cffi.FFI()
    ffi.cdef(text)
    ffi.set_source("talus._declarations", None)
    ffi.emit_python_code(str(output))
    with open(output, "a", encoding="utf-8") as file:
        file.write(f"CONSTANTS = {constants!r}\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: declarations.py FOLDER_OF_HEADERS OUTPUT")
    write_module(sys.argv[1], sys.argv[2])
