"""The code that tkdbg makes for a GPU, launched by the CUDA driver.

The engine 'gpu' runs each launch in a process of its own, which costs more
than the launch; thousands of kernels share one here (driver.py).
"""
import ctypes
import re

import numpy as np

from tkdbg import _capi


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
