"""triton._internal_testing: what Triton's own language tests import.

They ask is_cuda() before they look into PTX, and is_interpreter() before
they skip what Triton's interpreter lacks.  Here no PTX is made and nothing
is lacking, so both say no; TKDBG_TEST_BACKEND=cuda makes is_cuda() say yes,
for tests that run on a CUDA device alone (inline assembly).

Imported only when a script asks for it: it needs NumPy and PyTorch.
"""
from __future__ import annotations

import os
import re

import numpy as np
from numpy.random import RandomState

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


def is_interpreter():
    """Whether what Triton's interpreter lacks is to be skipped: no."""
    return False


def is_cuda():
    """Whether generated CUDA code may be looked at; see above."""
    return os.environ.get("TKDBG_TEST_BACKEND", "") == "cuda"


def get_current_target():
    return device_.target() if is_cuda() else None


def _no(*_):
    return False


is_hip = is_xpu = is_blackwell = is_blackwell_ultra = is_sm12x = _no


def is_ampere_or_newer():
    return is_cuda() and device_.model().arch >= 80


def is_hopper_or_newer():
    return is_cuda() and device_.model().arch >= 90


def is_hopper():
    return is_cuda() and device_.model().arch // 10 == 9


def get_hip_lds_size():
    return 65536


def get_arch():
    return str(device_.model().arch) if is_cuda() else ""


def supports_tma(byval_only=False):
    """Tensor descriptors work without the hardware for them."""
    return True


def supports_ws():
    """Warp specialisation is a hint, and accepted."""
    return True


def tma_skip_msg(byval_only=False):
    return "tensor descriptors are always there"


def __getattr__(name):
    if name == "requires_tma":
        import pytest
        return pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())
    if name.startswith("is_hip_"):  # one for each chip, differing by version
        return _no
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- data -------------------------------------------------------------------


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
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


def to_triton(x, device, dst_type=None):
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


def to_numpy(x):
    """The values of a tensor or wrapper; bfloat16 as float32."""
    import torch
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(
            getattr(np, torch_dtype_name(x.dtype)))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    x = x.cpu()
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy()


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def default_alloc_fn(size, align, _):
    import torch
    return torch.empty(size, dtype=torch.int8, device="cuda")


# ---- names of types ---------------------------------------------------------

_TORCH_FLOAT8 = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5",
                 "float8_e4m3fnuz": "float8e4b8",
                 "float8_e5m2fnuz": "float8e5b16"}


def str_to_triton_dtype(name):
    """The element type that torch or NumPy call by name."""
    name = {"bool": "int1"}.get(name, _TORCH_FLOAT8.get(name, name))
    return tltypes.dtypes()[name]


def torch_dtype_name(dtype):
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
