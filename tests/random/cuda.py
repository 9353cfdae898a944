"""The code that tkdbg makes for a GPU, launched by the CUDA driver.

The engine 'gpu' runs each launch in a process of its own, which costs more
than the launch; thousands of kernels share one here.  A launch that faults
ends the process, for nothing can be launched after it.
"""
import ctypes
import re
import sys

import numpy as np

from tkdbg import _capi

DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
USUAL_SHARED = 48 << 10
MARGIN = 256


class Driver:
    """The first GPU."""

    def __init__(self):
        self.lib = ctypes.CDLL('libcuda.so.1')
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call('cuInit', 0)
        self.call('cuDeviceGet', ctypes.byref(device), 0)
        self.call('cuDevicePrimaryCtxRetain', ctypes.byref(context), device)
        self.call('cuCtxSetCurrent', context)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(status, ctypes.byref(text))
            sys.exit(f'{name}: {text.value.decode()} ({status})')

    def copied(self, array):
        """Its address on the device, with room at either end."""
        at = ctypes.c_uint64()
        self.call('cuMemAlloc_v2', ctypes.byref(at),
                  ctypes.c_size_t(array.nbytes + 2 * MARGIN))
        at = ctypes.c_uint64(at.value + MARGIN)
        self.call('cuMemcpyHtoD_v2', at, ctypes.c_void_p(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes))
        return at

    def take_back(self, at, array):
        self.call('cuMemcpyDtoH_v2', ctypes.c_void_p(array.ctypes.data), at,
                  ctypes.c_size_t(array.nbytes))
        self.call('cuMemFree_v2', ctypes.c_uint64(at.value - MARGIN))

    def launch(self, ptx, name, grid, threads, shared, values):
        """values: ctypes objects; waits for the end."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call('cuModuleLoadData', ctypes.byref(module), ptx)
        self.call('cuModuleGetFunction', ctypes.byref(function), module, name)
        if shared > USUAL_SHARED:
            self.call('cuFuncSetAttribute', function, DYNAMIC_SHARED, shared)
        params = (ctypes.c_void_p * len(values))(
            *[ctypes.addressof(v) for v in values])
        self.call('cuLaunchKernel', function, *grid, threads, 1, 1, shared,
                  None, params, None)
        self.call('cuCtxSynchronize')
        self.call('cuModuleUnload', module)


def emitted(launch, stage):
    text = ctypes.c_char_p()
    launch.check(launch.lib.tk_launch_emit(launch.launch, ctypes.byref(
        _capi.EmitOptions(emit=stage, arch=b'sm_80')), ctypes.byref(text)))
    return text.value


def run(driver, launch):
    """Runs a ways.Launch on the GPU; gives its results."""
    head = emitted(launch, b'llir')
    shared = int(re.search(rb'(\d+) bytes of shared memory', head)[1])
    ptx = emitted(launch, b'ptx')
    kernel, values = launch.kernel, []
    for value in launch.arrays.values():
        values.append(driver.copied(value) if isinstance(value, np.ndarray)
                      else ctypes.c_int32(value))
    driver.launch(ptx, kernel.name.encode(), kernel.grid,
                  32 * kernel.options['num_warps'], shared, values)
    for at, array in zip(values, launch.arrays.values()):
        if isinstance(array, np.ndarray):
            driver.take_back(at, array)
    return kernel.results(launch.arrays)
