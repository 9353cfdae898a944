"""triton.runtime._allocation: who allocates scratch memory for kernels;
launches ask by scratch.py."""
from __future__ import annotations

import contextvars
from typing import Any, Protocol


class Buffer(Protocol):
    """Memory, by its address."""

    def data_ptr(self) -> int:
        ...


class Allocator(Protocol):
    """Makes a Buffer."""

    def __call__(self, size: Any, alignment: Any, stream: Any) -> Buffer:
        ...


class NullAllocator:
    """The allocator of programs that set none."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> None:
        raise RuntimeError(
            "Kernel requires a runtime memory allocation, but no allocator "
            "was set. Use triton.set_allocator to specify an allocator.")


class Setting:
    """An allocator that can be replaced."""

    def __init__(self, name: str) -> None:
        self._null = NullAllocator()
        self._value = contextvars.ContextVar(name, default=self._null)

    def get(self) -> Any:
        return self._value.get()

    def set(self, allocator: Any) -> None:
        self._value.set(self._null if allocator is None else allocator)

    def __call__(self, size: int, alignment: int, stream: Any) -> Any:
        return self.get()(size, alignment, stream)


def namespace() -> dict[str, Any]:
    allocator, profile = Setting("allocator"), Setting("profile_allocator")
    return dict(Buffer=Buffer, Allocator=Allocator,
                NullAllocator=NullAllocator, _allocator=allocator,
                _profile_allocator=profile, set_allocator=allocator.set,
                set_profile_allocator=profile.set)
