"""What the parts of the virtual device agree on: marks, names of devices."""
from __future__ import annotations

from typing import Any

MARK = "_tkdbg_cuda"      # an attribute of tensors: a device's number, or HOST
HOST = -1
MIXED = object()          # what tensors of several places have together
PINNED = "_tkdbg_pinned"  # an attribute of tensors in pinned memory


def is_cuda_device(device: Any) -> bool:
    """True for "cuda", "cuda:0", torch.device("cuda") and 0."""
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    return getattr(device, "type", None) == "cuda"


def text_of(where: int) -> str:
    """A mark as PyTorch prints the device."""
    return "cpu" if where < 0 else f"cuda:{where}"


_NAMES = {"uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
          "int64": "Long", "float16": "Half", "bfloat16": "BFloat16",
          "float32": "Float", "float64": "Double", "uint16": "UInt16",
          "uint32": "UInt32", "uint64": "UInt64", "complex32": "ComplexHalf",
          "complex64": "ComplexFloat", "complex128": "ComplexDouble"}


def name_of(dtype: Any) -> str:
    """A dtype as PyTorch's C++ code names it."""
    word = str(dtype).partition(".")[2]
    return _NAMES.get(word, word.capitalize())


def tensors_of(value: Any, tensor: type) -> list[Any]:
    """The tensors in arguments, at any depth."""
    if isinstance(value, tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [t for item in value for t in tensors_of(item, tensor)]
