"""What a kernel needs of the device: shared memory as Triton 3.6 allocates it
for sm_90 (measured with its compiler), and launches that do not fit."""
import unittest
import warnings

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
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
def row_sums(a, b, c, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + tl.arange(0, M), tl.sum(tl.load(a + at) * tl.load(b + at), 1))


@triton.jit
def rotated(a, b, c, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)
    out = tl.dot(tl.load(a + i * N + j[None, :]), loaded(b, N))
    tl.store(c + i * N + j[None, :], out.to(c.dtype.element_ty))


@triton.jit
def square(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i[:, None] * N + i[None, :],
             tl.dot(loaded(a, N), loaded(a + N * N, N)))


@triton.jit
def added(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.load(a + i) + 1)


@triton.jit
def turned(a, c, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(a + i[:, None] * N + j[None, :])
    tl.store(c + j[:, None] * M + i[None, :], tl.trans(x))


@triton.jit
def ordered(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.sort(tl.load(a + i)))


@triton.jit
def reversed_lanes(a, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.gather(tl.load(a + i), N - 1 - i, 0))


@triton.jit
def tiles(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [M, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, N])
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([0, k]), db.load([k, 0]), acc)
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [M, N])
    dc.store([0, 0], acc.to(c.dtype.element_ty))


@triton.jit
def scaled(a, b, c, sa, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr,
           SB: tl.constexpr, B4: tl.constexpr, STAGES: tl.constexpr):
    m, n, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK // 32)
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [M, BK])
    kb = tl.arange(0, BK // 2 if B4 else BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in tl.range(0, K, BK, num_stages=STAGES):
        ps = sa + k + ks[None, :]
        s = tl.load(ps + m[:, None] * K)
        t = tl.load(ps + n[:, None] * K) if SB else None
        y = tl.load(b + (k + kb)[:, None] * N + n[None, :])
        acc = tl.dot_scaled(da.load([0, k]), s, "e5m2", y, t,
                            "e2m1" if B4 else "bf16", acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def without_scales(a, b, c, K, M: tl.constexpr, N: tl.constexpr,
                   BK: tl.constexpr, STAGES: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, K, BK, num_stages=STAGES):
        x = tl.load(a + m[:, None] * K + i + k[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        acc = tl.dot_scaled(x, None, "e4m3", y, None, "e5m2", acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def rows(a, c, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr,
         OP: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(a + i[:, None] * N + j[None, :])
    if OP == "scan":
        tl.store(c + i[:, None] * N + j[None, :], tl.cumsum(x, AXIS))
    elif OP == "sum":
        tl.store(c + (i if AXIS else j), tl.sum(x, AXIS))
    else:
        tl.store(c + (i if AXIS else j), tl.argmax(x, AXIS))


@triton.jit
def sums(a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))


@triton.jit
def summed(p, N: tl.constexpr):
    tl.store(p, tl.sum(tl.load(p + tl.arange(0, N))))


def product_of(dtype, shape, stages, sa=1024, result="f2", warps=4):
    x = np.zeros(1 << 20, dtype)
    return product.warmup(x, x, np.zeros(1 << 20, result), 1024, sa, 1024,
                          1024, *shape, num_stages=stages, num_warps=warps,
                          grid=(1,))


@triton.jit
def indirect(out, a, b, at, K, M: tl.constexpr, N: tl.constexpr,
             BK: tl.constexpr):
    places = at + tl.arange(0, BK)
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        row = tl.load(places)[:, None]
        right = tl.load(a + cols[None, :] + row * N)
        left = tl.load(b + rows[None, :] + row * M)
        total = tl.dot(left.T, right, total)
        places += BK
    tl.store(out + rows[:, None] * N + cols[None, :], total)


@triton.jit
def attention(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr,
              D: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    for s in range(0, n, N):
        p = tl.dot(x, tl.load(k + (s + j)[None, :] * D + d[:, None]))
        p = tl.exp2(p - tl.max(p, 1)[:, None])
        y = tl.load(v + (s + j)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(y.dtype), y, acc)
    tl.store(o + i[:, None] * D + d[None, :], acc.to(o.dtype.element_ty))


@triton.jit
def cast(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr,
         BOTH: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * 1024 + k + rk[None, :])
        y = tl.load(b + (k + rk)[:, None] * 1024 + rn[None, :])
        x = x.to(tl.bfloat16) if BOTH else x
        acc = tl.dot(x, y.to(x.dtype), acc)
    tl.store(c + rm[:, None] * 1024 + rn[None, :], acc)


@triton.jit
def hoisted(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    x = tl.load(a + rm[:, None] * BK + rk[None, :])
    for k in range(0, K, N):
        y = tl.load(b + rk[:, None] * 1024 + k + rn[None, :])
        tl.store(c + rm[:, None] * 1024 + k + rn[None, :], tl.dot(x, y))


@triton.jit
def cast_before(a, b, c, K, M: tl.constexpr, N: tl.constexpr,
                BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    y = tl.load(b + rk[:, None] * N + rn[None, :]).to(tl.bfloat16)
    for k in range(0, K):
        x = tl.load(a + k * M * BK + rm[:, None] * BK + rk[None, :])
        acc = tl.dot(x.to(tl.bfloat16), y, acc)
    tl.store(c + rm[:, None] * 1024 + rn[None, :], acc)


def product_bytes(*args, **options):
    return product_of(*args, **options).metadata.shared


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

    def test_results_on_their_way_to_a_store(self):
        for m, n, result, warps, nbytes in (
                (16, 64, "f4", 4, 4096), (32, 64, "f4", 4, 4096),
                (64, 64, "f4", 4, 16384), (128, 128, "f4", 4, 32768),
                (128, 256, "f4", 8, 131072), (256, 128, "f4", 8, 65536),
                (256, 256, "f4", 8, 131072), (64, 128, "f2", 4, 8192),
                (128, 128, "f2", 8, 32768), (256, 256, "f2", 8, 32768)):
            self.assertEqual(product_bytes("f2", (m, n, 16), 1, result=result,
                                           warps=warps), nbytes, (m, n))

    def test_reductions(self):
        x = np.zeros(65536, "f4")
        for n, warps, nbytes in ((1024, 4, 16), (65536, 8, 32)):
            kernel = summed.warmup(x, n, num_warps=warps, grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes)

    def test_rows_and_columns(self):
        x = np.zeros(16384, "f4")
        for m, n, axis, op, nbytes in (
                (64, 32, 0, "sum", 512), (64, 32, 1, "sum", 256),
                (64, 32, 0, "argmax", 1024), (64, 32, 1, "argmax", 256),
                (64, 32, 0, "scan", 2048), (64, 32, 1, "scan", 0),
                (4, 1024, 1, "sum", 64), (1024, 4, 1, "sum", 2048),
                (128, 128, 0, "scan", 65536), (1, 256, 0, "sum", 0)):
            kernel = rows.warmup(x, x, m, n, axis, op, grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes, (m, n, axis, op))

    def test_scans(self):
        for dtype, n, nbytes in (("i8", 1024, 128), ("i8", 4096, 512),
                                 ("f2", 64, 4), ("f2", 4096, 32)):
            x = np.zeros(n, dtype)
            kernel = rows.warmup(x, x, 1, n, 1, "scan", grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes, (dtype, n))

    def test_block_scaled_products(self):
        types = {"a": "*fp8e5", "c": "*fp32", "sa": "*u8", "K": "i32"}
        names = scaled.arg_names
        for right, *sizes, stages, nbytes in (
                ("*u8", 128, 256, 128, 2, 99848),
                ("*u8", 32, 64, 128, 3, 16656),
                ("*u8", 128, 128, 64, 4, 53272),
                ("*bf16", 128, 128, 128, 3, 132112),
                ("*bf16", 64, 64, 64, 1, 16384),
                ("*bf16", 32, 64, 128, 3, 41104)):
            packed = right == "*u8"
            known = dict(zip(("M", "N", "BK", "SB", "B4", "STAGES"),
                             (*sizes, packed, packed, stages)))
            given = dict(types, b=right, **dict.fromkeys(known, "constexpr"))
            kernel = triton.compile(ASTSource(
                scaled, {n: given[n] for n in names}, known,
                {(i,): [["tt.divisibility", 16]] for i in range(5)}))
            self.assertEqual(kernel.metadata.shared, nbytes, (right, sizes))

    def test_scaled_products_without_scales(self):
        types = {"a": "*fp8e4nv", "b": "*fp8e5", "c": "*fp32", "K": "i32"}
        for *sizes, nbytes in ((128, 256, 256, 1, 131072),
                               (128, 256, 256, 2, 229376),
                               (256, 128, 128, 3, 131072),
                               (64, 64, 64, 1, 16384)):
            known = dict(zip(("M", "N", "BK", "STAGES"), sizes))
            kernel = triton.compile(ASTSource(
                without_scales, {**types, **dict.fromkeys(known, "constexpr")},
                known, {(i,): [["tt.divisibility", 16]] for i in range(4)}))
            self.assertEqual(kernel.metadata.shared, nbytes, sizes)

    def test_without_a_loop_and_in_calls(self):
        x = np.zeros(2 * 64 * 64, "f4")
        for n, nbytes in ((16, 2048), (64, 32768)):
            kernel = square.warmup(x, x, n, num_stages=4, grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes)

    def test_blocks_whose_lanes_change_places(self):
        x = np.zeros(65536, "f4")
        for m, n, nbytes in ((32, 32, 4096), (64, 128, 32768),
                             (16, 1024, 8192), (128, 32, 16384)):
            kernel = turned.warmup(x, x, m, n, grid=(1,))
            self.assertEqual(kernel.metadata.shared, nbytes, (m, n))
        for kernel in ordered, reversed_lanes:
            for n in (256, 2048):
                self.assertEqual(kernel.warmup(
                    x, x, n, grid=(1,)).metadata.shared, 4 * n)

    def test_loads_behind_loads(self):
        x, at = np.zeros(1 << 16, "f2"), np.zeros(512, np.int64)
        for m, n, k, stages, nbytes in (
                (128, 128, 128, 1, 65536), (128, 128, 128, 3, 132096),
                (128, 128, 128, 5, 198656), (128, 128, 64, 4, 66048),
                (128, 64, 128, 5, 149504), (64, 64, 64, 6, 50176)):
            shared = indirect.warmup(
                x, x, x, at, 512, m, n, k, num_stages=stages,
                grid=(1,)).metadata.shared
            self.assertEqual(shared, nbytes, (m, n, k, stages))

    def measured(self, kernel, types, cases):
        """Each case: sizes, stages and the bytes that Triton takes."""
        for *sizes, stages, nbytes in cases:
            args = [np.zeros(1 << 20, t) for t in types]
            shared = kernel.warmup(*args, 1024, *sizes, num_stages=stages,
                                   grid=(1,)).metadata.shared
            self.assertLessEqual(abs(shared - nbytes), nbytes // 10,
                                 (types, sizes, stages, shared))

    def test_attention(self):
        """What was loaded before the loop stays there; other blocks of a trip
        come one after the other."""
        self.measured(attention, ["f2"] * 4, (
            (32, 32, 64, 1, 10240), (32, 32, 64, 2, 14336),
            (32, 32, 64, 4, 30720), (16, 32, 64, 1, 7168),
            (64, 32, 64, 1, 12288), (64, 64, 64, 1, 16384),
            (128, 128, 64, 1, 32768), (32, 32, 32, 1, 4096),
            (32, 32, 32, 4, 14336), (32, 64, 64, 1, 16384)))
        self.measured(attention, ["f4"] * 4, (
            (32, 32, 64, 1, 20480), (32, 32, 64, 3, 45568),
            (64, 32, 64, 1, 24576), (16, 16, 64, 1, 9216)))

    def test_operands_that_are_cast(self):
        for types, both, cases in (
                (("f2", "i1", "f4"), False, (
                    (32, 32, 64, 1, 6144), (32, 32, 64, 4, 18432),
                    (16, 64, 64, 3, 12288))),
                (("i1", "i1", "f4"), True, (
                    (32, 32, 64, 1, 4096), (32, 32, 64, 3, 8192),
                    (16, 64, 64, 4, 15360)))):
            self.measured(cast, types, [
                (*sizes, both, stages, nbytes)
                for *sizes, stages, nbytes in cases])
        self.measured(cast_before, ("i1", "i1", "f4"), (
            (32, 32, 64, 1, 6144), (32, 32, 64, 3, 8192),
            (16, 64, 32, 3, 5120)))

    def test_operands_from_before_the_loop(self):
        """... and stores in it."""
        self.measured(hoisted, ("f2", "f2", "f4"), (
            (32, 32, 64, 2, 12288), (64, 64, 64, 1, 24576),
            (64, 64, 64, 3, 49152), (128, 64, 64, 2, 49152),
            (16, 64, 32, 3, 13312)))

    def test_descriptors(self):
        x = np.zeros(1 << 16, "f2")
        for shape, nbytes in (((64, 64, 32), 24600), ((128, 128, 64), 98328)):
            shared = tiles.warmup(x, x, x, 512, *shape,
                                  grid=(1,)).metadata.shared
            self.assertEqual(shared, nbytes)

    def test_what_is_known_of_signatures(self):
        names, sizes = product.arg_names, {"M": 128, "N": 128, "BK": 64}
        types = dict(zip(names, ["*fp16"] * 3 + ["i32"] * 4 +
                         ["constexpr"] * 3))
        attrs = {(i,): [["tt.divisibility", 16]] for i in range(7)}
        shared = [triton.compile(ASTSource(product, types, sizes, known))
                  .metadata.shared for known in ({}, attrs)]
        self.assertLess(shared[0], shared[1])
        self.assertEqual(shared[1], 98304)

    def test_no_products(self):
        x = np.zeros(16, "f4")
        self.assertEqual(added.warmup(x, x, 16, grid=(1,)).metadata.shared,
                         0)

    def test_too_much(self):
        x = np.zeros(2 * 256 * 256, "f4")
        with self.assertRaises(OutOfResources) as caught:
            square[(1,)](x, x, 256)
        self.assertEqual(str(caught.exception), "out of resource: shared "
                         "memory, Required: 524288, Hardware limit: 232448. "
                         "Reducing block sizes or `num_stages` may help.")


class Registers(unittest.TestCase):
    """Measured with ptxas."""

    def test_products(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for shape, warps, spills in (
                    ((128, 128, 32), 4, False), ((128, 256, 32), 8, False),
                    ((128, 256, 32), 4, True), ((256, 256, 32), 8, True)):
                kernel = product_of("f2", shape, 2, warps=warps)
                self.assertEqual(kernel.n_spills > 0, spills, shape)
                self.assertEqual(bool(said), spills, shape)
        self.assertRegex(str(said[0].message), "needs about 280 registers "
                         r"on sm_90 but has only 255: .*\[spills\]")

    def test_what_is_only_summed(self):
        """It is read piece by piece: ptxas gives a thread 112 registers for
        the largest of these."""
        self.check_notes(row_sums, "f4", {
            (128, 128): False, (128, 256): False, (256, 256): False})

    def test_one_product(self):
        """Of the first two ptxas keeps nothing in memory, of the third 620
        bytes."""
        self.check_notes(rotated, "f2", {
            (256, 128): False, (512, 64): False, (512, 128): True})

    def check_notes(self, kernel, dtype, shapes):
        for (m, n), told in shapes.items():
            a, b = np.zeros((m, n), dtype), np.zeros((max(m, n), n), dtype)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                kernel[(1,)](a, b, np.zeros_like(a), m, n)
            self.assertEqual(any("[spills]" in str(w.message) for w in said),
                             told, (m, n))

    def test_many_warps(self):
        """A block has 65,536 registers, whatever maxnreg asks for."""
        x = np.zeros(1 << 18, "f4")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n, warps, asked, taken, spills in (
                    (32768, 8, None, 255, False), (65536, 16, None, 128, True),
                    (65536, 16, 64, 64, True), (16384, 4, 64, 64, True)):
                kernel = sums.warmup(x, x, x, n, num_warps=warps,
                                     maxnreg=asked, grid=(1,))
                self.assertLessEqual(kernel.n_regs, taken)
                self.assertEqual(kernel.n_spills > 0, spills, (n, warps))
            sums[(1,)](x, x, x, 65536, num_warps=16)
            with self.assertRaisesRegex(OutOfResources, "threads, Required: "
                                        "512, Hardware limit: 256"):
                sums[(1,)](x, x, x, 65536, num_warps=16, maxnreg=255)

    def test_lanes(self):
        x = np.zeros(65536, "f4")
        for n, least, most in ((1024, 20, 32), (8192, 110, 125),
                               (16384, 230, 250), (65536, 255, 255)):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                kernel = sums.warmup(x, x, x, n, grid=(1,))
            self.assertTrue(least <= kernel.n_regs <= most, kernel.n_regs)
            self.assertEqual(bool(said), n == 65536)


if __name__ == "__main__":
    unittest.main()
