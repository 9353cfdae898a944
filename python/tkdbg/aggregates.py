"""Classes whose values kernels hold: @triton.language.core._aggregate.

The host makes none of these values.  It says what a class is (its fields,
what they are annotated with, its constructor and methods), for our classes
and for those of an installed Triton; the library does the rest.
"""
from __future__ import annotations

import inspect

from . import tltypes as tl_types

_AGGREGATE = "__triton_aggregate__"


def is_class(obj):
    return isinstance(obj, type) and bool(getattr(obj, _AGGREGATE, False))


def user_class(cls):
    """The class as it was written: Triton's decorator gives another, whose
    methods remember it.  A class that only inherits from one has its fields
    and constructor."""
    cls = next(c for c in cls.__mro__ if "__triton_aggregate__" in vars(c))
    found = vars(cls).get("__user_class__")
    if found is not None:
        return found
    setter = vars(cls)["__setattr__"]
    return inspect.getclosurevars(setter).nonlocals["cls"]


def fields(cls, what):
    """The names of a class's fields, or with "__types__" what they are
    annotated with."""
    notes = vars(user_class(cls)).get("__annotations__", {})
    return tuple(notes.values() if what == "__types__" else notes)


def base(cls):
    """The aggregate that a class without a decorator of its own is of, or
    None; TypeError for a class that Triton does not make as Python would."""
    own = "__triton_aggregate__" in vars(cls)
    written = user_class(cls) if own else cls
    found = next((b for b in written.__mro__[1:] if is_class(b)), None)
    if found is not None and own:
        raise TypeError(
            f"{cls.__name__} is decorated with tl.core._aggregate and inherits "
            f"from {found.__name__}, which is as well: Triton 3.6 calls the "
            "other's constructor; let it inherit from a class without "
            "decorator")
    if found is not None and "__init__" in vars(cls):
        raise TypeError(
            f"{cls.__name__} has a constructor and no decorator: Triton 3.6 "
            f"calls {found.__name__}'s first, and this one without the "
            "compiler; decorate it with tl.core._aggregate and let it inherit "
            "from a class without decorator")
    return found


def holder(cls, name):
    """Where an attribute of a class stands: its constructor is the user's,
    methods are in both."""
    return user_class(cls) if name == "__init__" else cls


def aggregate(cls):
    """triton.language.core._aggregate: a class whose values kernels hold."""

    class Value(tl_types.tensor):
        __triton_builtin__ = True
        __triton_aggregate__ = True
        __user_class__ = cls

        def __new__(this, *args, **kwargs):
            made = object.__new__(this)
            cls.__init__(made, *args, **kwargs)
            for name in cls.__annotations__:
                if not hasattr(made, name):
                    raise AttributeError(
                        f"constructor for {cls.__name__} did not initialize "
                        f"attribute '{name}'")
            return made

        def __init__(self, *args, **kwargs):
            """All was done when it was made."""

        def __setattr__(self, name, value):
            wanted = cls.__annotations__.get(name)
            if wanted is None:
                raise AttributeError(
                    f"{cls.__name__} has no attribute '{name}'")
            if not isinstance(value, wanted):
                raise TypeError(f"Expected {wanted} for attribute '{name}', "
                                f"got {type(value)}")
            object.__setattr__(self, name, value)

    plain = not any(is_class(base) for base in cls.__mro__)
    for name, value in inspect.getmembers(cls):
        own = name in vars(cls) and inspect.isroutine(value)
        inherited = plain and inspect.isfunction(value)
        function = own or inherited or hasattr(value, "fn")
        if function and name != "__init__" and (plain or name in vars(cls)):
            setattr(Value, name, inspect.getattr_static(cls, name))
    for name in ("__name__", "__module__", "__qualname__", "__doc__"):
        setattr(Value, name, getattr(cls, name))
    return Value
