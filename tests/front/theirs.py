"""theirs.py FILE OUT [NUMBER...]: what Triton says of the kernels of FILE.

Writes a line "NUMBER ok" or "NUMBER no REASON" for each, as soon as it is
known; one that ends the process is left at "NUMBER began".  Kernels that are
named by number are compiled wholly, to PTX and machine code; the others are
seen by the front end alone, which takes a hundredth of the time.
"""
import os
import sys
import warnings

warnings.simplefilter('ignore')
os.environ['TRITON_ALWAYS_COMPILE'] = '1'

import triton  # noqa: E402
from triton._C.libtriton import ir  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

import ours  # noqa: E402

TARGET = GPUTarget('cuda', 90, 32)
BACKEND = make_backend(TARGET)
OPTIONS = BACKEND.parse_options({})


def compile_(fn, args, wholly):
    if isinstance(fn, Exception):
        raise fn
    source = ours.source(fn, args)
    if wholly:
        triton.compile(source, target=TARGET)
        return
    context = ir.context()
    ir.load_dialects(context)
    BACKEND.load_dialects(context)
    source.make_ir(TARGET, OPTIONS, BACKEND.get_codegen_implementation(
        OPTIONS), BACKEND.get_module_map(), context)


def main():
    path, out, wholly = sys.argv[1], sys.argv[2], set(sys.argv[3:])
    done = ours.begun(out)
    with open(out, 'a', encoding='utf-8', buffering=1) as f:
        for name, fn, args in ours.kernels(path):
            if name in done or (wholly and name not in wholly):
                continue
            f.write(f'{name} began\n')
            try:
                compile_(fn, args, bool(wholly))
                said = 'ok'
            except BaseException as e:
                why = str(e.__cause__ or e).strip().split('\n')[-1]
                said = f'no {type(e).__name__}: {why[:200]}'
            f.write(f'{name} {said}\n')


if __name__ == '__main__':
    main()
