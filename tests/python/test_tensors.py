"""Tensor arguments: NumPy arrays, interfaces, pointers, PyTorch tensors."""
import ctypes
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

# what is read here are tensors on the CPU as well
tkdbg.install(quiet=True, triton="ours", lenient_device=True)

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from tkdbg import _capi, arguments, session, tensors  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

needs_torch = unittest.skipIf(torch is None, "torch is not installed")


@triton.jit
def copy(x, z, n, sx, sz, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z + i * sz, tl.load(x + i * sx, mask=i < n), mask=i < n)


@triton.jit
def fill(z, value, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z + i, value, mask=i < n)


def layout(x):
    reader = tensors.Reader(session.current())
    with_off = arguments.kind_of(type(x))
    if torch is not None:
        with torch._C.DisableTorchFunction():
            return reader.read(with_off, x)
    return reader.read(with_off, x)


def name(index):
    return session.current().dtypes.names[index]


@triton.jit
def second_of(ptrs, z):
    p = tl.load(ptrs + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(z + tl.program_id(0), tl.load(p + 1))


class Lifetime:
    """A weak reference whose target dies when the test says so."""
    dead = False

    def expired(self):
        return self.dead


class Numpy(unittest.TestCase):
    def test_address_of(self):
        base = np.arange(8, dtype="f4")
        parts = [base[2:4], np.array([[7, 9]], "f4")]
        ptrs = np.array([tkdbg.address_of(p) for p in parts])
        z = np.zeros(2, "f4")
        second_of[(2,)](ptrs, z)
        self.assertEqual(z.tolist(), [3, 9])

    def test_address_of_an_array_that_is_gone(self):
        address = tkdbg.address_of(np.zeros(1000, "f4"))
        with self.assertRaises(tkdbg.KernelError):
            second_of[(1,)](np.array([address]), np.zeros(1, "f4"))

    def test_memory_that_came_back(self):
        known, first, second = tensors.Addresses(), Lifetime(), Lifetime()
        known._note(4096, first, 8)
        first.dead = True
        known._note(4096, second, 4)
        self.assertEqual(known.alive(), [(4096, 4)])

    def test_strides_and_bounds(self):
        base = np.zeros((6, 8), "f4")
        view = base[1:5:2, ::-2]
        found = layout(view)
        self.assertEqual(found.shape, (2, 4))
        self.assertEqual(found.strides, (16, -2))
        self.assertEqual(found.data, view.__array_interface__["data"][0])
        self.assertEqual(found.storage, base.__array_interface__["data"][0])
        self.assertEqual(found.nbytes, base.nbytes)

    def test_dtypes(self):
        for spec, wanted in (("f2", "fp16"), ("f4", "fp32"), ("f8", "fp64"),
                             ("i1", "int8"), ("i8", "int64"),
                             ("u2", "uint16"), ("?", "int1")):
            self.assertEqual(name(layout(np.zeros(1, spec)).dtype), wanted)

    def test_refused(self):
        for bad in (np.zeros(2, "c8"), np.zeros(2, ">f4"),
                    np.zeros(2, "U3"), np.array([None])):
            with self.assertRaises(TypeError):
                layout(bad)
        odd = np.ndarray((2,), "f4", bytearray(16), strides=(6,))
        with self.assertRaisesRegex(TypeError, "multiple"):
            layout(odd)
        with self.assertRaisesRegex(TypeError, "rank"):
            ones = (1,) * (_capi.MAX_RANK + 1)
            tensors.Layout(0, 0, ones, ones, 0, 0, 0, 0).pack(
                tensors.buffer())

    def test_readonly(self):
        a = np.zeros(4, "f4")
        a.flags.writeable = False
        self.assertEqual(layout(a).flags, 1)
        with self.assertRaisesRegex(tkdbg.LaunchError, "read-only"):
            fill[(1,)](a, 1.0, 4, BLOCK=4)

    def test_strided_launch(self):
        x, z = np.arange(32, dtype="i4"), np.zeros(32, "i4")
        copy[(1,)](x[::4], z[1::2], 8, 4, 2, BLOCK=8)
        np.testing.assert_array_equal(z[1:17:2], x[::4])
        self.assertEqual(z[::2].sum(), 0)

    def test_negative_stride(self):
        x, z = np.arange(8, dtype="f4"), np.zeros(8, "f4")
        copy[(1,)](x[::-1], z, 8, -1, 1, BLOCK=8)
        np.testing.assert_array_equal(z, x[::-1])

    def test_view_may_reach_its_storage_only(self):
        base = np.arange(16, dtype="f4")
        z = np.zeros(16, "f4")
        copy[(1,)](base[4:8], z, 12, 1, 1, BLOCK=16)
        np.testing.assert_array_equal(z[:12], base[4:])
        with self.assertRaises(tkdbg.LaunchError):
            copy[(1,)](base[4:8], z, 13, 1, 1, BLOCK=16)

    def test_empty(self):
        fill[(1,)](np.zeros(0, "f4"), 1.0, 0, BLOCK=4)

    def test_scalar_array(self):
        z = np.zeros((), "f4")
        fill[(1,)](z, 3.0, 1, BLOCK=1)
        self.assertEqual(float(z), 3)

    def test_subclass(self):
        z = np.zeros(4, "f4").view(np.matrix)
        fill[(1,)](z, 2.0, 4, BLOCK=4)
        self.assertEqual(z.sum(), 8)


class Interfaces(unittest.TestCase):
    def test_array_interface(self):
        class Holder:
            def __init__(self, array):
                self.array = array

            @property
            def __array_interface__(self):
                return self.array.__array_interface__
        z = np.zeros(4, "i2")
        fill[(1,)](Holder(z), 5, 4, BLOCK=4)
        self.assertEqual(z.tolist(), [5] * 4)

    def test_data_ptr(self):
        class Pointer:
            dtype = tl.int32
            shape = (4,)

            def __init__(self):
                self.memory = (ctypes.c_int32 * 4)()

            def data_ptr(self):
                return ctypes.addressof(self.memory)
        p = Pointer()
        fill[(1,)](p, 6, 4, BLOCK=4)
        self.assertEqual(list(p.memory), [6] * 4)
        with self.assertRaises(tkdbg.LaunchError):
            fill[(1,)](p, 6, 5, BLOCK=8)

    def test_contiguous(self):
        self.assertEqual(tensors.contiguous((2, 3, 4)), (12, 4, 1))
        self.assertEqual(tensors.contiguous(()), ())


@needs_torch
class Torch(unittest.TestCase):
    def test_views_keep_their_storage(self):
        base = torch.zeros(6, 8)
        found = layout(base[1:4, 2:].t())
        self.assertEqual(found.shape, (6, 3))
        self.assertEqual(found.strides, (1, 8))
        self.assertEqual(found.nbytes, 192)
        self.assertEqual(found.data - found.storage, 40)

    def test_dtypes(self):
        for dtype, wanted in ((torch.float16, "fp16"), (torch.bool, "int1"),
                              (torch.bfloat16, "bf16"),
                              (torch.float8_e4m3fn, "fp8e4nv"),
                              (torch.float8_e5m2, "fp8e5"),
                              (torch.uint8, "uint8")):
            x = torch.zeros(2).to(dtype)
            self.assertEqual(name(layout(x).dtype), wanted)

    def test_refused(self):
        for bad in (torch.zeros(2, dtype=torch.complex64),
                    torch.zeros(2, 2).to_sparse()):
            with self.assertRaises(TypeError):
                layout(bad)

    def test_aliases(self):
        base = torch.arange(8.0)
        copy[(1,)](base[:4], base[4:], 4, 1, 1, BLOCK=4)
        self.assertEqual(base.tolist(), [0, 1, 2, 3] * 2)

    def test_expanded(self):
        one, z = torch.tensor([7.0]), torch.zeros(4)
        x = one.expand(4)
        copy[(1,)](x, z, 4, x.stride(0), 1, BLOCK=4)
        self.assertEqual(z.tolist(), [7] * 4)

    def test_parameter_and_grad(self):
        p = torch.nn.Parameter(torch.ones(4))
        z = torch.zeros(4)
        copy[(1,)](p, z, 4, 1, 1, BLOCK=4)
        self.assertEqual(z.sum().item(), 4)

    def test_reinterpret(self):
        x = torch.tensor([1.0, 2.0])
        z = torch.zeros(2, dtype=torch.int32)
        copy[(1,)](triton.reinterpret(x, tl.int32), z, 2, 1, 1, BLOCK=2)
        self.assertEqual(z.tolist(), [0x3f800000, 0x40000000])
        wrapped = triton.reinterpret(x, tl.int32)
        self.assertIs(triton.reinterpret(wrapped, torch.float32), x)
        with self.assertRaises(TypeError):
            triton.reinterpret(5, tl.int32)

    def test_reinterpret_as_bytes(self):
        x = torch.zeros(2)
        self.assertEqual(layout(triton.reinterpret(x, tl.int8)).shape, (8,))

    def test_addresses_in_memory(self):
        parts = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
        ptrs = torch.tensor([t.data_ptr() for t in parts])
        z = torch.zeros(2)
        second_of[(2,)](ptrs, z)
        self.assertEqual(z.tolist(), [2, 4])
        # Other memory, and less of it, is known to the same kernel later.
        del parts
        last = torch.tensor([5.0, 6.0])
        ptrs[0] = last.data_ptr()
        made = len(second_of._prepared)
        second_of[(1,)](ptrs, z)
        self.assertEqual(z.tolist(), [6, 4])
        self.assertEqual(len(second_of._prepared), made)
        with self.assertRaises(tkdbg.KernelError):
            second_of[(2,)](ptrs, z)

    def test_an_address_with_a_type_and_no_size(self):
        class Typed:
            def __init__(self, address, dtype):
                self.address, self.dtype = address, dtype

            def data_ptr(self):
                return self.address
        x = torch.tensor([complex(1, 2), complex(3, 4)])
        found = layout(Typed(x.data_ptr() + 8, torch.float32))
        self.assertEqual((found.shape, found.nbytes), ((2,), 16))
        z = torch.zeros(2)
        copy[(1,)](Typed(x.data_ptr() + 8, torch.float32), z, 2, 1, 1, BLOCK=2)
        self.assertEqual(z.tolist(), [3, 4])
        with self.assertRaises(tkdbg.LaunchError):
            copy[(1,)](Typed(x.data_ptr(), torch.float32), torch.zeros(5), 5,
                       1, 1, BLOCK=8)
        memory = (ctypes.c_int32 * 4)()
        unknown = layout(Typed(ctypes.addressof(memory), tl.int32))
        self.assertEqual(unknown.shape, ())

    def test_addresses_are_forgotten(self):
        known = tensors.Addresses()
        x = torch.zeros(3)
        known.add(x)
        self.assertEqual([n for _, n in known.alive()], [12])
        del x
        self.assertEqual(known.alive(), [])

    def test_fresh_empty_is_marked_until_a_launch_has_run(self):
        x = torch.empty(4, device="cuda")
        if not x.is_cuda or support.real_cuda():
            self.skipTest("no virtual device")
        for _ in range(2):  # two arguments may lie in one tensor
            self.assertEqual(layout(x).flags, 2)
        session.current().fresh.ran()
        self.assertEqual(layout(x).flags, 0)
        x = torch.empty(4, device="cuda")
        x[0] = 1
        self.assertEqual(layout(x).flags, 0)

    def test_warmup_with_a_dtype(self):
        kernel = copy.warmup(torch.float32, torch.float32, 4, 1, 1, BLOCK=4,
                             grid=(1,))
        self.assertEqual(kernel.name, "copy")


if __name__ == "__main__":
    unittest.main()
