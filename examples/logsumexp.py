"""log(sum(exp(x))) of a long vector: many programs, the last one finishes.

Each program leaves the maximum and the sum of its part, then counts itself.
Whoever finds that all others have counted combines the parts: one launch, and
no order among the programs is asked for.  The counter is left at zero for the
next launch.

Checked against float64: |error| <= 1e-6 + 1e-6 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, m_ptr, d_ptr, count_ptr, out_ptr, n,
                     BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=float('-inf'))
    m = tl.max(x, axis=0)
    tl.store(m_ptr + pid, m)
    tl.store(d_ptr + pid, tl.sum(tl.exp(x - m), axis=0))
    # All threads have stored before one of them counts.
    tl.debug_barrier()
    done = tl.atomic_add(count_ptr, 1, sem='acq_rel')
    if done == programs - 1:
        parts = tl.arange(0, PARTS)
        mask = parts < programs
        ms = tl.load(m_ptr + parts, mask=mask, other=float('-inf'))
        ds = tl.load(d_ptr + parts, mask=mask, other=0.0)
        largest = tl.max(ms, axis=0)
        total = tl.sum(ds * tl.exp(ms - largest), axis=0)
        tl.store(out_ptr, largest + tl.log(total))
        tl.atomic_xchg(count_ptr, 0)


def logsumexp(x, count, block=128):
    programs = triton.cdiv(x.size, block)
    m, d = (np.empty(programs, dtype=np.float32) for _ in range(2))
    out = np.empty(1, dtype=np.float32)
    logsumexp_kernel[(programs, )](x, m, d, count, out, x.size, BLOCK=block,
                                   PARTS=triton.next_power_of_2(programs))
    return out[0]


def main():
    rng = np.random.default_rng(0)
    count = np.zeros(1, dtype=np.int32)
    cases = [(n, scale) for n in (1, 128, 5000) for scale in (1, 100)]
    for n, scale in cases:
        x = (scale * rng.standard_normal(n)).astype(np.float32)
        wide = x.astype(np.float64)
        want = wide.max() + np.log(np.exp(wide - wide.max()).sum())
        np.testing.assert_allclose(logsumexp(x, count), want, rtol=1e-6,
                                   atol=1e-6)
        assert count[0] == 0
    print('logsumexp: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
