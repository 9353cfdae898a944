"""Vector addition, with NumPy arrays.

Run the whole script:

    tkdbg run examples/vector_add.py

or the kernel alone, without Python:

    tkdbg run examples/vector_add.py --kernel add_kernel --grid 97 \
        --arg 'x_ptr=f32[98432]:rand(0)' --arg 'y_ptr=f32[98432]:rand(1)' \
        --arg 'output_ptr=f32[98432]:empty' --arg n_elements=98432 \
        --arg BLOCK_SIZE=1024 --save output_ptr=o.npy
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements,
               BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


def add(x, y):
    output = np.empty_like(x)
    n_elements = output.size
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']), )
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output


def main():
    rng = np.random.default_rng(0)
    sizes = 1, 1024, 98432
    for n in sizes:
        x, y = rng.random((2, n), dtype=np.float32)
        np.testing.assert_array_equal(add(x, y), x + y)
    print('vector_add: OK,', len(sizes), 'sizes')


if __name__ == '__main__':
    main()
