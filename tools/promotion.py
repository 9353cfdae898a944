"""Writes docs/promotion.md: what types operators give, asked of the library.

    python3 tools/promotion.py [--check] [--library build/libtkdbg.so]

Every pair of element types is typed as a scalar with a scalar, a block with a
block and a scalar with a block, and every type beside literals.  --check
changes nothing and fails when the page differs.
"""
import ctypes
import sys

from page import options, publish

TYPES = {'i1': 'int1', 'i8': 'int8', 'u8': 'uint8', 'i16': 'int16',
         'u16': 'uint16', 'i32': 'int32', 'u32': 'uint32', 'i64': 'int64',
         'u64': 'uint64', 'f16': 'float16', 'bf16': 'bfloat16',
         'f32': 'float32', 'f64': 'float64', 'e4nv': 'float8e4nv',
         'e4b8': 'float8e4b8', 'e4b15': 'float8e4b15', 'e5': 'float8e5',
         'e5b16': 'float8e5b16'}
LITERALS = ['True', '1', '-1', '300', '3000000000', '5000000000', '0.5',
            '1e-40']
HEAD = '''# Types of results

Written by `tools/promotion.py`, which asks the library; `make docs` writes it
again, and a test fails when it is out of date. A dash is a refusal: the kernel
does not compile. `e4nv` and so on are the 8-bit floats, `tl.float8e4nv`.

Whether an operand is a scalar or a block makes no difference (asked for all
three combinations). A literal, and any constexpr, has no type of its own where
the second part says so.
'''
PARTS = [
    ('`+` `-` `*` and `tl.where`', '{a} + {b}'),
    ('`/`', '{a} / {b}'),
    ('`//`', '{a} // {b}'),
    ('`%`', '{a} % {b}'),
    ('`&` `|` `^` `<<` `>>`', '{a} & {b}'),
    ('`tl.maximum` and `tl.minimum`', 'tl.maximum({a}, {b})'),
]
BESIDE = [('+', '{a} + {b}'), ('/', '{a} / {b}'), ('%', '{a} % {b}'),
          ('max', 'tl.maximum({a}, {b})'), ('where', 'tl.where(c, {a}, {b})')]
OUTPUT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p,
                          ctypes.c_size_t)


class Library:
    def __init__(self, path):
        self.lib = lib = ctypes.CDLL(path)
        lib.tk_session_new.restype = ctypes.c_void_p
        self.text = ''
        self.callback = OUTPUT(self.collect)

    def collect(self, _, text, n):
        self.text += ctypes.string_at(text, n).decode()

    def session(self):
        s = ctypes.c_void_p(self.lib.tk_session_new())
        self.lib.tk_session_output(s, self.callback, None)
        return s

    def compile(self, body):
        """What the kernel prints while it is compiled; None if refused."""
        text = ('import triton\nimport triton.language as tl\n@triton.jit\n'
                'def k():\n    ' + body.replace('\n', '\n    ') + '\n').encode()
        lib, s = self.lib, self.session()
        m, f, n = (ctypes.c_void_p() for _ in range(3))
        self.text = ''
        bad = (lib.tk_module_open(s, b'k.py', text, ctypes.c_size_t(len(text)),
                                  ctypes.byref(m))
               or lib.tk_function_named(m, b'k', ctypes.byref(f))
               or lib.tk_launch_new(s, f, ctypes.byref(n))
               or lib.tk_launch_compile(n))
        lib.tk_session_free(s)
        return None if bad else self.text.strip()

    def type_of(self, a, b, expression):
        names = {v.replace('float', 'fp') if v.startswith('float') else
                 'bf16' if v == 'bfloat16' else v: k for k, v in TYPES.items()}
        made = self.compile(f'c = tl.full([], 1, tl.int1)\na = {a}\n'
                            + (f'b = {b}\n' if b.startswith('tl.') else '')
                            + f'r = {expression}\ntl.static_print(r.dtype)')
        return '-' if made is None else names[made]


def tensor(t, block):
    return f'tl.zeros([{4 if block else ""}], tl.{TYPES[t]})'


def pair(lib, a, b, expression):
    text = expression.format(a='a', b='b')
    found = {lib.type_of(tensor(a, x), tensor(b, y), text)
             for x, y in ((0, 0), (1, 1), (0, 1))}
    assert len(found) == 1, (a, b, expression, found)
    return found.pop()


def table(title, rows, columns, cell):
    out = ['', f'| {title} | ' + ' | '.join(columns) + ' |',
           '|---' * (len(columns) + 1) + '|']
    for a in rows:
        out.append(f'| **{a}** | ' + ' | '.join(cell(a, b) for b in columns)
                   + ' |')
    return out


def page(lib):
    out = [HEAD.rstrip('\n'), '', '## Two tensors']
    for title, expression in PARTS:
        out += ['', f'### {title}']
        out += table('', TYPES, list(TYPES),
                     lambda a, b, e=expression: pair(lib, a, b, e))
    out += ['', '## A tensor and a literal', '',
            'The tensor stands on the left. `tl.maximum`, like the comparisons '
            'and the math\nfunctions, first makes a tensor of the literal.']
    for name, expression in BESIDE:
        out += ['', f'### `{name}`']
        out += table('', TYPES, LITERALS, lambda a, b, e=expression:
                     lib.type_of(tensor(a, True), b, e.format(a='a', b=b)))
    return '\n'.join(out) + '\n'


def main():
    o = options()
    return publish('promotion.md', page(Library(o.library)), o.check)


if __name__ == '__main__':
    sys.exit(main())
