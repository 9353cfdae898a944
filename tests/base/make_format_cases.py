"""Writes format_cases.inc: random arrays and what NumPy 1.24 prints for them.

    /usr/bin/python3 make_format_cases.py >format_cases.inc
"""
import numpy as np

TYPES = {'bool': 'INT1', 'int8': 'INT8', 'uint8': 'UINT8', 'int16': 'INT16',
         'uint16': 'UINT16', 'int32': 'INT32', 'uint32': 'UINT32',
         'int64': 'INT64', 'uint64': 'UINT64', 'float16': 'FP16',
         'float32': 'FP32', 'float64': 'FP64'}
SHAPES = [(), (1,), (3,), (7,), (24,), (2, 3), (4, 4), (3, 1), (2, 2, 2),
          (1, 3, 2, 2)]
rng = np.random.default_rng(2)


def floats(n):
    kind = rng.integers(0, 8)
    if kind == 0:
        a = rng.random(n)
    elif kind == 1:
        a = rng.standard_normal(n) * 10. ** rng.integers(-6, 10)
    elif kind == 2:
        a = 10. ** rng.uniform(-9, 9, n)
    elif kind == 3:
        a = rng.integers(-100, 100, n).astype('f8')
    elif kind == 4:
        a = np.frombuffer(rng.bytes(n * 8), 'f8').copy()
    elif kind == 5:
        a = rng.integers(-9, 9, n) * .125
    else:
        a = np.round(rng.standard_normal(n) * 100, 3)
    if rng.random() < .3:
        special = rng.choice([np.nan, np.inf, -np.inf, 0., -0.])
        a[rng.integers(0, n, max(1, n // 4))] = special
    return a


def array(name, n):
    if name == 'bool':
        return rng.random(n) < .7
    if name.startswith('f'):
        return floats(n).astype(name)
    info = np.iinfo(name)
    if rng.random() < .5:
        return rng.integers(max(info.min, -50), 50, n).astype(name)
    return rng.integers(info.min, info.max, n, dtype=name, endpoint=True)


def literal(text):
    return '"' + text.replace('\n', '\\n"\n     "') + '"'


with np.errstate(all='ignore'):
    for i in range(240):
        names = list(TYPES)
        name = names[i % 12] if i % 2 else names[9 + i // 2 % 3]
        shape = SHAPES[rng.integers(0, len(SHAPES))]
        a = array(name, int(np.prod(shape))).reshape(shape)
        data = ''.join(f'\\x{b:02x}' for b in a.tobytes())
        lines = [data[k:k + 64] for k in range(0, len(data), 64)]
        text = '"\n     "'.join(lines)
        dims = ', '.join(map(str, shape)) or '0'
        print(f'    {{TK_{TYPES[name]}, {len(shape)}, {{{dims}}},\n'
              f'     "{text}",\n     {literal(str(a))}}},')
