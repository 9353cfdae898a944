"""A function that kernels of another file call."""
import triton
import triton.language as tl


@triton.jit
def clamp(v, low, high):
    w = tl.maximum(v, low)
    return tl.minimum(w, high)
