"""Writes Triton's PTX of triton_kernels.py beside it: needs Triton 3.6, no GPU.

    python3 tests/ptx/record.py [NAME ...]
"""
import os
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import triton_kernels  # noqa: E402

# The types of the parameters, constants, and options of the compiler.
KERNELS = {
    'mm': ('*fp16 *fp16 *fp32 i32 i32 i32', dict(BM=32, BN=32, BK=32), {}),
    'softmax': ('*fp32 *fp32 i32', dict(B=512), {}),
    'integers': ('*i32 *i32 *i32 i32', dict(B=256), {}),
    'scan': ('*i32 *i32 *i32', dict(B=128), {}),
    'atomics': ('*i32 *i32 *i32 i32', dict(B=128), {}),
    'halves': ('*fp16 *fp32 *fp16 i32', dict(B=256), {}),
    'transpose': ('*fp32 *fp32 i32 i32', dict(B=32), {}),
}


def compiled(fn, types, constants, options, aligned):
    names = fn.arg_names
    runtime = [n for n in names if n not in constants]
    signature = dict(zip(runtime, types.split()))
    signature.update({n: 'constexpr' for n in constants})
    attrs = {(names.index(n),): [['tt.divisibility', 16]]
             for n, t in signature.items() if t[0] == '*'} if aligned else {}
    source = ASTSource(fn, signature,
                       {(names.index(n),): v for n, v in constants.items()},
                       attrs)
    return triton.compile(source, target=GPUTarget('cuda', 80, 32),
                          options=options)


def slim(text):
    """Without what a debugger wants, and paths."""
    text = re.sub(r'\t\.section\s+\.debug.*?\n\t?}\n', '', text, flags=re.S)
    return re.sub(r'(\.file\s+\d+ ")[^"]*/', r'\1', text)


def main():
    for name, (types, constants, options) in KERNELS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        made = compiled(getattr(triton_kernels, name), types, constants,
                        options, aligned=True)
        with open(os.path.join(HERE, name + '.ptx'), 'w') as f:
            f.write(slim(made.asm['ptx']))
        print(name, made.metadata.shared, made.metadata.num_warps)


main()
