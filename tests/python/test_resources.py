"""What a kernel needs of the device: shared memory as Triton 3.6 allocates it
for sm_90 (measured with its compiler), and launches that do not fit."""
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.runtime.errors import OutOfResources  # noqa: E402


@triton.jit
def product(a, b, c, K, sa, sb, sc, M: tl.constexpr, N: tl.constexpr,
            BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    pa = a + rm[:, None] * sa + rk[None, :]
    pb = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def loaded(p, N: tl.constexpr):
    i = tl.arange(0, N)
    return tl.load(p + i[:, None] * N + i[None, :])


@triton.jit
def square(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i[:, None] * N + i[None, :],
             tl.dot(loaded(a, N), loaded(a + N * N, N)))


@triton.jit
def added(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.load(a + i) + 1)


def product_bytes(dtype, shape, stages, sa=1024):
    x = np.zeros(1 << 20, dtype)
    kernel = product.warmup(x, x, np.zeros(1 << 20, "f2"), 1024, sa, 1024,
                            1024, *shape, num_stages=stages, grid=(1,))
    return kernel.metadata.shared


class Shared(unittest.TestCase):

    def test_stages_out_of_shared_memory(self):
        for stages in (1, 2, 3, 4):
            self.assertEqual(product_bytes("f2", (128, 128, 32), stages),
                             16384 * stages)
            self.assertEqual(product_bytes("f4", (64, 64, 32), stages),
                             16384 * stages)

    def test_stages_out_of_registers(self):
        for stages, copies in ((1, 1), (2, 1), (3, 2), (4, 3)):
            self.assertEqual(product_bytes("f2", (16, 64, 64), stages),
                             10240 * copies)
            self.assertEqual(product_bytes("f4", (32, 32, 64), stages),
                             16384 * copies)

    def test_narrow_lanes_that_are_not_neighbours(self):
        self.assertEqual(product_bytes("f2", (16, 64, 64), 4, sa=1023),
                         2048 + 8192 * 3)

    def test_without_a_loop_and_in_calls(self):
        x = np.zeros(2 * 64 * 64, "f4")
        for n, nbytes in ((16, 2048), (64, 32768)):
            kernel = square.warmup(x, x, n, num_stages=4, grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes)

    def test_no_products(self):
        x = np.zeros(16, "f4")
        self.assertGreater(added.warmup(x, x, 16, grid=(1,)).metadata.shared,
                           0)

    def test_too_much(self):
        x = np.zeros(2 * 256 * 256, "f4")
        with self.assertRaises(OutOfResources) as caught:
            square[(1,)](x, x, 256)
        self.assertEqual(str(caught.exception), "out of resource: shared "
                         "memory, Required: 524288, Hardware limit: 232448")


if __name__ == "__main__":
    unittest.main()
