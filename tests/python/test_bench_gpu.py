"""tests/bench/gpu.py, with a driver that notes what it is called with."""
import ctypes
import os
import sys
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'bench'))
import gpu  # noqa: E402


class Noting:
    """Stands for libcuda: every function succeeds."""

    def __init__(self, status=0):
        self.status, self.calls = status, []

    def __getattr__(self, name):
        def call(*args):
            self.calls.append((name, args))
            return self.status
        return call


class Tensor:
    def data_ptr(self):
        return 0x7f0000000000


class BenchGpu(unittest.TestCase):
    def test_launch(self):
        lib = Noting()
        values = [gpu.c_value(x) for x in (Tensor(), 7, 0.5)]
        gpu.Driver(lib).launch(ctypes.c_void_p(1), (3, 2), 4, 100, 9, values)
        (name, args), = lib.calls
        self.assertEqual(name, 'cuLaunchKernel')
        self.assertEqual([x.value for x in args[1:4]], [3, 2, 1])
        self.assertEqual(args[4:8], (128, 1, 1, 100))
        at = args[9]
        self.assertEqual(ctypes.c_uint64.from_address(at[0]).value,
                         0x7f0000000000)
        self.assertEqual(ctypes.c_int32.from_address(at[1]).value, 7)
        self.assertEqual(ctypes.c_float.from_address(at[2]).value, 0.5)

    def test_failure(self):
        with self.assertRaisesRegex(RuntimeError, 'cuLibraryLoadData: error 3'):
            gpu.Driver(Noting(3)).load(b'', 'k')

    def test_compiled(self):
        case = SimpleNamespace(
            kernel=SimpleNamespace(fn=self.test_compiled.__func__,
                                   __name__='k'),
            args={'x': ('f32', (1 << 28, )), 'n': 5}, constants={'B': 16},
            options={'num_warps': 8})
        said = gpu.compile_case(case, 'echo', 'sm_90', 'f.cubin')
        self.assertIn('--arg x=f32[16]:empty --arg n=5 --arg B=16 '
                      '--option num_warps=8', said)


if __name__ == '__main__':
    unittest.main()
