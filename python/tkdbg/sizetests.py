"""``@pytest.mark.tkdbg_sizes``: a test that has passed once more, with other
sizes.

The module of the test runs anew with a call of the test at its end, in which
the numbers that it was given by ``parametrize`` are written out; what is no
number or text is the object that fixtures have made.  What a test writes to
files it writes in each of these runs, which are processes of their own.
"""
from __future__ import annotations

import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

from . import othersizes, parsing, sizesaid
from .reruns import Script

if TYPE_CHECKING:
    from .session import Session

GIVEN = "tkdbg_given"  # the name of what is not written out, in the module


def try_test(session: Session, item: Any, most: int,
             seconds: float) -> tuple[sizesaid.Said | None, str]:
    """What is said of a test, and why nothing is."""
    path, name = str(item.path), getattr(item, "originalname", None)
    if getattr(item, "cls", None) is not None or not name:
        return None, "only tests that are functions are tried"
    with open(path, "rb") as f:
        text = f.read()
    call = ", ".join(f"{n}={_written(n, item.funcargs[n])}" for n in
                     inspect.signature(item.function).parameters
                     if n in item.funcargs)
    begin = text.count(b"\n") + 2
    text += f"\n\n{name}({call})\n".encode()
    line = item.function.__code__.co_firstlineno
    said = sizesaid.Said(session, path, aloud=False)
    why = othersizes.try_all(
        session, Script(path, text, lambda t: _run(t, path, item), seconds),
        most, said, lambda n: n._replace(
            line=line, column=1) if n.line >= begin else n)
    return said, " ".join(why)


def _written(name, value):
    """The text of an argument."""
    return repr(value) if _is_plain(value) else f"{GIVEN}['{name}']"


def _is_plain(value):
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in (int, str, bool, type(None))


def _run(text, path, item):
    """Runs a text as the module of a test."""
    code = parsing.code(text, path)
    module = types.ModuleType(item.module.__name__)
    module.__file__ = path
    module.__package__ = item.module.__package__
    vars(module)[GIVEN] = item.funcargs
    sys.modules[item.module.__name__] = module
    exec(code, module.__dict__)
