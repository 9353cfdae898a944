"""A GPU by the CUDA driver, without PyTorch and without tkdbg: carried.py takes
this file to machines that have neither.

A launch that faults ends the process, for nothing can be launched after it.
"""
import ctypes
import sys

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
        self.device = device

    def described(self):
        """The GPU's name, and the version of CUDA that its driver knows."""
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        self.call('cuDeviceGetName', name, 100, self.device)
        self.call('cuDriverGetVersion', ctypes.byref(version))
        return (f'{name.value.decode()}, driver of CUDA '
                f'{version.value // 1000}.{version.value % 1000 // 10}')

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

    @staticmethod
    def number(value):
        return ctypes.c_int32(value)

    @staticmethod
    def address(value):
        return ctypes.c_uint64(value)

    def take_back(self, at, array):
        self.call('cuMemcpyDtoH_v2', ctypes.c_void_p(array.ctypes.data), at,
                  ctypes.c_size_t(array.nbytes))
        self.free(at)

    def free(self, at):
        self.call('cuMemFree_v2', ctypes.c_uint64(at.value - MARGIN))

    def launch(self, code, name, grid, threads, shared, values):
        """code: PTX or a cubin; values: ctypes objects; waits for the end."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call('cuModuleLoadData', ctypes.byref(module), code)
        self.call('cuModuleGetFunction', ctypes.byref(function), module, name)
        if shared > USUAL_SHARED:
            self.call('cuFuncSetAttribute', function, DYNAMIC_SHARED, shared)
        params = (ctypes.c_void_p * len(values))(
            *[ctypes.addressof(v) for v in values])
        self.call('cuLaunchKernel', function, *grid, threads, 1, 1, shared,
                  None, params, None)
        self.call('cuCtxSynchronize')
        self.call('cuModuleUnload', module)
