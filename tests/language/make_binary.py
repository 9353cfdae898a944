"""Writes binary.spec: operators on two tensors, every pair of types."""
from speclib import (BF16, F16, F32, F64, FLOATS, INTS, TYPES, File, boundary,
                     convert, f_add, f_cmp, f_div, f_mod, f_mul, f_neg,
                     int_promote, lane, ordinary, promote)

ARITH = {'add': '+', 'sub': '-', 'mul': '*'}
DIV = {'div': '/', 'quot': '//', 'rem': '%'}
BITS = {'and_': '&', 'or_': '|', 'xor': '^', 'shl': '<<', 'shr': '>>'}
COMPARE = {'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>=', 'eq': '==',
           'ne': '!='}
OPS = {**ARITH, **DIV, **BITS, **COMPARE}
OPEN = None  # the language leaves the result open


def int_op(op, t, x, y, signed_left):
    if op == 'add':
        return t.wrap(x + y)
    if op == 'sub':
        return t.wrap(x - y)
    if op == 'mul':
        return t.wrap(x * y)
    if op in ('quot', 'rem'):
        if y == 0 or t.signed and x == t.lo and y == -1:
            return OPEN
        q = abs(x) // abs(y)
        q = -q if (x < 0) != (y < 0) else q
        return q if op == 'quot' else x - q * y
    if op == 'and_':
        return x & y
    if op == 'or_':
        return x | y
    if op == 'xor':
        return t.wrap(x ^ y)
    if not 0 <= y < t.bits:
        return OPEN
    if op == 'shl':
        return t.wrap(x << y)
    bits = x & (1 << t.bits) - 1
    if signed_left:  # the sign is that of the type computed in
        top = bits >> t.bits - 1
        return t.wrap((bits - (top << t.bits)) >> y)
    return t.wrap(bits >> y)


def compare(op, c):
    if c is None:
        return int(op == 'ne')
    return int({'lt': c < 0, 'le': c <= 0, 'gt': c > 0, 'ge': c >= 0,
                'eq': c == 0, 'ne': c != 0}[op])


def result_type(op, a, b):
    if op in COMPARE:
        return INTS[0] if promote(a, b) else None
    t = promote(a, b, op in DIV)
    if t is None or t.is_float and (op in BITS or op == 'quot'):
        return None
    return F32 if op == 'div' and not t.is_float else t


def widen(x, a, t):
    """Operand x of type a in the type that is computed in."""
    return convert(x, a, t)


def evaluate(op, a, b, x, y):
    t = promote(a, b, op in DIV)
    x, y = widen(x, a, t), widen(y, b, t)
    if op == 'div' and not t.is_float:
        x, y, t = convert(x, t, F32), convert(y, t, F32), F32
    if op in COMPARE:
        c = f_cmp(t, x, y) if t.is_float else (x > y) - (x < y)
        return compare(op, c)
    if not t.is_float:
        return int_op(op, t, x, y, a.signed)
    if op == 'sub':
        y = f_neg(t, y)
    return {'add': f_add, 'sub': f_add, 'mul': f_mul, 'div': f_div,
            'rem': f_mod}[op](t, x, y)


def operands(f, op, a, b):
    rng = f.rng
    x = rng.choice(boundary(a)) if rng.random() < 0.6 else ordinary(a, rng)
    y = rng.choice(boundary(b)) if rng.random() < 0.6 else ordinary(b, rng)
    if op in ('shl', 'shr') and rng.random() < 0.9:
        y = rng.randrange(promote(a, b).bits)
        y = min(y, b.hi)
    if op == 'rem' and (a.is_float or b.is_float) and rng.random() < 0.7:
        x, y = ordinary(a, rng), ordinary(b, rng)
    if rng.random() < 0.1 and op in COMPARE and a is b:
        y = x
    return x, y


def cases(f, a, b, ops, count):
    out = []
    for op in ops:
        seen = set()
        for _ in range(count * 6):
            x, y = operands(f, op, a, b)
            if len(seen) == count or (x, y) in seen:
                continue
            r = evaluate(op, a, b, x, y)
            if r is OPEN:
                continue
            seen.add((x, y))
            t = result_type(op, a, b)
            out.append(f'{op} {lane(a, x)} {lane(b, y)} -> {lane(t, r)}')
    return out


def declare(op, a, b):
    t = result_type(op, a, b)
    # The language promises two units in the last place for fp32 `/`.
    own = ' ulp=2 own=0' if op == 'div' and t is F32 else ''
    return f'{op} {t.name}{own}'


def pair(f, a, b):
    ops = [op for op in OPS if result_type(op, a, b)]
    same = a is b
    lines = cases(f, a, b, ops, 12 if same else 6)
    body = '\n'.join(f'{op} = a {OPS[op]} b' for op in ops)
    f.block(f'{a.name} with {b.name}', f'a {a.name}, b {b.name}',
            ', '.join(declare(op, a, b) for op in ops), body, lines)


def refusals(f, a, b):
    """Operators that no tensors of these types have."""
    lines = []
    for op in OPS:
        if result_type(op, a, b):
            continue
        if op in DIV and not a.is_float and not b.is_float:
            why = 'signedness'
        elif op == 'quot':
            why = 'for integers'
        else:
            why = 'invalid operands'
        lines.append(f'! c = a {OPS[op]} b => {why}')
    if lines:
        f.lines += ['', f'== {a.name} with {b.name} refused',
                    f'in: a {a.name}, b {b.name}'] + lines


def main():
    f = File('binary', 'operators on two tensors, every pair of types',
             'make_binary.py')
    types = INTS + FLOATS
    for a in types:
        for b in types:
            pair(f, a, b)
    f.save()
    g = File('binary_errors', 'operators that a pair of types has not',
             'make_binary.py')
    for a in types:
        for b in types:
            near = a is b or types.index(b) == types.index(a) + 1
            if near or a in (F16, F64) and b in (BF16, INTS[5]):
                refusals(g, a, b)
    refusals(g, INTS[5], INTS[6])
    g.save()


if __name__ == '__main__':
    assert int_promote and F64 and TYPES
    main()
