"""triton.compile and its ASTSource: a kernel compiled for a signature.

"Compiled" means typed and checked: the program is made, nothing runs.
"""
from __future__ import annotations

import hashlib

from .. import functions, mock, session as session_


class ASTSource:
    """A jit function with the types of its arguments and the values of its
    constexprs, by name or by (index,)."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        for key in signature:
            if not isinstance(key, str):
                raise TypeError("Signature keys must be string")
        self.signature = signature
        self.constants = {}
        for key, value in (constexprs or {}).items():
            if isinstance(key, str):
                key = (fn.arg_names.index(key),)
            self.constants[key] = value
        self.attrs = attrs or {}

    def hash(self):
        text = repr((self.fn.cache_key, sorted(self.signature.items()),
                     sorted(self.constants.items(), key=repr)))
        return hashlib.sha256(text.encode()).hexdigest()

    def parse_options(self):
        return {}

    def values(self):
        """An argument for each parameter, of the type that it has."""
        return mock.values(self.fn, self.signature, self.constants,
                           self.attrs)


def compile(src, target=None, options=None):  # noqa: A001 - Triton's name
    """The CompiledKernel of an ASTSource; raises what the compiler would."""
    if not hasattr(src, "values"):
        raise NotImplementedError(
            f"triton.compile of {src!r}: tkdbg runs kernels from their "
            "source and does not read compiled code; launch the kernel, "
            "use kernel.warmup(...), or compile an ASTSource")
    function = functions.as_jit_function(session_.current(), src.fn)
    return function.run(*src.values(), grid=None, warmup=True,
                        **(options or {}))


# ---- compiling ahead --------------------------------------------------------


class FutureKernel:
    """A kernel that is ready at once."""

    def __init__(self, kernel):
        self.kernel = kernel

    def result(self):
        return self.kernel


class AsyncCompileMode:
    """A context in which launches compile as always."""

    def __init__(self, executor=None):
        self.executor = executor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
