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
import functools
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'python'))
from tkdbg import _capi  # noqa: E402,F401
from tkdbg.fuzz.direct import Failed, Launch  # noqa: E402
import cuda  # noqa: E402
import launch as launches  # noqa: E402
import driver as gpu  # noqa: E402


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
