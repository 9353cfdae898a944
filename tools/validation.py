"""Writes docs/validation.md and docs/validation.txt from results of peer.py.

    python3 tools/validation.py RESULT.json ...

The tables are followed by tests/random/validation.md, which is written by
hand.  Each disagreement must have a cause below; the script names those that
have none.
Where two results of one peer speak of the same file, the later one counts.
"""
import collections
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = {'gpu': 'Triton 3.6 on an H200',
         'interpret': "Triton 3.6's interpreter (NumPy on the CPU)"}
# peer, file, block, operation (regular expressions), heading, who is right
CAUSES = [
    ('gpu', 'binary', '', 'rem', 'Remainder of floats',
     'tkdbg is right: `%` is LLVM\'s `frem`, which is defined as C\'s `fmod` '
     'and is exact. The device computes x - trunc(x / y) * y with a rounded '
     'quotient, which is wrong once the quotient has more digits than the '
     'type, for subnormal divisors, and in the sign of a zero result.'),
    ('gpu', 'cast', '^e5', 'to_bf16', 'Infinity and NaN from fp8e5 to bf16',
     'tkdbg is right: fp8e5 has infinities and NaNs. The compiler\'s shortcut '
     're-biases the exponent, so that they come out as 65536 and 98304. (If '
     'the conversion goes through fp32, the same compiler gives what tkdbg '
     'gives.)'),
    ('gpu', 'literal', '^bf16 with 1e-40', '', 'Subnormal bf16 literals',
     'tkdbg is right: 1e-40 rounds to the subnormal 0x0001 and is added and '
     'multiplied as any number. The compiled kernel flushes the constant to '
     'zero. In fp32 and fp64, and for bf16 loaded from memory, both keep '
     'subnormals.'),
    ('gpu', 'unary', '', 'down|up', 'floor and ceil of subnormals',
     'tkdbg is right: the floor of a negative subnormal is -1, the ceiling of '
     'a positive one 1. The device\'s library flushes its operand to zero.'),
    ('gpu', 'math', '', '', 'Approximate instructions',
     'Neither is wrong: the language promises no correctly rounded result. '
     'tkdbg is within one unit in the last place; the device uses its '
     'approximate instructions. The table above says how far off it was.'),
    ('gpu', 'reduce', 'order of a sum', '', 'Order of a sum',
     'Neither is wrong: the order is open. tkdbg adds the two halves of the '
     'axis to each other, as `docs/semantics.md` says.'),
    ('gpu', 'atomic', 'order of lanes', '', 'Order of lanes in one atomic',
     'Neither is wrong: the order is open. tkdbg takes the lanes in row-major '
     'order.'),
    ('gpu', 'atomic', '', 'refusals', 'Bitwise atomics of floats',
     'Neither is wrong: `tl.atomic_and` of fp32 has no documented meaning. '
     'tkdbg refuses it, the compiler lets it through.'),
    ('gpu', 'open', '^division', '', 'Division by zero',
     'Neither is wrong: the language leaves it open. tkdbg gives all bits '
     'set, as the device does for 32 bits; for 64 bits the device sets only '
     '32 of them.'),
    ('gpu', 'open', 'to integers', '', 'NaN to an integer',
     'Neither is wrong: the language leaves it open. tkdbg gives 0, as the '
     'device does for fp32 to int32; for fp64 and for 64-bit results the '
     'device gives the smallest integer, and in one case of fp16 to uint8 it '
     'keeps other low bits.'),
    ('gpu', 'control', '', 'refusals', 'Refusals that tkdbg alone makes',
     'tkdbg is stricter: it reports a mistake in a statement that the '
     'compiler accepts.'),
    ('interpret', 'select', '', 'umulhi', 'High half of a product',
     'tkdbg is right, and the H200 agrees: `umulhi` is unsigned. The '
     'interpreter multiplies signed NumPy lanes.'),
    ('interpret', 'select', '', 'fma', 'fma',
     'tkdbg is right, and the H200 agrees: `tl.fma` rounds once. The '
     'interpreter rounds the product, then the sum.'),
    ('interpret', 'binary|select|literal|unary|reduce|scan|dot',
     'bf16', '', 'Arithmetic of bf16',
     'tkdbg is right, and the H200 agrees. The interpreter keeps bf16 as '
     '16-bit integers and adds, compares and multiplies those, or gives wrong '
     'bits for subnormals on the way to fp32.'),
    ('interpret', 'cast', '', 'to_bf16|bf16 toward', 'Conversion to bf16',
     'tkdbg is right, and the H200 agrees: a number is rounded to nearest, '
     'ties to even. The interpreter truncates fp32, and takes the bits of '
     'integers and fp64 for those of bf16.'),
    ('interpret', 'cast', '^bf16', 'to_(i1|f32|f64)', 'Subnormal bf16',
     'tkdbg is right, and the H200 agrees. The interpreter gives wrong bits '
     'for them.'),
    ('interpret', 'cast', '', '(to_)?e(4nv|5|4b15)|to_f|e5 toward|f16 toward',
     'Conversions of 8-bit floats, and toward zero',
     'tkdbg is right, and the H200 agrees bit for bit. The interpreter rounds '
     'ties up, loses the carry out of the fraction, and converts overflow, '
     'infinity and NaN wrongly.'),
    ('interpret', 'binary', '^i\\d+ with u', 'lt|le|gt|ge',
     'Comparison of a signed with an unsigned type',
     'tkdbg is right, and the H200 agrees: both become the unsigned type. The '
     'interpreter leaves the signed lanes as they are when the widths allow '
     'it.'),
    ('interpret', 'binary|unary|literal', '^i1', '', 'Arithmetic of int1',
     'tkdbg is right, and the H200 agrees: int1 is computed modulo 2. NumPy '
     'adds booleans by "or" and refuses to subtract them; `not` of a block is '
     'computed as Python does it.'),
    ('interpret', 'select', '', '', 'Zeros in maximum and minimum',
     'tkdbg is right, and the H200 agrees: -0 is below +0. NumPy may return '
     'either of the two.'),
    ('interpret', 'atomic', 'min f64', '', 'atomic_min of fp64',
     'tkdbg is right, and the H200 agrees: the result is the old value. The '
     'interpreter converts the old value to an integer and returns its bits.'),
    ('interpret', 'memory', 'nan e5', '', 'NaN padding of fp8',
     'tkdbg is right: the padding is NaN. The interpreter gives 0.'),
    ('interpret', 'reduce', 'order of a sum', '', 'Order of a sum',
     'Neither is wrong: the order is open. NumPy sums pairwise in its own '
     'order.'),
    ('interpret', 'control|cast|memory|unary|shape|scan', '',
     'refusals|and, or, not|min and max', 'Python instead of the compiler',
     'tkdbg is right, as it follows the compiler. The interpreter runs the '
     'kernel as Python, so `not`, `min`, `max` and statements that the '
     'compiler refuses do whatever Python does.'),
]
HEAD = '''# Validation

`tests/language` holds what the language means as text; the same text is run by
tkdbg, by Triton's own interpreter (`make spec PEER=interpret`) and by Triton on
a GPU (`make spec PEER=gpu`). A test checks that tkdbg agrees with all of it.
This page says where the other two do not; each section begins with who is
right. The page is written by `tools/validation.py` from the results of
`tests/language/peer.py`; `docs/validation.txt` lists every single disagreement.

In the tables, "differ" counts the cases whose result is not within the bound
that the specification gives, and "refuse" those that the peer did not compile
or run. "(open)" marks what the language leaves open. The GPU ran every
operation of the specification.
'''


def merge(paths):
    """peer: {file: (operations, disagreements, refused)}"""
    peers = collections.OrderedDict((p, {}) for p in PEERS)
    for path in paths:
        with open(path, encoding='utf-8') as f:
            d = json.load(f)
        files = {key.split(' ')[0] for key in d['operations']}
        for name in files:
            peers[d['peer']][name] = (
                {k: v for k, v in d['operations'].items()
                 if k.split(' ')[0] == name},
                [x for x in d['disagreements'] if x['file'][:-5] == name],
                [x for x in d['refused'] if x['file'][:-5] == name])
    return peers


def cause_of(peer, d):
    for i, (p, file, block, op, _, _) in enumerate(CAUSES):
        if p == peer and re.fullmatch(file, d['file'][:-5]) \
                and re.search(block, d['block']) and re.search(op, d['op']):
            return i
    return None


def far(n):
    return 'far' if n >= 100000 else str(n)


def agreement(files):
    out = ['', '| operation | cases | agree | differ | refuse | most ulp |',
           '|---|--:|--:|--:|--:|--:|']
    total = [0] * 4
    for name in sorted(files):
        rows = files[name][0]
        for key, row in rows.items():
            total = [a + b for a, b in zip(total, row)]
            if row[2] or row[3]:
                out.append(f'| {key} | ' + ' | '.join(map(str, row[:4]))
                           + f' | {far(row[4])} |')
        same = [r for r in rows.values() if not r[2] and not r[3]]
        if same:
            n = sum(r[0] for r in same)
            out.append(f'| {name}, {len(same)} others | {n} | {n} | 0 | 0 '
                       '| 0 |')
    out.append('| **all** | ' + ' | '.join(map(str, total)) + ' | |')
    return out


def wrapped(text, width=80):
    out, line = [], ''
    for word in text.split():
        if len(line) + len(word) + 1 > width and line:
            out.append(line)
            line = word
        else:
            line = f'{line} {word}'.strip()
    return out + [line]


def disagreements(peer, files, everything):
    groups, unknown = collections.OrderedDict(), []
    for name in sorted(files):
        for d in files[name][1]:
            i = cause_of(peer, d)
            if i is None:
                unknown.append(d)
            else:
                groups.setdefault(i, []).append(d)
    out = []
    for i, found in groups.items():
        _, _, _, _, title, verdict = CAUSES[i]
        out += ['', f'### {title} ({len(found)})', ''] + wrapped(verdict)
        first = min(found, key=lambda d: len(d['case']))
        got = first['got'].split(': ')[-1]
        out += ['', 'For example:', '', '```text',
                f'{first["file"]}, {first["block"]}: {first["case"]}'[:76],
                f'    the peer has {got}', '```']
        everything.append(f'\n== {PEERS[peer]}: {title}')
        everything += [f'{d["file"]}, {d["block"]}: {d["case"]}   has '
                       + d['got'] for d in found]
    return out, unknown


def refusals(files):
    why = collections.OrderedDict()
    for name in sorted(files):
        for r in files[name][2]:
            reason = re.sub(r'^CompilationError: ', '', r['why'])[:70]
            reason = reason.replace('|', '/').replace('`', "'")
            why.setdefault(reason, collections.Counter())[
                f'{name} {r["block"]}'] += 1
    if not why:
        return []
    out = ['', '### Refused', '', '| reason | cases | blocks |',
           '|---|--:|---|']
    for reason, blocks in why.items():
        shown = ', '.join(list(blocks)[:4])
        more = f' and {len(blocks) - 4} more' if len(blocks) > 4 else ''
        out.append(f'| `{reason}` | {sum(blocks.values())} | {shown}{more} |')
    return out


def main():
    out, everything, unknown = [HEAD.rstrip('\n')], [], []
    for peer, files in merge(sys.argv[1:]).items():
        if not files:
            continue
        out += ['', f'## {PEERS[peer]}']
        out += agreement(files)
        text, none = disagreements(peer, files, everything)
        out += text + refusals(files)
        unknown += none
    for d in unknown:
        print('no cause:', d['file'], d['block'], d['op'], d['case'][:80],
              d['got'])
    with open(os.path.join(ROOT, 'tests/random/validation.md'),
              encoding='utf-8') as f:
        out += f.read().rstrip('\n').split('\n')
    with open(os.path.join(ROOT, 'docs/validation.md'), 'w',
              encoding='utf-8') as f:
        f.write('\n'.join(s.rstrip() for s in out) + '\n')
    with open(os.path.join(ROOT, 'docs/validation.txt'), 'w',
              encoding='utf-8') as f:
        f.write('Every disagreement of a peer with tests/language.\n'
                + '\n'.join(everything) + '\n')
    return 1 if unknown else 0


if __name__ == '__main__':
    sys.exit(main())
