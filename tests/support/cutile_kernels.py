"""Kernels of CUDA Tile, each with what NumPy makes of the same arrays.

    tkdbg run cutile_kernels.py [NAME ...]

prints `OK NAME` for each that is right, and else what it got.
"""
import math
import sys
import traceback

import numpy as np

import cuda.tile as ct

Int = ct.Constant[int]
CASES = {}
rng = np.random.default_rng(7)


def case(function):
    CASES[function.__name__] = function
    return function


def floats(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def launch(grid, kernel, *args):
    ct.launch(1, grid, kernel, args)


def same(got, want):
    np.testing.assert_array_equal(got, want)


def near(got, want, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(np.asarray(got, "f8"), want, rtol=rtol,
                               atol=atol)


# ---- loads and stores -----------------------------------------------------


@ct.kernel
def add(a, b, c, T: Int):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(T,))
    y = ct.load(b, index=(i,), shape=(T,))
    ct.store(c, index=(i,), tile=x + y)


@case
def vector_add():
    for dtype in "f4", "f8", "i4", "i8", "u1", "i2", "f2":
        a = (floats(1000) * 50).astype(dtype)
        b = (floats(1000) * 50).astype(dtype)
        c = np.zeros_like(a)
        launch((8,), add, a, b, c, 128)
        same(c, a + b)


@ct.kernel
def copy_2d(a, b, M: Int, N: Int):
    t = ct.load(a, (ct.bid(0), ct.bid(1)), (M, N))
    ct.store(b, (ct.bid(0), ct.bid(1)), t)


@case
def clipped_copy():
    a, b = floats(13, 21), np.zeros((13, 21), "f4")
    launch((4, 3), copy_2d, a, b, 4, 8)
    same(b, a)
    c = np.zeros((9, 30), "f4")  # the store clips at another shape
    launch((3, 3), copy_2d, a, c, 4, 8)
    same(c[:, :21], a[:9])


@case
def views():
    a = floats(20, 30)
    b = np.zeros((40, 40), "f4")
    launch((5, 4), copy_2d, a[::2, 3:19], b[1:21:2, 2:18], 2, 4)
    want = np.zeros((40, 40), "f4")
    want[1:21:2, 2:18] = a[::2, 3:19]
    same(b, want)


@ct.kernel
def transposed(a, b, M: Int, N: Int):
    t = ct.load(a, (ct.bid(0), ct.bid(1)), (M, N))
    ct.store(b, (ct.bid(1), ct.bid(0)), ct.transpose(t))


@case
def transpose():
    a, b = floats(16, 40), np.zeros((40, 16), "f4")
    launch((2, 5), transposed, a, b, 8, 8)
    same(b, a.T)


@ct.kernel
def by_order(a, b, M: Int, N: Int):
    t = ct.load(a, (ct.bid(1), ct.bid(0)), shape=(N, M), order=(1, 0))
    ct.store(b, (ct.bid(1), ct.bid(0)), t)


@case
def order():
    a, b = floats(12, 20), np.zeros((20, 12), "f4")
    launch((3, 3), by_order, a, b, 4, 8)
    same(b, a.T)


def padded(mode):
    @ct.kernel
    def kernel(a, out, T: Int):
        ct.store(out, (0,), ct.load(a, (0,), (T,), padding_mode=mode))
    return kernel


@case
def padding():
    a = floats(5)
    for mode, fill in ((ct.PaddingMode.ZERO, 0.0),
                       (ct.PaddingMode.NEG_ZERO, -0.0),
                       (ct.PaddingMode.NAN, np.nan),
                       (ct.PaddingMode.POS_INF, np.inf),
                       (ct.PaddingMode.NEG_INF, -np.inf)):
        out = np.ones(8, "f4")
        launch((1,), padded(mode), a, out, 8)
        want = np.r_[a, np.full(3, fill, "f4")].astype("f4")
        same(out.view("u4")[:5], want.view("u4")[:5])
        same(np.signbit(out), np.signbit(want))
        same(out, want)


@ct.kernel
def unchecked(a, b, T: Int):
    i = ct.bid(0)
    t = ct.load(a, (i,), (T,), check_bounds=False)
    ct.store(b, (i,), t, check_bounds=False)


@case
def check_bounds():
    a, b = floats(64), np.zeros(64, "f4")
    launch((4,), unchecked, a, b, 16)
    same(b, a)


@ct.kernel
def scalar_of_2d(a, b):
    x = ct.load(a, (ct.bid(0), ct.bid(1)), ())
    ct.store(b, (ct.bid(1), ct.bid(0)), x * 2)


@case
def scalar_tiles():
    a, b = floats(3, 4), np.zeros((4, 3), "f4")
    launch((3, 4), scalar_of_2d, a, b)
    same(b, a.T * 2)


@ct.kernel
def gather_scatter_kernel(a, idx, b, T: Int):
    i = ct.load(idx, (ct.bid(0),), (T,))
    v = ct.gather(a, i, padding_value=-1.0)
    ct.scatter(b, i, v * 2)


@case
def gather_scatter():
    a = floats(50)
    idx = rng.permutation(64).astype("i4")
    b = np.zeros(50, "f4")
    launch((4,), gather_scatter_kernel, a, idx, b, 16)
    same(b, a * 2)


@ct.kernel
def gather_negative(a, out, T: Int):
    i = ct.arange(T, dtype=ct.int32) - 4
    ct.store(out, (0,), ct.gather(a, i, padding_value=7.0))


@case
def gather_outside():
    a, out = floats(8), np.zeros(16, "f4")
    launch((1,), gather_negative, a, out, 16)
    same(out, np.r_[[7] * 4, a, [7] * 4].astype("f4"))


@ct.kernel
def gather_2d_kernel(a, out, M: Int, N: Int):
    r = ct.arange(M, dtype=ct.int32)[:, None]
    c = ct.arange(N, dtype=ct.int32)[None, :]
    t = ct.gather(a, (r * 2, c + 1), mask=(r != 1))
    ct.scatter(out, (r, c), t, mask=c < 3)


@case
def gather_2d():
    a, out = floats(9, 6), np.zeros((4, 4), "f4")
    launch((1,), gather_2d_kernel, a, out, 4, 4)
    want = a[:8:2, 1:5].copy()
    want[1] = 0
    want[:, 3] = 0
    same(out, want)


@ct.kernel
def sliced(a, b, lo, hi, T: Int):
    part = a.slice(axis=0, start=lo, stop=hi)
    t = ct.load(part, (ct.bid(0),), (T,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(b, (ct.bid(0),), t)


@case
def array_slice():
    a, b = floats(40), np.ones(16, "f4")
    launch((2,), sliced, a, b, 5, 18, 8)
    same(b, np.r_[a[5:18], np.zeros(3, "f4")])


@ct.kernel
def tiled(a, b, T: Int, S: Int):
    view = a.tiled_view((T,), traversal_steps=(S,),
                        padding_mode=ct.PaddingMode.ZERO)
    out = b.tiled_view((T,))
    for i in range(view.num_tiles(0)):
        out.store((i,), view.load((i,)))


@case
def strided_view():
    a = floats(10)
    for step in 2, 4, 8:
        n = -(-10 // step)
        b = np.ones(4 * n, "f4")
        launch((1,), tiled, a, b, 4, step)
        wide = np.r_[a, np.zeros(16, "f4")]
        same(b, np.concatenate([wide[i * step:i * step + 4]
                                for i in range(n)]))


@ct.kernel
def advanced(a, b, start, R: Int, C: Int):
    rows = ct.arange(R, dtype=ct.int32) * 2
    t = ct.load_advanced_indexing(a, (rows, ct.Slice(start, C)),
                                  padding_mode=ct.PaddingMode.ZERO)
    ct.store_advanced_indexing(b, (rows, ct.Slice(0, C)), t)


@case
def advanced_indexing():
    a, b = floats(8, 8), np.zeros((8, 4), "f4")
    launch((1,), advanced, a, b, 2, 4, 4)
    want = np.zeros((8, 4), "f4")
    want[::2] = a[::2, 2:6]
    same(b, want)


@ct.kernel
def sum_list(arrays, out, T: Int):
    total = ct.zeros((T,), ct.float32)
    for k in range(len(arrays)):
        total += ct.load(arrays[k], (ct.bid(0),), (T,))
    ct.store(out, (ct.bid(0),), total)


@case
def lists():
    many, out = [floats(32) for _ in range(3)], np.zeros(32, "f4")
    launch((2,), sum_list, many, out, 16)
    same(out, many[0] + many[1] + many[2])


@ct.kernel
def raw(a, b, T: Int):
    i = ct.arange(T, dtype=ct.int32)
    m = a.get_raw_memory()
    v = m.load_offset(i * 2, mask=i < 6, padding_value=-1.0)
    b.get_raw_memory().store_offset(i, v)


@case
def raw_memory():
    a, b = floats(16), np.zeros(8, "f4")
    launch((1,), raw, a, b, 8)
    same(b, np.r_[a[:12:2], [-1, -1]].astype("f4"))


# ---- arithmetic -----------------------------------------------------------


@ct.kernel
def integer_ops(a, b, out, T: Int):
    x, y = ct.load(a, (0,), (T,)), ct.load(b, (0,), (T,))
    ct.store(out, (0, 0), ct.reshape(x // y, (1, T)))
    ct.store(out, (1, 0), ct.reshape(x % y, (1, T)))
    ct.store(out, (2, 0), ct.reshape(ct.cdiv(x, y), (1, T)))
    ct.store(out, (3, 0), ct.reshape(x & y, (1, T)))
    ct.store(out, (4, 0), ct.reshape(x | y, (1, T)))
    ct.store(out, (5, 0), ct.reshape(x ^ y, (1, T)))
    ct.store(out, (6, 0), ct.reshape(~x, (1, T)))
    ct.store(out, (7, 0), ct.reshape(x << 2, (1, T)))
    ct.store(out, (8, 0), ct.reshape(x >> 2, (1, T)))
    ct.store(out, (9, 0), ct.reshape(abs(x), (1, T)))
    ct.store(out, (10, 0), ct.reshape(min(x, y), (1, T)))
    ct.store(out, (11, 0), ct.reshape(max(x, y), (1, T)))
    ct.store(out, (12, 0), ct.reshape(-x, (1, T)))


@case
def integers():
    for dtype in "i4", "i8", "u4":
        low = 0 if dtype[0] == "u" else -100
        a = rng.integers(low, 100, 64).astype(dtype)
        b = rng.integers(1, 9, 64).astype(dtype)
        if low:
            b[::2] *= -1
        out = np.zeros((13, 64), dtype)
        launch((1,), integer_ops, a, b, out, 64)
        want = [a // b, a % b, -(-a.astype("i8") // b.astype("i8")), a & b,
                a | b, a ^ b, ~a, a << 2, a >> 2, np.abs(a),
                np.minimum(a, b), np.maximum(a, b), 0 - a]
        same(out, np.array([w.astype(dtype) for w in want]))


@ct.kernel
def float_functions(a, out, T: Int):
    x = ct.load(a, (0,), (T,))
    y = abs(x) + 0.5
    ct.store(out, (0, 0), ct.exp(x)[None, :])
    ct.store(out, (1, 0), ct.exp2(x)[None, :])
    ct.store(out, (2, 0), ct.log(y)[None, :])
    ct.store(out, (3, 0), ct.log2(y)[None, :])
    ct.store(out, (4, 0), ct.sqrt(y)[None, :])
    ct.store(out, (5, 0), ct.rsqrt(y)[None, :])
    ct.store(out, (6, 0), ct.sin(x)[None, :])
    ct.store(out, (7, 0), ct.cos(x)[None, :])
    ct.store(out, (8, 0), ct.tan(x)[None, :])
    ct.store(out, (9, 0), ct.sinh(x)[None, :])
    ct.store(out, (10, 0), ct.cosh(x)[None, :])
    ct.store(out, (11, 0), ct.tanh(x)[None, :])
    ct.store(out, (12, 0), ct.floor(x)[None, :])
    ct.store(out, (13, 0), ct.ceil(x)[None, :])
    ct.store(out, (14, 0), ct.pow(y, x)[None, :])
    ct.store(out, (15, 0), ct.atan2(x, y)[None, :])
    ct.store(out, (16, 0), (y ** 3)[None, :])


@case
def functions():
    for dtype, tol in ("f4", 3e-6), ("f8", 1e-14), ("f2", 2e-3):
        a = floats(64, dtype=dtype)
        out = np.zeros((32, 64), dtype)
        launch((1,), float_functions, a, out, 64)
        x = a.astype("f8")
        y = (np.abs(a) + np.asarray(0.5, dtype)).astype("f8")
        want = [np.exp(x), np.exp2(x), np.log(y), np.log2(y), np.sqrt(y),
                1 / np.sqrt(y), np.sin(x), np.cos(x), np.tan(x), np.sinh(x),
                np.cosh(x), np.tanh(x), np.floor(x), np.ceil(x), y ** x,
                np.arctan2(x, y), y ** 3]
        near(out[:17], np.array(want), tol, tol)


@ct.kernel
def divisions(a, b, out, T: Int):
    x, y = ct.load(a, (0,), (T,)), ct.load(b, (0,), (T,))
    ct.store(out, (0, 0), (x / y)[None, :])
    ct.store(out, (1, 0), (x // y)[None, :])
    ct.store(out, (2, 0), (x % y)[None, :])
    ct.store(out, (3, 0), ct.minimum(x, y)[None, :])
    ct.store(out, (4, 0), ct.maximum(x, y, propagate_nan=True)[None, :])


@case
def float_division():
    a, b = floats(32) * 9, floats(32)
    out = np.zeros((8, 32), "f4")
    launch((1,), divisions, a, b, out, 32)
    same(out[0], a / b)
    same(out[1], np.floor(a / b))
    near(out[2], np.mod(a.astype("f8"), b.astype("f8")), 1e-4, 1e-5)
    a[3] = b[5] = np.nan
    launch((1,), divisions, a, b, out, 32)
    same(out[3], np.fmin(a, b))
    same(out[4], np.maximum(a, b))


@ct.kernel
def directed(a, b, out, T: Int):
    x, y = ct.load(a, (0,), (T,)), ct.load(b, (0,), (T,))
    up, down = ct.RoundingMode.RP, ct.RoundingMode.RM
    ct.store(out, (0, 0), ct.add(x, y, rounding_mode=up)[None, :])
    ct.store(out, (1, 0), ct.add(x, y, rounding_mode=down)[None, :])
    ct.store(out, (2, 0), ct.mul(x, y, rounding_mode=up)[None, :])
    ct.store(out, (3, 0), ct.truediv(x, y, rounding_mode=down)[None, :])


@case
def rounding():
    a, b = floats(64), floats(64)
    out = np.zeros((4, 64), "f4")
    launch((1,), directed, a, b, out, 64)
    x, y = a.astype("f8"), b.astype("f8")
    for row, exact, up in ((0, x + y, True), (1, x + y, False),
                           (2, x * y, True), (3, x / y, False)):
        got = out[row].astype("f8")
        assert (got >= exact).all() if up else (got <= exact).all()
        near(got, exact, 2e-7, 0)


@ct.kernel
def flushed(a, out, T: Int):
    x = ct.load(a, (0,), (T,))
    ct.store(out, (0,), ct.add(x, 0.0, flush_to_zero=True))


@case
def flush_to_zero():
    a = np.array([1e-40, -1e-40, 1.0, 2e-38, 0, -0.0, 3e-39, 5], "f4")
    out = np.zeros(8, "f4")
    launch((1,), flushed, a, out, 8)
    want = np.where(np.abs(a) < 2.0 ** -126, 0, a)
    same(out, want)


@ct.kernel
def converted(a, out, T: Int):
    ct.store(out, (0,), ct.load(a, (0,), (T,)).astype(out.dtype))


@case
def conversions():
    for source, to in (("f4", "i4"), ("i4", "f4"), ("f4", "f2"), ("f8", "f4"),
                       ("i8", "i1"), ("u1", "i4"), ("i4", "?"), ("?", "f4"),
                       ("f4", "?"), ("i4", "u8"), ("f2", "f8")):
        a = (floats(32) * 40).astype(source)
        out = np.zeros(32, to)
        launch((1,), converted, a, out, 32)
        same(out, a.astype(to))


@ct.kernel
def to_tf32(a, out, T: Int):
    x = ct.load(a, (0,), (T,)).astype(ct.tfloat32)
    ct.store(out, (0,), x.astype(ct.float32))


@case
def tf32():
    a, out = floats(64), np.zeros(64, "f4")
    launch((1,), to_tf32, a, out, 64)
    bits = a.view("u4").astype("u8")
    want = ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype("u4")
    same(out.view("u4"), want)


@ct.kernel
def bits_kernel(a, out, T: Int):
    x = ct.load(a, (0,), (T,))
    b = ct.bitcast(x, ct.int32)
    ct.store(out, (0,), (b >> 23) & 255)


@case
def bitcast():
    a, out = floats(32), np.zeros(32, "i4")
    launch((1,), bits_kernel, a, out, 32)
    same(out, a.view("i4") >> 23 & 255)


@ct.kernel
def chosen(a, out, T: Int):
    x = ct.load(a, (0,), (T,))
    y = ct.where(ct.isnan(x), 0.0, x)
    ct.store(out, (0,), ct.where((y > 0) & (y != 3), y, -y))


@case
def where_nan():
    a, out = floats(32), np.zeros(32, "f4")
    a[3], a[4] = np.nan, 3
    launch((1,), chosen, a, out, 32)
    y = np.nan_to_num(a)
    same(out, np.where((y > 0) & (y != 3), y, -y))


# ---- shapes ---------------------------------------------------------------


@ct.kernel
def shapes(a, out, A: Int, B: Int, C: Int):
    x = ct.load(a, (0, 0, 0), (A, B, C))
    y = ct.permute(x, (2, 0, 1))
    z = ct.reshape(y, (C * A, B))
    ct.store(out, (0, 0), ct.cat((z, z + 1), axis=1))


@case
def permuted():
    a, out = floats(2, 4, 8), np.zeros((16, 8), "f4")
    launch((1,), shapes, a, out, 2, 4, 8)
    z = a.transpose(2, 0, 1).reshape(16, 4)
    same(out, np.concatenate([z, z + 1], 1))


@ct.kernel
def extracted(a, out, k, T: Int):
    x = ct.load(a, (0, 0), (T, T))
    ct.store(out, (0, 0), ct.extract(x, (k, 1), (4, 4)))
    ct.store(out, (1, 0), ct.extract(x, (0, k), (4, 4)))


@case
def extract():
    a, out = floats(16, 16), np.zeros((8, 4), "f4")
    for k in range(4):
        launch((1,), extracted, a, out, k, 16)
        same(out[:4], a[4 * k:4 * k + 4, 4:8])
        same(out[4:], a[:4, 4 * k:4 * k + 4])


@ct.kernel
def inserted(a, b, out, k, T: Int):
    x = ct.load(a, (0, 0), (T, T))
    y = ct.load(b, (0, 0), (4, 2))
    ct.store(out, (0, 0), ct.insert(x, (k, 3), y))


@case
def insert():
    a, b, out = floats(16, 16), floats(4, 2), np.zeros((16, 16), "f4")
    for k in range(4):
        launch((1,), inserted, a, b, out, k, 16)
        want = a.copy()
        want[4 * k:4 * k + 4, 6:8] = b
        same(out, want)


@ct.kernel
def packed(a, out, T: Int, B: Int):
    x = ct.load(a, (0,), (T,))
    raw_bytes = ct.pack_to_bytes(x)
    ct.store(out, (0,), raw_bytes)


@ct.kernel
def unpacked(a, out, B: Int):
    x = ct.load(a, (0,), (B,))
    ct.store(out, (0,), ct.unpack_from_bytes(x, out.dtype))


@case
def pack():
    for dtype in "f4", "i2", "f8":
        a = (floats(16) * 9).astype(dtype)
        out = np.zeros(a.nbytes, "u1")
        launch((1,), packed, a, out, 16, a.nbytes)
        same(out, a.view("u1"))
        back = np.zeros_like(a)
        launch((1,), unpacked, out, back, a.nbytes)
        same(back, a)


@ct.kernel
def aranged(out, T: Int):
    x = ct.arange(T, dtype=ct.int64, start=3, step=2)
    ct.store(out, (0,), x + ct.full((T,), 5, ct.int64))


@case
def arange():
    out = np.zeros(16, "i8")
    launch((1,), aranged, out, 16)
    same(out, 3 + 2 * np.arange(16) + 5)


@ct.kernel
def dense(out):
    ct.store(out, (0, 0), ct.astile(((1, 2), (5, 9)),
                                    dtype=ct.int32))


@case
def dense_constant():
    out = np.zeros((2, 2), "i4")
    launch((1,), dense, out)
    same(out, [[1, 2], [5, 9]])


# ---- reductions and scans -------------------------------------------------


@ct.kernel
def reductions(a, out, ints, M: Int, N: Int):
    x = ct.load(a, (0, 0), (M, N))
    ct.store(out, (0, 0), ct.sum(x, 1)[None, :])
    ct.store(out, (1, 0), ct.max(x, 1)[None, :])
    ct.store(out, (2, 0), ct.min(x, 1)[None, :])
    ct.store(out, (3, 0), ct.prod(x, axis=1)[None, :])
    ct.store(ints, (0, 0), ct.argmax(x, 1)[None, :])
    ct.store(ints, (1, 0), ct.argmin(x, 1)[None, :])
    whole = ct.sum(x)
    ct.store(out, (4, 0), ct.full((1, M), 0.0, ct.float32) + whole)
    ct.store(out, (5, 0), ct.sum(x, (0, 1), keepdims=True) +
             ct.zeros((1, M), ct.float32))


@case
def reduce():
    a = floats(8, 16)
    out, ints = np.zeros((8, 8), "f4"), np.zeros((2, 8), "i4")
    launch((1,), reductions, a, out, ints, 8, 16)
    x = a.astype("f8")
    near(out[0], x.sum(1), 1e-5, 1e-5)
    same(out[1], a.max(1))
    same(out[2], a.min(1))
    near(out[3], x.prod(1), 1e-5, 1e-9)
    same(ints, [a.argmax(1), a.argmin(1)])
    near(out[4:6], np.full((2, 8), x.sum()), 1e-5, 1e-5)


@ct.kernel
def custom(a, out, T: Int):
    x = ct.load(a, (0,), (T,))
    i = ct.arange(T, dtype=ct.int32)

    def farthest(u, i, v, j):
        first = abs(u) >= abs(v)
        return ct.where(first, u, v), ct.where(first, i, j)

    best, at = ct.reduce((x, i), axis=0, func=farthest, identity=(0.0, 0))
    ct.scatter(out, 0, best)
    ct.scatter(out, 1, at.astype(ct.float32))


@case
def reduce_function():
    a, out = floats(32), np.zeros(2, "f4")
    launch((1,), custom, a, out, 32)
    k = np.abs(a).argmax()
    same(out, np.array([a[k], k], "f4"))


@ct.kernel
def scans(a, out, M: Int, N: Int):
    x = ct.load(a, (0, 0), (M, N))
    ct.store(out, (0, 0), ct.cumsum(x, axis=1))
    ct.store(out, (1, 0), ct.cumsum(x, axis=0, reverse=True))
    ct.store(out, (2, 0), ct.cumprod(x, axis=1))
    ct.store(out, (3, 0), ct.scan(x, axis=1, func=lambda u, v: max(u, v),
                                  identity=-math.inf))


@case
def scan():
    a, out = floats(4, 16), np.zeros((16, 16), "f4")
    launch((1,), scans, a, out, 4, 16)
    x = a.astype("f8")
    near(out[:4], x.cumsum(1), 1e-5, 1e-5)
    near(out[4:8], x[::-1].cumsum(0)[::-1], 1e-5, 1e-5)
    near(out[8:12], x.cumprod(1), 1e-4, 1e-6)
    same(out[12:], np.maximum.accumulate(a, 1))


@ct.kernel
def recurrence(a, b, out, T: Int):
    def step(u, p, v, q):
        return u * v, p * v + q
    x = ct.load(a, (0,), (T,))
    y = ct.load(b, (0,), (T,))
    _, h = ct.scan((x, y), axis=0, func=step, identity=(1.0, 0.0))
    ct.store(out, (0,), h)


@case
def scan_function():
    a, b, out = floats(16) * 0.5, floats(16), np.zeros(16, "f4")
    launch((1,), recurrence, a, b, out, 16)
    h, want = 0.0, []
    for u, v in zip(a.astype("f8"), b.astype("f8")):
        h = u * h + v
        want.append(h)
    near(out, want, 1e-5, 1e-5)


# ---- products -------------------------------------------------------------


@ct.kernel
def matmul_kernel(a, b, c, M: Int, N: Int, K: Int):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, K))):
        x = ct.load(a, (i, k), (M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (K, N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@case
def matmul():
    for dtype, tol in ("f2", 2e-3), ("f4", 1e-5):
        a, b = floats(33, 40, dtype=dtype), floats(40, 27, dtype=dtype)
        c = np.zeros((33, 27), dtype)
        launch((3, 2), matmul_kernel, a, b, c, 16, 16, 16)
        near(c, a.astype("f8") @ b.astype("f8"), tol, tol)


@ct.kernel
def batch_kernel(a, b, c, B: Int, M: Int):
    x = ct.load(a, (0, 0, 0), (B, M, M))
    y = ct.load(b, (0, 0, 0), (B, M, M))
    ct.store(c, (0, 0, 0), ct.matmul(x, y))


@case
def batched_matmul():
    a, b = floats(4, 8, 8, dtype="f2"), floats(4, 8, 8, dtype="f2")
    c = np.zeros((4, 8, 8), "f2")
    launch((1,), batch_kernel, a, b, c, 4, 8)
    near(c, a.astype("f8") @ b.astype("f8"), 1e-2, 1e-2)


@ct.kernel
def int8_kernel(a, b, c, M: Int):
    x, y = ct.load(a, (0, 0), (M, M)), ct.load(b, (0, 0), (M, M))
    ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((M, M), ct.int32)))


@case
def int8_matmul():
    a = rng.integers(-99, 99, (16, 16)).astype("i1")
    b = rng.integers(-99, 99, (16, 16)).astype("i1")
    c = np.zeros((16, 16), "i4")
    launch((1,), int8_kernel, a, b, c, 16)
    same(c, a.astype("i4") @ b.astype("i4"))
    launch((1,), int8_kernel, a.view("u1"), b.view("u1"), c, 16)
    same(c, a.view("u1").astype("i4") @ b.view("u1").astype("i4"))


# ---- control flow ---------------------------------------------------------


@ct.kernel
def early(a, out, n):
    total = 0.0
    count = 0
    for i in range(n):
        x = ct.gather(a, i)
        if x > 1.5:
            break
        if x < 0:
            continue
        total += x
        count += 1
    ct.scatter(out, 0, total)
    ct.scatter(out, 1, count.astype(ct.float32))


@case
def break_continue():
    a = floats(64)
    out = np.zeros(2, "f4")
    for limit in 0, 5, 64:
        launch((1,), early, a, out, limit)
        total, count = np.float32(0), 0
        for x in a[:limit]:
            if x > 1.5:
                break
            if x < 0:
                continue
            total += x
            count += 1
        same(out, np.array([total, count], "f4"))


@ct.kernel
def collatz(a, out):
    i = ct.bid(0)
    n = ct.gather(a, i)
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    ct.scatter(out, i, steps)


@case
def while_loop():
    a, out = np.arange(1, 20, dtype="i4"), np.zeros(19, "i4")
    launch((19,), collatz, a, out)

    def steps(n):
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)
    same(out, [steps(n) for n in range(1, 20)])


@ct.kernel
def returns(a, n):
    i = ct.bid(0)
    if i >= n:
        return
    x = ct.gather(a, i)
    if x < 0:
        ct.scatter(a, i, -x)
        return
    ct.scatter(a, i, x + 1)


@case
def early_return():
    a = floats(32)
    want = a.copy()
    want[:20] = np.where(a[:20] < 0, -a[:20], a[:20] + 1)
    launch((32,), returns, a, 20)
    same(a, want)


def clamp(x, low, high):
    if low > high:
        return x
    y = ct.where(x < low, low, x)
    return ct.where(y > high, high, y)


@ct.kernel
def with_helper(a, out, low, high, T: Int):
    x = ct.load(a, (0,), (T,))
    y = clamp(x, low, high)
    x = clamp(y * 2, -1.0, 1.0)
    ct.store(out, (0,), x + y)


@case
def helpers():
    a, out = floats(32), np.zeros(32, "f4")
    for low, high in (-0.5, 0.5), (1.0, -1.0):
        launch((1,), with_helper, a, out, low, high, 32)
        y = np.clip(a, np.float32(low), np.float32(high)) if (
            low <= high) else a
        same(out, np.clip(y * 2, -1, 1).astype("f4") + y)


@ct.kernel
def swaps(a, out, n, T: Int):
    x = ct.load(a, (0,), (T,))
    y = x * 2
    for i in range(n):
        x, y = y, x + 1
    ct.store(out, (0,), x)
    ct.store(out, (1,), y)


@case
def swapped():
    a, out = floats(8), np.zeros(16, "f4")
    launch((1,), swaps, a, out, 3, 8)
    x, y = a, a * 2
    for _ in range(3):
        x, y = y, x + 1
    same(out, np.r_[x, y])


@ct.kernel
def nested(out, n):
    total = 0
    for i in range(n):
        for j in range(1, n, 2):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            total += i * j
        if total > 500:
            break
    ct.scatter(out, 0, total)


@case
def nested_loops():
    out = np.zeros(1, "i4")
    for n in 0, 5, 20:
        launch((1,), nested, out, n)
        total = 0
        for i in range(n):
            for j in range(1, n, 2):
                if j > i:
                    break
                if (i + j) % 3 == 0:
                    continue
                total += i * j
            if total > 500:
                break
        same(out, [total])


@ct.kernel
def deep_jumps(a, out, n):
    total = 0.0
    for i in range(n):
        x = ct.gather(a, i)
        if x > 0:
            if x > 2:
                break
            total += x
        else:
            if x < -1:
                continue
            total -= x
        total += 1
    ct.scatter(out, 0, total)


@case
def deep_break():
    a, out = floats(64), np.zeros(1, "f4")
    launch((1,), deep_jumps, a, out, 64)
    total = np.float32(0)
    for x in a:
        if x > 0:
            if x > 2:
                break
            total += x
        else:
            if x < -1:
                continue
            total -= x
        total += 1
    same(out, [total])


@ct.kernel
def tuple_args(pair, scale, out, T: Int):
    x = ct.load(pair[0], (0,), (T,))
    y = ct.load(pair[1], (0,), (T,))
    ct.store(out, (0,), x * scale[0] + y * scale[1])


@case
def tuples():
    a, b, out = floats(16), floats(16), np.zeros(16, "f4")
    launch((1,), tuple_args, (a, b), (2.0, 3), out, 16)
    same(out, a * 2 + b * 3)


# ---- atomics --------------------------------------------------------------


@ct.kernel
def counted(a, bins, T: Int):
    x = ct.load(a, (ct.bid(0),), (T,))
    ct.atomic_add(bins, x, 1)


@case
def histogram():
    a, bins = rng.integers(0, 10, 256).astype("i4"), np.zeros(10, "i4")
    launch((8,), counted, a, bins, 32)
    same(bins, np.bincount(a, minlength=10))


@ct.kernel
def atomics(a, out, T: Int):
    i = ct.bid(0)
    x = ct.gather(a, i)
    ct.atomic_max(out, 0, x)
    ct.atomic_min(out, 1, x)
    ct.atomic_or(out, 2, x)
    ct.atomic_and(out, 3, x)
    ct.atomic_xor(out, 4, x)
    old = ct.atomic_xchg(out, 5, x)
    ct.atomic_add(out, 6, old)
    ct.atomic_cas(out, 7, i, i + 1)
    ct.atomic_cas(out, 99, i, 5)  # outside: nothing happens


@case
def atomic_operations():
    a = rng.integers(0, 99, 16).astype("i4")
    out = np.array([0, 99, 0, 127, 0, 0, 0, 0], "i4")
    launch((16,), atomics, a, out, 16)
    same(out, [a.max(), a.min(), np.bitwise_or.reduce(a),
               np.bitwise_and.reduce(a) & 127, np.bitwise_xor.reduce(a),
               a[15], a[:15].sum(), 16])


@ct.kernel
def tile_cas(a, out, T: Int):
    i = ct.arange(T, dtype=ct.int32)
    old = ct.atomic_cas(a, i * 2, i, i + 100)
    ct.store(out, (0,), ct.where(i * 2 < 10, old, -1))


@case
def cas_of_tiles():
    a, out = np.arange(10, dtype="i4") // 2, np.zeros(8, "i4")
    a[4] = 77
    want = a.copy()
    want[[0, 2, 6, 8]] += 100
    old = a[::2].copy()
    launch((1,), tile_cas, a, out, 8)
    same(a, want)
    same(out, np.r_[old, [-1] * 3])


@ct.kernel
def locked(lock, total, T: Int):
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE):
        pass
    x = ct.gather(total, 0)
    ct.scatter(total, 0, x + 1)
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE)


@case
def spin_lock():
    lock, total = np.zeros(1, "i4"), np.zeros(1, "f4")
    launch((9,), locked, lock, total, 1)
    same(total, [9])


@ct.kernel
def view_add(a, out, T: Int):
    x = ct.load(a, (ct.bid(0),), (T,), padding_mode=ct.PaddingMode.ZERO)
    out.tiled_view((T,)).atomic_store_add((0,), x)


@case
def atomic_view():
    a, out = floats(64), np.zeros(16, "f4")
    launch((4,), view_add, a, out, 16)
    near(out, a.reshape(4, 16).astype("f8").sum(0), 1e-5, 1e-5)


@ct.kernel
def flag_kernel(data, flag, out):
    if ct.bid(0) == 0:
        ct.store(data, (0,), 42)
        ct.store(flag, (0,), 1, memory_order=ct.MemoryOrder.RELEASE,
                 memory_scope=ct.MemoryScope.DEVICE)
    else:
        ready = 0
        while ready == 0:
            ready = ct.load(flag, (0,), (),
                            memory_order=ct.MemoryOrder.ACQUIRE,
                            memory_scope=ct.MemoryScope.DEVICE)
        ct.store(out, (0,), ct.load(data, (0,), ()) + 1)


@case
def ordered_flag():
    data, flag, out = (np.zeros(1, "i4") for _ in range(3))
    launch((2,), flag_kernel, data, flag, out)
    same(out, [43])


# ---- whole kernels --------------------------------------------------------


@ct.kernel
def softmax_kernel(x, out, N: Int):
    row = ct.load(x, (ct.bid(0), 0), (1, N),
                  padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(row - ct.max(row, 1, keepdims=True))
    ct.store(out, (ct.bid(0), 0), e / ct.sum(e, 1, keepdims=True))


@case
def softmax():
    x, out = floats(6, 50), np.zeros((6, 50), "f4")
    launch((6,), softmax_kernel, x, out, 64)
    e = np.exp(x - x.max(1, keepdims=True)).astype("f8")
    near(out, e / e.sum(1, keepdims=True), 1e-5, 1e-7)


@ct.kernel
def layer_norm_kernel(x, w, b, out, eps, n, N: Int):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, N), padding_mode=ct.PaddingMode.ZERO)
    mean = ct.sum(row, 1, keepdims=True) / n
    d = ct.where(ct.arange(N, dtype=ct.int32)[None, :] < n, row - mean, 0.0)
    var = ct.sum(d * d, 1, keepdims=True) / n
    y = d * ct.rsqrt(var + eps)
    y = y * ct.load(w, (0,), (N,)) + ct.load(b, (0,), (N,))
    ct.store(out, (i, 0), y)


@case
def layer_norm():
    x, w, b = floats(5, 40), floats(40), floats(40)
    out = np.zeros((5, 40), "f4")
    launch((5,), layer_norm_kernel, x, w, b, out, 1e-5, 40, 64)
    X = x.astype("f8")
    want = ((X - X.mean(1, keepdims=True)) /
            np.sqrt(X.var(1, keepdims=True) + 1e-5)) * w + b
    near(out, want, 1e-4, 1e-5)


@ct.kernel
def attention_kernel(q, k, v, out, scale, n, M: Int, N: Int, D: Int):
    i = ct.bid(0)
    qt = ct.load(q, (i, 0), (M, D))
    acc = ct.zeros((M, D), ct.float32)
    high = ct.full((M, 1), -math.inf, ct.float32)
    total = ct.zeros((M, 1), ct.float32)
    rows = i * M + ct.arange(M, dtype=ct.int32)[:, None]
    for j in range(ct.cdiv(n, N)):
        kt = ct.load(k, (j, 0), (N, D), padding_mode=ct.PaddingMode.ZERO)
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((M, N), ct.float32)) * scale
        cols = j * N + ct.arange(N, dtype=ct.int32)[None, :]
        s = ct.where(cols <= rows, s, -math.inf)
        new = max(high, ct.max(s, 1, keepdims=True))
        p = ct.exp(s - new)
        fix = ct.exp(high - new)
        total = total * fix + ct.sum(p, 1, keepdims=True)
        vt = ct.load(v, (j, 0), (N, D), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(p.astype(vt.dtype), vt, acc * fix)
        high = new
    ct.store(out, (i, 0), acc / total)


@case
def flash_attention():
    n, d = 48, 16
    q, k, v = (floats(n, d, dtype="f2") for _ in range(3))
    out = np.zeros((n, d), "f4")
    launch((3,), attention_kernel, q, k, v, out, 0.25, n, 16, 16, d)
    s = q.astype("f8") @ k.astype("f8").T * 0.25
    s[np.triu_indices(n, 1)] = -np.inf
    p = np.exp(s - s.max(1, keepdims=True))
    near(out, p / p.sum(1, keepdims=True) @ v.astype("f8"), 5e-3, 5e-3)


@ct.kernel
def persistent(a, out, queue, n, T: Int):
    while True:
        i = ct.atomic_add(queue, 0, 1)
        if i >= n:
            break
        ct.store(out, (i,), ct.load(a, (i,), (T,)) * 2)


@case
def work_queue():
    a, out, queue = floats(64), np.zeros(64, "f4"), np.zeros(1, "i4")
    launch((3,), persistent, a, out, queue, 8, 8)
    same(out, a * 2)


@ct.kernel
def printing(a, T: Int):
    x = ct.load(a, (0,), (T,))
    if ct.bid(0) == 0:
        ct.printf("sum %5.2f of %d\n", ct.sum(x), T)
        print("max", ct.max(x))
    ct.assert_(x < 100.0, "too big")


@case
def prints():
    launch((2,), printing, np.arange(4, dtype="f4"), 4)


@case
def tuning():
    a, b, c = floats(256), floats(256), np.zeros(256, "f4")
    found = ct.tune.exhaustive_search(
        [32, 64], 1, lambda t: (256 // t,), add,
        lambda t: (a, b, c, t), quiet=True)
    assert found.best.config == 32, found
    same(c, a + b)


# ---- conversions with a rounding mode --------------------------------------


def rounded(to, mode):
    @ct.kernel
    def kernel(a, out, T: Int):
        t = ct.load(a, (0,), (T,)).astype(to, rounding_mode=mode)
        ct.store(out, (0,), t.astype(out.dtype))
    return kernel


def coded(to, mode=None):
    """The codes of a type that NumPy has not."""
    @ct.kernel
    def kernel(a, out, T: Int):
        t = ct.load(a, (0,), (T,)).astype(to, rounding_mode=mode)
        ct.store(out, (0,), ct.bitcast(t, ct.uint8))
    return kernel


def from_codes(dtype):
    @ct.kernel
    def kernel(a, out, T: Int):
        t = ct.bitcast(ct.load(a, (0,), (T,)), dtype)
        ct.store(out, (0,), t.astype(ct.float32))
    return kernel


@case
def rounding_of_fp64():
    a = np.r_[floats(60, dtype="f8") * 1e3, 0.0, np.inf, 1e300, -1e-300]
    with np.errstate(over="ignore"):
        near = a.astype("f4")
    down = np.where(near > a, np.nextafter(near, np.float32(-np.inf)), near)
    up = np.where(near < a, np.nextafter(near, np.float32(np.inf)), near)
    for mode, want in ((ct.RoundingMode.RM, down), (ct.RoundingMode.RP, up),
                       (ct.RoundingMode.RZ, np.where(a < 0, up, down)),
                       (ct.RoundingMode.RN, near)):
        out = np.zeros(64, "f4")
        launch((1,), rounded(ct.float32, mode), a, out, 64)
        same(out, want)


@case
def rounding_to_tf32():
    exact = 1 + np.arange(8) * 2.0 ** -10
    a = (exact[:, None] + np.array([0, 1, 2, 3]) * 2.0 ** -12).ravel()
    a = np.r_[a, -a]
    k = np.abs(a) * 1024
    for dtype in "f4", "f8":
        for mode, whole in ((ct.RoundingMode.RZ, np.floor(k)),
                            (ct.RoundingMode.RA, np.floor(k + 0.5)),
                            (ct.RoundingMode.RN, np.rint(k))):
            if dtype == "f8" and mode == ct.RoundingMode.RA:
                continue
            out = np.zeros(64, "f4")
            launch((1,), rounded(ct.tfloat32, mode), a.astype(dtype), out, 64)
            same(out, np.copysign(whole / 1024, a).astype("f4"))
    hair = np.full(64, 1 + 2.0 ** -11 + 2.0 ** -50)  # is rounded once
    launch((1,), rounded(ct.tfloat32, ct.RoundingMode.RN), hair, out, 64)
    same(out, np.full(64, 1 + 2.0 ** -10, "f4"))


def narrowed(mode):
    @ct.kernel
    def kernel(a, out, T: Int):
        t = ct.load(a, (0,), (T,)).astype(ct.bfloat16)  # exact
        ct.store(out, (0,), t.astype(ct.float16, rounding_mode=mode))
    return kernel


@case
def rounding_of_bf16():
    tiny = 2.0 ** -24  # the least of fp16
    a = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 2.0, 3.5], "f4") * tiny
    a = np.r_[a, -a]
    k = a / tiny
    for mode, want in ((ct.RoundingMode.RM, np.floor(k)),
                       (ct.RoundingMode.RP, np.ceil(k)),
                       (ct.RoundingMode.RZ, np.trunc(k)),
                       (ct.RoundingMode.RN, np.rint(k)),
                       (ct.RoundingMode.RA,
                        np.copysign(np.floor(np.abs(k) + 0.5), k))):
        out = np.zeros(16, "f2")
        launch((1,), narrowed(mode), a, out, 16)
        same(out, (want * tiny).astype("f2"))


@case
def to_exponents():
    a = np.array([1.0, 1.5, 2.0, 3.9, 0.75, -4.0, 2.0 ** -127, 2.0 ** -126,
                  2.0 ** -128, 1.5 * 2.0 ** -127, 3e38, np.inf, np.nan,
                  2.0 ** 127, 0.5, 1e-20], "f4")
    e = np.array([127, 127, 128, 128, 126, 129, 0, 1, 0, 0, 254, 255, 255,
                  254, 126, 60], "u1")
    for mode, up in ((ct.RoundingMode.RZ, 0), (ct.RoundingMode.RP, 1)):
        out = np.zeros(16, "u1")
        launch((1,), coded(ct.float8_e8m0fnu, mode), a, out, 16)
        whole = np.isin(np.arange(16), (0, 2, 5, 6, 7, 8, 11, 12, 13, 14))
        same(out, e + (up * ~whole).astype("u1"))
    codes, back = np.arange(256, dtype="u1"), np.zeros(256, "f4")
    launch((1,), from_codes(ct.float8_e8m0fnu), codes, back, 256)
    same(back, np.r_[2.0 ** (np.arange(255) - 127), np.nan].astype("f4"))


@case
def from_bytes_without_a_sign():
    codes, back = np.arange(256, dtype="u1"), np.zeros(256, "f4")
    launch((1,), from_codes(ct.float8_e5m3fnu), codes, back, 256)
    e, m = codes // 8, codes % 8 / 8.0
    want = np.where(e == 0, m * 2.0 ** -14, (1 + m) * 2.0 ** (e - 15.0))
    want[255] = np.nan  # 254 is the largest, 1.75 * 2 ** 16
    same(back, want.astype("f4"))


@ct.kernel
def to_fours(a, out, T: Int):
    t = ct.load(a, (0,), (T,)).astype(ct.float4_e2m1fn)
    ct.store(out, (0,), t.astype(ct.float32))


@case
def to_four_bits():
    grid = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    ties = (grid[1:] + grid[:-1]) / 2
    a = np.r_[grid, ties, 100.0]
    a = np.r_[a, -a]
    even = np.array([0, 1, 1, 2, 2, 4, 4])
    want = np.r_[grid, even, 6]
    for dtype in "f4", "f8":
        out = np.zeros(32, "f4")
        launch((1,), to_fours, a.astype(dtype), out, 32)
        same(out, np.r_[want, -want].astype("f4"))
    hair = np.full(32, 0.25 + 2.0 ** -40)  # is rounded once
    launch((1,), to_fours, hair, out, 32)
    same(out, np.full(32, 0.5, "f4"))


@ct.kernel
def small_constants(out, codes, flags):
    t = ct.astile((0, 1, 2, 4), dtype=ct.float4_e2m1fn)
    ct.store(out, (0,), t.astype(ct.float32))
    e = ct.astile((0.25, 1, 2, 4), dtype=ct.float8_e8m0fnu)
    ct.store(codes, (0,), ct.bitcast(e, ct.uint8))
    ct.store(flags, (0,), ct.astile((0, 2.5, 4, 1), dtype=ct.bool_))


@case
def constants_of_few_bits():
    out, codes = np.zeros(4, "f4"), np.zeros(4, "u1")
    flags = np.zeros(4, bool)
    launch((1,), small_constants, out, codes, flags)
    same(out, [0, 1, 2, 4])
    same(codes, [125, 127, 128, 129])
    same(flags, [False, True, True, True])


# ---- functions that use what is around them -------------------------------


@ct.kernel
def clamped_sums(a, n, out, sums, M: Int, N: Int):
    t = ct.load(a, (0, 0), (M, N))
    limit = ct.bid(0) + n

    def capped(x, y):
        return ct.minimum(x + y, limit)
    ct.store(out, (0,), ct.reduce(t, 1, capped, 0))
    ct.store(sums, (0, 0), ct.scan(t, 1, capped, 0))


@case
def captured_values():
    a = rng.integers(0, 4, (4, 8)).astype("i4")
    out, sums = np.zeros(4, "i4"), np.zeros((4, 8), "i4")
    launch((1,), clamped_sums, a, 5, out, sums, 4, 8)
    same(out, np.minimum(a.sum(1), 5))
    same(sums, np.minimum(a.cumsum(1), 5))


def main():
    failed = 0
    for name in sys.argv[1:] or CASES:
        try:
            CASES[name]()
            print("OK", name)
        except BaseException:
            failed += 1
            print("FAILED", name)
            traceback.print_exc(limit=3)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
