"""triton.tools.ragged_tma: descriptors of tensors whose rows belong to parts
of different lengths.

A kernel reads and writes one part of the rows, and what lies outside of the
part is masked although the descriptor knows nothing of parts.  The trick is
in the addresses: two leading dimensions move the block back by 2**30 rows
and forward to the part's end, so that the row's own coordinate ends at 2**30
just where the part does.  All of it is modulo 2**64.
"""
from __future__ import annotations

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from typing import Any

ROWS = tl.constexpr(1 << 30)  # more than any tensor has
_UNBOUNDED = 0x7FFF0000       # of the dimensions that only move the block


def create_ragged_descriptor(T: Any, block_shape: Any,
                             ragged_dim: int = 0) -> Any:
    """A descriptor of a tensor of rank 2 or 3, ragged along one dimension,
    which is not the last."""
    shape, rank = list(T.shape), len(T.shape)
    ragged_dim += rank if ragged_dim < 0 else 0
    assert 0 <= ragged_dim < rank - 1, "last dimension cannot be ragged"
    assert rank <= 3, \
        "read-write ragged descriptors must have at most 3 dimensions"
    assert len(block_shape) == rank, \
        "block shape must have same length as tensor shape"
    rows = 1 << 30
    assert shape[ragged_dim] <= rows, "number of rows may not exceed 2**30"
    shape[ragged_dim] = rows
    stride = T.stride(ragged_dim)
    back = (1 << 64) // rows - stride  # times 2**30 it is -2**30 rows
    return TensorDescriptor(
        T, [_UNBOUNDED, _UNBOUNDED] + shape,
        [back, stride] + [T.stride(i) for i in range(rank)],
        [1, 1] + list(block_shape))


@triton.jit
def to_ragged_indices(batch_offset, batch_size, row):
    """The three coordinates that stand for a row of a part."""
    return ROWS, batch_offset + batch_size, ROWS - batch_size + row


@triton.jit
def load_ragged(TMA, batch_offset, batch_size, coords,
                ragged_dim: tl.constexpr = 0):
    """Reads a block of the part of batch_size rows from batch_offset on;
    what lies outside is zero."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2,
                     "TMA must be a read-write ragged descriptor")
    back, end, row = to_ragged_indices(batch_offset, batch_size,
                                       coords[ragged_dim])
    data = TMA.load([back, end] + coords[:ragged_dim] + [row] +
                    coords[ragged_dim + 1:])
    return tl.reshape(data, data.shape[2:])


@triton.jit
def store_ragged(TMA, batch_offset, batch_size, coords, data,
                 ragged_dim: tl.constexpr = 0):
    """Writes a block of a part; what lies outside is left alone."""
    back, end, row = to_ragged_indices(batch_offset, batch_size,
                                       coords[ragged_dim])
    TMA.store([back, end] + coords[:ragged_dim] + [row] +
              coords[ragged_dim + 1:], tl.reshape(data, [1, 1] + data.shape))


@triton.jit
def atomic_add_ragged(TMA, batch_offset, batch_size, coords, data,
                      ragged_dim: tl.constexpr = 0):
    """Adds a block to a part; what lies outside is left alone."""
    back, end, row = to_ragged_indices(batch_offset, batch_size,
                                       coords[ragged_dim])
    TMA.atomic_add([back, end] + coords[:ragged_dim] + [row] +
                   coords[ragged_dim + 1:],
                   tl.reshape(data, [1, 1] + data.shape))
