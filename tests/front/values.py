"""values.py FILE OUT [ours]: the type and the value of each kernel of FILE.

Writes a line "NUMBER ok TYPE VALUE" or "NUMBER no REASON" for each.  Triton's
own values are those that its compiler folds to a constant, else "-"; under
`tkdbg run`, with "ours", the kernels are run.  One that ends the process is
left at "NUMBER began".
"""
import contextlib
import io
import os
import re
import struct
import sys
import warnings

import ours

FORMATS = {'fp16': '<e', 'fp32': '<f', 'fp64': '<d'}


def eight(byte, exponent, mantissa, bias):
    """An 8-bit float as a number."""
    e, m = byte >> mantissa & (1 << exponent) - 1, byte & (1 << mantissa) - 1
    if not e:
        v = m * 2.0 ** (1 - bias - mantissa)
    else:
        v = (1 + m / (1 << mantissa)) * 2.0 ** (e - bias)
    return -v if byte & 0x80 else v


def number(name, raw):
    """What the bytes of a lane of a type hold."""
    if name in FORMATS:
        f = FORMATS[name]
        return struct.unpack(f, raw[:struct.calcsize(f)])[0]
    if name == 'bf16':
        return struct.unpack('<f', b'\0\0' + raw[:2])[0]
    if name == 'fp8e5':
        return struct.unpack('<e', b'\0' + raw[:1])[0]
    if name == 'fp8e4nv':
        nan = raw[0] & 0x7f == 0x7f
        return float('nan') if nan else eight(raw[0], 4, 3, 7)
    if name == 'int1':
        return raw[0] & 1
    size = int(re.sub(r'\D', '', name)) // 8
    return int.from_bytes(raw[:size], 'little', signed=name[0] == 'i')


def shown(name, v):
    """As text, which is the same for equal values."""
    if isinstance(v, int):
        return str(v)
    if v != v:
        return 'nan'
    return f'{v:.5e}'


def rounded(name, v):
    """The value of the type that a decimal text stands for: the text has as
    many digits as it takes to find it."""
    if name in FORMATS:
        return struct.unpack(FORMATS[name], struct.pack(FORMATS[name], v))[0]
    if name == 'bf16' and v == v and abs(v) < 3e38:
        bits = struct.unpack('<I', struct.pack('<f', v))[0] + 0x8000
        return struct.unpack('<f', struct.pack('<I', bits & ~0xffff))[0]
    return v


def constant(name, text):
    """The value that a constant's text in Triton's form stands for."""
    if text in ('true', 'false'):
        return shown(name, int(text == 'true'))
    if text.startswith('0x') and not name.startswith(('int', 'uint')):
        bits = int(text, 16)
        return shown(name, number(name, bits.to_bytes(8, 'little')))
    if name.startswith(('int', 'uint')):
        bits = int(text) & (1 << 64) - 1
        return shown(name, number(name, bits.to_bytes(8, 'little')))
    return shown(name, rounded(name, float(text)))


def folded(text, name):
    """What is stored, if it is a constant; else "-"."""
    store = re.search(r'tt\.store %\S+, (%\w+)', text)
    if not store:
        return '-'
    made = re.search(rf'{store[1]} = arith\.constant (\S+)', text)
    return constant(name, made[1]) if made else '-'


def make_theirs():
    """A function that gives the text that Triton folds a kernel to."""
    import triton  # noqa: F401
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend
    target = GPUTarget('cuda', 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})

    def theirs(fn, args, said):
        source = ours.source(fn, args)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        module = source.make_ir(
            target, options, backend.get_codegen_implementation(options),
            backend.get_module_map(), context)
        name = said.getvalue().split()[0]
        module = backend.make_ttir(module, {}, options, 90)
        return name, folded(str(module), name)
    return theirs


def run_ours(fn, args, said):
    """The type and the value, by running it."""
    import numpy
    buffer = numpy.zeros(16, 'i1')
    fn[(1,)](buffer)
    name = said.getvalue().split()[0]
    return name, shown(name, number(name, buffer.tobytes()))


def answer(ask, fn, args):
    said = io.StringIO()
    if isinstance(fn, Exception):
        return f'no {type(fn).__name__}'
    try:
        with contextlib.redirect_stdout(said):
            name, value = ask(fn, args, said)
    except BaseException as e:
        why = ' '.join(str(e.__cause__ or e).split()) or type(e).__name__
        return f'no {why[-160:]}'
    return f'ok {name} {value}'


def main():
    warnings.simplefilter('ignore')
    path, out = sys.argv[1:3]
    ask = run_ours if sys.argv[3:] else make_theirs()
    done = ours.begun(out)
    with open(out, 'a', encoding='utf-8', buffering=1) as f:
        for name, fn, args in ours.kernels(path):
            if name not in done:
                f.write(f'{name} began\n')
                f.write(f'{name} {answer(ask, fn, args)}\n')


if __name__ == '__main__':
    main()
