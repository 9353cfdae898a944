"""b02: Scale and add

Two vectors come in, one goes out. This is the pattern of half of all kernels
in the world: offsets, a mask, loads, arithmetic, one store.

    z[i] = s * x[i] + y[i]                   for 0 <= i < N

    x_ptr   float32, N elements              given
    y_ptr   float32, N elements              given
    s       float                            given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(x, y, s):
    return s * x + y


@triton.jit
def scale_and_add(x_ptr, y_ptr, z_ptr, s, N, B: tl.constexpr):
    # TODO: you have all the pieces by now.
    pass
