"""The loaded libtalus.so: its calls, its errors as exceptions, its structs as Python values.

Nothing here knows a struct of the library by hand. Structs are filled and read by the types that cffi has from the headers
(python/declarations.py), so a new field of a header is a new keyword here.
"""

from __future__ import annotations

import difflib
import functools
import logging
import os
import threading
import weakref
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from .errors import exception_of

try:
    from ._declarations import CONSTANTS, ffi
except ImportError as error:
    raise ImportError(
        "talus: the package was not built; build a wheel by python/wheel.sh, or see docs/how-to/python.md"
    ) from error

log = logging.getLogger("talus")


def _find_library() -> str:
    """Returns the file of the library: that of the environment, the one beside this package, or the system's."""
    given = os.environ.get("TALUS_LIBRARY")
    if given:
        return given
    own = Path(__file__).with_name("libtalus.so")
    return str(own) if own.exists() else f"libtalus.so.{CONSTANTS['TALUS_ABI_VERSION']}"


def _load():
    path = _find_library()
    try:
        library = ffi.dlopen(path)
    except OSError as error:
        raise ImportError(f"talus: {error}; TALUS_LIBRARY may name a libtalus.so") from error
    number = library.talus_abi_version()
    if number != CONSTANTS["TALUS_ABI_VERSION"]:
        raise ImportError(f"talus: {path} has binary interface {number}, this package is for {CONSTANTS['TALUS_ABI_VERSION']}")
    version = text(library.talus_version())
    expected = ".".join(str(CONSTANTS[f"TALUS_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
    if version != expected:
        raise ImportError(f"talus: {path} is version {version}, this package is for {expected}")
    return library


def text(pointer) -> str:
    """Returns a C string; "" for NULL."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


lib = _load()


def check(status: int) -> None:
    """Raises the exception of a call that failed."""
    if status:
        record = lib.talus_error_record()
        raise exception_of(
            text(lib.talus_status_name(status)),
            text(record.text),
            domain=text(lib.talus_domain_name(record.domain)),
            file=text(record.file),
            key=text(record.key),
            line=record.line,
            column=record.column,
        )


# ---- log ----


@ffi.callback("TalusLogFn")
def log_function(user, level, identity, message):
    """Passes messages of the library to the logger `talus`."""
    log.log(logging.WARNING if level else logging.INFO, "%s: %s", text(identity), text(message))


_thread = threading.local()


def listen() -> None:
    """Lets the library log from this thread."""
    if not getattr(_thread, "listens", False):
        lib.talus_set_log(log_function, ffi.NULL)
        _thread.listens = True


# ---- Python to C ----


class Arena:
    """Owns the C memory that filled structs point to."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def keep(self, data):
        self.kept.append(data)
        return data

    def string(self, value: str | os.PathLike):
        return self.keep(ffi.new("char[]", os.fspath(value).encode()))


def vec3(value):
    """Returns a TalusVec3 from three numbers."""
    x, y, z = value
    return ffi.new("TalusVec3 *", (x, y, z))[0]


def pointer(array: np.ndarray, kind: str):
    """Returns a pointer to the memory of a contiguous array; NULL for None. `kind`: a C type, such as "double *"."""
    return ffi.NULL if array is None else ffi.cast(kind, array.ctypes.data)


@functools.lru_cache(maxsize=None)
def _suffixes(kind) -> dict[str, int]:
    """Returns the names of an enumeration by value, without what they have in common and in small letters. A last name that
    counts the others, such as TALUS_SHAPE_KINDS, is left out.

    >>> list(_suffixes(ffi.typeof("TalusSection")))
    ['disc', 'square', 'polygon', 'none', 'joint']
    """
    names = sorted(kind.relements, key=kind.relements.get)
    prefix = os.path.commonprefix(names[:-1]).rpartition("_")[0] + "_"
    if not names[-1].startswith(prefix) or names[-1].endswith(("_KINDS", "_LOADS")):
        names.pop()
    return {name[len(prefix) :].lower().replace("_", "-"): kind.relements[name] for name in names}


def nearest(word: str, words) -> str:
    """Returns "; did you mean ...?" for the nearest of the words, "" if none is near."""
    close = difflib.get_close_matches(word, list(words), 1)
    return f"; did you mean {close[0]}?" if close else ""


def enumerator(kind, value) -> int:
    """Returns the number of a name of an enumeration, such as "max" of TalusNorm.

    >>> enumerator(ffi.typeof("TalusNorm"), "max")
    1
    >>> enumerator(ffi.typeof("TalusNorm"), "mux")
    Traceback (most recent call last):
    ...
    ValueError: 'mux' is none of rms, max, siconos; did you mean max?
    """
    if not isinstance(value, str):
        return int(value)
    names = _suffixes(kind)
    key = value.lower().replace("_", "-")
    if key not in names:
        raise ValueError(f"{value!r} is none of {', '.join(names)}{nearest(key, names)}")
    return names[key]


def friction_model(value):
    """Returns a TalusFrictionModel from a law and a section, such as "coulomb", "ccp polygon:6" or "none"."""
    model = ffi.new("TalusFrictionModel *")
    model.law = lib.TALUS_LAW_COULOMB
    for word in value.split():
        if word in _suffixes(ffi.typeof("TalusFrictionLaw")):
            check(lib.talus_law_parse(word.encode(), model))
        else:
            check(lib.talus_section_parse(word.encode(), model))
    return model[0]


def _array_field(target, name: str, kind, value, arena: Arena) -> None:
    """Sets a pointer to numbers or small structs of numbers from an array."""
    item = kind.item
    dtype = dtype_of(item)
    data = np.asarray(value, dtype=dtype.base if dtype.subdtype else dtype)
    array = arena.keep(np.ascontiguousarray(data))
    setattr(target, name, ffi.cast(kind, array.ctypes.data))


def fill(target, values: Mapping[str, Any], arena: Arena):
    """Sets the fields of a struct by their names; returns the struct. A wrong name is a TypeError that has the nearest."""
    fields = dict(ffi.typeof(target).item.fields if ffi.typeof(target).kind == "pointer" else ffi.typeof(target).fields)
    for name, value in values.items():
        if name not in fields or name == "cookie":
            known = [field for field in fields if field != "cookie"]
            raise TypeError(f"there is no {name!r} among {', '.join(known)}{nearest(name, known)}")
        kind = fields[name].type
        if value is None:
            continue
        try:
            _fill_field(target, name, kind, value, arena)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"{name}: {error}") from None
    return target


def _fill_field(target, name, kind, value, arena):
    if kind.kind == "enum":
        setattr(target, name, enumerator(kind, value))
    elif kind.cname == "char *":
        setattr(target, name, arena.string(value))
    elif kind is _MODEL and isinstance(value, str):
        setattr(target, name, friction_model(value))
    elif kind.kind == "struct" and isinstance(value, Mapping):
        fill(ffi.addressof(target, name), value, arena)
    elif kind.kind == "struct":
        scalar = np.ndim(value) == 0
        setattr(target, name, (int(value),) if scalar else tuple(np.asarray(value, dtype=float).tolist()))
    elif kind.kind == "pointer" and kind.item.kind in ("primitive", "struct"):
        _array_field(target, name, kind, value, arena)
    elif kind.kind == "array" or kind.kind == "pointer":
        setattr(target, name, value)
    else:
        setattr(target, name, value.item() if isinstance(value, np.generic) else value)


# ---- C to Python ----


def _plain(value, kind, owner):
    """Returns a field as a Python value."""
    if kind.kind == "enum":
        return next((name for name, number in _suffixes(kind).items() if number == value), value)
    if kind.cname == "char *" or kind.cname.startswith("char["):
        return text(value)
    if kind.kind == "struct":
        numbers = [field.type for _, field in kind.fields]
        if len(numbers) == 1:
            return getattr(value, kind.fields[0][0])
        if all(n.kind == "primitive" and n.cname == "double" for n in numbers) and kind in _TUPLES:
            return tuple(getattr(value, name) for name, _ in kind.fields)
        return Record(value, owner)
    if kind.kind == "array":
        return [_plain(item, kind.item, owner) for item in value]
    return value


_TUPLES = tuple(ffi.typeof(f"Talus{name}") for name in ("Vec3", "Quat", "Sym3", "Gradient"))
_MODEL = ffi.typeof("TalusFrictionModel")


class Record:
    """A struct of the library, read only: its fields are attributes, and str() lists them.

    `record.as_dict()` gives a dictionary; nested structs become dictionaries in it.
    """

    __slots__ = ("_struct", "_owner", "_fields")

    def __init__(self, struct, owner=None) -> None:
        kind = ffi.typeof(struct)
        if kind.kind == "pointer":
            kind = kind.item
        self._struct, self._owner = struct, owner or struct
        self._fields = kind

    def __getattr__(self, name: str) -> Any:
        for field, about in _fields_of(self._fields):
            if field == name:
                return _plain(getattr(self._struct, name), about.type, self._owner)
        raise AttributeError(f"{self._fields.cname.removeprefix('struct ')} has no {name}{nearest(name, dir(self))}")

    def __dir__(self) -> list[str]:
        return [name for name, _ in _fields_of(self._fields)] + ["as_dict"]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in _fields_of(self._fields))

    def as_dict(self) -> dict[str, Any]:
        """Returns all fields by their names."""
        values = {name: getattr(self, name) for name in self}
        return {name: value.as_dict() if isinstance(value, Record) else value for name, value in values.items()}

    def __repr__(self) -> str:
        return f"{self._fields.cname.removeprefix('struct ')}({', '.join(f'{name}={getattr(self, name)!r}' for name in self)})"


@functools.lru_cache(maxsize=None)
def _fields_of(kind):
    """The fields that are values: pointers, but for strings, are left out."""
    return [
        (name, about)
        for name, about in kind.fields
        if about.type.kind != "pointer" or about.type.cname == "char *"
    ]


_NUMBERS = {"double": "f8", "int": "i4", "_Bool": "?"}


def dtype_of(kind) -> np.dtype:
    """Returns the numpy type of a struct or number of C: three coordinates become one field of three."""
    if isinstance(kind, str):
        kind = ffi.typeof(kind)
    if kind.kind == "enum":
        return np.dtype(f"u{ffi.sizeof(kind)}")
    if kind.kind == "primitive":
        if kind.cname in _NUMBERS:
            return np.dtype(_NUMBERS[kind.cname])
        sign = "u" if kind.cname.startswith(("u", "unsigned", "size")) else "i"
        return np.dtype(f"{sign}{ffi.sizeof(kind)}")
    fields = kind.fields
    if len(fields) == 1:
        return dtype_of(fields[0][1].type)
    if all(field.type.cname == "double" for _, field in fields):
        return np.dtype(("f8", len(fields)))
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [dtype_of(field.type) for _, field in fields],
            "offsets": [field.offset for _, field in fields],
            "itemsize": ffi.sizeof(kind),
        }
    )


def copy_array(data, count: int, kind: str) -> np.ndarray | None:
    """Returns a copy of `count` elements at a pointer; None for NULL."""
    if data == ffi.NULL:
        return None
    dtype = dtype_of(kind)
    if count == 0:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(ffi.buffer(data, count * ffi.sizeof(kind)), dtype=dtype).copy()


class _Memory:
    """What an array over memory of the library holds on to."""

    __slots__ = ("loan", "__array_interface__")


class Loan:
    """Lives as long as some array over the memory of `owner` does, and keeps it alive."""

    __slots__ = ("owner", "__weakref__")

    def __init__(self, owner: Any) -> None:
        self.owner = owner


class Loans:
    """The arrays of an object that are in use: its memory must not move as long as there are any."""

    def __init__(self) -> None:
        self._loans: weakref.WeakSet[Loan] = weakref.WeakSet()

    def new(self, owner: Any) -> Loan:
        loan = Loan(owner)
        self._loans.add(loan)
        return loan

    def refuse(self, what: str) -> None:
        """Raises BufferError if an array is in use."""
        if len(self._loans):
            raise BufferError(f"an array of {what} is still in use: copy it, or drop it by del, before it changes")


def view_array(data, count: int, kind: str, loan: Loan, read_only: bool = True) -> np.ndarray:
    """Returns an array over `count` elements at a pointer. The loan lives as long as any part of the array."""
    dtype = dtype_of(kind)
    base, shape = (dtype.subdtype if dtype.subdtype else (dtype, ()))
    if count == 0:
        return np.empty((0, *shape), dtype=base)

    memory = _Memory()
    memory.loan = loan
    memory.__array_interface__ = {
        "version": 3,
        "shape": (count, *shape),
        "typestr": f"|V{base.itemsize}",
        "data": (int(ffi.cast("uintptr_t", data)), read_only),
    }
    return np.asarray(memory).view(base).reshape(count, *shape)


def create(function: Callable, kind: str, *arguments):
    """Calls function(*arguments, &out) and returns *out."""
    out = ffi.new(f"{kind} **")
    check(function(*arguments, out))
    return out[0]
