"""How far apart definition, device numerics and a GPU are, operation by
operation, in units in the last place (ulp): the table of docs/numerics.md.

    tkdbg run tests/accuracy/numerics.py definition
    tkdbg run --numerics device tests/accuracy/numerics.py device
    tkdbg run --engine gpu tests/accuracy/numerics.py hardware
    python3 tests/accuracy/numerics.py --compare definition device [hardware]

The first three write a folder of results each; the last prints, for each
operation and each other folder, how many of the results have other bits than
those of the first, and the largest distance.
"""
import os
import sys

import numpy as np

N = 1 << 16
SIZE = 64  # of matrices

# name, element type, ranges of the operands; 'log' before a range: evenly by
# exponent
OPERATIONS = [
    ('exp', 'f4', (-87, 88)), ('exp2', 'f4', (-126, 127)),
    ('log', 'f4', ('log', 1e-37, 1e38)), ('log near 1', 'f4', (0.9, 1.1)),
    ('log2', 'f4', ('log', 1e-37, 1e38)), ('log2 near 1', 'f4', (0.9, 1.1)),
    ('rsqrt', 'f4', ('log', 1e-37, 1e38)), ('sqrt', 'f4', (0, 1e6)),
    ('sin', 'f4', (-100, 100)), ('cos', 'f4', (-100, 100)),
    ('sin far', 'f4', (1e5, 1e9)), ('erf', 'f4', (-4, 4)),
    ('sigmoid', 'f4', (-20, 20)),
    ('tanh', 'f4', (-5, 5)), ('pow', 'f4', (0, 10), (-8, 8)),
    ('divide', 'f4', ('log', 1e-9, 1e9), ('log', 1e-9, 1e9)),
    ('multiply and add', 'f4', (-2, 2), (-2, 2)),
    ('remainder', 'f4', (-100, 100), (0.5, 5)),
    ('remainder far', 'f4', (-1e9, 1e9), (0.5, 5)),
    ('exp', 'f8', (-700, 700)), ('log', 'f8', ('log', 1e-300, 1e300)),
    ('sin', 'f8', (-100, 100)), ('rsqrt', 'f8', ('log', 1e-300, 1e300)),
    ('erf', 'f8', (-4, 4)), ('remainder', 'f8', (-100, 100), (0.5, 5)),
]
PRODUCTS = [('float16', 'ieee'), ('bfloat16', 'ieee'), ('float32', 'tf32'),
            ('float32', 'tf32x3'), ('float32', 'bf16x6'), ('float32', 'ieee'),
            ('float64', 'ieee')]


def numbers(seed, dtype, span):
    u = np.random.RandomState(seed).rand(N)
    if span[0] == 'log':
        low, high = np.log(span[1:])
        return np.exp(low + (high - low) * u).astype(dtype)
    return (span[0] + (span[1] - span[0]) * u).astype(dtype)


def run(folder):
    import torch
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    @triton.jit
    def apply(x, y, z, OP: tl.constexpr, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        a = tl.load(x + i)
        b = tl.load(y + i)
        if OP == 'exp':
            r = tl.exp(a)
        elif OP == 'exp2':
            r = tl.exp2(a)
        elif OP == 'log':
            r = tl.log(a)
        elif OP == 'log2':
            r = tl.log2(a)
        elif OP == 'rsqrt':
            r = tl.rsqrt(a)
        elif OP == 'sqrt':
            r = tl.sqrt(a)
        elif OP == 'sin':
            r = tl.sin(a)
        elif OP == 'cos':
            r = tl.cos(a)
        elif OP == 'erf':
            r = tl.erf(a)
        elif OP == 'sigmoid':
            r = tl.sigmoid(a)
        elif OP == 'tanh':
            r = libdevice.tanh(a)
        elif OP == 'pow':
            r = libdevice.pow(a, b)
        elif OP == 'divide':
            r = a / b
        elif OP == 'multiply and add':
            r = a * b + a
        elif OP == 'remainder':
            r = a % b
        elif OP == 'sum':
            r = a * 0 + tl.sum(a, 0)
        elif OP == 'cumsum':
            r = tl.cumsum(a, 0)
        tl.store(z + i, r)

    @triton.jit
    def multiply(x, y, z, S: tl.constexpr, HOW: tl.constexpr):
        i = tl.arange(0, S)
        at = i[:, None] * S + i[None, :]
        r = tl.dot(tl.load(x + at), tl.load(y + at), input_precision=HOW)
        tl.store(z + at, r)

    os.makedirs(folder, exist_ok=True)
    sums = [('sum', 'f4', (-1, 1)), ('cumsum', 'f4', (-1, 1))]
    for name, dtype, *spans in OPERATIONS + sums:
        a = numbers(1, dtype, spans[0])
        b = numbers(2, dtype, spans[-1])
        z = np.zeros(N, dtype)
        t = [torch.from_numpy(v).cuda() for v in (a, b, z)]
        op = name.replace(' near 1', '').replace(' far', '')
        apply[(N // 1024,)](*t, op, 1024)
        np.save(f'{folder}/{name}.{dtype}.npy', t[2].cpu().numpy())
    for dtype, how in PRODUCTS:
        torch.manual_seed(3)
        x = torch.randn(SIZE, SIZE, dtype=torch.float64)
        y = torch.randn(SIZE, SIZE, dtype=torch.float64)
        kind = getattr(torch, dtype)
        z = torch.zeros(SIZE, SIZE, dtype=torch.float64
                        if dtype == 'float64' else torch.float32)
        z = z.cuda()
        multiply[(1,)](x.to(kind).cuda(), y.to(kind).cuda(), z, SIZE, how)
        np.save(f'{folder}/dot {how}.{dtype}.npy', z.cpu().numpy())


def in_order(x):
    """Integers that are as far apart as the floats are in ulp."""
    kind = np.int32 if x.dtype == np.float32 else np.int64
    n = x.view(kind).astype(object)
    least = int(np.iinfo(kind).min)
    return np.where(n < 0, least - n, n)


def compare(first, others):
    print('| operation | type |',
          ' | '.join(f'{o}: other bits | most ulp' for o in others), '|')
    for name in sorted(os.listdir(first)):
        own = np.load(f'{first}/{name}')
        cells = []
        for folder in others:
            there = np.load(f'{folder}/{name}')
            same = (own == there) | (np.isnan(own) & np.isnan(there))
            far = np.abs(in_order(own.ravel()) - in_order(there.ravel()))
            far = far[~same.ravel()]
            cells.append(f'{100 * (~same).mean():.2f} % | '
                         f'{max(far) if len(far) else 0}')
        op, kind, _ = name.rsplit('.', 2)
        print(f'| {op} | {kind} |', ' | '.join(cells), '|')


if __name__ == '__main__':
    if sys.argv[1] == '--compare':
        compare(sys.argv[2], sys.argv[3:])
    else:
        run(sys.argv[1])
