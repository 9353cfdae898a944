"""Kernels of CUDA Tile with one planted fault each.

    tkdbg run --check cutile_planted.py NAME

The line that ends with `# here` is the one that a finding must name; the name
of the case says its kind.  `right` has the same kernels without their faults.
"""
import sys

import numpy as np

import cuda.tile as ct

Int = ct.Constant[int]
CASES = {}
rng = np.random.default_rng(3)


def case(function):
    CASES[function.__name__] = function
    return function


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def launch(grid, kernel, *args):
    ct.launch(1, grid, kernel, args)


@ct.kernel
def promised(a, b, T: Int):
    i = ct.bid(0)
    t = ct.load(a, (i,), (T,), check_bounds=False)  # here: promised_load
    ct.store(b, (ct.bid(0),), t)


@case
def promised_load():
    launch((4,), promised, floats(100), np.zeros(128, "f4"), 32)


@case
def promised_view():
    launch((4,), promised, floats(128)[:100], np.zeros(128, "f4"), 32)


@ct.kernel
def promised_out(a, b, T: Int):
    t = ct.load(a, (ct.bid(0),), (T,))
    ct.store(b, (ct.bid(0),), t, check_bounds=False)  # here: promised_store


@case
def promised_store():
    launch((4,), promised_out, floats(128), np.zeros(100, "f4"), 32)


@ct.kernel
def summed(a, out, T: Int):
    t = ct.load(a, (0,), (T,))
    ct.scatter(out, 0, ct.sum(t))  # here: undef_sum


@case
def undef_sum():
    launch((1,), summed, floats(50), np.zeros(1, "f4"), 64)


@ct.kernel
def row_max(a, out, T: Int):
    t = ct.load(a, (ct.bid(0), 0), (1, T))
    m = ct.max(t, 1, keepdims=True)  # here: undef_max
    ct.store(out, (ct.bid(0), 0), m)


@case
def undef_max():
    launch((3,), row_max, floats(3, 50), np.zeros((3, 1), "f4"), 64)


@ct.kernel
def padded_out(a, b, T: Int):
    t = ct.load(a, (0,), (T,))
    ct.store(b, (0,), t + 1)  # here: undef_store


@case
def undef_store():
    launch((1,), padded_out, floats(50), np.zeros(64, "f4"), 64)


@ct.kernel
def product(a, b, c, M: Int):
    acc = ct.zeros((M, M), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, M))):
        x = ct.load(a, (0, k), (M, M))
        y = ct.load(b, (k, 0), (M, M), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)  # here: undef_mma
    ct.store(c, (0, 0), acc)


@case
def undef_mma():
    launch((1,), product, floats(16, 24), floats(24, 16),
           np.zeros((16, 16), "f4"), 16)


@ct.kernel
def minimum(a, out, T: Int):
    t = ct.load(a, (0,), (T,), padding_mode=ct.PaddingMode.ZERO)
    ct.scatter(out, 0, ct.min(t))  # here: neutral_min


@case
def neutral_min():
    launch((1,), minimum, np.abs(floats(50)) + 1, np.zeros(1, "f4"), 64)


@ct.kernel
def outside(a, b, T: Int):
    i = ct.bid(0)
    t = ct.load(a, (i,), (T,))  # here: outside_load
    ct.store(b, (i,), t)


@case
def outside_load():
    launch((5,), outside, floats(64), np.zeros(96, "f4"), 16)


@ct.kernel
def outside_out(a, b, T: Int):
    i = ct.bid(0)
    t = ct.load(a, (i,), (T,))
    ct.store(b, (i + 1,), t)  # here: outside_store


@case
def outside_store():
    launch((4,), outside_out, floats(64), np.zeros(64, "f4"), 16)


@ct.kernel
def one_element(a, out):
    x = ct.gather(a, ct.bid(0))
    old = ct.gather(out, 0)  # here: race_sum
    ct.scatter(out, 0, old + x)


@case
def race_sum():
    launch((8,), one_element, floats(8), np.zeros(1, "f4"))


@ct.kernel
def overlapping(a, out, T: Int):
    i = ct.bid(0)
    t = ct.load(a, (i,), (T,))
    at = i * (T // 2) + ct.arange(T, dtype=ct.int32)
    ct.scatter(out, at, t)  # here: race_overlap


@case
def race_overlap():
    launch((4,), overlapping, floats(64), np.zeros(64, "f4"), 16)


@ct.kernel
def same_tile(a, out, T: Int):
    t = ct.load(a, (ct.bid(0),), (T,))
    ct.store(out, (0,), t)  # here: race_same_tile


@case
def race_same_tile():
    launch((4,), same_tile, floats(64), np.zeros(16, "f4"), 16)


@ct.kernel
def shifted(a, n, T: Int):
    t = ct.load(a, (ct.bid(0),), (T,))
    s = ct.gather(a, (ct.bid(0) + 1) * T)  # here: race_neighbour
    ct.store(a, (ct.bid(0),), t + s)


@case
def race_neighbour():
    launch((4,), shifted, floats(65), 65, 16)


@ct.kernel
def unchecked_gather(a, idx, out, T: Int):
    i = ct.load(idx, (0,), (T,))
    v = ct.gather(a, i, check_bounds=False)  # here: bounds_gather
    ct.store(out, (0,), v)


@case
def bounds_gather():
    idx = np.arange(16, dtype="i4") * 5
    launch((1,), unchecked_gather, floats(64), idx, np.zeros(16, "f4"), 16)


@case
def bounds_negative():
    idx = np.arange(16, dtype="i4") - 1
    launch((1,), unchecked_gather, floats(64), idx, np.zeros(16, "f4"), 16)


@ct.kernel
def unchecked_scatter(a, idx, out, T: Int):
    i = ct.load(idx, (0,), (T,))
    v = ct.load(a, (0,), (T,))
    ct.scatter(out, i, v, check_bounds=False)  # here: bounds_scatter


@case
def bounds_scatter():
    idx = np.arange(16, dtype="i4") * 5
    launch((1,), unchecked_scatter, floats(16), idx, np.zeros(64, "f4"), 16)


@ct.kernel
def raw_read(a, out, T: Int):
    i = ct.arange(T, dtype=ct.int32)
    v = a.get_raw_memory().load_offset(i)  # here: bounds_raw
    ct.store(out, (0,), v)


@case
def bounds_raw():
    launch((1,), raw_read, floats(10), np.zeros(16, "f4"), 16)


@ct.kernel
def multiple(a, out, n, T: Int):
    m = ct.assume_divisible_by(n, 16)  # here: promise_divisible
    t = ct.load(a, (0,), (T,))
    ct.store(out, (0,), t * m)


@case
def promise_divisible():
    launch((1,), multiple, floats(16), np.zeros(16, "f4"), 20, 16)


@ct.kernel
def subtile(a, out, k, T: Int):
    t = ct.load(a, (0,), (T,))
    s = ct.extract(t, (k,), (4,))  # here: promise_extract
    ct.store(out, (0,), s)


@case
def promise_extract():
    launch((1,), subtile, floats(16), np.zeros(4, "f4"), 4, 16)


@ct.kernel
def asserted(a, T: Int):
    t = ct.load(a, (0,), (T,))
    ct.assert_(t < 100.0, "too big")  # here: assert_lane


@case
def assert_lane():
    a = floats(16)
    a[5] = 200
    launch((1,), asserted, a, 16)


@ct.kernel
def duplicates(a, idx, out, T: Int):
    i = ct.load(idx, (0,), (T,))
    v = ct.load(a, (0,), (T,))
    ct.scatter(out, i, v)  # here: race_lanes


@case
def race_lanes():
    idx = np.arange(16, dtype="i4") // 2
    launch((1,), duplicates, floats(16), idx, np.zeros(8, "f4"), 16)


@ct.kernel
def in_place(x, y, out, T: Int):
    i = ct.bid(0)
    t = ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,))
    ct.store(out, (i,), t)  # here: alias_in_place


@case
def alias_in_place():
    x = floats(60)
    launch((4,), in_place, x, floats(60), x, 16)


@ct.kernel
def two_outputs(x, low, high, T: Int):
    t = ct.load(x, (0,), (T,))
    ct.store(low, (0,), t)
    ct.store(high, (0,), -t)  # here: alias_outputs


@case
def alias_outputs():
    whole = np.zeros(24, "f4")
    launch((1,), two_outputs, floats(16), whole[:16], whole[8:], 16)


@ct.kernel
def read_back(x, out, copy, T: Int):
    ct.store(out, (0,), ct.load(x, (0,), (T,)) * 2)
    t = ct.load(copy, (0,), (T,))  # here: alias_read_back
    ct.store(out, (1,), t)


@case
def alias_read_back():
    out = np.zeros(32, "f4")
    launch((1,), read_back, floats(16), out, out[:16], 16)


@ct.kernel
def guarded(a, out, T: Int):
    t = ct.load(a, (ct.bid(0),), (T,), padding_mode=ct.PaddingMode.ZERO)
    ct.atomic_add(out, 0, ct.sum(t))


@case
def right():
    """Nothing to find."""
    launch((4,), promised, floats(128), np.zeros(128, "f4"), 32)
    launch((1,), summed, floats(64), np.zeros(1, "f4"), 64)
    launch((3,), row_max, floats(3, 64), np.zeros((3, 1), "f4"), 64)
    launch((1,), padded_out, floats(50), np.zeros(50, "f4"), 64)
    launch((4,), outside, floats(60), np.zeros(60, "f4"), 16)
    idx = rng.permutation(64)[:16].astype("i4")
    launch((1,), unchecked_gather, floats(64), idx, np.zeros(16, "f4"), 16)
    launch((1,), unchecked_scatter, floats(16), idx, np.zeros(64, "f4"), 16)
    launch((1,), multiple, floats(16), np.zeros(16, "f4"), 32, 16)
    launch((1,), subtile, floats(16), np.zeros(4, "f4"), 3, 16)
    launch((1,), asserted, floats(16), 16)
    launch((4,), in_place, floats(60), floats(60), np.zeros(60, "f4"), 16)
    launch((1,), guarded, floats(16), np.zeros(1, "f4"), 16)
    x, pairs = floats(64), np.zeros((16, 2), "f4")
    launch((4,), in_place, x, x, np.zeros(64, "f4"), 16)  # only read
    launch((1,), two_outputs, x[:16], pairs[:, 0], pairs[:, 1], 16)
    launch((1,), two_outputs, x[:16], x[16:32], x[32:48], 16)


def line_of(name):
    """Where the fault of a case is."""
    with open(__file__) as f:
        for i, line in enumerate(f, 1):
            if line.rstrip().endswith("# here: " + name):
                return i
    return None


if __name__ == "__main__":
    CASES[sys.argv[1]]()
