"""Launches the kernels of tests/bench/large.py, small; see sweep.py."""
import os
import sys

import numpy as np

sys.argv = [__file__, 'tkdbg']  # what large.py takes for its engine
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), 'bench'))
import large  # noqa: E402

draw = np.random.default_rng(0)


def numbers(*shape):
    """Whole numbers, whose products are exact in any order."""
    return draw.integers(-9, 10, shape).astype(np.float32)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def indices(most, n):
    return draw.integers(0, most, n, np.int32)


for block in 16, 32, 64:
    large.product_kernel[(128 // block, 2)](
        numbers(128, 128), numbers(128, 128), zeros(128, 128), 128,
        BLOCK_M=block, BLOCK_N=64, BLOCK_K=block)
large.scan_kernel[(1, )](numbers(4096), zeros(4096), BLOCK=4096)
large.gather_kernel[(8, )](numbers(1024), indices(1024, 1024), zeros(1024),
                           BLOCK=128)
large.histogram_kernel[(4, )](indices(64, 512), np.zeros(64, np.int32),
                              BLOCK=128)
