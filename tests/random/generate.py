"""Random kernels whose results are defined bit for bit.

``generate(seed)`` gives a kernel.Kernel, always the same one for a seed.

Values are blocks of one set of shapes, so that they meet; what is asked for is
a shape and a dtype, and made of others from the outermost operation inwards.
Integers wrap.  Floats are either of any value, and then only what rounds once
in one way is done to them, or *whole*: integers below a bound, of which sums
and products are exact in any order.  No lane depends on what the language
leaves open: masked loads have another value, indices are cut to what they
index, stores of a kernel hit each place once, and atomic operations either
have places of their own or a result that nobody looks at.
"""
import random

from kernel import Function, Kernel, Statement, Tensor
import operations

SIGNED = ['int8', 'int16', 'int32', 'int64']
UNSIGNED = ['uint8', 'uint16', 'uint32', 'uint64']
INTS = SIGNED + UNSIGNED
FLOATS = ['float16', 'bfloat16', 'float32', 'float64']
BITS = {'int1': 1, 'bfloat16': 16, **{d: int(d.lstrip('uintfloa'))
                                      for d in INTS + FLOATS
                                      if d != 'bfloat16'}}
# Integers up to it are exact.
EXACT = {'float16': 2**11, 'bfloat16': 2**8, 'float32': 2**24,
         'float64': 2**53}
LENGTH = 4096  # of an input
MOST = 1024    # lanes of a block


class Value:
    def __init__(self, name, dtype, shape, bound=None):
        self.name, self.dtype, self.shape = name, dtype, shape
        self.bound = bound  # of a whole float


def lanes(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def shown(shape):
    return '(' + ', '.join(map(str, shape)) + (
        ',)' if len(shape) == 1 else ')')


def plain(dtype, shape):
    """The text of a value of that type."""
    if shape:
        return f'tl.full({shown(shape)}, 1, tl.{dtype})'
    return f'tl.full([1], 1, tl.{dtype}).sum()' if dtype == 'int32' else \
        f'tl.max(tl.full([1], 1, tl.int32), 0).to(tl.{dtype})'


def linear(shape):
    """The text of a block's row-major indices."""
    parts, step = [], lanes(shape)
    for axis, size in enumerate(shape):
        step //= size
        at = f'tl.arange(0, {size})'
        if len(shape) > 1:
            at += '[' + ', '.join(':' if i == axis else 'None'
                                  for i in range(len(shape))) + ']'
        parts.append(at + (f' * {step}' if step > 1 else ''))
    return ' + '.join(parts) if parts else '0'


class Generator:
    """Writes one function."""

    def __init__(self, kernel, draw, helpers):
        self.kernel, self.draw, self.helpers = kernel, draw, helpers
        self.body, self.scopes, self.count = [], [[]], 0
        self.loops, self.left = 0, 0
        self.in_helper = False

    # ---- choices ----------------------------------------------------------

    def below(self, n):
        return int(self.draw.random() * n)

    def chance(self, p):
        return self.draw.random() < p

    def pick(self, things):
        return things[self.below(len(things))]

    def weighted(self, table):
        """Of (weight, thing)."""
        at = self.draw.random() * sum(w for w, _ in table)
        for weight, thing in table:
            at -= weight
            if at < 0:
                return thing
        return table[-1][1]

    def some_dtype(self):
        return self.weighted([(6, 'int32'), (3, 'float32')] + [
            (1, d) for d in INTS + FLOATS])

    def some_shape(self):
        return self.pick(self.shapes)

    # ---- writing ----------------------------------------------------------

    def new_name(self, letter='t'):
        self.count += 1
        return f'{letter}{self.count}'

    def put(self, text, dtype, shape, bound=None, reusable=True):
        """Writes NAME = text, and gives the value."""
        v = Value(self.new_name(), dtype, shape, bound)
        self.body.append(Statement(f'{v.name} = {text}',
                                   {v.name: plain(dtype, shape)}))
        if reusable:
            self.scopes[-1].append(v)
        return v

    def known(self, wanted):
        return [v for scope in self.scopes for v in scope if wanted(v)]

    def inside(self, head, write):
        """A statement with a body, which write() writes."""
        outer, self.body = self.body, []
        self.scopes.append([])
        write()
        self.scopes.pop()
        inner, self.body = self.body, outer
        self.body.append(Statement(head, body=inner))

    # ---- values -----------------------------------------------------------

    def make(self, dtype, shape, depth):
        """A value of that type, of which nothing is known."""
        same = self.known(lambda v: v.dtype == dtype and v.shape == shape)
        if same and self.chance(0.45 if depth > 0 else 0.9):
            return self.pick(same)
        if depth <= 0 or lanes(shape) > MOST:
            return self.leaf(dtype, shape)
        return operations.some(self, dtype, shape, depth)

    def scalar(self, dtype='int32'):
        return self.make(dtype, (), 1)

    def mask(self, shape, depth=1):
        return self.make('int1', shape, depth)

    def whole(self, dtype, shape, depth, bound):
        """A whole float with that bound, never -0, or an integer like it."""
        bits = bound.bit_length() - 1
        v = self.make(self.pick(['int32', 'int16'] + ['uint8'] *
                                (bound <= 256)), shape, depth)
        low = 0 if v.dtype[0] == 'u' else 2**bits // 2
        text = f'({v.name} & {2**bits - 1})'
        if low and bits > 1:
            text = f'({text} - {low})'
        return self.put(f'{text}.to(tl.{dtype})', dtype, shape, 2**bits,
                        reusable=dtype not in EXACT)

    def index(self, shape, below, depth=1):
        """The text of int32 indices below a power of two."""
        return f'({self.make("int32", shape, depth).name} & {below - 1})'

    def number(self, dtype):
        """A literal that fits."""
        if dtype in FLOATS:
            return self.pick(['0.5', '2.0', '3', '1.0', '-1.5', '0.25', '7'])
        if dtype in UNSIGNED:
            return self.pick(['1', '2', '3', '7', '16', '100', '127'])
        return self.pick(['1', '2', '3', '7', '16', '100', '-1', '-5', '127'])

    def tensor(self, dtype, length, fill, letter='x'):
        """A new tensor argument, or for an input one that there is."""
        numpy = {'bfloat16': 'uint16', 'int1': 'uint8'}.get(dtype, dtype)
        if dtype == 'bfloat16' and fill == 'any':
            fill = 'bf16'
        if letter == 'x':
            for name, t in self.kernel.args.items():
                if name[0] == 'x' and (t.dtype, t.fill) == (numpy, fill):
                    return name
        name = f'{letter}{len(self.kernel.args)}'
        self.kernel.args[name] = Tensor(numpy, length, fill)
        return name

    def pointer(self, name, dtype):
        """The text of a tensor's address as one of that dtype."""
        if dtype == 'bfloat16':
            return f'{name}.to(tl.pointer_type(tl.bfloat16), bitcast=True)'
        return name

    def leaf(self, dtype, shape):
        """A value that is made of none, or by a load."""
        if dtype == 'int1':
            v = self.leaf('int32', shape)
            return self.put(f'{v.name} % 3 != 0', 'int1', shape)
        near = self.known(lambda v: v.shape == shape and v.dtype in INTS)
        if near and self.chance(0.4):
            return self.put(f'{self.pick(near).name}.to(tl.{dtype})', dtype,
                            shape)
        if self.in_helper or self.chance(0.2):
            return self.put(f'({linear(shape)} + {self.below(50)})'
                            f'.to(tl.{dtype})' if shape else
                            plain(dtype, shape), dtype, shape)
        return operations.load(self, dtype, shape)

    # ---- a whole kernel ----------------------------------------------------

    def statements(self, n):
        for _ in range(n):
            operations.statement(self)


def factorisations(n, draw):
    """Shapes of n lanes: of one axis, two, three."""
    out, k = [(n,)], n.bit_length() - 1
    for _ in range(2):
        a = int(draw.random() * (k + 1))
        out.append((2**a, 2**(k - a)))
    a = int(draw.random() * (k + 1))
    b = int(draw.random() * (k - a + 1))
    out.append((2**a, 2**b, 2**(k - a - b)))
    return out


def helper(kernel, draw, helpers, shapes):
    """A function that others call, with values for parameters: scalars where
    it is not inlined."""
    g = Generator(kernel, draw, helpers)
    alone = g.chance(0.3)
    g.shapes, g.in_helper = shapes, True
    params = [Value(f'p{i}', g.some_dtype(), () if alone else g.some_shape())
              for i in range(1 + g.below(3))]
    g.scopes[0] += params
    types = [(g.some_dtype(), g.pick(params).shape)
             for _ in range(1 + g.below(2))]

    def leave():
        results = [g.make(*t, 2) for t in types]
        g.body.append(Statement(
            'return ' + ', '.join(v.name for v in results)))
    early = g.chance(0.3)
    if early:
        g.inside(f'if {operations.condition(g)}:', leave)
    leave()
    name = f'{kernel.name}_h{len(helpers)}'
    kernel.functions.append(Function(name, [p.name for p in params], g.body,
                                     '(noinline=True)' * alone))
    helpers.append((name, params, types, early and not alone))


def generate(seed):
    draw = random.Random(seed)
    kernel = Kernel(seed)
    n = 2**(4 + int(draw.random() * 6))
    shapes = factorisations(n, draw) + factorisations(n, draw)
    helpers = []
    for _ in range(int(draw.random() * 3)):
        helper(kernel, draw, helpers, shapes)
    g = Generator(kernel, draw, helpers)
    g.shapes = shapes
    kernel.grid = (1 + g.below(3), 1 + g.below(2), 1)
    kernel.options = {'num_warps': g.pick([1, 2, 4, 4, 8]),
                      'num_stages': 1 + g.below(3),
                      'enable_fp_fusion': False}
    g.programs = kernel.grid[0] * kernel.grid[1]
    kernel.args['n'] = g.pick([0, 2, 3, 5, 16, 100, -7])
    g.scopes[0].append(Value('n', 'int32', ()))
    g.body.append(Statement('pid = tl.program_id(0) + tl.program_id(1) * '
                            'tl.num_programs(0)', {'pid': '0'}))
    g.scopes[0].append(Value('pid', 'int32', ()))
    g.statements(2 + g.below(5))
    for _ in range(1 + g.below(3)):
        operations.store(g)
    kernel.functions.append(Function(kernel.name, list(kernel.args), g.body))
    return kernel
