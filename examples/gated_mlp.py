"""SwiGLU and GeGLU, forward and backward: act(gate) * up, element by element.

The activation is chosen when the kernel is compiled.  GeGLU uses the tanh
form of GELU, written with a sigmoid.

Checked against float64: |error| <= 1e-6 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def activation_and_slope(x, KIND: tl.constexpr):
    """act(x) = x * s(x) and its derivative s(x) + x * s'(x)."""
    if KIND == 'silu':
        s = tl.sigmoid(x)
        ds = s * (1 - s)
    else:
        tl.static_assert(KIND == 'gelu')
        # 0.5 * (1 + tanh(u)) is sigmoid(2 * u), which does not cancel.
        s = tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
        ds = s * (1 - s) * 1.5957691216057308 * (1 + 0.134145 * x * x)
    return x * s, s + x * ds


@triton.jit
def gated_forward(gate_ptr, up_ptr, out_ptr, n, KIND: tl.constexpr,
                  BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    gate = tl.load(gate_ptr + i, mask=mask, other=0.0)
    up = tl.load(up_ptr + i, mask=mask, other=0.0)
    act, _ = activation_and_slope(gate, KIND)
    tl.store(out_ptr + i, act * up, mask=mask)


@triton.jit
def gated_backward(grad_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, n,
                   KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0)
    gate = tl.load(gate_ptr + i, mask=mask, other=0.0)
    up = tl.load(up_ptr + i, mask=mask, other=0.0)
    act, slope = activation_and_slope(gate, KIND)
    tl.store(dup_ptr + i, grad * act, mask=mask)
    tl.store(dgate_ptr + i, grad * up * slope, mask=mask)


def gated(gate, up, grad, kind):
    """(output, gradient of gate, gradient of up)"""
    out, dgate, dup = (np.empty_like(gate) for _ in range(3))
    grid = lambda meta: (triton.cdiv(gate.size, meta['BLOCK']), )
    gated_forward[grid](gate, up, out, gate.size, KIND=kind, BLOCK=256)
    gated_backward[grid](grad, gate, up, dgate, dup, gate.size, KIND=kind,
                         BLOCK=256)
    return out, dgate, dup


def reference(gate, up, grad, kind):
    x, up, grad = (a.astype(np.float64) for a in (gate, up, grad))
    if kind == 'silu':
        s = 1 / (1 + np.exp(-x))
        act, slope = x * s, s * (1 + x * (1 - s))
    else:
        c = np.sqrt(2 / np.pi)
        t = np.tanh(c * (x + 0.044715 * x**3))
        act = 0.5 * x * (1 + t)
        slope = (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c *
                 (1 + 3 * 0.044715 * x * x))
    return act * up, grad * up * slope, grad * act


def main():
    rng = np.random.default_rng(0)
    cases = [(n, kind) for n in (1, 256, 1000) for kind in ('silu', 'gelu')]
    for n, kind in cases:
        gate, up, grad = (4 * rng.standard_normal((3, n))).astype(np.float32)
        for got, want in zip(gated(gate, up, grad, kind),
                             reference(gate, up, grad, kind)):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    print('gated_mlp: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
