"""triton._internal_testing: what Triton's own language tests import.

They ask is_cuda() before they look into PTX, and is_interpreter() before
they skip what Triton's interpreter lacks.  Here no PTX is made and nothing
is lacking, so both say no; TKDBG_TEST_BACKEND=cuda makes is_cuda() say yes,
for tests that run on a CUDA device alone (inline assembly).

Imported only when a script asks for it: it needs NumPy and PyTorch.
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import RandomState
from typing import Any

from .. import device as device_, tltypes
from ..wrappers import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["u" + name for name in int_dtypes]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = float_dtypes + ["bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = dtypes + ["bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool"] + int_dtypes + ["uint8"] + float_dtypes_with_bfloat16
tma_dtypes = sorted(set(dtypes_with_bfloat16) -
                    {"int64", "uint64", "float64"})


# ---- where kernels run ------------------------------------------------------


def is_interpreter() -> bool:
    """Whether what Triton's interpreter lacks is to be skipped: no."""
    return False


def is_cuda() -> Any:
    """Whether generated CUDA code may be looked at; see above."""
    return os.environ.get("TKDBG_TEST_BACKEND", "") == "cuda"


def get_current_target() -> Any:
    return device_.target() if is_cuda() else None


def _no(*_):
    return False


is_hip = is_xpu = is_blackwell = is_blackwell_ultra = is_sm12x = _no
is_rubin = supports_clc = _no  # newer than every device of --device


def is_ampere_or_newer() -> Any:
    return is_cuda() and device_.model().arch >= 80


def is_hopper_or_newer() -> Any:
    return is_cuda() and device_.model().arch >= 90


def is_hopper() -> Any:
    return is_cuda() and device_.model().arch // 10 == 9


def get_hip_lds_size() -> Any:
    return 65536


def get_arch() -> Any:
    return str(device_.model().arch) if is_cuda() else ""


def is_compile_warmup() -> bool:
    """Whether kernels are only compiled: they never are."""
    return False


def skip_if_unsupported_cluster_size(num_ctas: int) -> None:
    """Skips a test whose programs are clusters that the device lacks."""
    if num_ctas > 1 and device_.model().arch < 90:
        import pytest
        pytest.skip(f"Device does not support {num_ctas} CTAs per cluster")


def supports_tma(byval_only: bool = False) -> bool:
    """Tensor descriptors work without the hardware for them."""
    return True


def supports_ws() -> Any:
    """Warp specialisation is a hint, and accepted."""
    return True


def tma_skip_msg(byval_only: bool = False) -> str:
    return "tensor descriptors are always there"


def __getattr__(name: str) -> Any:
    if name == "requires_tma":
        import pytest
        return pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())
    if name.startswith("is_hip_"):  # one for each chip, differing by version
        return _no
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- processes --------------------------------------------------------------


@dataclasses.dataclass
class ProcessResult:
    exc: None | BaseException
    driver_stderr_output: str


def run_in_process(client_fn: Callable[..., Any], args: Any = (),
                   kwargs: Any = None, env: Any = None) -> ProcessResult:
    """Calls a function that may leave a device unusable.  Here none can, so
    that it is called in this process; tells what it raised and wrote."""
    before, told = dict(os.environ), None
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            os.environ.update(env or {})
            client_fn(*args, **(kwargs or {}))
        except Exception as e:
            told = e
        finally:
            os.environ.clear()
            os.environ.update(before)
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
        file.seek(0)
        return ProcessResult(told, file.read().decode(errors="replace"))


@contextlib.contextmanager
def use_process_pool(preload_module: str) -> Iterator[Any]:
    """Where run_in_process finds processes that are ready: it needs none."""
    yield None


# ---- data -------------------------------------------------------------------


def random_int(low: int, high: int, *, warmup_value: Any = None,
               **kwargs: Any) -> int:
    """A random integer from low to high - 1, of PyTorch's generator."""
    import torch
    return int(torch.randint(low, high, size=(), **kwargs).item())


def random_float(*, warmup_value: float = 0.5, **kwargs: Any) -> float:
    """A random number from 0 to 1, of PyTorch's generator."""
    import torch
    return float(torch.rand((), **kwargs).item())


def numpy_random(shape: tuple[int, ...], dtype_str: str, rs: Any = None,
                 low: Any = None, high: Any = None) -> Any:
    """Random data of a type: integers over its whole range and never 0,
    floats from the normal distribution, eight-bit floats as small bytes."""
    rs = RandomState(seed=17) if rs is None else rs
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        return _random_integers(shape, np.dtype(dtype_str), rs, low, high)
    if dtype_str and "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in float_dtypes:
        return rs.normal(0, 1, shape).astype(dtype_str)
    if dtype_str == "bfloat16":  # fp32 with the low half cleared
        bits = rs.normal(0, 1, shape).astype("float32").view("uint32")
        return (bits & np.uint32(0xFFFF0000)).view("float32")
    if dtype_str in ("bool", "int1", "bool_"):
        return rs.normal(0, 1, shape) > 0.0
    raise RuntimeError(f"Unknown dtype {dtype_str}")


def _random_integers(shape, dtype, rs, low, high):
    limits = np.iinfo(dtype)
    low = limits.min if low is None else max(low, limits.min)
    high = limits.max if high is None else min(high, limits.max)
    x = rs.randint(low, high, shape, dtype=dtype.type)
    x[x == 0] = 1
    return x


def to_triton(x: Any, device: str, dst_type: str | None = None) -> Any:
    """A tensor on a device with the values of a NumPy array; unsigned
    integers and eight-bit floats as a wrapper around a signed tensor."""
    import torch
    name = x.dtype.name
    if name in uint_dtypes:
        signed = torch.tensor(x.astype(name[1:]), device=device)
        return reinterpret(signed, tltypes.dtype(name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, tltypes.dtypes()[dst_type])
    if name == "float32" and dst_type == "bfloat16":
        return tensor.bfloat16()
    return tensor


def to_numpy(x: Any) -> Any:
    """The values of a tensor or wrapper; bfloat16 as float32."""
    import torch
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(
            getattr(np, torch_dtype_name(x.dtype)))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    x = x.cpu()
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy()


def unwrap_tensor(t: Any) -> Any:
    return t.base if isinstance(t, TensorWrapper) else t


def default_alloc_fn(size: Any, align: Any, _: Any) -> Any:
    import torch
    return torch.empty(size, dtype=torch.int8, device="cuda")


# ---- names of types ---------------------------------------------------------

_TORCH_FLOAT8 = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5",
                 "float8_e4m3fnuz": "float8e4b8",
                 "float8_e5m2fnuz": "float8e5b16"}


def str_to_triton_dtype(name: str) -> Any:
    """The element type that torch or NumPy call by name."""
    name = {"bool": "int1"}.get(name, _TORCH_FLOAT8.get(name, name))
    return tltypes.dtypes()[name]


def torch_dtype_name(dtype: Any) -> str:
    if isinstance(dtype, tltypes.dtype):
        return dtype.name
    found = re.fullmatch(r"torch\.(\w+)", str(dtype))
    if not found:
        raise TypeError(f"not a triton or torch dtype: {type(dtype)}")
    return found.group(1)


# ---- settings ---------------------------------------------------------------


def _fresh_knobs_impl(skipped_attr=None):
    """(a function that gives triton.knobs as at the start, one that brings
    back what was there)."""
    from triton import knobs
    groups = {name: group for name, group in vars(knobs).items()
              if isinstance(group, knobs.base_knobs) and
              name not in (skipped_attr or ())}
    before = {name: dict(vars(group)) for name, group in groups.items()}
    environment = dict(os.environ)

    def fresh():
        return knobs

    def reset():
        for name, group in groups.items():
            vars(group).clear()
            vars(group).update(before[name])
        os.environ.clear()
        os.environ.update(environment)

    return fresh, reset
