"""Types and values of the language on the host."""
import pickle
import unittest

import support  # noqa: F401 - sets the path
from tkdbg import tltypes as t


class Dtype(unittest.TestCase):
    def test_names(self):
        f32 = t.dtype("fp32")
        self.assertEqual(str(f32), "fp32")
        self.assertEqual(repr(f32), "triton.language.float32")
        self.assertEqual(repr(t.dtype("bf16")), "triton.language.bfloat16")
        self.assertEqual(repr(t.dtype("int1")), "triton.language.int1")

    def test_equality_and_hash(self):
        self.assertEqual(t.dtype("int8"), t.dtype("int8"))
        self.assertNotEqual(t.dtype("int8"), t.dtype("uint8"))
        self.assertEqual(len({t.dtype("fp16"), t.dtype("fp16")}), 1)
        self.assertEqual(t.dtype("fp16"), t.constexpr(t.dtype("fp16")))

    def test_widths(self):
        self.assertEqual(t.dtype("fp64").primitive_bitwidth, 64)
        self.assertEqual(t.dtype("fp8e4nv").itemsize, 1)
        self.assertEqual(t.dtype("int1").int_bitwidth, 1)
        self.assertEqual(t.dtype("bf16").fp_mantissa_width, 7)
        self.assertEqual(t.dtype("fp16").exponent_bias, 15)

    def test_predicates(self):
        f16, u8 = t.dtype("fp16"), t.dtype("uint8")
        self.assertTrue(f16.is_fp16() and f16.is_floating())
        self.assertFalse(f16.is_bf16() or f16.is_int() or f16.is_ptr())
        self.assertTrue(u8.is_uint8() and u8.is_int_unsigned())
        self.assertTrue(t.dtype("fp8e5").is_fp8())
        self.assertTrue(t.dtype("int1").is_bool())
        self.assertEqual(u8.kind(), t.dtype.KIND.INTEGRAL)

    def test_limits(self):
        self.assertEqual(t.dtype("int8").get_int_max_value(), 127)
        self.assertEqual(t.dtype("int8").get_int_min_value(), -128)
        self.assertEqual(t.dtype("uint16").get_int_max_value(), 65535)

    def test_unknown(self):
        with self.assertRaises(AssertionError):
            t.dtype("fp31")

    def test_pickle(self):
        self.assertEqual(pickle.loads(pickle.dumps(t.dtype("fp32"))),
                         t.dtype("fp32"))


class Compound(unittest.TestCase):
    def test_pointer(self):
        p = t.pointer_type(t.dtype("fp16"))
        self.assertTrue(p.is_ptr())
        self.assertEqual(str(p), "pointer<fp16>")
        self.assertEqual(p, t.pointer_type(t.dtype("fp16")))
        self.assertNotEqual(p, t.pointer_type(t.dtype("fp16"), const=True))
        with self.assertRaises(TypeError):
            t.pointer_type(5)

    def test_block(self):
        b = t.block_type(t.dtype("fp32"), [16, t.constexpr(32)])
        self.assertEqual((b.shape, b.numel, b.nbytes), ((16, 32), 512, 2048))
        with self.assertRaises(ValueError):
            t.block_type(t.dtype("fp32"), [3])
        with self.assertRaises(TypeError):
            t.block_type(t.dtype("fp32"), [])

    def test_str_to_ty(self):
        self.assertEqual(t.str_to_ty("*kfp16"), t.pointer_type(
            t.dtype("fp16"), const=True))
        self.assertEqual(t.str_to_ty("i32"), t.dtype("int32"))
        self.assertEqual(t.str_to_ty("u1"), t.dtype("int1"))

    def test_tuple(self):
        pair = t.tl_tuple([1, 2.0])
        self.assertEqual((len(pair), pair[1], list(pair)), (2, 2.0, [1, 2.0]))


class Constexpr(unittest.TestCase):
    def test_arithmetic(self):
        a = t.constexpr(7)
        self.assertEqual((a + 1).value, 8)
        self.assertEqual((1 - a).value, -6)
        self.assertEqual((a // 2).value, 3)
        self.assertEqual((2**a).value, 128)
        self.assertEqual((a << 1).value, 14)
        self.assertEqual((-a).value, -7)
        self.assertEqual((~a).value, -8)

    def test_comparison_gives_constexpr(self):
        a = t.constexpr(3)
        self.assertIsInstance(a < 4, t.constexpr)
        self.assertTrue(a == 3)
        self.assertFalse(a != t.constexpr(3))

    def test_nesting_index_and_iteration(self):
        self.assertEqual(t.constexpr(t.constexpr(5)).value, 5)
        self.assertEqual([10, 20][t.constexpr(1)], 20)
        self.assertEqual(list(t.constexpr((1, 2))), [1, 2])
        self.assertEqual(t.constexpr([4, 5])[1], 5)

    def test_repr_and_hash(self):
        self.assertEqual(repr(t.constexpr("a")), "constexpr[a]")
        self.assertEqual(hash(t.constexpr(1)), hash(t.constexpr(1)))

    def test_unwrap(self):
        self.assertEqual(t.unwrap([t.constexpr(1), (t.constexpr(2),)]),
                         [1, (2,)])

    def test_tensor_is_for_kernels(self):
        with self.assertRaises(RuntimeError):
            t.tensor()


if __name__ == "__main__":
    unittest.main()
