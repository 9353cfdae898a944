"""a01: Count the lanes

Triton works on blocks: many numbers at once, each in a lane of its own.
tl.arange(0, B) is the simplest block there is: its lane i holds i. Arithmetic
goes lane by lane, and a plain number beside a block goes to every lane.

A pointer plus a block of offsets is a block of pointers, one for each lane;
tl.store(pointers, values) writes through all of them at once.

One program, one block: draw a ruler whose marks begin at `first` and are
`step` apart. If you wonder what a block holds, print(it) inside the kernel.

    z[i] = first + step * i                  for 0 <= i < B

    z_ptr         int32, B elements          to be written
    first, step   whole numbers              given
    grid          1 program

About 2 lines.
"""
import triton
import triton.language as tl


def reference(first, step, B):
    return first + step * np.arange(B)


@triton.jit
def ruler(z_ptr, first, step, B: tl.constexpr):
    # TODO: make a block of offsets, and store what each lane should hold.
    pass
