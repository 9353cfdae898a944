"""Classes whose values kernels hold: @triton.aggregate, which was called
triton.language.core._aggregate before Triton 3.8.

The host makes none of these values.  It says what a class is (its fields,
what they are annotated with, its constructor and methods), for our classes
and for those of an installed Triton; the library does the rest.
"""
from __future__ import annotations

import inspect
import typing
from typing import Any

from . import session
from . import tltypes as tl_types

_AGGREGATE = "__triton_aggregate__"


def is_class(obj: Any) -> bool:
    return isinstance(obj, type) and bool(getattr(obj, _AGGREGATE, False))


def user_class(cls: type) -> type:
    """The class as it was written: Triton's decorator gives another, whose
    methods remember it.  A class that only inherits from one has its fields
    and constructor."""
    cls = next(c for c in cls.__mro__ if "__triton_aggregate__" in vars(c))
    found = vars(cls).get("__user_class__")
    if found is not None:
        return found
    setter = vars(cls)["__setattr__"]
    return inspect.getclosurevars(setter).nonlocals["cls"]


def _decorated(cls):
    """The class that a decorator gave, which this one may inherit from."""
    return next(c for c in cls.__mro__ if _AGGREGATE in vars(c))


def _generates(cls):
    """Whether the decorator is that of Triton 3.8, which makes constructors
    and knows what a class inherits."""
    return "__aggregate_fields__" in vars(_decorated(cls))


def fields(cls: type, what: str) -> tuple[Any, ...]:
    """The names of a class's fields, or with "__types__" what they are
    annotated with."""
    holder = _decorated(cls) if _generates(cls) else user_class(cls)
    notes = inspect.get_annotations(holder) if hasattr(
        inspect, "get_annotations") else vars(holder).get(
            "__annotations__", {})
    return tuple(notes.values() if what == "__types__" else notes)


def default(cls: type, name: str, missing: Any) -> Any:
    """What a field is given that a generated constructor is called without;
    missing: there is none."""
    if not _generates(cls):
        return missing
    return vars(_decorated(cls))["__aggregate_defaults__"].get(name, missing)


def base(cls: type) -> type | None:
    """The aggregate that a class without a decorator of its own is of, or
    None; TypeError for a class that Triton does not make as Python would."""
    own = _AGGREGATE in vars(cls)
    if own and _generates(cls):
        return None  # Triton copies what it inherits
    written = user_class(cls) if own else cls
    found = next((b for b in written.__mro__[1:] if is_class(b)), None)
    if found is not None and own:
        raise TypeError(
            f"{cls.__name__} is decorated with tl.core._aggregate and inherits "
            f"from {found.__name__}, which is as well: before Triton 3.8 the "
            "other's constructor is called; let it inherit from a class "
            "without decorator")
    if found is not None and "__init__" in vars(cls):
        raise TypeError(
            f"{cls.__name__} has a constructor and no decorator: Triton "
            f"calls {found.__name__}'s first, and this one without the "
            "compiler; decorate it as well" + (
                "" if _generates(cls) else
                ", and let it inherit from a class without decorator"))
    return found


def holder(cls: type, name: str) -> type:
    """Where an attribute of a class stands: its constructor is the user's,
    methods are in both."""
    return user_class(cls) if name == "__init__" else cls


def has_constructor(cls: type) -> bool:
    """Whether the user wrote one that this class is made with."""
    user = user_class(cls)
    return not _generates(cls) or "__init__" in vars(user)


_OWN = ("__new__", "__init__", "__setattr__")  # what a decorator writes


def _check_fields(made, cls, names):
    """The constructor of cls is done: all fields have values."""
    for name in names:
        if not hasattr(made, name):
            raise AttributeError(
                f"constructor for {cls.__name__} did not initialize "
                f"attribute '{name}'")


def _set(made, cls, wanted, name, value):
    """Gives a field a value that fits its annotation."""
    if name not in wanted:
        raise AttributeError(f"{cls.__name__} has no attribute '{name}'")
    if not isinstance(value, wanted[name]):
        raise TypeError(f"Expected {wanted[name]} for attribute '{name}', "
                        f"got {type(value)}")
    object.__setattr__(made, name, value)


def _inherited(cls):
    """The annotations and defaults of the aggregates that cls is made of,
    the oldest first."""
    notes: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for parent in reversed(cls.__mro__[1:]):
        if parent in tl_types.tensor.__mro__:
            continue
        if not is_class(parent):
            raise TypeError("Aggregates can only inherit from other "
                            f"aggregates, but got non-aggregate base: {parent}")
        notes.update(vars(parent).get("__annotations__", {}))
        defaults.update(vars(parent).get("__aggregate_defaults__", {}))
    return notes, defaults


def _resolve(cls):
    """The annotations of a class and the defaults of its fields, with those
    of the aggregates that it inherits from."""
    notes, defaults = _inherited(cls)
    hints = typing.get_type_hints(cls)
    for name in vars(cls).get("__annotations__", {}):
        notes[name] = hints[name]
        value = vars(cls).get(name, _AGGREGATE)
        if value is not _AGGREGATE and not callable(value):
            defaults[name] = value
    return notes, defaults


def _generated(cls, notes, defaults):
    """A constructor whose parameters are the fields."""
    parameters = [inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in notes]
    signature = inspect.Signature(parameters)

    def init(made, *args, **kwargs):
        bound = signature.bind_partial(*args, **kwargs)
        for name in notes:
            if name not in bound.arguments and name not in defaults:
                raise TypeError(f"{cls.__name__}.__init__() missing required "
                                f"argument: '{name}'")
            value = bound.arguments.get(name, defaults.get(name))
            if not isinstance(value, (tuple, tl_types.tensor)):
                value = tl_types.constexpr(tl_types.unwrap(value))
            setattr(made, name, value)
    return init


def aggregate(cls: type) -> type:
    """triton.aggregate: a class whose values kernels hold."""
    notes, defaults = _resolve(cls)
    init: Any = vars(cls).get("__init__") or _generated(cls, notes, defaults)

    class Value(tl_types.tensor):
        __triton_builtin__ = True
        __triton_aggregate__ = True
        __user_class__ = cls
        __annotations__ = notes
        __aggregate_fields__ = tuple(notes)
        __aggregate_defaults__ = defaults

        def __new__(this, *args, **kwargs):
            made = object.__new__(this)
            init(made, *args, **kwargs)
            _check_fields(made, cls, notes)
            object.__setattr__(made, "_aggregate_init_complete", True)
            return made

        def __init__(self, *args, **kwargs):
            """All was done when it was made."""

        def __setattr__(self, name, value):
            if name in notes and hasattr(self, "_aggregate_init_complete"):
                raise AttributeError(
                    f"cannot assign to field '{name}' on immutable aggregate "
                    f"{cls.__name__}; use aggregate_replace() to construct a "
                    "modified copy")
            _set(self, cls, notes, name, value)

    for name, value in inspect.getmembers(cls):
        function = inspect.isroutine(value) or hasattr(value, "fn")
        known = name in _OWN or name in vars(object)
        if function and not (known and name not in vars(cls)) and (
                name not in _OWN):
            setattr(Value, name, inspect.getattr_static(cls, name))
    return _named(Value, cls)


def _named(value, cls):
    for name in ("__name__", "__module__", "__qualname__", "__doc__"):
        setattr(value, name, getattr(cls, name))
    return value


def plain_aggregate(cls: type) -> type:
    """What triton.language.core._aggregate is before Triton 3.8."""

    class Value(tl_types.tensor):
        __triton_builtin__ = True
        __triton_aggregate__ = True
        __user_class__ = cls

        def __new__(this, *args, **kwargs):
            made = object.__new__(this)
            init: Any = cls.__init__  # type: ignore[misc]
            init(made, *args, **kwargs)
            _check_fields(made, cls, cls.__annotations__)
            return made

        def __init__(self, *args, **kwargs):
            """All was done when it was made."""

        def __setattr__(self, name, value):
            _set(self, cls, cls.__annotations__, name, value)

    plain = not any(is_class(base) for base in cls.__mro__)
    for name, value in inspect.getmembers(cls):
        own = name in vars(cls) and inspect.isroutine(value)
        inherited = plain and inspect.isfunction(value)
        function = own or inherited or hasattr(value, "fn")
        if function and name != "__init__" and (plain or name in vars(cls)):
            setattr(Value, name, inspect.getattr_static(cls, name))
    return _named(Value, cls)


def decorator() -> Any:
    """The decorator of the version that is followed."""
    new = session.current().version.since(3, 8)
    return aggregate if new else plain_aggregate
