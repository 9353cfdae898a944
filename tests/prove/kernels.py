"""Kernels that `tkdbg prove` is tried with; table.txt has their launches and
verdicts."""
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def copy_no_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))


@triton.jit
def copy_le(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i <= n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def copy_load_bare(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i), mask=i < n)


@triton.jit
def copy_half_step(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * (B // 2) + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def copy_short(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n - 1
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def copy_int64(x, out, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def reverse(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + n - 1 - i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def reverse_off(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + n - i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def stencil(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    left = tl.load(x + i - 1, mask=m & (i > 0), other=0.0)
    right = tl.load(x + i + 1, mask=i < n - 1, other=0.0)
    tl.store(out + i, left + right, mask=m)


@triton.jit
def stencil_left(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i - 1, mask=m, other=0.0), mask=m)


@triton.jit
def in_place(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(x + i, tl.load(x + i, mask=m) * 2, mask=m)


@triton.jit
def in_place_shift(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(x + i, v, mask=i < n)


@triton.jit
def in_place_step(x, n, B: tl.constexpr):
    i = tl.program_id(0) + tl.arange(0, B)
    m = i < n
    tl.store(x + i, tl.load(x + i, mask=m) * 2, mask=m)


@triton.jit
def clamped(x, out, n, B: tl.constexpr):
    i = tl.minimum(tl.program_id(0) * B + tl.arange(0, B), n - 1)
    j = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + j, tl.load(x + i), mask=j < n)


@triton.jit
def chosen(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.where(i < n, i, 0)
    tl.store(out + i, tl.load(x + j), mask=i < n)


@triton.jit
def lanes_alike(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i // 2, i.to(tl.float32), mask=i < n)


@triton.jit
def early(x, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def offsets(pid, n, B: tl.constexpr):
    i = pid * B + tl.arange(0, B)
    return i, i < n


@triton.jit
def helped(x, out, n, B: tl.constexpr):
    i, m = offsets(tl.program_id(0), n, B)
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def grid_stride(x, out, n, B: tl.constexpr):
    for s in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        i = s + tl.arange(0, B)
        m = i < n
        tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def grid_stride_bare(x, out, n, B: tl.constexpr):
    for s in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        i = s + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n), mask=i <= n)


@triton.jit
def grid_stride_short(x, out, n, B: tl.constexpr):
    for s in range(tl.program_id(0), n, tl.num_programs(0) * B):
        i = s + tl.arange(0, B)
        m = i < n
        tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def persistent(x, out, n, B: tl.constexpr, P: tl.constexpr):
    for t in range(tl.program_id(0), tl.cdiv(n, B), P):
        i = t * B + tl.arange(0, B)
        m = i < n
        tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def persistent_step(x, out, n, B: tl.constexpr, P: tl.constexpr):
    for t in range(tl.program_id(0), tl.cdiv(n, B), P - 1):
        i = t * B + tl.arange(0, B)
        m = i < n
        tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def softmax(x, out, stride_x, stride_o, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n_cols
    v = tl.load(x + row * stride_x + c, mask=m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride_o + c, e / tl.sum(e, axis=0), mask=m)


@triton.jit
def rows(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    s = tl.zeros([B], dtype=tl.float32)
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        s += tl.load(x + c, mask=c < N, other=0.0)
    mean = tl.sum(s, axis=0) / N
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        m = c < N
        tl.store(out + c, tl.load(x + c, mask=m) - mean, mask=m)


@triton.jit
def rows_down(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    for left in range(N, 0, -B):
        c = N - left + tl.arange(0, B)
        m = tl.arange(0, B) < left
        v = tl.load(x + row * stride + c, mask=m)
        tl.store(out + row * stride + c, v, mask=m)


@triton.jit
def rows_down_bare(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    s = 0.0
    for left in range(N, 0, -B):
        s += tl.sum(tl.load(x + tl.arange(0, B)))
        x += B
    tl.store(out + row, s)


@triton.jit
def rows_floor(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    for k in range(N // B):
        c = k * B + tl.arange(0, B)
        v = tl.load(x + row * stride + c)
        tl.store(out + row * stride + c, v)


@triton.jit
def rows_unmasked(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        v = tl.load(x + row * stride + c, mask=c < N)
        tl.store(out + row * stride + c, v)


@triton.jit
def row_sums(x, out, stride, N, B: tl.constexpr):
    row = tl.program_id(0)
    s = 0.0
    p = x + row * stride + tl.arange(0, B)
    left = N
    for _ in range(0, tl.cdiv(N, B)):
        s += tl.sum(tl.load(p, mask=tl.arange(0, B) < left, other=0.0))
        p += B
        left -= B
    tl.store(out + row, s)


@triton.jit
def triangle(x, out, stride, N):
    row = tl.program_id(0)
    for j in range(0, row + 1):
        v = tl.load(x + row * stride + j)
        tl.store(out + row * stride + j, v)


@triton.jit
def copy_2d(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
            BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < N)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + r * stride_o + c, v, mask=m)


@triton.jit
def copy_2d_from(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                 BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < N)
    v = tl.load(x + r + c, mask=m)
    tl.store(out + r * stride_o + c, v, mask=m)


@triton.jit
def copy_2d_rows(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                 BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < c + 1)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + r * stride_o + c, v, mask=m)


@triton.jit
def copy_2d_limits(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                   BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < N) & (c < M)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + r * stride_o + c, v, mask=m)


@triton.jit
def transpose(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
              BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < N)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + c * stride_o + r, v, mask=m)


@triton.jit
def transpose_stride(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                     BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < N)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + c * stride_x + r, v, mask=m)


@triton.jit
def described(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
              BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, [M, N], [stride_x, 1], [BM, BN])
    q = tl.make_tensor_descriptor(out, [M, N], [stride_o, 1], [BM, BN])
    r, c = tl.program_id(0) * BM, tl.program_id(1) * BN
    q.store([r, c], p.load([r, c]))


@triton.jit
def copy_tile(x, out, M, N, stride_x, stride_o, pid_m, pid_n,
              BM: tl.constexpr, BN: tl.constexpr):
    r = pid_m * BM + tl.arange(0, BM)[:, None]
    c = pid_n * BN + tl.arange(0, BN)[None, :]
    m = (r < M) & (c < N)
    v = tl.load(x + r * stride_x + c, mask=m)
    tl.store(out + r * stride_o + c, v, mask=m)


@triton.jit
def flat(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
         BN: tl.constexpr):
    pid, num_n = tl.program_id(0), tl.cdiv(N, BN)
    copy_tile(x, out, M, N, stride_x, stride_o, pid // num_n, pid % num_n,
              BM, BN)


@triton.jit
def grouped(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
            BN: tl.constexpr, G: tl.constexpr):
    pid, num_m, num_n = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = G * num_n
    first = pid // in_group * G
    rows = min(num_m - first, G)
    copy_tile(x, out, M, N, stride_x, stride_o,
              first + pid % in_group % rows, pid % in_group // rows, BM, BN)


@triton.jit
def grouped_no_min(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                   BN: tl.constexpr, G: tl.constexpr):
    pid, num_n = tl.program_id(0), tl.cdiv(N, BN)
    in_group = G * num_n
    first = pid // in_group * G
    copy_tile(x, out, M, N, stride_x, stride_o,
              first + pid % in_group % G, pid % in_group // G, BM, BN)


@triton.jit
def tile_of(tile, num_m, num_n, G: tl.constexpr):
    """As Triton's tutorials have it, for persistent programs too."""
    first = tile // (G * num_n) * G
    rows = min(num_m - first, G)
    return first + tile % rows, tile % (G * num_n) // rows


@triton.jit
def persistent_tiles(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                     BN: tl.constexpr, P: tl.constexpr, G: tl.constexpr):
    num_m, num_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), num_m * num_n, P):
        pid_m, pid_n = tile_of(tile, num_m, num_n, G)
        copy_tile(x, out, M, N, stride_x, stride_o, pid_m, pid_n, BM, BN)


@triton.jit
def persistent_short(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                     BN: tl.constexpr, P: tl.constexpr):
    num_m, num_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), num_m * num_n - 1, P):
        copy_tile(x, out, M, N, stride_x, stride_o, tile // num_n,
                  tile % num_n, BM, BN)


@triton.jit
def persistent_fast(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
                    BN: tl.constexpr, P: tl.constexpr):
    num_m, num_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), num_m * num_n, P + 1):
        copy_tile(x, out, M, N, stride_x, stride_o, tile // num_n,
                  tile % num_n, BM, BN)


@triton.jit
def swizzled(x, out, M, N, stride_x, stride_o, BM: tl.constexpr,
             BN: tl.constexpr, G: tl.constexpr):
    pid_m, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1),
                                tl.num_programs(0), tl.num_programs(1), G)
    copy_tile(x, out, M, N, stride_x, stride_o, pid_m, pid_n, BM, BN)


@triton.jit
def matmul(a, b, c, M, N, K, stride_a, stride_b, stride_c,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * stride_a + rk[None, :]
    pb = b + rk[:, None] * stride_b + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        on = rk < K - k * BK
        u = tl.load(pa, mask=(rm[:, None] < M) & on[None, :], other=0.0)
        v = tl.load(pb, mask=on[:, None] & (rn[None, :] < N), other=0.0)
        acc += tl.dot(u, v)
        pa += BK
        pb += BK * stride_b
    m = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * stride_c + rn[None, :], acc, mask=m)


@triton.jit
def matmul_no_k(a, b, c, M, N, K, stride_a, stride_b, stride_c,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * stride_a + rk[None, :]
    pb = b + rk[:, None] * stride_b + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        u = tl.load(pa, mask=rm[:, None] < M, other=0.0)
        v = tl.load(pb, mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(u, v)
        pa += BK
        pb += BK * stride_b
    m = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * stride_c + rn[None, :], acc, mask=m)


@triton.jit
def gather(x, idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    j = tl.load(idx + i, mask=m)
    tl.store(out + i, tl.load(x + j, mask=m), mask=m)


@triton.jit
def scatter(x, idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    j = tl.load(idx + i, mask=m)
    tl.store(out + j, tl.load(x + i, mask=m), mask=m)


@triton.jit
def scatter_rows(x, idx, out, n, B: tl.constexpr):
    """Gathers rows of four by an index that lanes share."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    row = tl.load(idx + i // 4, mask=m, other=0)
    tl.store(out + i, tl.load(x + row * 4 + i % 4, mask=m), mask=m)


@triton.jit
def checked(x, idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    j = tl.load(idx + i, mask=m, other=0)
    v = tl.load(x + j, mask=m & (j >= 0) & (j < n), other=0.0)
    tl.store(out + i, v, mask=m)


@triton.jit
def pick_rows(x, idx, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    same = j[:, None] == j[None, :]
    m = same & (j[:, None] >= 0) & (j[:, None] < n)
    v = tl.load(x + j[None, :] + tl.zeros([B, 1], tl.int32), mask=m, other=0.0)
    tl.store(out + i, tl.sum(v, axis=0), mask=i < n)


@triton.jit
def words(out, n, B: tl.constexpr):
    """Four numbers in each row, which it is not told."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    for k in tl.static_range(4):
        tl.store(out + i * 4 + k, k, mask=i < n)


@triton.jit
def words_more(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for k in tl.static_range(5):
        tl.store(out + i * 4 + k, k, mask=i < n)


@triton.jit
def total(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def total_stored(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def searched(x, out, n):
    j = 0
    while tl.load(x + j) > 0.5:
        j += 1
    tl.store(out, j.to(tl.float32))


@triton.jit
def asserted(x, out, n, B: tl.constexpr):
    tl.device_assert(n <= tl.num_programs(0) * B)
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)


@triton.jit
def asserted_more(x, out, n, B: tl.constexpr):
    tl.device_assert(n % B == 0)
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m), mask=m)
