"""Expressions by the thousand: every operation on every pair of dtypes, and
with numbers on either side.  Each is a kernel that says the type of its value
and stores it, so that both can be compared.

``cases()`` gives them in a fixed order; what they are is the same everywhere.
"""
import kernels

INTS = {'int1': 1, 'int8': -3, 'int16': 300, 'int32': 70000,
        'int64': 5000000000, 'uint8': 200, 'uint16': 60000,
        'uint32': 4000000000, 'uint64': 9000000000}
FLOATS = {'float16': 0.1, 'bfloat16': 0.1, 'float32': 0.1, 'float64': 0.1}
EIGHTS = {'float8e5': 1.5, 'float8e4nv': 1.5}
DTYPES = {**INTS, **FLOATS, **EIGHTS}
NUMBERS = ['0', '1', '-1', '3', '127', '128', '255', '-129', '65536',
           '2147483648', '-2147483649', '9223372036854775808', 'True', '0.0',
           '0.1', '-2.5', '70000.0', '1e39', "float('inf')"]

OPERATORS = ['+', '-', '*', '/', '//', '%', '&', '|', '^', '<<', '>>',
             '<', '<=', '>', '>=', '==', '!=']
CALLS = ['tl.maximum({}, {})', 'tl.minimum({}, {})', 'tl.fdiv({}, {})',
         'tl.div_rn({}, {})', 'tl.cdiv({}, {})', 'tl.add({}, {})',
         'tl.where({}.to(tl.int1), {}, 1)', 'tl.where(True, {}, {})',
         'tl.fma({}, {}, 2.0)', 'tl.clamp({}, {}, 100)', 'tl.umulhi({}, {})']
ONE = ['-{}', '+{}', '~{}', 'not {}', 'abs({})', 'tl.abs({})', 'tl.exp({})',
       'tl.exp2({})', 'tl.log({})', 'tl.sqrt({})', 'tl.sqrt_rn({})',
       'tl.rsqrt({})', 'tl.floor({})', 'tl.ceil({})', 'tl.sin({})',
       'tl.erf({})', 'tl.sigmoid({})', '{}.to(tl.float32)', '{}.to(tl.int8)',
       '{}.to(tl.float16)', '{}.to(tl.bfloat16)', '{}.to(tl.int1)',
       '{}.to(tl.float8e5)', '1 / -({} - {})', '{} and True', '{} or False',
       '2 < {} < 9', 'tl.clamp({}, 0, 9)', 'tl.maximum({}, 0) * 2']
BLOCKS = ['tl.sum({}, 0)', 'tl.max({}, 0)', 'tl.min({}, 0)',
          'tl.argmax({}, 0)', 'tl.xor_sum({}, 0)', 'tl.reduce_or({}, 0)',
          'tl.max({}, 0, return_indices=True)[0]', 'tl.sum({}, 0, dtype='
          'tl.float32)', 'tl.sum(tl.cumsum({}, 0), 0)',
          'tl.max(tl.cumprod({}, 0), 0)', 'tl.max(tl.sort({}), 0)',
          'tl.max(tl.flip({}, 0), 0)', 'tl.sum(tl.softmax({}), 0)',
          'tl.max(tl.topk({}, 2), 0)', 'tl.sum(tl.histogram({}, 4), 0)',
          'tl.sum(tl.zeros_like({}), 0)', 'tl.max(-{}, 0)',
          'tl.max(tl.cat({}, {}, can_reorder=True), 0)',
          'tl.max(tl.join({}, {}).reshape([8]), 0)']
CONSTANTS = ['2', '-3', '0.1', '7.5', 'True']
FOLDED = ['+', '-', '*', '/', '//', '%', '**', '&', '|', '<<', '<', '==']
RETURNS = '@triton.jit\ndef f@@():\n    return {}'


def scalar(dtype, shape='()'):
    value = f'tl.full({shape}, {DTYPES[dtype]}, tl.float32)'
    if dtype in EIGHTS:
        return f'{value}.to(tl.{dtype})'
    return f'tl.full({shape}, {DTYPES[dtype]}, tl.{dtype})'


def filled(template, *operands):
    """Operands one after the other, the last one where there are more
    places."""
    parts = template.split('{}')
    out = parts[0]
    for i, part in enumerate(parts[1:]):
        out += operands[min(i, len(operands) - 1)] + part
    return out


def case(label, expression, lines=(), before=''):
    body = '\n'.join([*lines, f'v = {expression}',
                      'tl.static_print(v.dtype)',
                      'tl.store(p.to(tl.pointer_type(v.dtype)), v)'])
    return kernels.Case('value', body, {'p': '"*i8"'}, label=label,
                        before=before)


def two_tensors():
    templates = [f'{{}} {op} {{}}' for op in OPERATORS] + CALLS
    for template in templates:
        for a in DTYPES:
            for b in DTYPES:
                yield case(filled(template, a, b), filled(template, 'a', 'b'),
                           [f'a = {scalar(a)}', f'b = {scalar(b)}'])


def numbers():
    templates = [f'{{}} {op} {{}}' for op in OPERATORS] + CALLS
    for template in templates:
        for a in DTYPES:
            for n in NUMBERS:
                lines = [f'a = {scalar(a)}']
                yield case(filled(template, a, n),
                           filled(template, 'a', n), lines)
                if 'to(' not in template:
                    yield case(filled(template, n, a),
                               filled(template, n, 'a'), lines)


def one():
    for template in ONE:
        for a in DTYPES:
            yield case(filled(template, a), filled(template, 'a'),
                       [f'a = {scalar(a)}'])


def blocks():
    for template in BLOCKS:
        for a in DTYPES:
            yield case(filled(template, a), filled(template, 'a'),
                       [f'a = {scalar(a, "(4,)")}'])


def constants():
    """Python's arithmetic on constants, then beside a tensor."""
    for op in FOLDED:
        for x in CONSTANTS:
            for y in CONSTANTS:
                lines = [f'X: tl.constexpr = {x}', f'Y: tl.constexpr = {y}']
                yield case(f'X {op} Y of {x}, {y}',
                           f'tl.full((), X {op} Y, tl.float32)', lines)
                yield case(f'float16 * (X {op} Y) of {x}, {y}',
                           f'a * (X {op} Y)',
                           [*lines, f'a = {scalar("float16")}'])


def returned():
    for x in NUMBERS:
        for a in DTYPES:
            yield case(f'{a} * f() of {x}', 'a * f@@()',
                       [f'a = {scalar(a)}'], RETURNS.format(x))


# Of the large families each so many-th is taken: a number that has no factor
# in common with how many dtypes and numbers there are.
STEPS = ((two_tensors, 2), (numbers, 7), (one, 1), (blocks, 1),
         (constants, 1), (returned, 1))


def cases():
    seen = set()
    for make, step in STEPS:
        for i, made in enumerate(make()):
            if i % step or made.label in seen:
                continue
            seen.add(made.label)
            yield made
