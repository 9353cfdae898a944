"""c10: The same sum, every time

The dot product of two long vectors is a single number. One program would take
for ever; and if all programs add to one number with atomics, the order of the
additions differs from run to run, and so do the last digits. Anyone who has
had to explain why a training run cannot be repeated knows the feeling.

So do it in two stages, with two kernels that run one after the other. In
`partial`, program p adds up its share, the blocks p, p + P, p + 2 * P and so
on of P programs, and stores that at part[p]. In `finish`, one program adds up
the P parts in one block; P <= BP. The order is fixed, and so is every bit.

    part[p] = sum of x[i] * y[i] over program p's share
    z[0]    = sum over p of part[p]

    x_ptr, y_ptr   float32, N elements each        given
    part_ptr       float32, P elements             a workspace
    z_ptr          float32, 1 element              to be written
    grid           P programs for partial, 1 for finish
    goal           no atomic operations

About 11 lines.
"""
import triton
import triton.language as tl


def reference(x, y):
    return np.dot(x, y)


@triton.jit
def partial(x_ptr, y_ptr, part_ptr, N, B: tl.constexpr):
    # TODO: a loop over this program's blocks, as in a07.
    pass


@triton.jit
def finish(part_ptr, z_ptr, P, BP: tl.constexpr):
    # TODO: all parts fit into one block.
    pass
