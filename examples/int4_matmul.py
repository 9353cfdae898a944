"""Half-precision activations times 4-bit weights, eight to a word (AWQ, GPTQ).

The nibbles of a word lie in AWQ's order: column 0, 2, 4, 6, 1, 3, 5, 7 from
the lowest bits up.  Three interleaves repeat a word for its eight columns; a
shift for each column picks the nibble.  Zero points are packed the same way;
scales and zero points belong to a group of rows.

Checked against float64: |error| <= 5e-3 + 5e-3 |reference| (fp16 weights).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def unpack_columns(words):
    """[A, B] words to [A, 8 * B] nibbles."""
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    column = tl.arange(0, words.shape[1]) % 8
    # Column 0, 1, 2, 3, ... is nibble 0, 4, 1, 5, ...
    nibble = (column % 2) * 4 + column // 2
    # The words are signed: the mask drops the copies of the sign bit.
    return (words >> (nibble * 4)[None, :]) & 0xF


@triton.jit
def int4_matmul_kernel(a_ptr, q_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K,
                       GROUP: tl.constexpr, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tl.static_assert(GROUP % BLOCK_K == 0, 'a block of K lies in one group')
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    words = pid_n * (BLOCK_N // 8) + tl.arange(0, BLOCK_N // 8)
    n_words = N // 8
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        q = tl.load(q_ptr + ks[:, None] * n_words + words[None, :],
                    mask=(ks[:, None] < K) & (words[None, :] < n_words),
                    other=0)
        group = start // GROUP
        zero = tl.load(zero_ptr + group * n_words + words[None, :],
                       mask=words[None, :] < n_words, other=0)
        scale = tl.load(scale_ptr + group * N + cols, mask=cols < N,
                        other=0.0)
        # Rows of q past K meet zeros of a.
        w = (unpack_columns(q) - unpack_columns(zero)).to(tl.float16)
        acc = tl.dot(a, w * scale[None, :], acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float16),
             mask=(rows[:, None] < M) & (cols[None, :] < N))


ORDER = np.array([0, 2, 4, 6, 1, 3, 5, 7])


def pack(nibbles):
    """[..., N] numbers below 16 to [..., N / 8] words."""
    eight = nibbles.reshape(*nibbles.shape[:-1], -1, 8)[..., ORDER]
    words = (eight.astype(np.uint32) << (4 * np.arange(8, dtype=np.uint32)))
    return words.sum(axis=-1, dtype=np.uint32).view(np.int32)


def int4_matmul(a, q, scale, zero, group):
    (M, K), N = a.shape, scale.shape[1]
    c = np.empty((M, N), dtype=np.float16)
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']),
                         triton.cdiv(N, meta['BLOCK_N']))
    int4_matmul_kernel[grid](a, q, scale, zero, c, M, N, K, GROUP=group,
                             BLOCK_M=16, BLOCK_N=32, BLOCK_K=32)
    return c


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 8, 20, 32), (16, 64, 64, 32), (19, 72, 200, 64)
    for M, N, K, group in shapes:
        groups = triton.cdiv(K, group)
        a = (rng.standard_normal((M, K)) / np.sqrt(K)).astype(np.float16)
        weight = rng.integers(0, 16, (K, N))
        zero = rng.integers(0, 16, (groups, N))
        scale = rng.uniform(0.01, 0.1, (groups, N)).astype(np.float16)
        got = int4_matmul(a, pack(weight), scale, pack(zero), group)
        of_row = np.arange(K) // group
        real = (weight - zero[of_row]) * scale.astype(np.float64)[of_row]
        np.testing.assert_allclose(got, a.astype(np.float64) @ real,
                                   rtol=5e-3, atol=5e-3)
    print('int4_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
