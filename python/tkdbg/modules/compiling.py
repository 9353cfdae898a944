"""triton.compile and its ASTSource: a kernel compiled for a signature.

"Compiled" means typed and checked: the program is made, nothing runs.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import functions, session as session_
from ..compiled import ASTSource  # noqa: F401 - triton.compiler has it

if TYPE_CHECKING:
    from ..compiled import CompiledKernel
    from ..device import GPUTarget


def compile(src: Any, target: GPUTarget | None = None,
            options: dict[str, Any] | None = None) -> CompiledKernel:
    """The CompiledKernel of an ASTSource; raises what the compiler would."""
    if not hasattr(src, "values"):
        raise NotImplementedError(
            f"triton.compile of {src!r}: tkdbg runs kernels from their "
            "source and does not read compiled code; launch the kernel, "
            "use kernel.warmup(...), or compile an ASTSource")
    function = functions.as_jit_function(session_.current(), src.fn)
    # Options that the kernel declares as parameters are among the values.
    others = {name: value for name, value in (options or {}).items()
              if name not in function.arg_names}
    return function.run(*src.values(), grid=None, warmup=True,
                        **others).of(src)


# ---- compiling ahead --------------------------------------------------------


class FutureKernel:
    """A kernel that is ready at once."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def result(self) -> Any:
        return self.kernel


class AsyncCompileMode:
    """A context in which launches compile as always."""

    def __init__(self, executor: Any = None) -> None:
        self.executor = executor

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> Any:
        return False
