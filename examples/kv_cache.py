"""New keys and values written to a paged cache, quantised to 8 bits.

The slot of a token says page and place; a negative one belongs to a token
that is not stored.  Each head of a token gets a scale of its own; numbers are
rounded to nearest, halves away from zero.

Checked against float64: stored numbers to half a step; slots that no token
names keep their bits.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def quantize_head(x_ptr, q_ptr, scale_ptr, mask, dims):
    x = tl.load(x_ptr + dims, mask=mask, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(x), axis=0)
    scale = tl.where(largest > 0, largest / 127, 1.0)
    y = x / scale
    y = tl.where(y < 0, tl.ceil(y - 0.5), tl.floor(y + 0.5))
    tl.store(q_ptr + dims, y.to(tl.int8), mask=mask)
    tl.store(scale_ptr, scale)


@triton.jit
def store_cache_kernel(key_ptr, value_ptr, key_cache_ptr, value_cache_ptr,
                       key_scale_ptr, value_scale_ptr, slot_ptr, n_heads,
                       head_dim, key_stride, value_stride,
                       DIM: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    slot = tl.load(slot_ptr + token)
    if slot < 0:
        return
    dims = tl.arange(0, DIM)
    mask = dims < head_dim
    place = slot * n_heads + head
    quantize_head(key_ptr + token * key_stride + head * head_dim,
                  key_cache_ptr + place * head_dim, key_scale_ptr + place,
                  mask, dims)
    quantize_head(value_ptr + token * value_stride + head * head_dim,
                  value_cache_ptr + place * head_dim, value_scale_ptr + place,
                  mask, dims)


def store_cache(key, value, caches, scales, slot):
    n_tokens, n_heads, head_dim = key.shape
    # Tokens may be rows of a wider tensor (queries, keys and values in one).
    steps = [x.strides[0] // x.itemsize for x in (key, value)]
    store_cache_kernel[(n_tokens, n_heads)](
        key, value, *caches, *scales, slot, n_heads, head_dim, *steps,
        DIM=triton.next_power_of_2(head_dim))


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1, 4), (5, 2, 64, 8), (12, 3, 40, 16)
    for n_tokens, n_heads, head_dim, page in shapes:
        qkv = rng.standard_normal((n_tokens, 3, n_heads, head_dim))
        qkv = qkv.astype(np.float16)
        key, value = qkv[:, 1], qkv[:, 2]
        n_slots = 4 * page
        slot = rng.permutation(n_slots)[:n_tokens]
        slot[2::4] = -1
        caches = [np.full((n_slots, n_heads, head_dim), 77, dtype=np.int8)
                  for _ in range(2)]
        scales = [np.full((n_slots, n_heads), np.nan, dtype=np.float32)
                  for _ in range(2)]
        store_cache(key, value, caches, scales, slot)
        stored = slot >= 0
        for x, cache, scale in zip((key, value), caches, scales):
            at = slot[stored]
            step = scale[at][:, :, None].astype(np.float64)
            error = np.abs(cache[at] * step - x[stored])
            assert (error <= step * 0.5001).all(), error.max()
            untouched = np.delete(np.arange(n_slots), at)
            assert (cache[untouched] == 77).all()
            assert np.isnan(scale[untouched]).all()
    print('kv_cache: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
