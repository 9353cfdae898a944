"""Kernels of one statement, by the thousand: each operation of the language on
each dtype, with each optional argument, with operands that are blocks,
scalars, constants, None, text, tuples, or of the wrong rank.

``cases()`` gives them in a fixed order.  A case is a function's text and what
it is compiled for: signature strings as Triton's, or a constexpr's text.
"""
import itertools
import os
import warnings

HEAD = '''import collections, functools, math, operator
from typing import Any, NamedTuple, Optional, Union
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
'''
INTS = ['int1', 'int8', 'int16', 'int32', 'int64',
        'uint8', 'uint16', 'uint32', 'uint64']
FLOATS = ['float16', 'bfloat16', 'float32', 'float64']
EIGHTS = ['float8e4nv', 'float8e5', 'float8e4b8', 'float8e5b16',
          'float8e4b15']
ALL = INTS + EIGHTS + FLOATS
SOME = ['int1', 'int8', 'uint8', 'int32', 'uint32', 'int64', 'float8e5',
        'float8e4nv', 'float16', 'bfloat16', 'float32', 'float64']


class Case:
    """label: one line that names it; args: by parameter."""

    def __init__(self, family, body, args, label=None, before=''):
        self.body, self.args, self.before = body, args, before
        shown = label or (before + '; ' if before else '') + body
        self.label = f'{family}: {shown}'.replace('\n', '; ')

    def text(self, name):
        params = ', '.join(self.args)
        lines = self.body.replace('@@', name).split('\n')
        return (self.before.replace('@@', name) + '\n@triton.jit\n'
                + f'def {name}({params}):\n'
                + ''.join(f'    {line}\n' for line in lines)
                + f'{name}_args = [{", ".join(self.args.values())}]\n')

    def guarded(self, name):
        """The same, where a definition that is refused leaves its error."""
        text = self.text(name).replace('\n', '\n    ')
        return (f'try:\n    {text}\nexcept Exception as e:\n'
                f'    {name}, {name}_args = e, []\n')


ADDRESSES = {'p': '"i64"', 'q': '"i64"'}
PLAIN = {'p': '"*fp32"', 'n': '"i32"', 'N: tl.constexpr': 'lambda: 16'}


def block(name, dtype, address, shape=(16,)):
    """The statement that makes name a block of dtype, read from an address."""
    if len(shape) == 1:
        at = f'tl.arange(0, {shape[0]})'
    else:
        at = (f'tl.arange(0, {shape[0]})[:, None] * {shape[1]} + '
              f'tl.arange(0, {shape[1]})[None, :]')
    return (f'{name} = tl.load({address}.to(tl.pointer_type(tl.{dtype}))'
            f' + {at})\n')


# ---- two operands -----------------------------------------------------------

BINARY = ['a + b', 'a * b', 'a / b', 'a // b', 'a % b', 'a & b', 'a | b',
          'a << b', 'a >> b', 'a < b', 'a == b', 'a and b', 'a is b',
          'a not in (a, b)', 'a if p > 3 else b', 'tl.maximum(a, b)',
          'tl.where(True, a, b)', 'tl.fdiv(a, b)', 'tl.div_rn(a, b)',
          'tl.umulhi(a, b)', 'tl.cat(a, b, can_reorder=True)',
          'tl.join(a, b)', 'tl.interleave(a, b)', 'tl.gather(a, b, 0)',
          'tl.add(a, b)', 'a.logical_and(b)', 'tl.broadcast(a, b)',
          'tl.fma(a, b, a)', 'tl.clamp(a, b, b)',
          'tl.store(q.to(tl.pointer_type(b.dtype)) + tl.arange(0, 16), a)',
          'tl.load(q.to(tl.pointer_type(b.dtype)) + tl.arange(0, 16), '
          'p > 3, a)']


def binary():
    for expr, x, y in itertools.product(BINARY, SOME, SOME):
        yield Case('two', block('a', x, 'p') + block('b', y, 'q') + expr,
                   ADDRESSES, f'{expr} of {x}, {y}')


LITERALS = ['1', '-1', '2.5', '300', '70000', '2**40', '2**63', '2**64',
            '-2**63', 'True', 'float("nan")', 'None', '(1, 2)', '"s"',
            'tl.float32', '0.0', '1e300', '-0.0', '[1]', 'tl.arange(0, 4)']
WITH_LITERAL = ['a + @', '@ + a', 'a * @', 'a / @', '@ / a', 'a // @',
                'a % @', 'a & @', 'a << @', '@ << a', 'a >> @', 'a < @',
                '@ == a', 'a != @', 'a and @', '@ or a', 'a - @', '@ - a',
                'tl.maximum(a, @)', 'tl.where(True, a, @)',
                'tl.where(True, @, a)', 'a if p > 3 else @',
                'tl.full([4], @, a.dtype)', 'a is @', 'a is not @',
                'tl.store(p.to(tl.pointer_type(a.dtype)), @)',
                'tl.load(p.to(tl.pointer_type(a.dtype)), p > 1, @)',
                'max(a, @)', 'tl.fdiv(a, @)', 'a in (@,)',
                'tl.clamp(a, 0, @)', 'tl.umulhi(a, @)', 'tl.fma(a, a, @)',
                'tl.atomic_add(p.to(tl.pointer_type(a.dtype)), @)']


def literals():
    dtypes = ['int1', 'int8', 'uint8', 'int32', 'uint32', 'int64', 'uint64',
              'float16', 'float32', 'float64', 'float8e5']
    for expr, value, x in itertools.product(WITH_LITERAL, LITERALS, dtypes):
        expr = expr.replace('@', value)
        yield Case('literal', block('a', x, 'p') + expr, {'p': '"i64"'},
                   f'{expr} of {x}')


# ---- one operand ------------------------------------------------------------

UNARY = [
    '-a', '~a', '+a', 'not a', 'abs(a)', 'len(a)', 'bool(a)', 'int(a)',
    'float(a)', 'min(a, 1)', 'max(a, 1.5)', 'max(a)', 'a ** 2', 'a @ a',
    'a if a else a', 'a if tl.sum(a) else a', 'a[None, :]', 'a[0]', 'a[0:4]',
    'a.shape[0]', 'a.numel', 'a.type', 'a.dtype.name', 'a.foo', 'a.T',
    'a.item()', 'a.to(tl.int32)', 'a.cast(tl.float32)', 'tl.constexpr(a)',
    'tl.abs(a)', 'tl.exp(a)', 'tl.sqrt(a)', 'tl.sqrt_rn(a)', 'tl.floor(a)',
    'tl.erf(a)', 'tl.rsqrt(a)', 'tl.math.exp(a)', 'tl.sigmoid(a)',
    'tl.softmax(a)', 'a.exp()', 'a.exp2()', 'a.log()', 'a.log2()', 'a.sin()',
    'a.cos()', 'a.sqrt()', 'a.sqrt_rn()', 'a.rsqrt()', 'a.erf()',
    'a.floor()', 'a.ceil()', 'a.abs()', 'a.sigmoid()', 'a.softmax()',
    'a.fma(a, a)', 'a.cdiv(2)', 'tl.cdiv(a, 2)', 'tl.umulhi(a, 3)',
    'tl.clamp(a, 0.0, 1.0)', 'tl.clamp(a, 0, 1)', 'tl.fma(a, a, a)',
    'tl.minimum(a, None)', 'tl.maximum(a, 1, propagate_nan=True)',
    'tl.maximum(a, 1, tl.PropagateNan.ALL)', 'tl.where(a, 1, 2)',
    'tl.where(a > 0, a, 0)', 'tl.where(a > 0, a, 0.5)', 'a.where(a, a)',
    'tl.sum(a)', 'tl.sum(a, 0)', 'tl.sum(a, 0, dtype=tl.float32)',
    'tl.sum(a, dtype=tl.int64)', 'a.sum()', 'tl.max(a)', 'tl.max(a, 0)',
    'tl.max(a, 0, return_indices=True)',
    'tl.max(a, None, return_indices=True)', 'a.max(0)', 'a.min()',
    'tl.min(a, 0, return_indices=True, return_indices_tie_break_left=False)',
    'tl.argmax(a, 0)', 'tl.argmax(a, None)', 'a.argmax(0)', 'a.argmin(0)',
    'tl.argmin(a, 0, tie_break_left=False)',
    'tl.argmax(a, axis=0, keep_dims=True)', 'tl.xor_sum(a, 0)',
    'tl.xor_sum(a)', 'a.xor_sum()', 'tl.reduce_or(a, 0)',
    'tl.reduce_or(a, None)', 'a.reduce_or(0)', 'tl.cumsum(a, 0)',
    'tl.cumsum(a)', 'tl.cumsum(a, dtype=tl.int64)', 'a.cumsum(0)',
    'tl.cumprod(a)', 'a.cumprod(0)', 'tl.sort(a)', 'tl.sort(a, 0)',
    'tl.sort(a, -1)', 'tl.sort(a, descending=True)', 'a.sort()',
    'tl.topk(a, 4)', 'tl.topk(a, 3)', 'a.topk(4)', 'tl.bitonic_merge(a)',
    'tl.histogram(a, 16)', 'a.histogram(16)', 'tl.flip(a)', 'tl.flip(a, 0)',
    'a.flip()', 'a.flip(0)', 'tl.reduce(a, 0, tl.standard._sum_combine)',
    'tl.reduce(a, None, tl.standard._sum_combine)',
    'tl.reduce(a, 0, tl.standard._elementwise_max, keep_dims=True)',
    'tl.associative_scan(a, 0, tl.standard._sum_combine)',
    'a.reduce(0, tl.standard._sum_combine)', 'tl.zeros_like(a)',
    'a.zeros_like()', 'tl.ravel(a)', 'a.ravel()', 'a.reshape(4, 4)',
    'a.reshape((4, 4))', 'a.view(4, 4)', 'a.broadcast_to(2, 16)',
    'a[None, :].broadcast_to(2, 16)', 'a.expand_dims(0)', 'a.permute(0)',
    'a.trans()', 'a.split()', 'a.join(a)', 'a.gather(a, 0)',
    'tl.trans(a)', 'tl.permute(a, 0)', 'tl.permute(a, (0,))',
    'tl.expand_dims(a, 0)', 'tl.split(tl.reshape(a, 8, 2))',
    'tl.max_contiguous(a, 16)', 'tl.multiple_of(a, 16)',
    'tl.full([4], tl.sum(a), a.dtype)', 'tl.full([4], a, tl.int32)',
    'tl.zeros([4], a.dtype)', 'tl.full([4], 1, a.dtype)',
    'tl.full([4], -1, a.dtype)', 'tl.full([4], 1.5, a.dtype)',
    'tl.interleave(tl.sum(a), tl.sum(a))', 'tl.join(a, 1)', 'tl.join(1, a)',
    'tl.cat(a, a)', 'tl.cat(a, tl.sum(a), can_reorder=True)',
    'tl.rand(0, a)', 'tl.randint(0, a)', 'tl.randint4x(0, a)',
    'tl.randn(a, a)', 'tl.swizzle2d(a, a, 4, 4, 2)', 'libdevice.exp(a)',
    'libdevice.abs(a)', 'libdevice.pow(a, a)', 'libdevice.rint(a)',
    'tl.dot(a, a)', 'tl.dot_scaled(a, None, "e5m2", a, None, "e5m2")',
    'tl.load(p.to(tl.pointer_type(tl.int32)) + a)',
    'tl.load(p.to(tl.pointer_type(tl.int32)) + tl.arange(0, 16), mask=a)',
    'tl.atomic_add(p.to(tl.pointer_type(tl.float32)) + tl.arange(0, 16), a)',
    'a.store(1)', 'a.load()', 'a.atomic_add(1)', 'tl.advance(a, 1)',
    'tl.assume(a)', 'tl.device_assert(a)', 'tl.device_assert(a > 0, "x")',
    'tl.device_print("x", a)', 'tl.static_print(a)', 'tl.static_assert(a)']
STATEMENTS = ('tl.assume', 'tl.device_', 'tl.static_', 'tl.store', 'a.store')


def unary():
    for expr, x in itertools.product(UNARY, SOME):
        made = expr if expr.startswith(STATEMENTS) else 'c = ' + expr
        yield Case('one', block('a', x, 'p') + made, {'p': '"i64"'},
                   f'{expr} of {x}')


def casts():
    store = 'tl.store(q.to(tl.pointer_type(b.dtype)) + tl.arange(0, 16), b)'
    for x, y in itertools.product(ALL, ALL):
        yield Case('cast', block('a', x, 'p') + f'b = a.to(tl.{y})\n' + store,
                   ADDRESSES, f'{x} to {y}')
        yield Case('bitcast', block('a', x, 'p')
                   + f'b = a.to(tl.{y}, bitcast=True)', ADDRESSES,
                   f'{x} to {y}')
    for x, y, r in itertools.product(ALL, FLOATS + EIGHTS[:2] + ['int32'],
                                     ('rtne', 'rtz', 'up')):
        yield Case('round', block('a', x, 'p')
                   + f'b = a.to(tl.{y}, fp_downcast_rounding="{r}")\n' + store,
                   ADDRESSES, f'{x} to {y} by {r}')


# ---- products, memory, shapes -----------------------------------------------

DOT_ARGS = ['a, 0', 'a, None', 'a, input_precision="ieee"',
            'a, input_precision="TF32"', 'a, input_precision="x"',
            'a, allow_tf32=False', 'a, max_num_imprecise_acc=64',
            'a, input_precision="tf32", allow_tf32=True', 'a, out_dtype=None',
            'a, out_dtype="fp32"', 'a[None]', 'tl.arange(0, 32)', '1',
            'tl.trans(a)', 'a, a']


def products():
    dtypes = ['int8', 'uint8', 'int32', 'float8e5', 'float8e4nv',
              'float8e4b15'] + FLOATS
    for x, y in itertools.product(dtypes, dtypes):
        yield Case('dot', block('a', x, 'p', (32, 32))
                   + block('b', y, 'q', (32, 32)) + 'c = tl.dot(a, b)',
                   ADDRESSES, f'{x}, {y}')
    outs = FLOATS + ['int32']
    for x, y in itertools.product(dtypes, outs):
        a = block('a', x, 'p', (32, 32))
        for how in (f'out_dtype=tl.{y}', f'tl.zeros((32, 32), tl.{y})',
                    f'tl.zeros((32, 32), tl.{y}), out_dtype=tl.{y}'):
            used = (f'c = tl.dot(a, a, {how})\nat = tl.arange(0, 32)\n'
                    f'tl.store(q.to(tl.pointer_type(tl.{y})) + at[:, None]'
                    ' * 32 + at[None, :], c)')
            yield Case('dot', a + used, ADDRESSES, f'{x}, {how}')
    for args in DOT_ARGS:
        yield Case('dot', block('a', 'float32', 'p', (32, 32))
                   + f'c = tl.dot(a, {args})', ADDRESSES, f'a, {args}')
    sizes = [(16, 16, 16), (8, 16, 16), (16, 8, 16), (16, 16, 8), (1, 16, 16),
             (64, 64, 64)]
    for (m, n, k), x in itertools.product(sizes, dtypes):
        yield Case('dot', block('a', x, 'p', (m, k))
                   + block('b', x, 'q', (k, n)) + 'c = tl.dot(a, b)',
                   ADDRESSES, f'{x} of {m}, {n}, {k}')


def memory():
    for op, x, value in itertools.product(
            ('add', 'max', 'min', 'and', 'or', 'xor', 'xchg'), ALL,
            ('1', '1.5', 'a')):
        yield Case('atomic', block('a', x, 'p') + f'c = tl.atomic_{op}(q.to('
                   f'tl.pointer_type(tl.{x})) + tl.arange(0, 16), {value})',
                   ADDRESSES, f'{op} of {x}, {value}')
    for x, y in itertools.product(ALL, ('int16', 'int32', 'uint32', 'int64',
                                        'float16', 'float32', 'float64')):
        yield Case('atomic', block('a', y, 'p') + 'c = tl.atomic_cas(q.to('
                   f'tl.pointer_type(tl.{x})) + tl.arange(0, 16), a, a)',
                   ADDRESSES, f'cas of {x}, {y}')
    pointers = 'P = p.to(tl.pointer_type(tl.float32)) + tl.arange(0, 16)\n'
    for call in ('atomic_cas(P, 1.0, 1.0)', 'atomic_add(P, 1, mask=True)',
                 'atomic_add(P, 1, p > 1)', 'atomic_add(P, 1, 1)',
                 'atomic_add(P, 1, sem="relaxed", scope="cta")',
                 'atomic_add(P, 1, sem="x")', 'atomic_add(P, 1, scope="x")',
                 'atomic_add(P, tl.arange(0, 8))', 'atomic_add(1, 1)',
                 'load(P, 1)', 'load(P, True)', 'load(P, None, 1)',
                 'load(P, p > 1, 0)', 'load(P, True, tl.arange(0, 16)[None])',
                 'load(P, other=1)', 'load(P, tl.arange(0, 8) > 1)',
                 'load(P, boundary_check=(0,))', 'load(P, padding_option="x")',
                 'load(P, cache_modifier=".ca")', 'load(P, cache_modifier="x")',
                 'load(P, eviction_policy="evict_last")', 'load(P[None], True)',
                 'load(P, eviction_policy="x")', 'load(P, volatile=True)',
                 'load(P, volatile=1)', 'load(p)', 'load(P + 0.5)',
                 'store(P, 1, cache_modifier=".wb")', 'store(P, "x")',
                 'store(P, 1, cache_modifier=".ca")', 'store(P, None)',
                 'store(P, tl.arange(0, 16)[None])', 'store(P, 1, True)',
                 'store(P, 1, 1)', 'store(P, (1, 2))', 'store(1, P)',
                 'make_block_ptr(p, [16], [1], [0], [16], [0])',
                 'make_block_ptr(p.to(tl.pointer_type(tl.int8)), [16], [1],'
                 ' [0], [16], [0])',
                 'make_block_ptr(p.to(tl.pointer_type(tl.int8)), [16], [1],'
                 ' [0], [15], [0])',
                 'make_block_ptr(p.to(tl.pointer_type(tl.int8)), 16, 1, 0,'
                 ' [16], [1])',
                 'make_tensor_descriptor(p.to(tl.pointer_type(tl.int8)), [16],'
                 ' [1], [16])',
                 'make_tensor_descriptor(p.to(tl.pointer_type(tl.int8)), [16],'
                 ' [1], [8])',
                 'make_tensor_descriptor(p.to(tl.pointer_type(tl.int8)), [16],'
                 ' [2], [16])'):
        made = call if call.startswith('store') else 'c = tl.' + call
        made = 'tl.' + call if call.startswith('store') else made
        yield Case('memory', pointers + made, {'p': '"i64"'}, call)


SHAPES = ['tl.sum(x, @)', 'tl.max(x, @)', 'tl.argmax(x, @)', 'tl.sort(x, @)',
          'tl.max(x, @, return_indices=True)', 'tl.cumsum(x, @)',
          'tl.cumprod(x, @)', 'tl.flip(x, @)', 'tl.expand_dims(x, @)',
          'tl.gather(x, x, @)', 'tl.topk(x, 4, @)', 'tl.softmax(x, @)',
          'tl.softmax(x.to(tl.float32), @)', 'tl.xor_sum(x, @)',
          'tl.bitonic_merge(x, @)', 'tl.sum(x, @, True)', 'tl.trans(x, @)',
          'tl.permute(x, @)', 'tl.reshape(x, @)', 'tl.broadcast_to(x, @)',
          'tl.zeros(@, tl.int32)', 'tl.full(@, 1, tl.int32)', 'x[@]',
          'tl.associative_scan(x, @, tl.standard._sum_combine)',
          'tl.reduce(x, @, tl.standard._sum_combine)', 'tl.histogram(x, @)',
          'tl.histogram(tl.ravel(x), @)', 'tl.topk(x, @)',
          'tl.program_id(@)', 'tl.num_programs(@)', 'tl.arange(0, @)',
          'tl.arange(@, 64)', 'tl.multiple_of(x, @)', 'tl.rand(1, @)',
          'tl.randint(1, x, @)', 'tl.zeros_like(@)', 'tl.exp(@)',
          'tl.abs(@)', 'tl.cdiv(@, 2)', 'tl.where(@, x, 1)', 'len(@)',
          'tl.histogram(tl.ravel(x), 16, @)', 'tl.join(x, @)']
GIVEN = ['0', '1', '-1', '2', '-3', '3', '1.0', 'None', 'True', '(0, 1)',
         '(1, 0)', '[1, 0]', '(-1, 0)', '1, 0', '-1, -2', '0, 0', '4, 16',
         '8, 8', '64', '(64,)', '[2, 4, 16]', '[]', '()', '-64', '"x"',
         'x', 'p', 'tl.float32', '(x, x)', 'tl.ravel(x)', 'tl.arange(0, 16)']


def shapes():
    for expr, value in itertools.product(SHAPES, GIVEN):
        expr = expr.replace('@', value)
        yield Case('shape', 'x = tl.reshape(tl.arange(0, 64), [4, 16])\ny = '
                   + expr, {'p': '"*fp32"'}, expr)


# ---- statements, names, constants -------------------------------------------

EXPRESSIONS = '''not (0, 0)|not ()|not None|not 'a'|not 1.5|not tl.float32|~1.5
-None|+1|~True|math.log2(math.e)|math.sqrt(2.0)|math.pi|math.sqrt(N)
math.ceil(N / 3)|float(np.log2(8.0))|np.log2(8.0)|float('-inf')|-math.inf
max(1, 2) + min(3, 4) + len((1, 2)) + int(2.5)|math.gcd(N, 4)|math.sqrt(p)
operator.add(1, 2)|N.bit_length()|(3).bit_length()|'abc'.upper()|np.inf
'abc'.startswith('a')|'abc'.endswith('c')|np.float32(2.0)|np.int64(3)
triton.cdiv(N, 4)|triton.next_power_of_2(N)|tl.cdiv(N, 4)|str(N)|'%d' % N
f'{N}'|N ** 2|N // 3|2 ** -1|divmod(7, 2)|N if N > 3 else 1
(lambda x: x + 1)(N)|[i for i in range(4)]|[i for i in (1, 2)][0]
(i for i in (1, 2))|{1: 2}|{1, 2}|'a' in ('a', 'b')|1 in (1, 2)|N is None
N == None|None == None|N is not None|1 < N < 20|(1, 2) + (3,)|(1, 2) * 2
(1, 2) == (1, 2)|(1, 2) < (1, 3)|'a' + 'b'|'a' * 2|'abc'[0]|len('abc')
(1,2).index(1)|(1,2)[-1]|(1,2)[0:1]|(1,2,3)[::2]|[1,2][0]|(1,2)[N]|None|...
b'x'|1j|True + 1|not N|~N|-N|N and 2|N or 2|None or 2|int('3')|float(3)
int(True)|bool(3)|round(2.5)|abs(-3)|sum((1, 2))|any((0, 1))|sorted((2, 1))
list((1, 2))|tuple((1, 2))|range(4)|zip((1,),(2,))|enumerate((1,))
isinstance(N, int)|isinstance(N, tl.constexpr)|isinstance(p, tl.tensor)
isinstance((1,2), tl.tuple)|isinstance(N, (int, float))|type(N)
hasattr(N, 'x')|getattr(N, 'value')|getattr(p, 'dtype')|id(N)|pow(2, 3)
ord('a')|min((1, 2))|max([1, 2])|min(1)|min(1, 2.5)|max(1, True)|min(N, p)
min(1, None)|min()|min(1, float('nan'))|max(1, -0.0)|N.value|N.type|p.type
p.dtype|p.dtype.element_ty|p.shape|p.numel|(p, 1).type|(1, 2).type|N.foo
tl.arange(0, 4).type|(1,2).x|p.foo|len(p)|len(N)|int(p)|float(p)|int(2.5)
tl.constexpr(3)|tl.constexpr(N) + 1|tl.dtype('fp32')|tl.float32
tl.float32.primitive_bitwidth|tl.float32 == tl.float32|tl.float32.is_fp32()
tl.pointer_type(tl.float32)|tl.block_type(tl.float32, [4])|tl.tuple((1, 2))
tl.PropagateNan.ALL|tl.slice(0, 1, 2)|tl.slice(1)|float('nan')|1e400|1 << 63
1 << 64|2**31|-2**63 - 1|n.to(tl.float32)|N.to(tl.float32)|n.to('fp32')
n.to(float)|n.to(tl.pointer_type(tl.float32))|n.to(N)|n.to(p.dtype)|n[None]
n[:]|n[None, None]|(n, p)[0]|n if n > 1 else n + 1|None if n else None
(1, 2) if n else (3, 4)|1 if n else 2.0|1 if p else 2|1 if (1,) else 2
triton.cdiv(n, 4)|triton.cdiv(4, n)|tl.exp|tl.math|math|p.to|collections
np.iinfo(np.int16).max|functools.reduce(max, (1, 2))'''

STATEMENTS_ = '''for i in range(4):
    pass
for i in (1, 2):
    pass
for i, j in zip((1, 2), (3, 4)):
    pass
for i in tl.static_range(4):
    pass
for i in tl.static_range(0, 4, 0):
    pass
for i in tl.static_range(n):
    pass
for i in tl.range(n, num_stages=2):
    pass
for i in range(0, n, 0):
    pass
for i in range(n, 0, -1):
    pass
for i in range(1.5):
    pass
for i in range(4):
    break
for i in range(4):
    continue
for i in range(4):
    return
for i in range(4):
    pass
else:
    pass
while n > 0:
    n -= 1
while True:
    pass
while n:
    n -= 1
while 1:
    n -= 1
if n:
    pass
if n > 0:
    x = 1
else:
    x = 2.0
y = x
if n > 0:
    x = 1
y = x
if n > 0:
    return
y = 1
if (1, 2):
    pass
if 'a':
    pass
if 1.5:
    pass
if None:
    pass
if tl.float32:
    pass
if p:
    pass
x = y = 1
x, y = 1, 2
x, *y = 1, 2, 3
(x, y), z = (1, 2), 3
x, y = 1, 2, 3
x, y, z = 1, 2
x, y = n
[x, y] = 1, 2
n += 1.5
N += 1
p += 1
p[0] = 1
p.x = 1
x: tl.constexpr = 1
x = 2
x: tl.constexpr = n
x: int = 1
x: tl.float32 = 1
x: tl.constexpr
x: 'tl.constexpr' = 1
x = 'a'
x = None
x = 1
x = tl.float32
x = (1, 'a')
x = (1, None)
x = [1, 2]
x = ()
del n
assert n > 0
assert n > 0, 'msg'
assert N == 16
assert 'x'
raise ValueError('x')
try:
    x = 1
except ValueError:
    pass
with open('x') as f:
    pass
f = lambda x: x
pass
'doc'
1
(n, p)
yield n
return n
return None
x = (y := n) + 1
async def f(): pass
class A: pass
import math
nonlocal n
print('x')
print('x', n)
print('x', n, hex=True)
tl.device_print(n)
tl.device_print('x', p)
tl.device_print('x', 1, 2.5, n)
tl.static_print(n, N)
tl.static_assert(N == 16)
tl.static_assert(N)
tl.static_assert(n > 0)
tl.static_assert(N == 16, 'a', 'b')
tl.static_assert(N == 15, f'{N}')
tl.device_assert(n > 0, mask=True)
tl.device_assert(n > 0, 'x', n > 1)
tl.assume(n > 0)
tl.assume(True)
tl.assume(tl.arange(0,4) >= 0)
tl.assume(n)
tl.debug_barrier()
tl.multiple_of(16, 16)
tl.multiple_of(n, n)'''

GLOBALS = [('CG@@: tl.constexpr = 42', 'a = CG@@'),
           ('CG@@ = tl.constexpr(42)', 'a = CG@@'), ('CG@@ = 42', 'a = CG@@'),
           ('CG@@ = (1, 2)', 'a = CG@@[0]'), ('CG@@ = None', 'a = CG@@'),
           ('CG@@ = tl.constexpr((1, 2))', 'a = CG@@[0]'),
           ('CG@@ = tl.constexpr((1, 2))', 'a = CG@@'),
           ('CG@@ = tl.constexpr((1, 2))', 'a, b = CG@@'),
           ('CG@@ = tl.constexpr((1, 2))', 'a: tl.constexpr = CG@@'),
           ('CG@@ = tl.constexpr([1, 2])', 'a = CG@@'),
           ('CG@@ = tl.constexpr({})', 'a = CG@@'),
           ('@triton.constexpr_function\ndef CG@@(): return 1, 2',
            'a, b = CG@@()'),
           ('@triton.jit\ndef CG@@(x): return x', 'a = CG@@'),
           ('@triton.jit\ndef CG@@(x): return x', 'a: tl.constexpr = CG@@'),
           ('CG@@ = tl.float32', 'a = tl.zeros([4], CG@@)'),
           ("CG@@ = 'x'", 'a = CG@@'),
           ('class CG@@:\n    a = 1', 'x = CG@@.a'),
           ('def CG@@(): return 1', 'a = CG@@()'),
           ('CG@@ = lambda x: x', 'a = CG@@(1)'),
           ('@triton.constexpr_function\ndef CG@@(x): return x',
            'a = CG@@(1)'),
           ('@triton.jit\ndef CG@@(x, y=2): return x + y', 'a = CG@@(n)'),
           ('@triton.jit\ndef CG@@(x): return x, 1', 'a, b = CG@@(n)'),
           ('@triton.jit\ndef CG@@(x): pass', 'a = CG@@(n)'),
           ('class CG@@(NamedTuple):\n    a: int\n    b: int',
            'x = CG@@(1, 2)\ntl.store(p, x.a)'),
           ("CG@@ = {'a': 1}", "x = CG@@['a']")]
ANNOTATIONS = ['int | None', 'Optional[int]', 'tl.tensor', "'fp16'",
               'tl.float16', "'*fp32'", 'float', 'int', 'bool', 'tl.const',
               "'const *fp32'", 'None', "'x'", '1', 'Any',
               'tl.pointer_type(tl.float32)', 'Union[int, float]', "'i64'",
               "'u8'", 'np.ndarray', 'tl.constexpr_type', 'int | float',
               'None | int', 'int | None | float', '(int, float)', '[int]',
               'lambda: 3']


def statements():
    for expr in EXPRESSIONS.replace('\n', '|').split('|'):
        for body in (f'x = {expr}', f'x: tl.constexpr = {expr}',
                     f'tl.store(p, {expr})'):
            yield Case('expression', body, PLAIN)
    body = []
    for line in STATEMENTS_.split('\n') + ['']:
        goes_on = line.startswith((' ', 'else', 'except', 'y = '))
        if body and not goes_on and not (line == 'x = 2' or line == 'x = 1'):
            yield Case('statement', '\n'.join(body), PLAIN)
            body = []
        body.append(line)
    for before, statement in GLOBALS:
        yield Case('global', statement, PLAIN, before=before)
    for text in ANNOTATIONS:
        yield Case('annotation', 'tl.store(p, s)',
                   {'p': '"*fp32"', f's: {text}': '"i32"'}, text)
        yield Case('annotation', 'x = s', {'p': '"*fp32"',
                                           f's: {text} = None':
                                           'lambda: None'}, f'{text} = None')


# ---- what a name is after a branch or loop, and what functions take ---------

# Before a branch or loop, in it, and what uses the name after it.
CARRIED = ['1', '2.5', 'None', 'tl.float32', '(1, 2)', '(1, None)', '()',
           '(1, 2.5)', 'n', 'One@@(n, 2)', 'One@@(n, 3)', 'Two@@(2)',
           'Two@@(3)']
CLASSES = '''
@tl.core._aggregate
class One@@:
    a: tl.tensor
    b: tl.constexpr
    @triton.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = tl.constexpr(b)
@tl.core._aggregate
class Two@@:
    b: tl.constexpr
    @triton.constexpr_function
    def __init__(self, b):
        self.b = tl.constexpr(b)'''
FRAMES = ['x = {}\nif n > 3:\n    x = {}\ny = x',
          'x = {}\nfor i in range(n):\n    x = {}\ny = x',
          'x = {}\nwhile n < 9:\n    n += 1\n    x = {}\ny = x',
          'x = {}\nif n > 3:\n    x = {}\n    return\ny = x',
          'x = {}\nfor i in range(n):\n    if i > 3:\n        x = {}\ny = x',
          'if n > 3:\n    x = {}\nelse:\n    x = {}\ny = x']
BRANCHES = '''if n > 3:
    x = 3
    return
else:
    x = 4
y = x

if n > 3:
    return
else:
    x = 4
y = x

x = 1
if n > 3:
    return
else:
    x = 4.0

if n > 3:
    x: tl.constexpr = 3
else:
    x: tl.constexpr = 3
y = x

x: tl.constexpr = 3
if n > 3:
    x = 4
else:
    x = 5

if n > 3:
    if n > 4:
        x = None
    else:
        x = 1

if n > 3:
    N = 3
else:
    N = 4

for N in range(n):
    N = 3

for i in range(0, n, step=2):
    tl.store(p, i)

for i in range(start=0, stop=n):
    tl.store(p, i)

x = [y for y in (1, 2, 3) if y > 1]
tl.static_assert(len(x) == 3)

x = [y for y in (1, 2, 3)]
z = y

x = [y + z for y, z in ((1, 2), (3, 4))]

t: tl.constexpr = (1, 2)
x = [y for y in t]

t = (n, tl.float32)

t = (n, (1, tl.float32))

tl.static_assert(f'{N:04}' == '16')

x: tl.constexpr = f'{N:zz}'

tl.static_assert(math.isclose(1.0, 1.5, rel_tol=0.9))

tl.static_assert(math.isclose(1, 2, abs_tol=5))'''
CALLEES = ['def f@@(a, *args): return a', 'def f@@(a, *, c=3): return a',
           'def f@@(a, *, c=3): return a + c', 'def f@@(a, m="x"): return a',
           'def f@@(a, m: tl.constexpr = "x"): return a',
           'def f@@(a, m: tl.constexpr = (1, 2)): return a',
           'def f@@(a, m: tl.constexpr = 3): return a + m',
           'def f@@(a, m=tl.float32): return a',
           'def f@@(a, m=None): return a', 'def f@@(a, m=tl.sum): return a',
           'def f@@(a, m: int = 5): return a', 'def f@@(a, m=tl): return a',
           'def f@@(a, m: str = "x"): return a']


def scopes():
    for frame, x, y in itertools.product(FRAMES, CARRIED, CARRIED):
        body = frame.replace('{}', x, 1).replace('{}', y, 1)
        yield Case('scope', body, PLAIN, body.replace('@@', ''),
                   CLASSES if '@@' in body else '')
    for body in BRANCHES.split('\n\n'):
        yield Case('scope', body, PLAIN)
    for text in CALLEES:
        for call in ('f@@(n)', 'f@@(n, 3)', 'f@@(n, m="y")', 'f@@(n, c=3)'):
            yield Case('call', f'tl.store(p, {call})', PLAIN,
                       f'{text}; {call}'.replace('@@', ''),
                       '@triton.jit\n' + text)


# ---- what a loop goes over --------------------------------------------------

ITERATORS = '''
range()|range(0, n, None)|range(None)|range(0, n, 1, 4)|range(*(0, n))
tl.range()|tl.range(0, n, foo=3)|tl.range(start=0, stop=n)
tl.range(0, n, arg1=2)|tl.range(0, n, 1, step=2)
tl.range(0, n, step=None)|tl.range(0, None)
tl.range(0, n, num_stages=n)|tl.range(0, n, num_stages=1.0)
tl.range(0, n, num_stages=None)|tl.range(0, n, num_stages=2 ** 40)
tl.range(0, n, loop_unroll_factor='a')|tl.range(0, n, flatten=n)
tl.range(0, n, warp_specialize=None)|tl.range(*(0, n))
tl.range(0, n, 1, 2, 3, True, True, False, False)
tl.range(0, n, 1, 2, 3, True, True, False, False, 5)
tl.static_range()|tl.static_range(arg1=4)|tl.static_range(4, num_stages=3)
tl.static_range(0, 4, 1, 2)|tl.static_range(0, 4, 1, step=2)
tl.static_range(4, None)|tl.static_range(True)|tl.static_range(*(0, 4))'''


def iterators():
    for call in ITERATORS.strip().replace('\n', '|').split('|'):
        yield Case('loop', f'for i in {call}:\n    tl.store(p, i)', PLAIN)


def further():
    """Those of more.txt."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'more.txt')
    with open(path, encoding='utf-8') as f:
        lines = [line.rstrip('\n') for line in f if not line.startswith('#')]
    for line in lines:
        family, text = line.split('  ', 1)
        before, _, body = text.replace('\\n', '\n').rpartition(' || ')
        yield Case(family, body, PLAIN, before=before)


def is_python(text):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            compile(text, 'kernel', 'exec')
        except SyntaxError:
            return False
    return True


def cases():
    """Every case whose text is Python, each label once.

    The gate takes each so many-th: new families stand last, so that its
    choice of the others stays.
    """
    seen = set()
    for make in (statements, shapes, memory, products, casts, unary, binary,
                 literals, scopes, iterators, further):
        for case in make():
            if case.label in seen:
                continue
            seen.add(case.label)
            if is_python(case.text('k')):
                yield case


def module(chosen):
    """The text of a file with these cases as functions k0, k1, ..."""
    return HEAD + '\n'.join(c.guarded(f'k{i}') for i, c in enumerate(chosen))
