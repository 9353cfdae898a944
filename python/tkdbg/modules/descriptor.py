"""triton.tools.tensor_descriptor: descriptors made on the host."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..tltypes import dtype_name, validate_block_shape


@dataclass
class TensorDescriptor:
    """A tensor and the shape of the blocks that kernels move.

    The checks are those of the hardware: AssertionError when the base or a
    stride is not 16-byte aligned, or the last dimension is not contiguous.
    """
    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        assert len(self.strides) == rank, f"rank mismatch: {self}"
        assert len(self.block_shape) == rank, f"rank mismatch: {self}"
        assert 0 < rank <= 5, "rank must be 1 to 5"
        self._check_alignment()
        validate_block_shape(self.block_shape)
        assert all(n > 0 for n in self.shape), "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert self.padding in ("zero", "nan"), "Illegal value for padding"
        if self.padding == "nan":
            assert self.base.dtype.is_floating_point, \
                "Padding option `nan` is only supported for floating " \
                "point tensors"
        if self.round_f32_to_tf32:
            assert dtype_name(self.base.dtype) == "float32", \
                "round_f32_to_tf32 is only supported for float32 tensors"

    def _check_alignment(self):
        if type(self.base).__name__ not in ("FakeTensor", "FunctionalTensor"):
            assert self.base.data_ptr() % 16 == 0, \
                "base must be 16-byte aligned"
        size = self.base.dtype.itemsize
        for stride in self.strides[:-1]:
            assert stride * size % 16 == 0, "strides must be 16-byte aligned"

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Any,
                    padding: str = "zero",
                    round_f32_to_tf32: bool = False) -> Any:
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(),
                                block_shape, padding, round_f32_to_tf32)
