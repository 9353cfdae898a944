"""Kernels that stand in Python blocks of a Markdown file, each behind a comment
that says how it is launched:

    # num_warps=1; n = 2; y: 64 of int32, zeros

Tensors whose names begin with y are looked at.
"""
import re

from tkdbg.fuzz.kernel import Kernel, Tensor

TENSOR = re.compile(r'(\w+): (\d+) of (\w+), (\w+)')
NUMBER = re.compile(r'(\w+) = (-?\d+)')


class Written(Kernel):
    """One of them; seed is only what its tensors are filled by."""

    def __init__(self, text):
        super().__init__(1)
        launch, self.source = text.split('\n', 1)
        self.name = self.title = re.search(r'^def (\w+)', text, re.M)[1]
        self.options = {'num_warps': int(re.search(r'num_warps=(\d)',
                                                   launch)[1]),
                        'num_stages': 1, 'enable_fp_fusion': False}
        numbers = dict(NUMBER.findall(launch))
        tensors = {t[0]: t[1:] for t in TENSOR.findall(launch)}
        for name in re.search(r'^def \w+\((.*)\)', text, re.M)[1].split(', '):
            if name in numbers:
                self.args[name] = int(numbers[name])
            else:
                length, dtype, fill = tensors[name]
                self.args[name] = Tensor(dtype, int(length), fill)
        self.outputs = {name: a.dtype for name, a in self.args.items()
                        if name[0] == 'y'}

    def text(self):
        return self.source + '\n'


def kernels(path):
    with open(path, encoding='utf-8') as f:
        blocks = re.findall(r'^```python\n(.*?)^```', f.read(), re.M | re.S)
    return [Written(text) for block in blocks
            for text in block.strip().split('\n\n\n')]
