"""AdamW on bfloat16 parameters, rounded at random.

Rounding to nearest would lose updates that are smaller than half a step of
bf16.  Philox bits added below the last kept bit round up with the right
probability instead.  NumPy has no bf16: a parameter travels as its 16 bits.

Checked against float64: the moments to 1e-6 + 1e-5 |reference|, a parameter to
one step of bf16, and the mean of many of them to a hundredth of a step.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def round_at_random(x, seed, position):
    """fp32 to bf16; the bits that go decide how likely it is to round up."""
    bits = x.to(tl.uint32, bitcast=True)
    noise = tl.randint(seed, position) & 0xFFFF
    # Adding may carry into the exponent, which is right.
    return ((bits + noise) >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)


@triton.jit
def adamw_kernel(param_ptr, grad_ptr, m_ptr, v_ptr, n, rate, beta1, beta2,
                 eps, decay, correction1, correction2, seed,
                 BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    bits = tl.load(param_ptr + i, mask=mask, other=0)
    param = bits.to(tl.bfloat16, bitcast=True).to(tl.float32)
    grad = tl.load(grad_ptr + i, mask=mask, other=0.0)
    m = tl.load(m_ptr + i, mask=mask, other=0.0)
    v = tl.load(v_ptr + i, mask=mask, other=0.0)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    update = (m / correction1) / (tl.sqrt(v / correction2) + eps)
    param = param - rate * (update + decay * param)
    rounded = round_at_random(param, seed, i)
    tl.store(param_ptr + i, rounded.to(tl.uint16, bitcast=True), mask=mask)
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)


def adamw(param, grad, m, v, step, rate=1e-3, beta1=0.9, beta2=0.99,
          eps=1e-8, decay=0.01):
    grid = lambda meta: (triton.cdiv(param.size, meta['BLOCK']), )
    adamw_kernel[grid](param, grad, m, v, param.size, rate, beta1, beta2, eps,
                       decay, 1 - beta1**step, 1 - beta2**step, step,
                       BLOCK=256)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def reference(param, grad, m, v, step, rate=1e-3, beta1=0.9, beta2=0.99,
              eps=1e-8, decay=0.01):
    grad = grad.astype(np.float64)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    update = m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + eps)
    return param - rate * (update + decay * param), m, v


def main():
    rng = np.random.default_rng(0)
    sizes = 1, 256, 4000
    for n in sizes:
        # Parameters between 1 and 2, where a step of bf16 is 2 ** -7.
        param = (0x3F80 + rng.integers(8, 120, n)).astype(np.uint16)
        m, v = np.zeros((2, n), dtype=np.float32)
        for step in 1, 2, 3:
            grad = rng.standard_normal(n).astype(np.float32)
            want = reference(from_bf16(param), grad, m.astype(np.float64),
                             v.astype(np.float64), step)
            adamw(param, grad, m, v, step)
            error = from_bf16(param) - want[0]
            assert np.abs(error).max() < 2.0**-7, np.abs(error).max()
            assert n < 4000 or abs(error.mean()) < 2.0**-7 / 100
            np.testing.assert_allclose(m, want[1], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(v, want[2], rtol=1e-5, atol=1e-6)
    print('adamw: OK,', len(sizes), 'sizes')


if __name__ == '__main__':
    main()
