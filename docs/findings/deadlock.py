import triton
import triton.language as tl


@triton.jit
def k(lock, total):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    old = tl.load(total)
    tl.store(total, old + 1)
    tl.debug_barrier()
    if old == 0:
        tl.atomic_xchg(lock, 0)
