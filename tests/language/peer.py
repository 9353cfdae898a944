#!/usr/bin/env python3
"""Runs the specification suite by another implementation of the language.

    python3 tests/language/peer.py --peer interpret|gpu [--made FOLDER]
                                   [--out FILE] [PART ...]

interpret: Triton's interpreter on the CPU; gpu: Triton on a CUDA device.  Needs
torch and triton, this folder, and the one that the build writes specifications
into (--made).  PART: run only files whose name contains it.
Prints how far the peer agrees, per operation, and the disagreements;
--out writes everything as JSON.  README.md tells how the files are written.

Every block of a file is one kernel.  Blocks are handed to worker processes one
at a time, so that a peer that refuses, crashes or hangs loses one block.
"""
import argparse
import collections
import concurrent.futures
import glob
import importlib.metadata
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
MADE = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'build', 'tests',
                    'language')
NAMES = {'i1': 'int1', 'f16': 'float16', 'bf16': 'bfloat16',
         'f32': 'float32', 'f64': 'float64'}
FORMATS = {  # exponent bits, mantissa bits, bias, how NaN is spelled
    'f16': (5, 10, 15, 'ieee'), 'bf16': (8, 7, 127, 'ieee'),
    'f32': (8, 23, 127, 'ieee'), 'f64': (11, 52, 1023, 'ieee'),
    'e5': (5, 2, 15, 'ieee'), 'e4nv': (4, 3, 7, 'fn'),
    'e4b8': (4, 3, 8, 'fnuz'), 'e5b16': (5, 2, 16, 'fnuz'),
    'e4b15': (4, 3, 15, 'none')}
TORCH = {'i1': 'bool', 'e5': 'float8_e5m2', 'e4nv': 'float8_e4m3fn',
         'e4b8': 'float8_e4m3fnuz', 'e5b16': 'float8_e5m2fnuz'}
BLOCK_SECONDS = 240


def language_name(t):
    if t in NAMES:
        return NAMES[t]
    if t[0] == 'e':
        return 'float8' + t
    return ('int' if t[0] == 'i' else 'uint') + t[1:]


def size_of(t):
    if t[0] == 'e' or t == 'i1':
        return 1
    return int(t.lstrip('biuf')) // 8


# ---- reading -----------------------------------------------------------------

class Column:
    def __init__(self, text):
        words = text.split()
        self.name, kind = words[0], words[1]
        self.pointer = kind[0] == '*'
        m = re.fullmatch(r'\*?(\w+)(?:\[([\d,]+)\])?', kind)
        self.type = m.group(1)
        self.shape = [int(n) for n in m.group(2).split(',')] \
            if m.group(2) else []
        self.count = 1
        for n in self.shape:
            self.count *= n
        self.ulp = 0
        for word in words[2:]:
            if word.startswith('ulp='):
                self.ulp = int(word[4:])
        self.size = size_of(self.type)


def columns(text):
    return [Column(c) for c in re.split(r',(?![^\[]*\])', text)]


class Block:
    def __init__(self, file, title):
        self.file, self.title = file, title
        self.ins, self.outs, self.body = [], [], []
        self.op = self.note = self.triton = None
        self.lines, self.refusals = [], []

    @property
    def programs(self):
        return any(c.pointer or c.shape for c in self.ins + self.outs)


def head_line(b, line, number):
    key, _, rest = line.partition(': ')
    if key == 'in':
        b.ins = columns(rest)
    elif key == 'out':
        b.outs = columns(rest)
    elif key == 'op':
        b.op = rest
    elif key == 'note':
        b.note = rest
    elif key == 'triton':
        b.triton = rest
    elif line.startswith('! '):
        b.refusals.append((number, *line[2:].split(' => ', 1)))
    elif line:
        b.body.append(line)


def read(path):
    blocks, b, in_cases = [], None, False
    with open(path, encoding='ascii') as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip('\n')
            if line.startswith('== '):
                b = Block(os.path.basename(path), line[3:])
                blocks.append(b)
                in_cases = False
            elif line.startswith('#') or b is None:
                continue
            elif line == '--':
                in_cases = True
            elif in_cases:
                if line:
                    b.lines.append((number, line))
            else:
                head_line(b, line, number)
    return blocks


def lanes(col, words):
    """As many words as the column has lanes; '3*4' is 3 four times."""
    out = []
    if words[0] == '[':
        words.pop(0)
        while words[0] != ']':
            w, _, n = words.pop(0).partition('*')
            out += [w] * (int(n) if n else 1)
        words.pop(0)
    else:
        out = [words.pop(0)]
    assert len(out) == col.count, (col.name, out)
    return out


def parse_line(b, line):
    """The output that is meant (None: all), input lanes, expected lanes."""
    words = re.findall(r'[\[\]]|[^\s\[\]]+', line.split(' # ')[0])
    tag = None
    if len(b.outs) > 1 and words[0] in [c.name for c in b.outs]:
        tag = words.pop(0)
    ins = [lanes(c, words) for c in b.ins]
    assert words.pop(0) == '->', line
    want = {c.name: lanes(c, words) for c in b.outs
            if tag is None or c.name == tag}
    return tag, ins, want


# ---- lanes -------------------------------------------------------------------

def float_value(t, code):
    """A lane as ('n' NaN, 'i' infinite, '=' a number), and its value."""
    e, m, bias, special = FORMATS[t]
    sign, mag = code >> (e + m), code & (1 << e + m) - 1
    if special == 'ieee' and mag >> m == (1 << e) - 1:
        return ('n' if mag & (1 << m) - 1 else 'i'), None
    if special == 'fn' and mag == (1 << e + m) - 1:
        return 'n', None
    if special == 'fnuz' and sign and not mag:
        return 'n', None
    return '=', None


def exact_code(t, v):
    """The code of a decimal that the format holds exactly."""
    e, m, bias, _ = FORMATS[t]
    bits = struct.unpack('<Q', struct.pack('<d', v))[0]
    sign = bits >> 63 << e + m
    if v != v or v in (float('inf'), float('-inf')):
        return sign | (1 << e) - 1 << m | (v != v) << m - 1
    if v == 0:
        return sign
    exponent = (bits >> 52 & 0x7ff) - 1023
    return sign | exponent + bias << m | (bits & (1 << 52) - 1) >> 52 - m


def code_of(t, word):
    """How a lane is compared, and its bits."""
    if word == '?':
        return '?', 0
    if word.startswith('0x'):
        return '=', int(word, 16)
    if t not in FORMATS:
        return '=', int(word) & (1 << 8 * size_of(t)) - 1
    e, m, _, special = FORMATS[t]
    if word == 'nan':
        code = {'ieee': (2 << e) - 1 << m - 1, 'fn': (1 << e + m) - 1,
                'fnuz': 1 << e + m, 'none': 0}[special]
        return 'n', code
    return '=', exact_code(t, float(word))


def place(t, code):
    e, m = FORMATS[t][:2]
    mag = code & (1 << e + m) - 1
    return -mag - 1 if code >> e + m else mag


def distance(t, got, want):
    """Units in the last place between two numbers; None if not numbers."""
    if t not in FORMATS:
        return None
    if float_value(t, got)[0] != '=' or float_value(t, want)[0] != '=':
        return None
    return abs(place(t, got) - place(t, want))


def agrees(col, got, how, want):
    if how == '?':
        return True
    if how == 'n':
        return float_value(col.type, got)[0] == 'n'
    if got == want:
        return True
    d = distance(col.type, got, want)
    return d is not None and d <= col.ulp


# ---- kernels -----------------------------------------------------------------

def offset(b, c):
    if not b.programs:
        return 'i_'
    text, stride = f'tl.program_id(0) * {c.count}', c.count
    for i, n in enumerate(c.shape if not c.pointer else []):
        stride //= n
        at = ', '.join(':' if j == i else 'None' for j in range(len(c.shape)))
        index = f'[{at}]' if len(c.shape) > 1 else ''
        text += f' + tl.arange(0, {n}){index} * {stride}'
    return text


def body_for(b, outs):
    """The statements without those that make the other outputs."""
    others = {c.name for c in b.outs} - {c.name for c in outs}
    return [s for s in b.body
            if (re.match(r' {4}(\w+) = ', s) or [0, None])[1] not in others]


def source(b, outs, statement=None):
    body = body_for(b, outs)
    helpers = []
    if 'kernel:' in body:
        at = body.index('kernel:')
        helpers, body = body[:at], body[at + 1:]
    params = [c.name + '_in' for c in b.ins]
    params += [c.name + '_out' for c in outs if not c.pointer]
    text = ['import triton', 'import triton.language as tl', *helpers,
            '@triton.jit',
            f'def k({", ".join(params + ["N_: tl.constexpr"])}):']
    if not b.programs:
        text.append('    i_ = tl.arange(0, N_)')
    for c in b.ins:
        at = f'{c.name}_in + {offset(b, c)}'
        text.append(f'    {c.name} = ' + (at if c.pointer
                                          else f'tl.load({at})'))
    text += body
    if statement:
        text.append('    ' + statement)
    for c in outs if not statement else []:
        if not c.pointer:
            kind = language_name(c.type)
            text.append(f'    tl.static_assert({c.name}.dtype == tl.{kind}, '
                        "'result type')")
            text.append(f'    tl.store({c.name}_out + {offset(b, c)}, '
                        f'{c.name})')
    return '\n'.join(text) + '\n'


class Runner:
    """In a worker: compiles and launches kernels."""

    def __init__(self, peer, scratch):
        if peer == 'interpret':
            os.environ['TRITON_INTERPRET'] = '1'
        import torch
        import triton
        self.torch, self.triton, self.scratch = torch, triton, scratch
        self.device = 'cpu' if peer == 'interpret' else 'cuda'
        self.count = 0
        if peer == 'gpu':  # descriptors made in a kernel need memory
            triton.set_allocator(lambda size, align, stream: torch.empty(
                size, dtype=torch.int8, device='cuda'))

    def kernel(self, text):
        self.count += 1
        name = f'spec_{os.getpid()}_{self.count}'
        path = os.path.join(self.scratch, name + '.py')
        with open(path, 'w', encoding='ascii') as f:
            f.write(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.k

    def tensor(self, col, data):
        torch = self.torch
        raw = torch.tensor(list(data), dtype=torch.uint8, device=self.device)
        if col.type == 'e4b15':
            import triton.language as tl
            return raw, self.triton.reinterpret(raw, tl.float8e4b15)
        kind = getattr(torch, TORCH.get(col.type, language_name(col.type)))
        return raw, raw.view(kind)

    def launch(self, b, outs, cases, data, statement=None):
        """Bytes of each output after the run."""
        fn = self.kernel(source(b, outs, statement))
        raws, args = {}, []
        for c in b.ins:
            raws[c.name], t = self.tensor(c, data[c.name])
            args.append(t)
        for c in outs:
            if not c.pointer:
                raws[c.name], t = self.tensor(c, bytes(cases * c.count
                                                       * c.size))
                args.append(t)
        fn[(cases if b.programs else 1,)](*args, N_=cases)
        if self.device == 'cuda':
            self.torch.cuda.synchronize()
        return {c.name: bytes(raws[c.name].cpu().tolist()) for c in outs}


# ---- one block ---------------------------------------------------------------

def short(e):
    """The reason at the end of an exception's chain."""
    while e.__cause__ is not None:
        e = e.__cause__
    lines = [x for x in str(e).strip().split('\n') if x.strip()]
    return f'{type(e).__name__}: {lines[-1][:200] if lines else ""}'


def is_lost(e):
    """A device that faulted answers nothing more in this process."""
    return 'CUDA error' in str(e) or 'illegal' in str(e).lower()


def pack(col, rows, cases):
    data = b''.join(code_of(col.type, w)[1].to_bytes(col.size, 'little')
                    for row in rows for w in row)
    first = data[:col.count * col.size]
    return data + first * (cases - len(rows))


def compare(b, col, data, parsed, answers):
    for k, (_, _, want) in enumerate(parsed):
        for i, word in enumerate(want.get(col.name, [])):
            at = (k * col.count + i) * col.size
            got = int.from_bytes(data[at:at + col.size], 'little')
            how, code = code_of(col.type, word)
            if not agrees(col, got, how, code):
                answers[k] = ['disagree', f'{col.name}: 0x{got:x}',
                              distance(col.type, got, code)]
                break


def run_outputs(runner, b, outs, parsed, answers):
    cases = max(len(parsed), 1)
    if not b.programs:
        cases = 1 << (cases - 1).bit_length()
    data = {c.name: pack(c, [p[1][i] for p in parsed], cases)
            for i, c in enumerate(b.ins)}
    result = runner.launch(b, outs, cases, data)
    wanted = {c.name for c in outs}
    for k, (_, _, want) in enumerate(parsed):
        if wanted & set(want) and answers[k][0] == 'refused':
            answers[k] = ['agree']
    for c in outs:
        compare(b, c, result[c.name], parsed, answers)


def run_block(runner, b):
    """['agree'], ['disagree', got, ulp] or ['refused', why] for each line."""
    parsed = [parse_line(b, line) for _, line in b.lines]
    answers = [['refused', '']] * len(parsed)
    try:
        run_outputs(runner, b, b.outs, parsed, answers)
        return answers
    except BaseException as e:
        if is_lost(e):
            raise
        why = short(e)
    answers = [['refused', why]] * len(parsed)
    if not all(p[0] for p in parsed):
        return answers
    for c in b.outs:  # each output by itself
        try:
            run_outputs(runner, b, [c], parsed, answers)
        except BaseException as e:
            if is_lost(e):
                raise
            answers = [['refused', short(e)] if p[0] == c.name else a
                       for p, a in zip(parsed, answers)]
    return answers


def run_refusals(runner, b):
    answers = []
    data = {c.name: bytes(4 * c.count * c.size) for c in b.ins}
    for _, statement, _ in b.refusals:
        try:
            runner.launch(b, [], 4, data, statement)
            answers.append(['disagree', 'accepted', None])
        except BaseException as e:
            if is_lost(e):
                raise
            answers.append(['agree', short(e)])
    return answers


def worker(peer, scratch):
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # what kernels print is no answer
    runner = Runner(peer, scratch)
    cache = {}
    for line in sys.stdin:
        path, index = json.loads(line)
        if path not in cache:
            cache[path] = read(path)
        b = cache[path][index]
        answers = run_block(runner, b) if b.lines else []
        out.write(json.dumps([answers, run_refusals(runner, b)]) + '\n')
        out.flush()


# ---- all blocks --------------------------------------------------------------

class Hand:
    """A worker process, started again when it is lost."""

    def __init__(self, peer, scratch):
        self.argv = [sys.executable, os.path.abspath(__file__), '--worker',
                     scratch, '--peer', peer]
        self.process = None

    def ask(self, job):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
        timer = threading.Timer(BLOCK_SECONDS, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(job) + '\n')
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            return json.loads(line)
        except (OSError, ValueError):
            self.process.kill()
            self.process.wait()
            self.process = None
            return None
        finally:
            timer.cancel()

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def ask_all(peer, jobs, count):
    local = threading.local()
    hands = []
    scratch = tempfile.mkdtemp(prefix='spec-peer-')

    def ask(job):
        if not hasattr(local, 'hand'):
            local.hand = Hand(peer, scratch)
            hands.append(local.hand)
        return local.hand.ask(job)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(ask, jobs))
    for h in hands:
        h.close()
    return answers


class Tally:
    def __init__(self):
        self.ops = collections.OrderedDict()
        self.disagreements, self.refused = [], []

    def note(self, b, op, number, text, answer):
        key = b.file[:-5] + ('' if b.note != 'open' else ' (open)') + ' ' + op
        row = self.ops.setdefault(key, [0, 0, 0, 0, 0])
        row[0] += 1
        row[{'agree': 1, 'disagree': 2, 'refused': 3}[answer[0]]] += 1
        if answer[0] == 'disagree':
            row[4] = max(row[4], answer[2] or 0)
            self.disagreements.append(
                {'file': b.file, 'line': number, 'block': b.title,
                 'op': op, 'case': text, 'got': answer[1],
                 'ulp': answer[2], 'note': b.note})
        elif answer[0] == 'refused':
            self.refused.append({'file': b.file, 'line': number, 'op': op,
                                 'block': b.title, 'why': answer[1]})

    def add(self, b, answers):
        lost = ['refused', 'the process ended or hung']
        lines, refusals = answers or ([lost] * len(b.lines),
                                      [lost] * len(b.refusals))
        for (number, line), a in zip(b.lines, lines):
            tag = line.split(' ', 1)[0]
            if len(b.outs) < 2 or tag not in [c.name for c in b.outs]:
                tag = b.title
            self.note(b, b.op or tag, number, line, a)
        for (number, statement, _), a in zip(b.refusals, refusals):
            self.note(b, b.op or 'refusals', number, statement, a)


def report(tally, peer):
    totals = [0, 0, 0, 0]
    print(f'{"operation":44} {"cases":>6} {"agree":>6} {"differ":>6} '
          f'{"refuse":>6} {"ulp":>6}')
    for key, row in tally.ops.items():
        totals = [a + b for a, b in zip(totals, row)]
        far = row[4] if row[4] < 100000 else 'far'
        print(f'{key:44} {row[0]:6} {row[1]:6} {row[2]:6} {row[3]:6} {far:>6}')
    print(f'{"all":44} {totals[0]:6} {totals[1]:6} {totals[2]:6} '
          f'{totals[3]:6}')
    for d in tally.disagreements[:200]:
        print(f'{d["file"]}:{d["line"]}: {d["case"][:120]}\n'
              f'    {d["block"]}: {peer} has {d["got"]}')
    rest = len(tally.disagreements) - 200
    if rest > 0:
        print(f'... and {rest} more; --out FILE has all')


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--peer', choices=['interpret', 'gpu'], required=True)
    p.add_argument('--made', default=MADE)
    p.add_argument('--out')
    p.add_argument('--jobs', type=int, default=min(os.cpu_count() or 1, 14))
    p.add_argument('--worker', help=argparse.SUPPRESS)
    p.add_argument('parts', nargs='*')
    a = p.parse_args()
    if a.worker:
        return worker(a.peer, a.worker)
    blocks, jobs = [], []
    installed = '.'.join(importlib.metadata.version('triton').split('.')[:2])
    made = glob.glob(os.path.join(a.made, '*.spec'))
    if not made:
        p.error(f'{a.made} has no specifications: make spec-files')
    for path in sorted(made + glob.glob(os.path.join(HERE, '*.spec')),
                       key=os.path.basename):
        name = os.path.basename(path)
        if a.parts and not any(part in name for part in a.parts):
            continue
        for i, b in enumerate(read(path)):
            if b.triton and b.triton != installed:
                continue
            blocks.append(b)
            jobs.append([path, i])
    tally = Tally()
    for b, answers in zip(blocks, ask_all(a.peer, jobs, a.jobs)):
        tally.add(b, answers)
    report(tally, a.peer)
    if a.out:
        with open(a.out, 'w', encoding='ascii') as f:
            json.dump({'peer': a.peer, 'operations': tally.ops,
                       'disagreements': tally.disagreements,
                       'refused': tally.refused}, f)
    return 0


if __name__ == '__main__':
    sys.exit(main())
