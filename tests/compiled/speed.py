"""How fast what PyTorch's compiler writes is launched and run, on one core.

    tkdbg run -q --torch-compile inductor tests/compiled/speed.py
        [--document docs/performance.md]

`make compiled-speed` runs it, and fails if fewer than LAUNCHES small kernels
are launched in a second, or if a step of a block of the size of GPT-2's
(forward and backward, with all that compiling takes) needs more than SECONDS.
--document writes the table into a file, between the lines that say so.
"""
import argparse
import datetime
import importlib.metadata
import os
import platform
import sys
import time

import torch
import torch.nn as nn

import models

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import page  # noqa: E402

LAUNCHES, SECONDS = 1000, 60
BEGIN, END = "<!-- compiled -->", "<!-- /compiled -->"


def seconds(function, rounds=1):
    """The best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def small_launches():
    """Launches per second of three functions of 256 elements, one kernel
    each."""
    functions = [torch.compile(f) for f in (
        lambda x, y: torch.relu(x) * 2 + y, lambda x, y: (x - y).sin(),
        lambda x, y: torch.where(x > 0, x, y).exp())]
    x, y = models.randn(256), models.randn(256)

    def launch(times):
        for _ in range(times):
            for function in functions:
                function(x, y)
    launch(2)
    return 300 * len(functions) / seconds(lambda: launch(300), 5)


class Block(nn.Module):
    """A block of GPT-2 small: 768 wide, 12 heads."""

    def __init__(self, d=768, heads=12):
        super().__init__()
        self.attention = models.Attention(d, heads)
        self.first, self.second = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d),
                                 nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


def block():
    """Seconds of the first step, of a later one, and of an eager one."""
    torch.manual_seed(0)
    model = Block().cuda()
    x = models.randn(1, 128, 768)
    compiled = torch.compile(model)

    def step(function):
        model.zero_grad()
        function(x).square().mean().backward()
    return (seconds(lambda: step(compiled)),
            seconds(lambda: step(compiled), 5),
            seconds(lambda: step(model), 5))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--document", metavar="FILE")
    args = parser.parse_args()
    torch.set_num_threads(1)
    rate = small_launches()
    first, later, eager = block()
    version = importlib.metadata.version
    lines = [
        f"{platform.machine()}, one core; {datetime.date.today()}",
        f"torch {version('torch')}, triton {version('triton')}", "",
        f"small kernels, launches a second         {rate:8.0f}",
        "block of GPT-2 small, 1 x 128 tokens, forward and backward, seconds",
        f"  the first step, with compiling         {first:8.2f}",
        f"  a later step                           {later:8.3f}",
        f"  a later step, eager PyTorch            {eager:8.3f}"]
    print("\n".join(lines))
    if args.document:
        page.write_between(args.document, BEGIN, END,
                           ["```", *lines, "```"])
    return rate < LAUNCHES or first > SECONDS


if __name__ == "__main__":
    sys.exit(main())
