"""Runs examples on a GPU, with real Triton and PyTorch:

    python3 tests/support/on_gpu.py examples/*.py

The NumPy arrays of a launch are copied to the device before it and back after
it, so that the examples run as they are.  Their kernels must be right there
too, and their checks say so.  No test calls this; it needs a GPU.
"""
import ctypes
import runpy
import sys
import traceback
import types

import numpy as np
import torch
import triton


def owner_of(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def memory_of(array):
    """All memory that array is a view of, as one row of its elements."""
    owner = owner_of(array)
    low = owner.__array_interface__['data'][0]
    # NumPy makes arrays dense, in one order of the axes or another.
    raw = (ctypes.c_char * owner.nbytes).from_address(low)
    return np.frombuffer(raw, dtype=array.dtype)


class Copies:
    """The device's copies of the arrays of one launch, or of a script."""

    def __init__(self):
        self.of = {}  # address -> (memory on the host, copy, its owner)

    def flat(self, array):
        memory = memory_of(array)
        address = memory.__array_interface__['data'][0]
        if address not in self.of:
            self.of[address] = (memory, torch.from_numpy(memory).cuda(),
                                owner_of(array))
        return address, self.of[address][1]

    def tensor(self, array):
        if not isinstance(array, np.ndarray):
            return array
        if not array.size:
            return torch.empty(0, device='cuda')
        address, copy = self.flat(array)
        offset = array.__array_interface__['data'][0] - address
        strides = [s // array.itemsize for s in array.strides]
        return copy.as_strided(array.shape, strides, offset // array.itemsize)

    def copy_back(self):
        for memory, copy, _ in self.of.values():
            memory[:] = copy.cpu().numpy()


lent = Copies()  # arrays whose address a script asked for


def address_of(array):
    tensor = lent.tensor(array)
    return tensor.data_ptr()


def take_over():
    run = triton.runtime.jit.JITFunction.run

    def run_with_copies(self, *args, **kwargs):
        copies = Copies()
        result = run(self, *map(copies.tensor, args),
                     **{k: copies.tensor(v) for k, v in kwargs.items()})
        torch.cuda.synchronize()
        copies.copy_back()
        lent.copy_back()
        return result

    triton.runtime.jit.JITFunction.run = run_with_copies
    set_allocator = triton.set_allocator
    triton.set_allocator = lambda _: set_allocator(
        lambda size, align, stream: torch.empty(size, dtype=torch.int8,
                                                device='cuda'))
    sys.modules['tkdbg'] = types.SimpleNamespace(address_of=address_of)


def main():
    take_over()
    failed = []
    for path in sys.argv[1:]:
        try:
            runpy.run_path(path, run_name='__main__')
        except Exception:
            print(f'{path}: FAILED')
            traceback.print_exc(limit=-2, file=sys.stdout)
            failed.append(path)
        lent.of.clear()
    print(f'{len(sys.argv) - 1 - len(failed)} right, {len(failed)} wrong',
          *failed)
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
