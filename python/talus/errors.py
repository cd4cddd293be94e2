"""Errors of the library as exceptions. Their text is the library's: what was wrong, where, and what would be right."""

from __future__ import annotations


class TalusError(Exception):
    """A call of the library failed.

    `code` ("argument", "memory", "io", "format", "unsupported", "numeric", "tolerance" or "cancelled") says how, `domain`
    in which part ("scene", "solver", ...), `file`, `line`, `column` and `key` where: "" or 0 where not known.
    """

    code = ""

    def __init__(self, text: str, domain: str = "", file: str = "", key: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.domain, self.file, self.key = domain, file, key
        self.line, self.column = line, column


class ArgumentError(TalusError, ValueError):
    """A value is out of range or contradictory."""

    code = "argument"


class OutOfMemory(TalusError, MemoryError):
    """Memory or a thread could not be had."""

    code = "memory"


class FileError(TalusError, OSError):
    """The operating system refused a read or a write."""

    code = "io"


class FormatError(TalusError, ValueError):
    """The content of a file is wrong."""

    code = "format"


class UnsupportedError(TalusError, NotImplementedError):
    """This build, backend or solver cannot do it; the text says why."""

    code = "unsupported"


class NumericError(TalusError, ArithmeticError):
    """A NaN or an infinity appeared, a solve diverged, or a pivot vanished."""

    code = "numeric"


class ToleranceError(TalusError):
    """A step missed its tolerance, and the world stops there (on_miss="stop")."""

    code = "tolerance"


class Cancelled(TalusError):
    """A callback asked to stop."""

    code = "cancelled"


_KINDS = {kind.code: kind for kind in TalusError.__subclasses__()}


def exception_of(code: str, text: str, **where) -> TalusError:
    """Returns the exception of a status.

    >>> exception_of("argument", "mu: -1 is below 0", key="mu").key
    'mu'
    """
    return _KINDS.get(code, TalusError)(text, **where)
