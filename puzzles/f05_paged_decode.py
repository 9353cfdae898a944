"""f05: A cache in pages

While a model writes text, each new token is one query against all keys and
values of its sequence so far. Sequences grow and end at any time, so their
keys and values lie in pages of P rows, anywhere in one large cache; a table
says which pages are whose. Row u of sequence b lies in page

    page = table[b, u // P], there in row u % P

Entries of the table behind the last page of a sequence, and rows of the cache
behind its last row, belong to another sequence or hold rubbish.

    s[u] = scale * (q[b, 0] * k[page, u % P, 0] + ... + q[b, D-1] * ...)
    w[u] = exp(s[u]) / (exp(s[0]) + ... + exp(s[n[b]-1]))
    z[b, j] = w[0] * v[.., j] + ... + w[n[b]-1] * v[.., j]
                                             for 0 <= b < S, 0 <= j < D

    q_ptr      float32, S by D, row-major            given
    k_ptr      float32, pages by P by D, row-major   given
    v_ptr      float32, pages by P by D, row-major   given
    table_ptr  int32, S by L, row-major              given
    n_ptr      int32, S elements, at least 1         given
    z_ptr      float32, S by D, row-major            to be written
    grid       S programs; BD >= D is a power of 2

About 24 lines.
"""
import triton
import triton.language as tl


def reference(q, k, v, table, n, scale):
    z = np.zeros(q.shape)
    for b in range(len(q)):
        keys = k[table[b, :-(-n[b] // k.shape[1])]].reshape(-1, q.shape[1])
        values = v[table[b, :-(-n[b] // k.shape[1])]].reshape(keys.shape)
        s = scale * (keys[:n[b]] @ q[b])
        w = np.exp(s - s.max())
        z[b] = w @ values[:n[b]] / w.sum()
    return z


@triton.jit
def decode(q_ptr, k_ptr, v_ptr, table_ptr, n_ptr, z_ptr, scale, L, D,
           P: tl.constexpr, BD: tl.constexpr):
    # TODO: one page after the other, with the running maximum of d17.
    pass
