"""Faults planted in what PyTorch's compiler writes: `tkdbg why` must name the
kernel, and the node of the graph, that they are in.

    python3 tests/compiled/faults.py [--tkdbg TKDBG] [--python PYTHON] [NAME...]

`make compiled-faults` runs all.  A fault changes the text of the first
generated kernel that has a place for it; the script compares the compiled
model with eager PyTorch.  Run by itself (as `tkdbg why` runs it, with --plant)
the file is that script, and prints which kernel it has changed.
"""
import argparse
import re
import subprocess
import sys

MODELS, FAULTS = {}, {}


def model(make):
    MODELS[make.__name__] = make
    return make


def fault(name, of, pattern, text, node):
    """node: of the graph, by the name that the compiler gives it, which the
    kernel computes wrongly."""
    FAULTS[name] = of, pattern, text, node


# ---- models, given PyTorch: (function, its arguments) -----------------------
# The gradients of arguments that want one are compared as well.


def randn(torch, *shape):
    return torch.randn(*shape, device="cuda")


@model
def norm(torch):
    def f(x, w, b):
        z = torch.softmax(x * 2 + b, -1)
        h = torch.nn.functional.layer_norm(z @ w, (32,))
        return h.relu() + z.sum()
    return f, (randn(torch, 64, 48), randn(torch, 48, 32), randn(torch, 48))


@model
def rms_rope(torch):
    def f(x, w, angle):
        h = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
        a, b = h.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(),
                          a * angle.sin() + b * angle.cos()], -1)
    return f, (randn(torch, 20, 24), randn(torch, 24), randn(torch, 20, 12))


@model
def mlp(torch):
    def f(x, w, v, b):
        return torch.nn.functional.gelu(x @ w + b) @ v
    return f, (randn(torch, 17, 24), randn(torch, 24, 40),
               randn(torch, 40, 8), randn(torch, 40))


@model
def attention(torch):
    def f(q, k, v, bias):
        s = q @ k.transpose(-1, -2) * 0.125 + bias
        s = s.masked_fill(torch.ones_like(s).triu(1) > 0, float("-inf"))
        return s.softmax(-1) @ v
    return f, (randn(torch, 2, 24, 64), randn(torch, 2, 24, 64),
               randn(torch, 2, 24, 64), randn(torch, 24, 24))


@model
def loss(torch):
    def f(x, y):
        return torch.nn.functional.cross_entropy(x * 0.5, y)
    return f, (randn(torch, 30, 100),
               torch.arange(30, device="cuda") * 7 % 100)


@model
def embedding(torch):
    def f(i, table, x):
        return torch.nn.functional.embedding(i, table).sum(1) * x.sigmoid()
    return f, (torch.arange(60, device="cuda").view(12, 5) % 16,
               randn(torch, 16, 20), randn(torch, 12, 20))


@model
def pieces(torch):
    def f(x, y):
        return torch.cat([x.clamp(-1, 1), y.permute(1, 0) * 3], 1)[:, 2:] + 1
    return f, (randn(torch, 9, 8), randn(torch, 7, 9))


@model
def long_sum(torch):
    def f(x, y):
        return (x * y).sum(-1), (x - y).abs().amax(-1)
    return f, (randn(torch, 3, 5000), randn(torch, 3, 5000))


@model
def halves(torch):
    def f(x, y):
        return (x.half() * y.half()).float().sum(-1) * 3
    return f, (randn(torch, 40, 60), randn(torch, 40, 60))


@model
def scan(torch):
    def f(x):
        return (x * 2).cumsum(-1) - x.mean(-1, keepdim=True)
    return f, (randn(torch, 6, 50),)


@model
def backward(torch):
    def f(x, w):
        return torch.nn.functional.layer_norm(x, (24,), w).tanh()
    return f, (randn(torch, 10, 24).requires_grad_(), randn(torch, 24))


# ---- faults ------------------------------------------------------------------

fault("softmax_padding", "norm", r"tl\.where\(r0_mask & xmask, (tmp\d+), 0\)",
      r"tl.where(xmask, \1, 0)", "div")
fault("row_stride", "norm", r"in_ptr0 \+ \(r0_1 \+ 48\*x0\)",
      "in_ptr0 + (r0_1 + 47*x0)", "div")
fault("epsilon", "norm", r"1e-05", "1e-02", "add_2")
fault("variance_divisor", "norm", r"\[1, 1\], 32\.0,", "[1, 1], 31.0,", "add_2")
fault("relu_is_minimum", "norm", r"tl\.maximum\(", "tl.minimum(", "add_2")
fault("lost_program", "norm", r"xmask = xindex < xnumel",
      "xmask = xindex < xnumel - 1", "div")
fault("no_root", "rms_rope", r"libdevice\.rsqrt\((tmp\d+)\)", r"(1 / \1)",
      "cat")
fault("sin_for_cos", "rms_rope", r"tl_math\.cos", "tl_math.sin", "cat")
fault("rms_divisor", "rms_rope", r"24\.0, tl\.float32", "23.0, tl.float32",
      "cat")
fault("gelu_constant", "mlp", r"0\.7071067811865476", "0.7", "mul_2")
fault("bias_by_row", "mlp", r"in_ptr0 \+ \(x0\)", "in_ptr0 + (x2 // 40)",
      "mul_2")
fault("scale", "attention", r"0\.125", "0.25", "div")
fault("causal_by_one", "attention", r"= (tmp\d+) >= (tmp\d+)$",
      r"= \1 > \2", "div")
fault("exp2_for_exp", "attention", r"libdevice\.exp\(", "libdevice.exp2(",
      "div")
fault("log_of_half", "loss", r"tl_math\.log\((tmp\d+)\)",
      r"tl_math.log(0.5 * \1)", "div")
fault("ignored_label", "loss", r"(-100), tl\.int64", r"7, tl.int64", "div")
fault("wrong_wrap", "embedding", r"(tmp\d+) = (tmp\d+) \+ (tmp\d+)$",
      r"\1 = \2 - 1 + 0 * \3", "mul")
fault("sigmoid_of_minus", "embedding", r"tl\.sigmoid\((tmp\d+)\)",
      r"tl.sigmoid(-\1)", "mul")
fault("not_transposed", "pieces", r"y0 \+ 9\*\(", "7*y0 + (", "add")
fault("clamp_above", "pieces", r"1\.0, tl\.float32\)", "2.0, tl.float32)",
      "add")
fault("lost_trip", "long_sum", r"range\(0, r0_numel, R0_BLOCK\)",
      "range(0, r0_numel - R0_BLOCK, R0_BLOCK)", "sum_1")
fault("no_absolute", "long_sum", r"tl_math\.abs\((tmp\d+)\)", r"(\1)", "amax")
fault("half_sum", "halves", r"\[:, None\]\.to\(tl\.float32\)",
      "[:, None].to(tl.float8e5).to(tl.float32)", "mul_1")
fault("scan_of_once", "scan", r"2\.0, tl\.float32\)", "1.0, tl.float32)", "sub")
fault("gradient_sign", "backward",
      r"(1\.0, tl\.float32\)\n *tmp\d+ = tmp\d+) - ", r"\1 + ", "mul_9")
fault("gradient_row", "backward", r"in_ptr5 \+ \(x0\)", "in_ptr5 + (0 * x0)",
      "mul_9")


# ---- the script that tkdbg runs ----------------------------------------------


def results(torch, f, args):
    """What f gives, and the gradients of its arguments."""
    y = f(*args)
    inputs = [x for x in args if x.requires_grad]
    return [y, *torch.autograd.grad(y.sum(), inputs)] if inputs else [y]


def plant(name):
    import torch
    import torch._inductor.codegen.triton as triton
    of, pattern, text, _ = FAULTS[name]
    done = []
    write = triton.TritonKernel.codegen_kernel
    define = triton.TritonScheduling.define_kernel

    def codegen_kernel(self, *args, **kwargs):
        found = write(self, *args, **kwargs)
        if not done:
            changed, n = re.subn(pattern, text, found, count=1,
                                 flags=re.MULTILINE)
            done.extend([changed] * n)
            return changed
        return found

    def define_kernel(self, source, *args, **kwargs):
        kernel = define(self, source, *args, **kwargs)
        if done == [source]:
            print("planted in", kernel, flush=True)
        return kernel
    triton.TritonKernel.codegen_kernel = codegen_kernel
    triton.TritonScheduling.define_kernel = define_kernel
    torch.manual_seed(0)
    f, args = MODELS[of](torch)
    got, want = (results(torch, each, args) for each in (torch.compile(f), f))
    assert done, "there is no place for this fault"
    for one, other in zip(got, want):
        torch.testing.assert_close(one, other)


# ---- all of them -------------------------------------------------------------


def said_of(name, options):
    """(what is wrong with the answer, or "", the answer)"""
    python = ["--python", options.python] if options.python else []
    done = subprocess.run(
        [options.tkdbg, "why", *python, "--torch-compile", "inductor",
         __file__, "--plant", name], capture_output=True, text=True)
    planted = re.search(r"planted in (\w+)", done.stdout)
    if planted is None:
        return "nothing was planted", done.stderr
    if "assert_close" not in done.stderr:
        return "the results agree", done.stderr
    found = re.search(r"what its operators do is launch \d+, (\w+)\n"
                      r"  \w+ should hold (\w+)", done.stderr)
    if found is None:
        return "no kernel is named", done.stderr
    if found[1] != planted[1]:
        return f"{found[1]} is named", done.stderr
    if found[2] != FAULTS[name][3]:
        return f"node {found[2]} is named", done.stderr
    return "", done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tkdbg", default="tkdbg")
    parser.add_argument("--python")
    parser.add_argument("--plant")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.plant:
        plant(options.plant)
        return 0
    names, named = options.names or list(FAULTS), 0
    for name in names:
        problem, answer = said_of(name, options)
        named += not problem
        print(f"{name}: {problem or 'named'}", flush=True)
        if options.verbose or problem:
            print("".join(f"    {line}\n" for line in
                          answer.splitlines()[-12:]), end="")
    print(f"{named} of {len(names)} faults: kernel and node named")
    return named < len(names)


if __name__ == "__main__":
    sys.exit(main())
