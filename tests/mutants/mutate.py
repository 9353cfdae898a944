"""Breaks the kernels of examples/ on purpose and counts what is noticed.

Each mutant is one example with one edit in one @triton.jit function, made on
the syntax tree; it runs under `tkdbg run --check`.  A mutant is killed by a
detector, by a report of the compiler or the interpreter, by the example's own
check of its results, or by the time limit.  One that survives counts as
equivalent if every array is bit-identical to the original's after every
launch, unless its edit is about how programs or lanes are ordered: then equal
bits from one schedule prove nothing, and it counts as missed.

Exit status: 1 if fewer than 95 % of the others were killed.
"""
import argparse
import ast
import collections
import concurrent.futures
import copy
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ORDERING = {'non-atomic', 'no barrier'}
CLASSES = ('detector', 'result', 'compile', 'run', 'time')
NEEDED = 0.95
Mutant = collections.namedtuple('Mutant', 'path kind line text source')
Outcome = collections.namedtuple('Outcome', 'verdict detail')


# ---- the edits: a node to its (kind, replacement) pairs --------------------

def callee(node):
    """The last part of a called name: 'load' for tl.load(...)."""
    if not isinstance(node, ast.Call):
        return ''
    return getattr(node.func, 'attr', getattr(node.func, 'id', ''))


def tl(name, *args, **keywords):
    return ast.Call(ast.Attribute(ast.Name('tl'), name), list(args),
                    [ast.keyword(k, v) for k, v in keywords.items()])


def with_keywords(call, keywords):
    return ast.Call(call.func, call.args, keywords)


def drop_mask(node):
    # other= without mask= would be a mere compile error.
    if any(k.arg == 'mask' for k in getattr(node, 'keywords', ())):
        yield 'mask dropped', with_keywords(
            node, [k for k in node.keywords if k.arg not in ('mask', 'other')])


def change_other(node):
    for i, k in enumerate(getattr(node, 'keywords', ())):
        if isinstance(node, ast.Call) and k.arg == 'other':
            value = 0.0 if 'inf' in ast.unparse(k.value) else 1
            new = list(node.keywords)
            new[i] = ast.keyword('other', ast.Constant(value))
            yield 'other changed', with_keywords(node, new)


def drop_pid(node):
    if callee(node) == 'program_id':
        yield 'pid dropped', ast.Constant(0)


def lose_atomic(node):
    if not (isinstance(node, ast.Expr) and
            callee(node.value) == 'atomic_add'):
        return
    place, value = node.value.args[:2]
    mask = {k.arg: k.value for k in node.value.keywords if k.arg == 'mask'}
    if len(node.value.args) > 2:
        mask = {'mask': node.value.args[2]}
    total = ast.BinOp(tl('load', place, **mask), ast.Add(), value)
    yield 'non-atomic', ast.Expr(tl('store', place, total, **mask))


def off_by_one(node):
    one = ast.Constant(1)
    if callee(node) == 'arange':
        yield 'off by one', ast.BinOp(node, ast.Add(), one)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
        yield 'off by one', ast.Compare(node.left, [ast.LtE()],
                                        node.comparators)
        yield 'off by one', ast.Compare(
            node.left, node.ops,
            [ast.BinOp(node.comparators[0], ast.Add(), one)])


OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
             ast.Div: ast.Mult}


def change_operator(node):
    op = OPERATORS.get(type(getattr(node, 'op', None)))
    if op and isinstance(node, ast.BinOp):
        yield 'wrong operator', ast.BinOp(node.left, op(), node.right)
    if op and isinstance(node, ast.AugAssign):
        yield 'wrong operator', ast.AugAssign(node.target, op(), node.value)


def drop_conjunct(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        yield 'half a mask', node.left
        yield 'half a mask', node.right


REDUCTIONS = {'max': 'min', 'min': 'max', 'sum': 'max', 'argmax': 'argmin',
              'argmin': 'argmax', 'maximum': 'minimum', 'minimum': 'maximum',
              'cumsum': 'cumprod'}


def change_reduction(node):
    if callee(node) in REDUCTIONS and isinstance(node.func, ast.Attribute):
        yield 'wrong reduction', ast.Call(
            ast.Attribute(node.func.value, REDUCTIONS[node.func.attr]),
            node.args, node.keywords)


def drop_barrier(node):
    if isinstance(node, ast.Expr) and callee(node.value) == 'debug_barrier':
        yield 'no barrier', ast.Pass()


def shorten_loop(node):
    if callee(node) in ('range', 'static_range') and node.args:
        args = list(node.args)
        stop = min(len(args) - 1, 1)
        step = args[2] if len(args) > 2 else ast.Constant(1)
        args[stop] = ast.BinOp(args[stop], ast.Sub(), step)
        yield 'short loop', ast.Call(node.func, args, node.keywords)


def change_axis(node):
    if callee(node) == 'program_id' and node.args:
        axis = 1 - min(getattr(node.args[0], 'value', 1), 1)
        yield 'axis changed', ast.Call(node.func, [ast.Constant(axis)], [])
    for i, k in enumerate(getattr(node, 'keywords', ())):
        if k.arg == 'axis' and getattr(k.value, 'value', None) in (0, 1):
            new = list(node.keywords)
            new[i] = ast.keyword('axis', ast.Constant(1 - k.value.value))
            yield 'axis changed', with_keywords(node, new)


EDITS = (drop_mask, change_other, drop_pid, lose_atomic, off_by_one,
         change_operator, drop_conjunct, change_reduction, drop_barrier,
         shorten_loop, change_axis)


# ---- from an example to its mutants ----------------------------------------

class Replace(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


class Swap(ast.NodeTransformer):
    def __init__(self, a, b):
        self.names = {a: b, b: a}

    def visit_Name(self, node):
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def is_kernel(node):
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(d).startswith('triton.jit') for d in node.decorator_list)


def edited_bodies(function):
    """(kind, line, text, body) of each edit that fits the function."""
    found = [n for s in function.body for n in ast.walk(s)]
    for i, node in enumerate(found):
        for edit in EDITS:
            for n, (kind, _) in enumerate(edit(node)):
                body = copy.deepcopy(function.body)
                old = [m for s in body for m in ast.walk(s)][i]
                new = list(edit(old))[n][1]
                text = f'{ast.unparse(old)}  ->  {ast.unparse(new)}'
                # The new node may hold the old one: replace by a copy.
                new = copy.deepcopy(new)
                yield (kind, node.lineno if hasattr(node, 'lineno') else
                       function.lineno, text,
                       [Replace(old, new).visit(s) for s in body])
    strides = [a.arg for a in function.args.args if 'stride' in a.arg]
    for a, b in zip(strides, strides[1:]):
        body = [Swap(a, b).visit(s) for s in copy.deepcopy(function.body)]
        yield 'strides swapped', function.lineno, f'{a}  <->  {b}', body


def assemble(lines, function, body):
    """The file with that body, and with the observer imported first."""
    new = copy.copy(function)
    new.body = body
    first = min(d.lineno for d in function.decorator_list)
    text = ast.unparse(ast.fix_missing_locations(new))
    indent = ' ' * function.col_offset
    parts = (['import observe'] + lines[:first - 1] +
             [indent + t for t in text.split('\n')] +
             lines[function.end_lineno:])
    return '\n'.join(parts) + '\n'


def mutants_of(path):
    with open(path) as f:
        text = f.read()
    for function in filter(is_kernel, ast.walk(ast.parse(text))):
        for kind, line, what, body in edited_bodies(function):
            yield Mutant(path, kind, line, what,
                         assemble(text.splitlines(), function, body))


def original_of(path):
    with open(path) as f:
        return Mutant(path, 'original', 0, '', 'import observe\n' + f.read())


def choose(paths, each, seed):
    """`each` mutants per example, the kinds that are rarest so far first."""
    rng, used, chosen = random.Random(seed), collections.Counter(), []
    for path in paths:
        sites = list(mutants_of(path))
        rng.shuffle(sites)
        for _ in range(min(each, len(sites))):
            best = min(sites, key=lambda m: used[m.kind])
            sites.remove(best)
            used[best.kind] += 1
            chosen.append(best)
    return chosen


# ---- running ---------------------------------------------------------------

def run(mutant, options):
    """(exit status or None, output, digest) of one mutant."""
    python = ['--python', options.python] if options.python else []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(mutant.path))
        digest = os.path.join(folder, 'digest')
        with open(path, 'w') as f:
            f.write(mutant.source)
        env = dict(os.environ, MUTANT_DIGEST=digest, NO_COLOR='1',
                   PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE='1')
        try:
            done = subprocess.run(
                [options.tkdbg, 'run', '-q', *python, '--check', path],
                env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return None, '', ''
        bits = ''
        if os.path.exists(digest):
            with open(digest) as f:
                bits = f.read()
        return done.returncode, done.stdout.decode(errors='replace'), bits


FINDING = re.compile(r': (?:error|warning): .*\[([a-z-]+)\]'
                     r'(?: \(\d+ times\))?$', re.M)
DETECTORS = {'undef', 'neutral', 'nan', 'inf', 'overflow', 'race', 'twice',
             'unwritten', 'order', 'idempotence', 'precision', 'lint-mask',
             'lint-mask-sum', 'lint-division', 'lint-shift', 'lint-unused',
             'lint-dead-store', 'lint-other', 'lint-int32'}


def classify(mutant, options, original):
    """The Outcome of one mutant; `original` is the digest without an edit."""
    status, output, digest = run(mutant, options)
    kinds = sorted(set(FINDING.findall(output)))
    if status is None:
        return Outcome('time', '')
    if DETECTORS.intersection(kinds):
        return Outcome('detector', ' '.join(kinds))
    if 'tkdbg.CompilationError' in output:
        return Outcome('compile', ' '.join(kinds))
    if 'tkdbg.' in output or kinds:
        return Outcome('run', ' '.join(kinds))
    if status not in (0, 1) or re.search('(Import|NotFound)Error', output):
        return Outcome('broken', f'exit status {status}: {output[-200:]}')
    if 'AssertionError' in output:
        return Outcome('result', '')
    if status:  # the host's own code fails on what the kernel left
        return Outcome('result', output.strip().split('\n')[-1])
    same = digest and digest == original and mutant.kind not in ORDERING
    return Outcome('equivalent' if same else 'survived', '')


def originals(paths, options, pool):
    """path -> digest; exits where an example is not clean or not stable."""
    digests = {}
    for path, (status, output, digest) in zip(paths, pool.map(
            lambda p: run(original_of(p), options), paths)):
        if status != 0 or 'OK' not in output or FINDING.search(output):
            sys.exit(f'{path}: not clean without an edit:\n{output}')
        digests[path] = digest
    return digests


def report(outcomes):
    """Prints the tables; the share of caught ones among those that matter."""
    table = collections.defaultdict(collections.Counter)
    found = collections.Counter()
    for mutant, outcome in outcomes:
        for row in mutant.kind, 'total':
            table[row][outcome.verdict] += 1
        if outcome.verdict in ('detector', 'run'):
            found.update(outcome.detail.split())
    columns = CLASSES + ('equivalent', 'survived', 'broken')
    print(f'{"edit":16}', *(f'{c:>10}' for c in columns))
    for row in sorted(table, key=lambda r: (r == 'total', r)):
        print(f'{row:16}', *(f'{table[row][c]:10}' for c in columns))
    print('findings:', ', '.join(f'{k} {n}' for k, n in found.most_common()))
    for mutant, outcome in outcomes:
        if outcome.verdict in ('equivalent', 'survived', 'broken'):
            print(f'{outcome.verdict}: {os.path.relpath(mutant.path, ROOT)}:'
                  f'{mutant.line}: {mutant.kind}: {mutant.text[:150]} '
                  f'{outcome.detail}')
    total = table['total']
    killed = sum(total[c] for c in CLASSES)
    matter = killed + total['survived'] + total['broken']
    print(f'{sum(total.values())} mutants, {total["equivalent"]} equivalent; '
          f'{killed} of the other {matter} caught '
          f'({100 * killed / max(matter, 1):.1f} %)')
    return killed / max(matter, 1) if not total['broken'] else 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--tkdbg', default=os.path.join(ROOT, 'build', 'tkdbg'))
    p.add_argument('--python', help='the Python that runs the examples')
    p.add_argument('--each', type=int, default=5, help='mutants per example')
    p.add_argument('--seed', type=int, default=0)
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--timeout', type=float, default=20)
    p.add_argument('examples', nargs='*')
    options = p.parse_args()
    options.tkdbg = os.path.abspath(options.tkdbg)
    paths = options.examples or sorted(glob.glob(
        os.path.join(ROOT, 'examples', '*.py')))
    mutants = choose(paths, options.each, options.seed)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        digests = originals(paths, options, pool)
        outcomes = list(zip(mutants, pool.map(
            lambda m: classify(m, options, digests[m.path]), mutants)))
    return 0 if report(outcomes) >= NEEDED else 1


if __name__ == '__main__':
    sys.exit(main())
