"""Compares layouts with those of an installed Triton.

    python3 tests/nvptx/peer_layouts.py --build build [--count 2000] [--seed 0]

Draws random layouts of random blocks and asks both for the bases of each.
"""
import argparse
import os
import random
import re
import subprocess
import sys

try:
    import triton.experimental.gluon.language as gl
    from triton._C.libtriton import gluon_ir, ir
except ImportError:
    sys.exit('peer_layouts: Triton with Gluon is not installed')


class Cases:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        context = ir.context()
        ir.load_dialects(context)
        self.context = context
        self.builder = gluon_ir.GluonOpBuilder(context)

    def power(self, most):
        return 1 << self.rng.randint(0, most)

    def parts(self, rank, product):
        """Powers of two, one for each axis, of that product."""
        sizes = [1] * rank
        while product > 1:
            sizes[self.rng.randrange(rank)] *= 2
            product //= 2
        return sizes

    def blocked(self, rank):
        order = list(range(rank))
        self.rng.shuffle(order)
        sizes = ([self.power(3) for _ in range(rank)], self.parts(rank, 32),
                 self.parts(rank, self.power(3)))
        text = ('#blocked<{sizePerThread = %s, threadsPerWarp = %s, '
                'warpsPerCTA = %s, order = %s}>' % (*sizes, order))
        return text, gl.BlockedLayout(*sizes, order)

    def slice(self, rank):
        dim = self.rng.randrange(rank + 1)
        text, parent = self.layout(rank + 1, distributed=True)
        return ('#slice<{dim = %d, parent = %s}>' % (dim, text),
                gl.SliceLayout(dim, parent))

    def mma(self, major=None):
        major = major or self.rng.choice((2, 3))
        shape = [16, 8] if major == 2 else [16, 8 << self.rng.randrange(5), 16]
        warps = self.parts(2, self.power(3)) if major == 2 else \
            [4, self.power(1)]
        text = ('#nvidia_mma<{versionMajor = %d, versionMinor = 0, '
                'warpsPerCTA = %s, instrShape = %s}>' % (major, warps, shape))
        return text, gl.NVMMADistributedLayout(
            version=[major, 0], warps_per_cta=warps, instr_shape=shape)

    def operand(self, rank):
        index = self.rng.randrange(2)
        if rank == 2 and self.rng.random() < 0.7:
            (text, parent), width = self.mma(2), self.power(3)
        else:
            (text, parent), width = self.blocked(rank), 0
        key = ', kWidth = %d' % width if width else ''
        return ('#dot_op<{opIdx = %d, parent = %s%s}>' % (index, text, key),
                gl.DotOperandLayout(index, parent, width))

    def layout(self, rank, distributed=False):
        kinds = [self.blocked]
        if rank == 2:
            kinds += [lambda rank: self.mma()]
        if rank < 3:
            kinds += [self.slice]
        if rank >= 2 and not distributed:
            kinds += [self.operand]
        return self.rng.choice(kinds)(rank)

    def theirs(self, layout, shape):
        linear = self.builder.to_linear_layout(layout._to_ir(self.builder),
                                               shape)
        return [linear.reg_bases, linear.lane_bases, linear.warp_bases]


def ours(build, text, shape):
    done = subprocess.run(
        [os.path.join(build, 'tkdbg'), 'layout', text,
         'x'.join(map(str, shape))], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    bases = {'register': [], 'lane': [], 'warp': []}
    for name, at in re.findall(r'(\w+)=\d+ -> \((.*)\)', done.stdout):
        bases[name].append([int(x) for x in at.split(',')])
    return list(bases.values()) if not done.returncode else done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args()
    cases, bad = Cases(args.seed), 0
    for _ in range(args.count):
        rank = cases.rng.randint(1, 3)
        text, layout = cases.layout(rank)
        shape = [cases.power(7 if rank < 3 else 4) for _ in range(rank)]
        got, want = ours(args.build, text, shape), cases.theirs(layout, shape)
        if got != want:
            bad += 1
            print(f'{text} {shape}\n  ours   {got}\n  Triton {want}')
    print(f'{args.count} layouts, {bad} differ')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
