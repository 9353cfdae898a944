"""Ways in which tkdbg runs a kernel, through its C API, without a script:

interp   the interpreter, on the form that the kernel is specialised to
text     the same, on the form printed and read again
passes   the same, on what the compiler has after each of its passes
ptx, gpu code for a GPU, by that engine; triton-ptx: that of the Triton of
         TKDBG_PYTHON, interpreted
cuda     the same code as 'gpu', by cuda.py
triton   not tkdbg: the Triton of this Python, on a GPU, or by its interpreter
         where TRITON_INTERPRET is set
"""
import ctypes
import functools
import os
import re
import sys
import tempfile

import numpy as np

import kernel as kernels
import launch as launches

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'python'))
from tkdbg import _capi  # noqa: E402
import cuda  # noqa: E402
import driver as gpu  # noqa: E402

DTYPES = {'float16': 'fp16', 'float32': 'fp32', 'float64': 'fp64'}


class Failed(Exception):
    """With what the report says."""


class Launch:
    """One kernel on arguments of its own, in a session of its own; version:
    the Triton whose language it is in, the newest if none is given."""

    def __init__(self, lib, kernel, version=''):
        self.lib, self.kernel = lib, kernel
        self.arrays, self.kept = kernel.arrays(), []
        self.session = lib.tk_session_new()
        if version:
            self.check(lib.tk_session_triton_version(self.session,
                                                     version.encode()))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.lib.tk_session_free(self.session)

    def check(self, status):
        if status:
            raise Failed(_capi.text(self.lib.tk_report(self.session, False)))

    def out(self, function, *args):
        found = ctypes.c_void_p()
        self.check(function(*args, ctypes.byref(found)))
        return found

    def of_source(self):
        source = (kernels.HEAD + '\n\n' + self.kernel.text()).encode()
        module = self.out(self.lib.tk_module_open, self.session,
                          b'kernel.py', source, len(source))
        return self.prepare(self.out(self.lib.tk_function_named, module,
                                     self.kernel.name.encode()))

    def of_form(self, form):
        return self.prepare(self.out(self.lib.tk_ir_open, self.session,
                                     b'kernel.tk', form, len(form)))

    def prepare(self, function):
        lib, k = self.lib, self.kernel
        self.launch = self.out(lib.tk_launch_new, self.session, function)
        self.check(lib.tk_launch_grid(self.launch, *k.grid))
        for name, value in k.options.items():
            self.check(lib.tk_launch_option(self.launch, name.encode(),
                                            int(value)))
        for name, value in self.arrays.items():
            self.check(self.give(name.encode(), value))
        return self

    def give(self, name, value):
        if isinstance(value, np.ndarray):
            return self.lib.tk_launch_tensor(self.launch, name,
                                             ctypes.byref(self.tensor(value)))
        return self.lib.tk_launch_scalar(
            self.launch, name, self.lib.tk_dtype_from_name(b'int32'),
            value & 0xffffffff)

    def tensor(self, array):
        name = str(array.dtype)
        t = _capi.Tensor(
            data=array.ctypes.data, rank=1,
            dtype=self.lib.tk_dtype_from_name(DTYPES.get(name, name).encode()))
        t.shape[0], t.strides[0] = len(array), 1
        self.kept.append(t)
        return t

    def text(self):
        """The typed form that it is specialised to."""
        self.check(self.lib.tk_launch_compile(self.launch))
        return self.lib.tk_launch_ir(self.launch)

    def after_passes(self):
        """(pass, typed form after it), those that change nothing left out."""
        text = ctypes.c_char_p()
        self.check(self.lib.tk_launch_emit(self.launch, ctypes.byref(
            _capi.EmitOptions(after_all=True)), ctypes.byref(text)))
        after = re.split(rb'^// after (.*)\n', text.value, flags=re.M)
        last = None
        for name, form in zip(after[1::2], after[2::2]):
            if form != last:
                yield name.decode(), form
            last = form

    def run(self, engine):
        self.check(self.lib.tk_launch_run(self.launch, ctypes.byref(
            _capi.RunOptions(dot=b'exact', engine=engine.encode())), None))
        return self.kernel.results(self.arrays)


@functools.lru_cache(maxsize=None)
def driver():
    return gpu.Driver()


def by_triton(kernel):
    device = 'cpu' if os.environ.get('TRITON_INTERPRET') else 'cuda'
    with tempfile.TemporaryDirectory() as folder:
        module = launches.loaded([kernel], folder)
        try:
            return launches.left_by(kernel, getattr(module, kernel.name),
                                    device)
        except Exception as e:
            why = f'{type(e).__name__}: {e.__cause__ or e}'
            if 'CUDA error' in why:  # nothing can be launched any more
                sys.exit(f'{kernel.name}: {why}')
            raise Failed(why) from e


def run_form(lib, kernel, form):
    with Launch(lib, kernel) as launch:
        return launch.of_form(form).run('interp')


def runs(lib, kernel, way):
    """(what ran, what the kernel left in its outputs), one after the other;
    raises Failed."""
    with Launch(lib, kernel) as launch:
        launch.of_source()
        if way == 'text':
            yield way, run_form(lib, kernel, launch.text())
        elif way == 'passes':
            for name, form in launch.after_passes():
                yield f'after {name}', run_form(lib, kernel, form)
        elif way == 'triton':
            yield way, by_triton(kernel)
        elif way == 'cuda':
            yield way, cuda.run(driver(), launch)
        else:
            yield way, launch.run(way)
