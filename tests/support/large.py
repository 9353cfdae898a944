"""Large inputs: kernels, texts and PTX with a great many of something.

    python3 tests/support/large.py --list
    python3 tests/support/large.py --kind NAME --size N [--write FOLDER]
    python3 tests/support/large.py --stream [--seed N] [--count N] [--most N]

Each kind (KINDS) makes a case of any size: a kernel that has so many names, so
long a message, so deep a nest, and what must come out of it.  --write makes
files of one case: k.py, which is a kernel for a direct launch and a script
that checks the result, and args, the arguments of its launch, one a line.
--stream writes COUNT cases with a kind and a size drawn at random, most sizes
just beside a bound that somebody may have fixed (SIZES), for
tests/fuzz/test_large.c; a seed and a number always give the same case.

A case of the stream is a record of fields, "NAME LENGTH", a newline, so many
bytes and a newline; the field "end" is the last.
"""
import argparse
import dataclasses
import os
import random
import sys
from typing import (Callable, Dict, Iterator, List, NamedTuple, Optional,
                    Tuple)

# What an array in C has often room for.
BOUNDS = (1, 2, 4, 8, 10, 16, 20, 32, 40, 63, 64, 65, 80, 96, 100, 120, 128,
          160, 200, 255, 256, 257, 300, 400, 500, 512, 600, 1000, 1023, 1024,
          1025, 1500, 2000, 2048, 4000, 4096, 4097, 8192, 16384, 65536)
SIZES = sorted({max(1, b + d) for b in BOUNDS for d in (-2, -1, 0, 1, 2)})

HEAD = 'import triton\nimport triton.language as tl\n\n\n'
X = ('x', 'i32[64]:arange')


@dataclasses.dataclass
class Case:
    """A kernel k whose first parameter is x, int32 [64], x[i] = i."""
    body: str  # of k, indented by the kind; or the whole file, if it has a def
    params: str = 'x'
    args: List[Tuple[str, str]] = dataclasses.field(
        default_factory=lambda: [X])
    before: str = ''  # what comes before k in the file
    grid: int = 1
    holds: Dict[int, int] = dataclasses.field(default_factory=dict)  # x after
    says: List[str] = dataclasses.field(default_factory=list)  # whole
    refused: bool = False  # it does not compile
    fails: bool = False  # it compiles, and ends with a finding
    may_refuse: bool = False  # a clear error is right as well
    lines: List[str] = dataclasses.field(default_factory=list)  # debugger's
    ptx: str = ''  # instead of the kernel; its io is x
    name: str = 'k'

    @property
    def source(self) -> str:
        return (f'{HEAD}{self.before}@triton.jit\n'
                f'def {self.name}({self.params}):\n{self.body}')


class Kind(NamedTuple):
    make: Callable[[int, random.Random], Case]
    most: int  # the size that the stream goes up to, where a case takes ms
    huge: int  # that the front ends get
    scale: int  # whose time is compared with that of a quarter


KINDS: Dict[str, Kind] = {}


def kind(most: int, huge: int,
         scale: int = 1 << 20) -> Callable[[Callable], Callable]:
    """A scale of 0: what the kernel asks for is a square by itself."""
    def add(make: Callable) -> Callable:
        KINDS[make.__name__] = Kind(make, most, huge, min(scale, huge))
        return make
    return add


def word(n: int, rng: random.Random, first: str = 'v') -> str:
    """A name of n characters, whose ends differ."""
    letters = 'abcdefghijklmnopqrstuvwxyz_0123456789'
    if n < 4:
        return (first * n)[:n]
    middle = ''.join(rng.choice(letters) for _ in range(min(n - 4, 40)))
    return first + middle + 'm' * (n - 4 - len(middle)) + 'end'


def text(n: int, rng: random.Random) -> str:
    """A sentence of n characters, any two of which differ somewhere."""
    pieces, size, i = [], 0, rng.randrange(1000)
    while size < n:
        pieces.append(f'word{i} ')
        size += len(pieces[-1])
        i += 1
    return ''.join(pieces)[:n].replace(' ', '_')


def indented(lines: List[str]) -> str:
    return ''.join(f'    {line}\n' for line in lines)


def stored(value: str) -> str:
    return f'    tl.store(x, {value})\n'


def wrapped(n: int) -> int:
    """As an int32."""
    return (n + (1 << 31)) % (1 << 32) - (1 << 31)


# ---- long names and texts ---------------------------------------------------

@kind(20000, 100000)
def long_names(n: int, rng: random.Random) -> Case:
    a, f, p, c = (word(n, rng, w) for w in 'afpC')
    return Case(f'    {a} = {f}({p}) + {c}\n' + stored(a),
                f'x, {p}, {c}: tl.constexpr', [X, (p, '7'), (c, '5')],
                before=f'@triton.jit\ndef {f}(v):\n    return v * 2\n\n\n',
                holds={0: 19},
                lines=[f'break {f}', f'print {a}', 'info locals', 'info args',
                       f'whatis {p}', f'display {p} + 1', 'continue',
                       f'break 9 if {p} == 7', f'watch {a}', 'continue',
                       'backtrace', f'print {a}.{f}', 'info display'])


@kind(20000, 100000)
def long_kernel_name(n: int, rng: random.Random) -> Case:
    name = word(n, rng, 'k')
    return Case(stored('3'), name=name, holds={0: 3},
                lines=[f'break {name}', 'info launch', 'info breakpoints',
                       f'list {name}', 'info programs', f'tbreak {name}z'])


@kind(20000, 100000)
def long_comment(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    """{t}"""\n    # {t}\n    y = 4  # {t}\n'
                + stored('y'), holds={0: 4}, lines=['list', 'next', 'next'])


@kind(20000, 100000)
def static_assert(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    tl.static_assert(N == 5, "{t}")\n', 'x, N: tl.constexpr',
                [X, ('N', '4')], says=[t], refused=True)


@kind(20000, 100000)
def device_assert(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    tl.device_assert(tl.load(x + 1) == 5, "{t}")\n',
                says=[t], fails=True, lines=['continue'])


@kind(20000, 100000)
def device_print(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    tl.device_print("{t}", tl.load(x + 7))\n'
                f'    tl.static_print("{t}!")\n' + stored('1'),
                says=[t, t + '!'], holds={0: 1})


@kind(20000, 100000)
def assert_message(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    assert N == 5, "{t}"\n', 'x, N: tl.constexpr',
                [X, ('N', '4')], says=[t], fails=True)


@kind(20000, 100000)
def raised(n: int, rng: random.Random) -> Case:
    return Case(f'    raise ValueError("{text(n, rng)}")\n', may_refuse=True,
                refused=True)


@kind(20000, 100000)
def unknown_names(n: int, rng: random.Random) -> Case:
    """A mistake that has a long name in it, which is said whole."""
    w = word(n, rng, 'u')
    wrong = rng.choice([
        f'{w}', f'tl.{w}', f'tl.load(x).{w}', f'tl.load(x, {w}=1)',
        f'{w}.{w}', f'f({w}=1)', f'tl.load(x, cache_modifier="{w}")',
        f'tl.load(x).to(tl.{w})', f'tl.zeros([4], dtype="{w}")',
        f'tl.inline_asm_elementwise("{w} $0, $1;", "=r,r", [tl.load(x)], '
        'tl.int32, True, 1)',
        f'tl.inline_asm_elementwise("mov.b32 $0, {w};", "=r,r", [tl.load(x)], '
        'tl.int32, True, 1)',
        f'tl.load("{w}")', f'tl.static_assert("{w}" == tl.load(x))',
        f'"{w}" + 1', f'tl.sum(tl.arange(0, 4), axis="{w}")'])
    return Case(stored(wrong),
                before='@triton.jit\ndef f(v):\n    return v\n\n\n',
                refused=True)


@kind(20000, 100000)
def wrong_long_name(n: int, rng: random.Random) -> Case:
    """Long names of what is right, in an error about it."""
    w = word(n, rng, 'w')
    wrong = rng.choice([
        f'{w} @ {w}', f'tl.reshape({w}, [3, 5])', f'{w}[0:1]', f'{w}.nosuch',
        f'{w}(1)', f'tl.dot({w}, {w})', f'{w} + tl.arange(0, 16)',
        f'tl.load({w})', f'f({w}, {w}, {w})', f'{w} if {w} else 1'])
    return Case(f'    {w} = tl.arange(0, 8)\n' + stored(wrong),
                before=f'@triton.jit\ndef f({w}):\n    return {w}\n\n\n',
                refused=True)


@kind(20000, 100000)
def out_of_bounds(n: int, rng: random.Random) -> Case:
    p, v = word(n, rng, 'p'), word(n, rng, 'v')
    return Case(f'    {v} = tl.load({p} + 70)\n' + stored(v), f'x, {p}',
                [X, (p, 'f32[64]:ones')], says=[p], fails=True,
                lines=['continue', 'info finding', f'print {p}[0]'])


@kind(20000, 100000)
def long_string(n: int, rng: random.Random) -> Case:
    t = text(n, rng)
    return Case(f'    if T == "{t}":\n' + indented(['    tl.store(x, 2)']),
                before=f'T = tl.constexpr("{t}")\n\n\n', holds={0: 2})


@kind(3000, 20000)
def long_number(n: int, rng: random.Random) -> Case:
    digits = ''.join(rng.choice('123456789') for _ in range(n))
    made = rng.choice([digits, '0x' + digits, '0.' + digits, digits + '.0',
                       '1e' + digits, '0b' + '1' * n, '1' + '_1' * n])
    return Case(stored(f'{made} > 5'), may_refuse=True)


@kind(4000, 20000)
def format_string(n: int, rng: random.Random) -> Case:
    pieces = ''.join('a%d{v}' % i for i in range(n))
    whole = ''.join('a%d3' % i for i in range(n))
    return Case(f'    v = tl.load(x + 3)\n    print(f"{pieces}")\n',
                says=[whole])


# ---- many of something ------------------------------------------------------

@kind(1100, 3000)
def tuple_rotated(n: int, rng: random.Random) -> Case:
    """A tuple of n leaves that a loop carries."""
    trips = rng.randrange(1, 6)
    items = ', '.join(f'v + {i}' for i in range(n))
    return Case(f'    v = tl.load(x)\n    t = ({items},)\n'
                f'    for j in range({trips}):\n'
                '        t = t[1:] + (t[0],)\n' + stored('t[0]'),
                holds={0: trips % n}, lines=['next', 'print t', 'info locals'])


@kind(130, 260, 0)
def tuple_grown(n: int, rng: random.Random) -> Case:
    """The same, one leaf after the other."""
    trips = rng.randrange(1, 6)
    return Case(f'    t = (tl.load(x),)\n'
                f'    for i in tl.static_range({n - 1}):\n'
                '        t = t + (tl.load(x) + i + 1,)\n'
                f'    for j in range({trips}):\n'
                '        t = t[1:] + (t[0],)\n' + stored('t[0]'),
                holds={0: trips % n}, lines=['next', 'print t', 'info locals'])


@kind(2000, 5000)
def tuple_written(n: int, rng: random.Random) -> Case:
    items = ', '.join(f'v + {i}' for i in range(n))
    names = ', '.join(f'a{i}' for i in range(n))
    return Case(f'    v = tl.load(x + 1)\n    t = ({items},)\n'
                f'    {names}, = t\n' + stored(f'a{n - 1} + t[{n - 1}] + '
                                               f'len(t)'),
                holds={0: 2 * n + n}, lines=['next 3', 'info locals'])


@kind(1000, 3000)
def tuple_argument(n: int, rng: random.Random) -> Case:
    """Passed to a helper, returned, chosen by an if."""
    items = ', '.join(f'v + {i}' for i in range(n))
    return Case(f'    v = tl.load(x + 1)\n    t = ({items},)\n'
                '    if v > 0:\n        t = f(t)\n' + stored(f't[{n - 1}]'),
                before='@triton.jit\ndef f(t):\n    return t\n\n\n',
                holds={0: n})


@kind(1100, 4000)
def kernel_arguments(n: int, rng: random.Random) -> Case:
    names = [f'p{i}' for i in range(n)]
    return Case(f'    y = {" + ".join(names[:100])}\n'
                + stored(f'y + {names[-1]}'),
                'x, ' + ', '.join(names),
                [X] + [(p, str(i + 2)) for i, p in enumerate(names)],
                holds={0: sum(range(2, min(n, 100) + 2)) + n + 1},
                lines=['info args', 'print y', 'info launch'])


@kind(1100, 4000)
def constexprs(n: int, rng: random.Random) -> Case:
    names = [f'C{i}' for i in range(n)]
    return Case(f'    y = {" + ".join(names[:100])}\n'
                + stored(f'y + {names[-1]} + G{n - 1}'),
                'x, ' + ', '.join(f'{c}: tl.constexpr' for c in names),
                [X] + [(c, str(i + 2)) for i, c in enumerate(names)],
                before=''.join(f'G{i} = tl.constexpr({i})\n'
                               for i in range(n)),
                holds={0: sum(range(2, min(n, 100) + 2)) + n + 1 + n - 1})


@kind(1100, 4000, 400)
def tensors(n: int, rng: random.Random) -> Case:
    names = [f'p{i}' for i in range(n)]
    return Case(stored(f'tl.load({names[-1]} + 3) + tl.load({names[0]})'),
                'x, ' + ', '.join(names),
                [X] + [(p, 'i32[4]:arange') for p in names], holds={0: 3},
                lines=['info buffers', 'info args'])


@kind(1100, 4000)
def call_arguments(n: int, rng: random.Random) -> Case:
    names = [f'p{i}' for i in range(n)]
    given = [f'{p}=v + {i}' if rng.randrange(2) else f'{p}={i} + v'
             for i, p in enumerate(names)]
    return Case(f'    v = tl.load(x + 1)\n'
                + stored(f'f({", ".join(given)})'),
                before=f'@triton.jit\ndef f({", ".join(names)}):\n'
                f'    return {names[-1]} + {names[0]}\n\n\n',
                holds={0: n + 1}, lines=['break f', 'continue', 'info args'])


@kind(2000, 16000)
def many_names(n: int, rng: random.Random) -> Case:
    lines = ['v0 = tl.load(x + 1)'] + [f'v{i} = v{i - 1} + 1'
                                       for i in range(1, n)]
    return Case(indented(lines) + stored(f'v{n - 1}'), holds={0: n},
                lines=['next 5', f'until {n}', 'info locals', f'print v{n-1}'])


@kind(3000, 100000)
def statements(n: int, rng: random.Random) -> Case:
    v = 1
    for _ in range(n):
        v = v % 1000 * 3 + 1
    return Case('    v = tl.load(x + 1)\n' + '    v = v % 1000 * 3 + 1\n' * n
                + stored('v'), holds={0: v},
                lines=['next 3', f'break {n}', 'continue', 'reverse-next'])


@kind(3000, 60000)
def unrolled(n: int, rng: random.Random) -> Case:
    return Case(f'    v = tl.load(x)\n    for i in tl.static_range({n}):\n'
                '        a = v + i\n        b = a * 2\n        v = b - a\n'
                + stored('v'), holds={0: wrapped(n * (n - 1) // 2)},
                lines=['next 5', 'print i', 'print a', 'break 12',
                       'continue', 'print a', f'continue {max(1, n - 2)}',
                       'print i', 'info locals'])


@kind(600, 2000)
def kernels(n: int, rng: random.Random) -> Case:
    return Case(stored(f'k{n - 1}(2)'),
                before=''.join(f'@triton.jit\ndef k{i}(v):\n'
                               f'    return v + {i}\n\n\n' for i in range(n)),
                holds={0: n + 1}, lines=[f'break k{n - 1}', 'continue'])


@kind(300, 1500)
def helpers(n: int, rng: random.Random) -> Case:
    """Each calls the one before."""
    chain = '@triton.jit\ndef h0(v):\n    return v + 1\n\n\n' + ''.join(
        f'@triton.jit\ndef h{i}(v):\n    return h{i - 1}(v) + 1\n\n\n'
        for i in range(1, n))
    return Case(stored(f'h{n - 1}(tl.load(x))'), before=chain, holds={0: n},
                may_refuse=n > 60,
                lines=['break h0', 'continue', 'backtrace', f'frame {n - 1}',
                       'up', 'finish'])


@kind(1000, 10000)
def calls(n: int, rng: random.Random) -> Case:
    return Case('    v = tl.load(x)\n' + '    v = f(v)\n' * n + stored('v'),
                before='@triton.jit\ndef f(v):\n    return v + 1\n\n\n',
                holds={0: n})


@kind(60, 400)
def recursion(n: int, rng: random.Random) -> Case:
    """A helper that calls itself, as often as a constexpr says."""
    return Case(stored(f'f(tl.load(x), {n})'),
                before='@triton.jit\ndef f(v, N: tl.constexpr):\n'
                '    if N == 0:\n        return v\n    else:\n'
                '        return f(v + 1, N - 1)\n\n\n',
                may_refuse=True, holds={0: n})


@kind(2000, 20000)
def programs(n: int, rng: random.Random) -> Case:
    return Case('    tl.atomic_add(x, tl.program_id(0) + 1)\n', grid=n,
                holds={0: wrapped(n * (n + 1) // 2)},
                lines=['program 0', 'info programs', f'program {n - 1}'])


@kind(1000, 4000)
def printed_values(n: int, rng: random.Random) -> Case:
    values = ', '.join('v' for _ in range(n))
    return Case(f'    v = tl.load(x + 7)\n    print("p", {values})\n'
                + stored('1'), holds={0: 1})


@kind(300, 1000)
def reduced_tuple(n: int, rng: random.Random) -> Case:
    """A reduction of n operands at once."""
    a = ', '.join(f'a{i}' for i in range(n))
    b = ', '.join(f'b{i}' for i in range(n))
    total = ', '.join(f'a{i} + b{i}' for i in range(n))
    return Case(f'    v = tl.arange(0, 4)\n'
                f'    r = tl.reduce(({"v, " * n}), 0, add)\n'
                + stored(f'r[{n - 1}]'),
                before=f'@triton.jit\ndef add({a}, {b}):\n'
                f'    return {total}{"," if n == 1 else ""}\n\n\n',
                may_refuse=n == 1 or n > 16, holds={0: 6})


@kind(500, 2000)
def asm_operands(n: int, rng: random.Random) -> Case:
    adds = ' '.join(f'add.u32 $0, $0, ${i + 1};' for i in range(1, n))
    return Case(f'    v = tl.load(x + 3)\n'
                f'    w = tl.inline_asm_elementwise("mov.b32 $0, $1; {adds}",'
                f' "=&r{",r" * n}", [{", ".join(["v"] * n)}], tl.int32, True,'
                ' 1)\n' + stored('w'), holds={0: 3 * n}, may_refuse=n > 250)


@kind(500, 2000)
def asm_results(n: int, rng: random.Random) -> Case:
    code = ' '.join(f'add.u32 ${i}, ${n}, {i};' for i in range(n))
    types = 'tl.int32' if n == 1 else f'({"tl.int32, " * n})'
    return Case(f'    v = tl.load(x + 3)\n'
                f'    w = tl.inline_asm_elementwise("{code}", '
                f'"{"=r," * n}r", [v], {types}, True, 1)\n'
                + stored('w' if n == 1 else f'w[{n - 1}]'),
                holds={0: n + 2}, may_refuse=n > 250)


@kind(2000, 100000)
def asm_code(n: int, rng: random.Random) -> Case:
    code = ' '.join(f'add.u32 $0, $1, {i};' for i in range(n))
    return Case(f'    v = tl.load(x + 3)\n'
                f'    w = tl.inline_asm_elementwise("{code}", "=r,r", [v], '
                'tl.int32, True, 1)\n' + stored('w'), holds={0: n + 2})


@kind(500, 5000)
def asm_registers(n: int, rng: random.Random) -> Case:
    """Registers with long names, as many as the names are long."""
    w = word(n, rng, 'r')
    declared = ' '.join(f'.reg .b32 {w}{i};' for i in range(min(n, 40)))
    return Case('    v = tl.load(x + 3)\n'
                '    w = tl.inline_asm_elementwise("{ ' + declared
                + f' mov.b32 {w}0, $1; add.u32 $0, {w}0, 1; }}", "=r,r", [v], '
                'tl.int32, True, 1)\n' + stored('w'), holds={0: 4})


@kind(1000, 5000)
def globals_of_tuples(n: int, rng: random.Random) -> Case:
    items = ', '.join(map(str, range(n)))
    return Case(f'    s = 0\n    for i in tl.static_range({min(n, 200)}):\n'
                '        s += T[i]\n' + stored(f's + len(T) + T[{n - 1}]'),
                before=f'T = tl.constexpr(({items},))\n',
                holds={0: sum(range(min(n, 200))) + 2 * n - 1})


@kind(300, 2000)
def shape_of_ones(n: int, rng: random.Random) -> Case:
    """A block of rank n."""
    shape = [2, 2, 1, 2] + [1] * (n - 4) if n > 4 else [2] * n
    return Case(f'    v = tl.zeros({shape}, tl.int32) + tl.load(x + 5)\n'
                f'    w = tl.sum(tl.reshape(v, [{2 ** shape.count(2)}]), 0)\n'
                + stored('w'), holds={0: 5 * 2 ** shape.count(2)},
                may_refuse=n > 20, lines=['next 2', 'print v', 'whatis v',
                                          'print v.shape', 'x/4dw &x'])


@kind(600, 3000)
def aggregate(n: int, rng: random.Random) -> Case:
    """A class of n fields."""
    fields = ''.join(f'    f{i}: tl.tensor\n' for i in range(n))
    names = ', '.join(f'f{i}' for i in range(n))
    sets = ''.join(f'        self.f{i} = f{i}\n' for i in range(n))
    given = ', '.join(f'v + {i}' for i in range(n))
    return Case(f'    v = tl.load(x + 1)\n    a = A({given})\n'
                + stored(f'a.f{n - 1} + a.f0'),
                before='from triton.language.core import _aggregate as '
                f'aggregate\n\n\n@aggregate\nclass A:\n{fields}\n'
                '    @triton.constexpr_function\n'
                f'    def __init__(self, {names}):\n{sets}\n\n',
                may_refuse=True, holds={0: n + 1})


# ---- long lines and deep nests ----------------------------------------------

@kind(3000, 50000)
def long_sum(n: int, rng: random.Random) -> Case:
    """One line, a tree as deep as it is long."""
    return Case('    v = tl.load(x + 1)\n' + stored(' + '.join(['v'] * n)),
                may_refuse=n > 190, holds={0: n},
                lines=['next', 'step', 'print ' + ' + '.join(['v'] * n)])


@kind(3000, 50000)
def blank_line(n: int, rng: random.Random) -> Case:
    """An error far to the right in a line."""
    return Case(f'    tl.store(x,{" " * n} nosuch)\n', refused=True)


@kind(1000, 10000)
def parentheses(n: int, rng: random.Random) -> Case:
    a, b = rng.choice([('(', ')'), ('(1 + ', ')'), ('-(', ')'), ('+', ''),
                       ('[', '][0]'), ('tl.abs(', ')'), ('(', ',)[0]'),
                       ('~', ''), ('not ', ''), ('f(', ')'), ('2 - ', ''),
                       ('1 if x else ', ''), ('(x + ', ')'), ('x[', ']'),
                       ('lambda: ', ''), ('{1: ', '}'), ('2 ** ', ''),
                       ('tl.maximum(1, ', ')')])
    return Case(stored(a * n + '2' + b * n), may_refuse=True,
                before='@triton.jit\ndef f(v):\n    return v\n\n\n',
                lines=[f'print {a * n}2{b * n}', f'break 5 if {a * n}v{b * n}',
                       f'print {a * n}', f'display {b * n}'])


@kind(1000, 10000)
def suffixes(n: int, rng: random.Random) -> Case:
    s = rng.choice(['[0]', '.x', '()', '.to(tl.int32)', '[None]', '.T',
                    ' < 2', ' and 1', ' or 0', ' == 1', '[0:1]', '(1)(2)',
                    ' @ 2', ', 1', ' if 1 else 2', '; v = 1', ' = 1'])
    return Case(f'    v = tl.load(x)\n    v = v{s * n}\n', may_refuse=True,
                lines=[f'print v{s * n}', f'set var v = v{s * n}'])


@kind(200, 300)
def ifs(n: int, rng: random.Random) -> Case:
    test = rng.choice(['v >= 0', 'True', 'tl.load(x) == 0'])
    lines = ['v = tl.load(x)'] + ['    ' * i + f'if {test}:'
                                  for i in range(n)] + ['    ' * n + 'v += 5']
    return Case(indented(lines) + stored('v'), may_refuse=n > 60,
                holds={0: 5}, lines=['step', 'next', 'finish'])


@kind(600, 3000)
def elifs(n: int, rng: random.Random) -> Case:
    lines = ['v = tl.load(x + 1)', 'if v == -1:', '    v = 7'] + [
        line for i in range(n)
        for line in (f'elif v == {-i - 2}:', '    v = 7')] + [
        'else:', '    v = 9']
    return Case(indented(lines) + stored('v'), may_refuse=n > 60,
                holds={0: 9})


@kind(120, 300)
def loops(n: int, rng: random.Random) -> Case:
    head = rng.choice(['for i{} in range(1):', 'for i{} in tl.static_range(1):',
                       'for i{} in tl.range(0, 1):'])
    lines = ['v = tl.load(x)'] + ['    ' * i + head.format(i)
                                  for i in range(n)] + ['    ' * n + 'v += 5']
    return Case(indented(lines) + stored('v'), may_refuse=n > 60,
                holds={0: 5}, lines=['step', 'next 3', 'finish'])


@kind(130, 200, 0)
def nested_tuple(n: int, rng: random.Random) -> Case:
    return Case('    v = tl.load(x + 1)\n    t = (v,)\n'
                f'    for i in tl.static_range({n}):\n        t = (t, v)\n'
                + stored('t[1]'), may_refuse=n > 60, holds={0: 1},
                lines=['next 5', 'print t', 'info locals'])


@kind(400, 600, 0)
def nested_calls(n: int, rng: random.Random) -> Case:
    """Each helper gives the next its tuple with one item more."""
    return Case(stored('f((tl.load(x + 1),))[0]'),
                before='@triton.jit\ndef f(t):\n'
                + indented(['t = t + (t[0],)'] * n + ['return t']) + '\n\n',
                holds={0: 1})


@kind(500, 2000)
def rank_and_dot(n: int, rng: random.Random) -> Case:
    """Blocks of 8 dimensions, one operation after another."""
    lines = ['v = tl.zeros([2, 1, 2, 1, 2, 1, 2, 1], tl.int32) + tl.load(x+1)']
    lines += ['v = tl.permute(v, [7, 6, 5, 4, 3, 2, 1, 0])'] * min(n, 60)
    lines += ['s = tl.sum(tl.reshape(v, [16]), 0)']
    return Case(indented(lines) + stored('s'), holds={0: 16},
                lines=['next 3', 'print v', 'info locals'])


# ---- the debugger's lines ---------------------------------------------------

LOOKED = ('    v = tl.load(x + tl.arange(0, 16))\n    w = v + 1\n'
          '    tl.store(x + tl.arange(0, 16), w)\n')


@kind(5000, 50000)
def long_lines(n: int, rng: random.Random) -> Case:
    w, many = word(n, rng, 'w'), ' + '.join(['v'] * (n // 4 + 1))
    many_and = ' and '.join(['1 == 1'] * (n // 8 + 1))
    lines = ['next', f'print {many}', f'break 8 if {many_and}',
             f'break {w}', f'break {w}:3', f'break {n}', w, f'{w} {w}',
             f'info {w}', f'set {w} 1', f'set var {w} = 1', f'help {w}',
             f'print {w}', f'print "{w}"', f'dprintf 8,"{w} {{v}}"',
             f'dprintf 8,"{"{v[0]}" * (n // 6 + 1)}"', f'echo {w}',
             f'display {many}', 'display', f'x/{n}dw &x', f'watch {w}',
             f'watch x[{n}]', f'print x[{"0" * n}]', f'save x {w}',
             f'condition 1 {many_and}', f'catch {w}', f'until {w}',
             f'print v[{", ".join(["0"] * (n // 3 + 1))}]',
             f'commands 1 {w}', f'source {w}', f'apropos {w}', f'order {w}',
             f'set order {w}', f'set width {"9" * (n % 400)}', f'grid {w}',
             f'info line {w}', f'list {w}', f'frame {"1" * n}',
             f'program {"1" * n}', f'next {"1" * n}', f'origin {w}',
             f'explain x[{"1" * n}]', f'why {w}', f'tbreak op {w}',
             f'check {w}', f'set check {w}', f'set safe-path {w}']
    rng.shuffle(lines)
    return Case(LOOKED, lines=lines[:16] + ['continue'] * 3)


@kind(1000, 5000)
def many_points(n: int, rng: random.Random) -> Case:
    lines = [rng.choice([f'break {5 + i % 4} if v[0] == {i}', 'break 6',
                         f'watch x[{i % 64}]', f'display v + {i}', 'tbreak 7',
                         f'dprintf 7,"{i}"']) for i in range(min(n, 300))]
    return Case(LOOKED, lines=lines + ['info breakpoints', 'info display',
                                       'continue', 'next', 'continue',
                                       'delete', 'continue'])


@kind(3000, 20000)
def long_args(n: int, rng: random.Random) -> Case:
    """Texts that say what arguments are, one of which is wrong."""
    spec = rng.choice([
        f'f32[{"1," * n}1]', f'f32[{"9" * n}]', f'{"9" * n}', f'@{"n" * n}',
        f'f32[4]:{"r" * n}', f'f32[4]:full({"1" * n})', f'{"z" * n}[4]',
        f'i64:{"7" * n}', f'f32[4]:rand({"1" * n})', f'({"1," * n})',
        f'"{"s" * n}"', f'{"(" * n}1{")" * n}', f'f32[4]:@{"n" * n}.npy',
        f'0.{"3" * n}', f'f32[{" " * n}4]', f'u8[4]:randint(0,{"9" * n})'])
    return Case(stored('1'), 'x, p', [X, ('p', spec)], may_refuse=True)


# ---- PTX --------------------------------------------------------------------

PTX_HEAD = ('.version 8.0\n.target sm_80\n.address_size 64\n'
            '.visible .entry k(.param .u64 io)\n{\n')


def ptx_kernel(declared: str, code: str) -> str:
    return (f'{PTX_HEAD}.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<4>;\n'
            f'{declared}\nld.param.u64 %d1, [io];\nmov.u32 %r1, 1;\n{code}\n'
            'st.global.u32 [%d1], %r1;\nret;\n}\n')


@kind(5000, 100000)
def ptx_code(n: int, rng: random.Random) -> Case:
    return Case('', ptx=ptx_kernel('', 'add.u32 %r1, %r1, 1;\n' * n),
                holds={0: n + 1})


@kind(5000, 50000)
def ptx_registers(n: int, rng: random.Random) -> Case:
    return Case('', ptx=ptx_kernel(
        f'.reg .b32 %q<{n + 1}>;',
        'mov.u32 %q0, 1;\n' + ''.join(f'add.u32 %q{i + 1}, %q{i}, 1;\n'
                                      for i in range(n))
        + f'mov.u32 %r1, %q{n};'), holds={0: n + 1})


@kind(20000, 100000)
def ptx_names(n: int, rng: random.Random) -> Case:
    w = word(n, rng, 'w')
    return Case('', ptx=ptx_kernel(
        f'.reg .b32 {w};\n.shared .align 4 .b8 s{w}[16];',
        f'mov.u32 {w}, 5;\nbra l{w};\nmov.u32 {w}, 6;\nl{w}:\n'
        f'mov.u32 %r1, {w}; // {w}'), holds={0: 5})


@kind(2000, 20000)
def ptx_labels(n: int, rng: random.Random) -> Case:
    return Case('', ptx=ptx_kernel('', ''.join(
        f'bra L{i};\nL{i}:\nadd.u32 %r1, %r1, 1;\n' for i in range(n))),
        holds={0: n + 1})


@kind(20000, 100000)
def ptx_wrong(n: int, rng: random.Random) -> Case:
    w = word(n, rng, 'w')
    wrong = rng.choice([f'{w} %r1, %r1;', f'add.{w} %r1, %r1, 1;',
                        f'mov.u32 %r1, {w};', f'mov.u32 {w}, 1;', f'bra {w};',
                        f'ld.global.u32 %r1, [{w}];', f'@{w} bra L;',
                        f'mov.u32 %r1, {"9" * n};', f'.{w} 1;',
                        f'{{ {"{ " * n} {"} " * n} }}',
                        f'mov.u32 %r1, {"(" * n}1{")" * n};',
                        f'mov.u32 %r1, {"-" * n}1;', f'call {w};',
                        f'mov.b64 %d1, {{{"%r1, " * n}%r1}};',
                        f'.shared .b8 s[{"9" * n}];', f'.loc {"1" * n} 1 1;',
                        f'.file {n} "{w}"', f'/* {w}', f'"{w}"'])
    return Case('', ptx=ptx_kernel('', wrong), may_refuse=True)


# ---- cases of a kind --------------------------------------------------------

def make(name: str, n: int, seed: int) -> Case:
    return KINDS[name].make(n, random.Random(seed * 1000003 + n))


def drawn(number: int, most: int) -> Tuple[str, int, Case]:
    """The case of a number: (kind, size, case)."""
    rng = random.Random(number)
    name = rng.choice(list(KINDS))
    limit = min(KINDS[name].most, most)
    sizes = [s for s in SIZES if s <= limit]
    # Small ones are many and cost little, large ones are few.
    n = rng.choice(sizes if rng.randrange(4) else sizes[:len(sizes) * 2 // 3])
    return name, n, KINDS[name].make(n, rng)


def fields(label: str, c: Case) -> Iterator[Tuple[str, str]]:
    yield 'case', label
    if c.ptx:
        yield 'ptx', c.ptx
    else:
        yield 'source', c.source
        yield 'kernel', c.name
        yield 'grid', str(c.grid)
        for name, value in c.args:
            yield 'arg', f'{name}={value}'
    how = [w for w in ('refused', 'fails', 'may_refuse') if getattr(c, w)]
    yield 'ends', ' '.join(how)
    for at, value in c.holds.items():
        yield 'holds', f'{at} {value}'
    for t in c.says:
        yield 'says', t
    for line in c.lines:
        yield 'line', line
    yield 'end', ''


def record(label: str, c: Case) -> bytes:
    out = []
    for name, value in fields(label, c):
        body = value.encode()
        out += [b'%s %d\n' % (name.encode(), len(body)), body, b'\n']
    return b''.join(out)


def python_value(spec: str) -> Optional[str]:
    """An argument as a script makes it; None: only the command does."""
    kinds = {'i32[64]:arange': 'np.arange(64, dtype=np.int32)',
             'i32[4]:arange': 'np.arange(4, dtype=np.int32)',
             'f32[64]:ones': 'np.ones(64, np.float32)'}
    return kinds.get(spec, spec if spec.lstrip('-').isdigit() else None)


def script(c: Case) -> str:
    """The source, and host code that launches it and checks the result."""
    given = [(name, python_value(value)) for name, value in c.args[1:]]
    words = ''.join(f', {name}={value}' for name, value in given
                    if value is not None)
    checks = ''.join(f'    assert x[{at}] == {value}, x[{at}]\n'
                     for at, value in c.holds.items())
    return (f'{c.source}\n\nif __name__ == "__main__":\n'
            '    import numpy as np\n'
            '    x = np.arange(64, dtype=np.int32)\n'
            f'    {c.name}[({c.grid},)](x{words})\n{checks}'
            '    print("all of it ran")\n')


def write(c: Case, folder: str) -> None:
    os.makedirs(folder, exist_ok=True)

    def put(name: str, body: str) -> None:
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(body)
    if c.ptx:
        put('k.ptx', c.ptx)
        return
    put('k.py', script(c))
    put('args', ''.join(f'{name}={value}\n' for name, value in c.args))
    put('lines', ''.join(f'{line}\n' for line in c.lines))


def scale(seed: int, name: Optional[str], most: int) -> None:
    """Each kind twice: sizes, one four times the other."""
    for each in [name] if name else KINDS:
        k = KINDS[each]
        if not k.scale:
            continue
        for n in min(k.scale, most) // 4, min(k.scale, most):
            c = k.make(max(n, 1), random.Random(seed))
            sys.stdout.buffer.write(record(f'{seed} {each} {n}', c))


def stream(seed: int, count: int, most: int) -> None:
    out = sys.stdout.buffer
    for number in range(seed, seed + count):
        name, n, c = drawn(number, most)
        out.write(record(f'{number} {name} {n}', c))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--kind', choices=KINDS, metavar='NAME')
    parser.add_argument('--size', type=int, metavar='N')
    parser.add_argument('--write', metavar='FOLDER')
    parser.add_argument('--stream', action='store_true')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--scale', action='store_true')
    parser.add_argument('--most', type=int, default=1 << 20)
    args = parser.parse_args()
    if args.scale:
        scale(args.seed, args.kind, args.most)
    elif args.list:
        for name, k in KINDS.items():
            print(f'{name} {k.most} {k.huge}')
    elif args.kind:
        n = args.size or KINDS[args.kind].huge
        c = make(args.kind, n, args.seed)
        if args.write:
            write(c, args.write)
        else:
            sys.stdout.buffer.write(record(f'{args.seed} {args.kind} {n}', c))
    elif args.stream:
        try:
            stream(args.seed, args.count, args.most)
        except BrokenPipeError:
            sys.stderr.close()
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
