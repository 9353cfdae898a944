"""What random kernels are made of: operations that give a value of a type that
is asked for, and statements.

Each operation is a function of the generator, a dtype, a shape and a depth;
``operation`` says for which it can be asked.  It gives None where it cannot
be, after all.
"""
from kernel import Statement

OPERATIONS = []


def operation(weight, fits=lambda dtype, shape: True):
    def add(function):
        OPERATIONS.append((weight, fits, function))
        return function
    return add


def some(g, dtype, shape, depth):
    """A value by one of the operations that fit."""
    fitting = [(w, f) for w, fits, f in OPERATIONS if fits(dtype, shape)]
    for _ in range(4):
        made = g.weighted(fitting)(g, dtype, shape, depth - 1)
        if made is not None:
            return made
    return g.leaf(dtype, shape)


def is_int(dtype, shape=()):
    return 'int' in dtype and dtype != 'int1'


def is_float(dtype, shape=()):
    return 'float' in dtype


def is_mask(dtype, shape=()):
    return dtype == 'int1'


def is_number(dtype, shape=()):
    return dtype != 'int1'


def is_block(dtype, shape):
    return bool(shape)


def both(*tests):
    return lambda dtype, shape: all(t(dtype, shape) for t in tests)


def other_int(g, dtype):
    """Mostly the same, so that kernels have plain operations, too."""
    import generate
    return dtype if g.chance(0.6) else g.pick(generate.INTS)


def operand(g, dtype, shape, depth):
    """The text of something to combine with a block of that shape: another,
    one that is broadcast, a scalar, a literal."""
    kind = g.below(10)
    if kind == 0:
        return g.number(dtype)
    if kind == 1:
        return g.make(dtype, (), depth).name
    if kind == 2 and len(shape) > 1:
        axis = g.below(len(shape))
        return g.make(dtype, tuple(1 if i == axis else n
                                   for i, n in enumerate(shape)), depth).name
    return g.make(dtype, shape, depth).name


# ---- lane by lane -----------------------------------------------------------

@operation(8, is_int)
def arithmetic(g, dtype, shape, depth):
    a = g.make(other_int(g, dtype), shape, depth)
    op = g.pick(['+', '-', '*', '&', '|', '^', '+', '*'])
    b = operand(g, a.dtype, shape, depth) if g.chance(0.8) else \
        g.make(other_int(g, dtype), shape, depth).name
    if g.chance(0.1):
        return g.put(f'({b} {op} {a.name}).to(tl.{dtype})', dtype, shape)
    return g.put(f'({a.name} {op} {b}).to(tl.{dtype})', dtype, shape)


@operation(3, is_int)
def shifts(g, dtype, shape, depth):
    import generate
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    by = f'({b.name} & {generate.BITS[dtype] - 1})'
    return g.put(f'({a.name} {g.pick(["<<", ">>"])} {by}).to(tl.{dtype})',
                 dtype, shape)


@operation(3, is_int)
def quotients(g, dtype, shape, depth):
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    by = f'({b.name} | 1)' if dtype[0] == 'u' else g.pick(
        [f'(({b.name} & 63) | 1)', f'(({b.name} & 7) + 1)', '3', '16', '7'])
    return g.put(f'({a.name} {g.pick(["//", "%"])} {by}).to(tl.{dtype})',
                 dtype, shape)


@operation(3, is_int)
def one_integer(g, dtype, shape, depth):
    a = g.make(other_int(g, dtype), shape, depth)
    text = g.pick(['~{}', '-{}', 'tl.abs({})', '({} + 1)', '({} * {})'])
    return g.put(f'({text.format(a.name, a.name)}).to(tl.{dtype})', dtype,
                 shape)


@operation(1, lambda dtype, shape: dtype in ('int32', 'uint32', 'int64',
                                             'uint64'))
def high_product(g, dtype, shape, depth):
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    return g.put(f'tl.umulhi({a.name}, {b.name}).to(tl.{dtype})', dtype,
                 shape)


@operation(3, is_number)
def extremes(g, dtype, shape, depth):
    a = g.make(dtype, shape, depth)
    b = g.make(dtype, shape, depth)
    op = g.pick(['minimum', 'maximum'])
    return g.put(f'tl.{op}({a.name}, {b.name}).to(tl.{dtype})', dtype, shape)


@operation(6, is_float)
def float_arithmetic(g, dtype, shape, depth):
    a = g.make(dtype, shape, depth)
    b = operand(g, dtype, shape, depth)
    return g.put(f'({a.name} {g.pick("+-*")} {b}).to(tl.{dtype})', dtype,
                 shape)


@operation(2, is_float)
def one_float(g, dtype, shape, depth):
    a = g.make(dtype, shape, depth)
    text = g.pick(['(-{0})', 'tl.abs({0})', '({0} * 0.5)', '({0} + 1)'])
    return g.put(f'{text.format(a.name)}.to(tl.{dtype})', dtype, shape)


@operation(2, lambda dtype, shape: dtype in ('float32', 'float64'))
def fused(g, dtype, shape, depth):
    a, b, c = (g.make(dtype, shape, depth) for _ in range(3))
    return g.put(f'tl.fma({a.name}, {b.name}, {c.name})', dtype, shape)


@operation(2, lambda dtype, shape: dtype == 'float32')
def rounded_functions(g, dtype, shape, depth):
    a = g.make(dtype, shape, depth)
    if g.chance(0.4):
        return g.put(f'tl.sqrt_rn(tl.abs({a.name}))', dtype, shape)
    b = g.make(dtype, shape, depth)
    return g.put(f'tl.div_rn({a.name}, {b.name})', dtype, shape)


@operation(1, lambda dtype, shape: dtype in ('float32', 'float64'))
def steps(g, dtype, shape, depth):
    a = g.whole(dtype, shape, depth, 256)
    return g.put(f'tl.{g.pick(["floor", "ceil"])}({a.name} * 0.25)', dtype,
                 shape)


@operation(4, is_number)
def choice(g, dtype, shape, depth):
    c = g.mask(shape, depth)
    a = g.make(dtype, shape, depth)
    b = operand(g, dtype, shape, depth)
    return g.put(f'tl.where({c.name}, {a.name}, {b}).to(tl.{dtype})', dtype,
                 shape)


@operation(5, is_mask)
def comparison(g, dtype, shape, depth):
    d = g.some_dtype()
    a = g.make(d, shape, depth)
    b = operand(g, d, shape, depth)
    op = g.pick(['<', '<=', '>', '>=', '==', '!='])
    return g.put(f'{a.name} {op} {b}', 'int1', shape)


@operation(2, is_mask)
def logic(g, dtype, shape, depth):
    a, b = (g.mask(shape, depth) for _ in range(2))
    return g.put(g.pick([f'{a.name} & {b.name}', f'{a.name} | {b.name}',
                         f'{a.name} ^ {b.name}', f'~{a.name}']), 'int1',
                 shape)


# ---- conversions ------------------------------------------------------------

@operation(4, is_number)
def converted(g, dtype, shape, depth):
    import generate
    wide = generate.INTS + (generate.FLOATS if is_float(dtype) else [])
    a = g.make(g.pick(wide + ['int1']), shape, depth)
    return g.put(f'{a.name}.to(tl.{dtype})', dtype, shape)


@operation(1, is_int)
def cut_float(g, dtype, shape, depth):
    """A whole float, or one with a half, to an integer."""
    d = g.pick(['float16', 'bfloat16', 'float32', 'float64'])
    bound = 64
    a = g.whole(d, shape, depth, bound)
    size = f'tl.abs({a.name})' if dtype[0] == 'u' else a.name
    half = g.pick(['', ' * 0.5', ' + 0.25'])
    return g.put(f'({size}{half}).to(tl.{dtype})', dtype, shape)


BITCASTS = {'float32': 'int32', 'float64': 'int64', 'float16': 'int16',
            'uint32': 'int32', 'int32': 'uint32', 'int16': 'uint16',
            'bfloat16': 'uint16', 'uint64': 'int64', 'int8': 'uint8'}


@operation(1, lambda dtype, shape: dtype in BITCASTS)
def same_bits(g, dtype, shape, depth):
    a = g.make(BITCASTS[dtype], shape, depth)
    return g.put(f'{a.name}.to(tl.{dtype}, bitcast=True)', dtype, shape)


@operation(1, lambda dtype, shape: dtype in ('int32', 'int64'))
def bits_of_float(g, dtype, shape, depth):
    """Of one that is not NaN."""
    a = g.whole(dtype.replace('int', 'float'), shape, depth, 1024)
    return g.put(f'({a.name} * 0.375).to(tl.{dtype}, bitcast=True)', dtype,
                 shape)


@operation(1, lambda dtype, shape: dtype in ('float16', 'bfloat16',
                                             'float32'))
def eight_bits(g, dtype, shape, depth):
    """To a float of eight bits, and back."""
    a = g.whole(g.pick(['float16', 'float32', 'bfloat16']), shape, depth, 64)
    eight = g.pick(['float8e5', 'float8e4nv'])
    return g.put(f'({a.name} * 0.375).to(tl.{eight}).to(tl.{dtype})', dtype,
                 shape)


# ---- shapes -----------------------------------------------------------------

@operation(3, is_block)
def reshaped(g, dtype, shape, depth):
    import generate
    same = [s for s in g.shapes if generate.lanes(s) == generate.lanes(shape)
            and s != shape]
    if not same:
        return None
    a = g.make(dtype, g.pick(same), depth)
    return g.put(f'tl.reshape({a.name}, {generate.shown(shape)})', dtype,
                 shape)


@operation(3, lambda dtype, shape: len(shape) > 1)
def permuted(g, dtype, shape, depth):
    import generate
    axes = list(range(len(shape)))
    for i in range(len(axes) - 1, 0, -1):
        j = g.below(i + 1)
        axes[i], axes[j] = axes[j], axes[i]
    before = [0] * len(shape)
    for i, axis in enumerate(axes):
        before[axis] = shape[i]
    a = g.make(dtype, tuple(before), depth)
    if len(shape) == 2 and axes == [1, 0] and g.chance(0.5):
        return g.put(f'tl.trans({a.name})', dtype, shape)
    return g.put(f'tl.permute({a.name}, {generate.shown(axes)})', dtype,
                 shape)


@operation(2, is_block)
def broadcast(g, dtype, shape, depth):
    import generate
    if g.chance(0.2):
        a = g.make(dtype, (), depth)
        return g.put(f'tl.broadcast_to({a.name}, {generate.shown(shape)})',
                     dtype, shape)
    axis = g.below(len(shape))
    a = g.make(dtype, tuple(1 if i == axis else n
                            for i, n in enumerate(shape)), depth)
    return g.put(f'tl.broadcast_to({a.name}, {generate.shown(shape)})', dtype,
                 shape)


@operation(3, lambda dtype, shape: len(shape) > 1 and 1 in shape)
def expanded(g, dtype, shape, depth):
    axis = g.pick([i for i, n in enumerate(shape) if n == 1])
    a = g.make(dtype, shape[:axis] + shape[axis + 1:], depth)
    if g.chance(0.5):
        return g.put(f'tl.expand_dims({a.name}, {axis})', dtype, shape)
    at = ', '.join('None' if i == axis else ':' for i in range(len(shape)))
    return g.put(f'{a.name}[{at}]', dtype, shape)


@operation(2, lambda dtype, shape: shape and shape[-1] == 2)
def joined(g, dtype, shape, depth):
    a, b = (g.make(dtype, shape[:-1], depth) for _ in range(2))
    if not shape[:-1]:
        return None
    return g.put(f'tl.join({a.name}, {b.name})', dtype, shape)


@operation(1, lambda dtype, shape: shape and shape[-1] > 1)
def interleaved(g, dtype, shape, depth):
    half = shape[:-1] + (shape[-1] // 2,)
    a, b = (g.make(dtype, half, depth) for _ in range(2))
    return g.put(f'tl.interleave({a.name}, {b.name})', dtype, shape)


@operation(1, is_block)
def split(g, dtype, shape, depth):
    import generate
    if generate.lanes(shape) * 2 > generate.MOST or len(shape) > 2:
        return None
    a = g.make(dtype, shape + (2,), depth)
    left, right = (generate.Value(g.new_name(), dtype, shape)
                   for _ in range(2))
    g.body.append(Statement(f'{left.name}, {right.name} = tl.split({a.name})',
                            {v.name: generate.plain(dtype, shape)
                             for v in (left, right)}))
    g.scopes[-1] += [left, right]
    return g.pick([left, right])


@operation(1, both(is_number, is_block))
def flipped(g, dtype, shape, depth):
    if shape == (1,):  # Triton 3.6 does not compile it
        return None
    a = g.make(dtype, shape, depth)
    return g.put(f'tl.flip({a.name}, {g.below(len(shape))})', dtype, shape)


@operation(2, both(is_number, is_block))
def gathered(g, dtype, shape, depth):
    axis = g.below(len(shape))
    if shape[axis] < 2 and len(shape) == 1:
        return None
    a = g.make(dtype, shape, depth)
    return g.put(f'tl.gather({a.name}, {g.index(shape, shape[axis], depth)}, '
                 f'{axis})', dtype, shape)


# ---- along an axis ----------------------------------------------------------

def longer(g, shape):
    """A shape with one more axis, and the axis."""
    import generate
    axis = g.below(len(shape) + 1)
    most = generate.MOST // generate.lanes(shape)
    if len(shape) > 2 or most < 2:
        return None, axis
    n = 2**(1 + g.below(min(8, most.bit_length() - 1)))
    return shape[:axis] + (n,) + shape[axis:], axis


@operation(4, is_int)
def reduced(g, dtype, shape, depth):
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    a = g.make(other_int(g, dtype), wide, depth)
    text = g.pick([
        f'tl.sum({a.name}, {axis})', f'tl.sum({a.name}, axis={axis})',
        f'tl.max({a.name}, {axis})', f'tl.min({a.name}, {axis})',
        f'tl.xor_sum({a.name}, {axis})',
        f'tl.argmax({a.name}, {axis})', f'tl.argmin({a.name}, {axis})',
        f'tl.max({a.name}, {axis}, return_indices=True)[1]',
        f'tl.reduce({a.name}, {axis}, add2)',
        f'tl.reduce({a.name}, {axis}, xor2)',
        f'tl.reduce({a.name}, {axis}, greater)'])
    return g.put(f'{text}.to(tl.{dtype})', dtype, shape)


@operation(2, is_int)
def reduced_pair(g, dtype, shape, depth):
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    by = g.pick(['sum_and_most', 'first_least'])
    a = g.make('int32', wide, depth)
    b = g.make('int32' if by == 'first_least' else other_int(g, dtype), wide,
               depth)
    return g.put(f'tl.reduce(({a.name}, {b.name}), {axis}, {by})'
                 f'[{g.below(2)}].to(tl.{dtype})', dtype, shape)


@operation(2, is_float)
def reduced_floats(g, dtype, shape, depth):
    """Extremes of any floats, sums of whole ones."""
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    if g.chance(0.5):
        a = g.make(dtype, wide, depth)
        op = g.pick(['max', 'min'])
        return g.put(f'tl.{op}({a.name}, {axis}).to(tl.{dtype})', dtype,
                     shape)
    d = g.pick(['float32', 'float64', 'float16'])
    a = g.whole(d, wide, depth, 4 if d == 'float16' else 64)
    if d == 'float16' and wide[axis] > 256:
        return None
    return g.put(f'tl.sum({a.name}, {axis}).to(tl.{dtype})', dtype, shape)


@operation(1, is_int)
def best_of_floats(g, dtype, shape, depth):
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    a = g.whole(g.pick(['float32', 'float16', 'bfloat16']), wide, depth, 32)
    op = g.pick(['argmax', 'argmin'])
    return g.put(f'tl.{op}({a.name}, {axis}).to(tl.{dtype})', dtype, shape)


def long_axis(g, shape):
    """Triton 3.6 scans blocks with an axis of one lane wrongly, or does not
    compile that."""
    return None if 1 in shape else g.below(len(shape))


@operation(3, both(is_int, is_block))
def scanned(g, dtype, shape, depth):
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a = g.make(dtype, shape, depth)
    back = g.pick(['', ', reverse=True'])
    text = g.pick([
        f'tl.cumsum({a.name}, {axis}{back})',
        f'tl.cumprod({a.name}, {axis}{back})',
        f'tl.associative_scan({a.name}, {axis}, greater{back})',
        f'tl.associative_scan({a.name}, {axis}, xor2{back})',
        f'tl.associative_scan({a.name}, {axis}, later{back})'])
    return g.put(f'{text}.to(tl.{dtype})', dtype, shape)


@operation(1, both(is_int, is_block))
def scanned_pair(g, dtype, shape, depth):
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a, b = (g.make('int32', shape, depth) for _ in range(2))
    back = g.pick(['', ', reverse=True'])
    return g.put(f'tl.associative_scan(({a.name}, {b.name}), {axis}, '
                 f'affine{back})[{g.below(2)}].to(tl.{dtype})', dtype, shape)


@operation(1, lambda dtype, shape: is_float(dtype) and shape
           and dtype in ('float32', 'float64'))
def summed_up(g, dtype, shape, depth):
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a = g.whole(dtype, shape, depth, 64)
    return g.put(f'tl.cumsum({a.name}, {axis})', dtype, shape)


@operation(1, both(is_number, is_block))
def sorted_lanes(g, dtype, shape, depth):
    if is_float(dtype):
        a = g.whole(dtype, shape, depth, 64)
    else:
        a = g.make(dtype, shape, depth)
    how = g.pick(['', ', descending=True'])
    return g.put(f'tl.sort({a.name}{how})', dtype, shape)


@operation(1, lambda dtype, shape: is_int(dtype) and len(shape) == 1
           and shape[0] > 1)
def histogram(g, dtype, shape, depth):
    import generate
    of = g.pick([s for s in g.shapes if len(s) == 1] + [(64,)])
    mask = f', mask={g.mask(of, depth).name}' if g.chance(0.3) else ''
    return g.put(f'tl.histogram({g.index(of, shape[0], depth)}, {shape[0]}'
                 f'{mask}).to(tl.{dtype})', dtype, shape)


@operation(1, lambda dtype, shape: is_int(dtype) and not shape)
def of_both_blocks(g, dtype, shape, depth):
    """tl.cat may give its lanes in any order."""
    of = g.pick([s for s in g.shapes if len(s) == 1])
    a, b = (g.make(dtype, of, depth) for _ in range(2))
    op = g.pick(['tl.sum', 'tl.max', 'tl.xor_sum'])
    return g.put(f'{op}(tl.cat({a.name}, {b.name}, can_reorder=True), 0)'
                 f'.to(tl.{dtype})', dtype, shape)


@operation(1, lambda dtype, shape: dtype in ('uint32', 'int32') and shape)
def philox(g, dtype, shape, depth):
    a = g.make('int32', shape, depth)
    return g.put(f'tl.randint({g.below(1000)}, {a.name}).to(tl.{dtype})',
                 dtype, shape)


# ---- inline assembly --------------------------------------------------------

# Text, how many operands.
ASSEMBLY = [
    ('lop3.b32 $0, $1, $2, $3, 0x96;', 3),
    ('lop3.b32 $0, $1, $2, $3, 0xca;', 3),
    ('mad.lo.s32 $0, $1, $2, $3;', 3), ('prmt.b32 $0, $1, $2, 0x4150;', 2),
    ('prmt.b32 $0, $1, $2, 0x9c32;', 2), ('bfe.s32 $0, $1, 5, 9;', 1),
    ('bfi.b32 $0, $1, $2, 3, 11;', 2), ('popc.b32 $0, $1;', 1),
    ('brev.b32 $0, $1;', 1), ('clz.b32 $0, $1;', 1), ('bfind.s32 $0, $1;', 1),
    ('shf.l.wrap.b32 $0, $1, $2, $3;', 3), ('sad.s32 $0, $1, $2, $3;', 3),
    ('dp4a.s32.u32 $0, $1, $2, $3;', 3), ('mul.hi.s32 $0, $1, $2;', 2),
    ('{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $3, $1, p; }', 3),
    ('{ .reg .b32 t; mul.lo.s32 t, $1, $2; xor.b32 $0, t, $1; }', 2)]


@operation(1.5, lambda dtype, shape: shape and dtype in ('int32', 'uint32'))
def assembly(g, dtype, shape, depth):
    text, count = g.pick(ASSEMBLY)
    return in_assembly(g, text, count, 'r', 1, dtype, shape, depth)


@operation(0.7, lambda dtype, shape: shape and dtype in (
    'int8', 'uint8', 'int16', 'uint16'))
def packed_assembly(g, dtype, shape, depth):
    """A register of two or four lanes."""
    import generate
    pack = 32 // generate.BITS[dtype]
    if generate.lanes(shape) < 512:  # less than a register in some thread
        pack = 1
    text, count = g.pick([('lop3.b32 $0, $1, $2, $3, 0xd8;', 3),
                          ('xor.b32 $0, $1, $2;', 2), ('not.b32 $0, $1;', 1)])
    return in_assembly(g, text, count, 'r', pack, dtype, shape, depth)


@operation(0.7, lambda dtype, shape: shape and dtype == 'float32')
def float_assembly(g, dtype, shape, depth):
    text, count = g.pick([('fma.rn.f32 $0, $1, $2, $3;', 3),
                          ('max.f32 $0, $1, $2;', 2),
                          ('neg.f32 $0, $1;', 1)])
    return in_assembly(g, text, count, 'f', 1, dtype, shape, depth)


def in_assembly(g, text, count, letter, pack, dtype, shape, depth):
    args = [g.make(dtype, shape, depth).name for _ in range(count)]
    bounds = ','.join(['=' + letter] + [letter] * count)
    return g.put(f'tl.inline_asm_elementwise("{text}", "{bounds}", '
                 f'[{", ".join(args)}], tl.{dtype}, True, {pack})', dtype,
                 shape)


# ---- products of matrices ---------------------------------------------------

DOTS = {'float32': ['float16', 'bfloat16', 'float32', 'float8e5'],
        'int32': ['int8'], 'float64': ['float64']}


@operation(6, lambda dtype, shape: dtype in DOTS and len(shape) == 2
           and min(shape) >= 16)
def product(g, dtype, shape, depth):
    of = g.pick(DOTS[dtype])
    k = g.pick([16, 32, 64] if of in ('float16', 'bfloat16', 'float32',
                                      'float64') else [32, 64])
    if max(shape) * k > 4096:
        return None
    eight = of == 'float8e5'
    made = 'float16' if eight else of
    sides = []
    for side in ((shape[0], k), (k, shape[1])):
        turned = g.chance(0.4)
        v = g.whole(made, side[::-1] if turned else side, depth, 8)
        text = f'tl.trans({v.name})' if turned else v.name
        sides.append(text + ('.to(tl.float8e5)' if eight else ''))
    acc = ''
    if g.chance(0.4):
        kind = g.make('int32', shape, depth) if of == 'int8' else \
            g.whole(dtype, shape, depth, 1024)
        acc = f', {kind.name}'
    how = ''
    if of in ('int8', 'float64'):
        how = f', out_dtype=tl.{dtype}'
    elif of == 'float32' and g.chance(0.5):
        how = ', input_precision="ieee"'
    return g.put(f'tl.dot({", ".join(sides)}{acc}{how})', dtype, shape)


# ---- memory -----------------------------------------------------------------

def load(g, dtype, shape):
    import generate
    x = g.pointer(g.tensor(dtype, generate.LENGTH, 'any'), dtype)
    if not shape:
        return g.put(f'tl.load({x} + {g.index((), generate.LENGTH)})', dtype,
                     shape)
    kind = g.below(8)
    if kind == 0 and len(shape) == 2:
        return through_window(g, x, dtype, shape)
    if fits_descriptor(dtype, shape) and g.chance(0.05):
        return through_descriptor(g, x, dtype, shape)
    where = generate.linear(shape)
    if kind < 3:
        where = g.index(shape, generate.LENGTH)
    elif kind == 3 and len(shape) == 2:
        where = (f'tl.arange(0, {shape[0]})[:, None] + '
                 f'tl.arange(0, {shape[1]})[None, :] * {shape[0]}')
    elif kind == 4:
        where = f'({where} + pid * {1 + g.below(64)}) & {generate.LENGTH - 1}'
    how = g.pick([''] * 6 + [', cache_modifier=".cg"',
                             ', eviction_policy="evict_last"',
                             ', volatile=True'])
    if g.chance(0.4):
        other = g.pick(['0', '1', g.make(dtype, shape, 0).name])
        how = f', mask={g.mask(shape).name}, other={other}' + how
    return g.put(f'tl.load({x} + ({where}){how})', dtype, shape)


def fits_descriptor(dtype, shape):
    """Rows of 16 bytes or more."""
    import generate
    return len(shape) in (1, 2) and shape[-1] * generate.BITS[dtype] >= 128


def through_descriptor(g, x, dtype, shape):
    """Of a tensor whose end, or beginning, the block may cross; what is not
    there is 0.  Triton's copies end in a fault where a block begins within 16
    bytes of a row."""
    import generate
    sizes, length = [], generate.LENGTH
    for n in reversed(shape):
        wide = 16 * -(-g.pick([n, n // 2 + 1, 2 * n]) // 16)
        sizes.insert(0, min(wide, length) if len(sizes) == 0
                     else max(1, min(g.pick([n, n // 2 + 1, 2 * n]), length)))
        length //= sizes[0]
    strides = [sizes[1], 1] if len(shape) == 2 else [1]
    steps = [1] * (len(shape) - 1) + [128 // generate.BITS[dtype]]
    at = [g.pick(['0', f'{k}', f'(pid & 1) * {k}', f'-{k}',
                  f'{n // 2 // k * k}']) for n, k in zip(shape, steps)]
    return g.put(f'tl.make_tensor_descriptor({x}, {sizes}, {strides}, '
                 f'{list(shape)}).load([{", ".join(at)}])', dtype, shape)


def through_window(g, x, dtype, shape):
    """A part of a matrix, with zeros for what is outside."""
    import generate
    rows = g.pick([shape[0], max(1, shape[0] // 2 + 1), shape[0] * 2])
    columns = g.pick([shape[1], max(1, shape[1] // 2 + 1)])
    while rows * columns > generate.LENGTH:
        rows //= 2
    down = g.pick(['0', '1', '(pid & 1)'])
    i = f'(tl.arange(0, {shape[0]})[:, None] + {down})'
    j = f'tl.arange(0, {shape[1]})[None, :]'
    return g.put(f'tl.load({x} + {i} * {columns} + {j}, '
                 f'mask=({i} < {rows}) & ({j} < {columns}), other=0)',
                 dtype, shape)


def store(g):
    """A value into a tensor of its own, each lane at a place of its own."""
    import generate
    shape = g.some_shape() if g.chance(0.9) else ()
    dtype = g.some_dtype()
    v = g.make(dtype, shape, 3)
    n = generate.lanes(shape)
    y = g.tensor(dtype, n * g.programs, 'any', 'y')
    g.kernel.outputs[y] = dtype
    if fits_descriptor(dtype, shape) and g.chance(0.1):
        sizes = [shape[0] * g.programs, *shape[1:]]
        strides, at = ([shape[1], 1], ', 0') if len(shape) == 2 else ([1], '')
        g.body.append(Statement(
            f'tl.make_tensor_descriptor({g.pointer(y, dtype)}, {sizes}, '
            f'{strides}, {list(shape)}).store([pid * {shape[0]}{at}], '
            f'{v.name})'))
        return
    where = generate.linear(shape)
    if g.chance(0.3) and n > 1:
        where = f'((({where}) * {1 + 2 * g.below(8)} + {g.below(n)}) & {n - 1})'
    mask = f', mask={g.mask(shape).name}' if g.chance(0.3) else ''
    g.body.append(Statement(f'tl.store({g.pointer(y, dtype)} + pid * {n} + '
                            f'({where}), {v.name}{mask})'))


def atomic(g):
    """All lanes and programs to few places, and nobody looks at the result."""
    import generate
    op = g.pick(['add', 'add', 'max', 'min', 'and', 'or', 'xor'])
    dtype = g.pick(['int32', 'int64', 'uint32', 'uint64'])
    shape = g.some_shape()
    if op == 'add' and g.chance(0.3):
        dtype = g.pick(['float32', 'float64'])
        v = g.whole(dtype, shape, 1, 16)
    else:
        v = g.make(dtype, shape, 1)
    z = g.tensor(dtype, 16, 'small' if 'float' in dtype else 'any', 'z')
    g.kernel.outputs[z] = dtype
    mask = f', mask={g.mask(shape).name}' if g.chance(0.3) else ''
    how = g.pick(['', ', sem="relaxed"', ', scope="gpu"', ', sem="acq_rel"'])
    g.body.append(Statement(f'tl.atomic_{op}({z} + {g.index(shape, 16)}, '
                            f'{v.name}{mask}{how})'))


def own_atomic(g):
    """Every lane at its own place, so that its result is defined."""
    import generate
    op = g.pick(['add', 'max', 'xor', 'xchg'])
    dtype = g.pick(['int32', 'int64', 'uint32'])
    shape = g.some_shape()
    v = g.make(dtype, shape, 1)
    n = generate.lanes(shape)
    w = g.tensor(dtype, n * g.programs, 'any', 'w')
    g.kernel.outputs[w] = dtype
    g.put(f'tl.atomic_{op}({w} + pid * {n} + ({generate.linear(shape)}), '
          f'{v.name})', dtype, shape)


def through_memory(g):
    """Lanes that go to memory come back in other threads."""
    import generate
    dtype, shape = g.some_dtype(), g.some_shape()
    n = generate.lanes(shape)
    v = g.make(dtype, shape, 2)
    w = g.tensor(dtype, n * g.programs, 'any', 'w')
    g.kernel.outputs[w] = dtype
    at = f'{g.pointer(w, dtype)} + pid * {n} + '
    g.body.append(Statement(f'tl.store({at}({generate.linear(shape)}), '
                            f'{v.name})'))
    g.body.append(Statement('tl.debug_barrier()'))
    back = g.index(shape, n, 0)
    g.put(f'tl.load({at}{back})', dtype, shape)


# ---- statements -------------------------------------------------------------

def statement(g):
    write = g.weighted([(5, one_value), (3, store), (2, loop), (1, spin),
                        (2, branch), (2, atomic), (1, own_atomic),
                        (1, through_memory), (2, call), (1, tuples),
                        (0.5, early_return)])
    if g.loops and write in (store, own_atomic, through_memory, loop, spin,
                             early_return):
        write = one_value if g.loops > 1 or write not in (loop, spin) \
            else write
    write(g)


def one_value(g):
    g.make(g.some_dtype(), g.some_shape(), 3)


def variables(g):
    """One to three variables that the statement below assigns to."""
    import generate
    out = []
    for _ in range(1 + g.below(3)):
        dtype = g.weighted([(5, 'int32'), (2, 'float32'), (1, 'int64'),
                            (1, 'uint8'), (1, 'float16')])
        shape = g.some_shape() if g.chance(0.8) else ()
        begin = g.make(dtype, shape, 1)
        v = generate.Value(g.new_name('v'), dtype, shape)
        # A name that is bound to an argument may become a constant.
        text = f'{begin.name} + 0' if not shape and is_int(dtype) \
            else begin.name
        g.body.append(Statement(f'{v.name} = ({text}).to(tl.{dtype})',
                                {v.name: generate.plain(dtype, shape)}))
        out.append(v)
    g.scopes[-1] += out
    return out


def assignments(g, changing):
    for v in changing:
        if g.chance(0.2):
            continue
        new = g.make(v.dtype, v.shape, 2)
        op = f'{v.name} + {new.name}' if g.chance(0.5) else new.name
        g.body.append(Statement(f'{v.name} = ({op}).to(tl.{v.dtype})'))


def loop(g):
    import generate
    changing = variables(g)
    trips = g.pick(['range(3)', 'range(1, 5, 2)', 'tl.static_range(2)',
                    'tl.range(0, 4, num_stages=2)', 'range(n & 3)',
                    'range(3, 0, -1)',
                    f'range(0, {g.scalar().name} & 3)'])
    counter = g.new_name('i')
    g.loops += 1

    def write():
        g.scopes[-1].append(generate.Value(f'({counter} + pid)', 'int32', ()))
        if g.chance(0.5):
            g.statements(1)
        assignments(g, changing)
    g.inside(f'for {counter} in {trips}:', write)
    g.loops -= 1


def spin(g):
    import generate
    changing = variables(g)
    counter = g.new_name('c')
    g.body.append(Statement(f'{counter} = {g.scalar().name} & 3',
                            {counter: generate.plain('int32', ())}))
    g.loops += 1

    def write():
        assignments(g, changing)
        g.body.append(Statement(f'{counter} = {counter} - 1'))
    g.inside(f'while {counter} > 0:', write)
    g.loops -= 1


def condition(g):
    """The text of a condition of scalars."""
    a, b = g.scalar(), g.scalar()
    return f'{a.name} {g.pick(["<", ">", "==", "!="])} {b.name}'


def branch(g):
    changing = variables(g)
    g.inside(f'if {condition(g)}:', lambda: assignments(g, changing))
    if g.chance(0.6):
        g.inside('else:', lambda: assignments(g, changing))


def early_return(g):
    """Some programs may end here; what others do does not depend on it."""
    g.inside(f'if {condition(g)}:',
             lambda: g.body.append(Statement('return')))


def call(g):
    """Triton 3.6 compiles no call in a loop of what returns early."""
    import generate
    helpers = [h for h in g.helpers if not (g.loops and h[3])]
    if not helpers:
        one_value(g)
        return
    name, params, types, _ = g.pick(helpers)
    args = [g.make(p.dtype, p.shape, 2).name for p in params]
    given = [generate.Value(g.new_name(), *t) for t in types]
    g.body.append(Statement(
        f'{", ".join(v.name for v in given)} = {name}({", ".join(args)})',
        {v.name: generate.plain(v.dtype, v.shape) for v in given}))
    g.scopes[-1] += given


def tuples(g):
    import generate
    a, b = (g.make(g.some_dtype(), g.some_shape(), 2) for _ in range(2))
    pair = g.new_name('pair')
    g.body.append(Statement(f'{pair} = ({a.name}, {b.name})',
                            {pair: f'({generate.plain(a.dtype, a.shape)}, '
                                   f'{generate.plain(b.dtype, b.shape)})'}))
    g.put(f'{pair}[1]', b.dtype, b.shape)
