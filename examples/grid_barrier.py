"""Many steps of the heat equation in one launch, with a barrier for the grid.

Each program computes a block of the next state from the present one; its ends
need the neighbours' blocks, so that no program may begin a step before all
have ended the one before.  They count themselves and wait for the count.  All
programs must be running at the same time: a GPU needs a small grid for this.

Checked against float64: |error| <= 1e-5.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def wait_for_all(count_ptr, target):
    """Returns when the programs of the grid have arrived target times."""
    # All threads have stored before one of them counts.
    tl.debug_barrier()
    tl.atomic_add(count_ptr, 1, sem='release')
    while tl.atomic_add(count_ptr, 0, sem='acquire') < target:
        pass
    tl.debug_barrier()


@triton.jit
def heat_kernel(u_ptr, count_ptr, n, steps, rate, BLOCK: tl.constexpr):
    """u holds two states, which are read and written by turns."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for step in range(steps):
        now = u_ptr + (step % 2) * n
        then = u_ptr + (1 - step % 2) * n
        # Beyond the ends the temperature is 0.
        left = tl.load(now + i - 1, mask=(i > 0) & (i < n), other=0.0)
        here = tl.load(now + i, mask=i < n, other=0.0)
        right = tl.load(now + i + 1, mask=i + 1 < n, other=0.0)
        tl.store(then + i, here + rate * (left - 2 * here + right),
                 mask=i < n)
        wait_for_all(count_ptr, (step + 1) * tl.num_programs(0))


def heat(u, steps, rate, block=32):
    states = np.stack([u, u])
    count = np.zeros(1, dtype=np.int32)
    heat_kernel[(triton.cdiv(u.size, block), )](states, count, u.size, steps,
                                                rate, BLOCK=block)
    return states[steps % 2]


def reference(u, steps, rate):
    u = u.astype(np.float64)
    for _ in range(steps):
        wide = np.pad(u, 1)
        u = u + rate * (wide[:-2] - 2 * u + wide[2:])
    return u


def main():
    rng = np.random.default_rng(0)
    cases = [(n, steps) for n in (1, 64, 150) for steps in (1, 10)]
    for n, steps in cases:
        u = rng.random(n, dtype=np.float32)
        np.testing.assert_allclose(heat(u, steps, 0.25),
                                   reference(u, steps, 0.25), rtol=0,
                                   atol=1e-5)
    print('grid_barrier: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
