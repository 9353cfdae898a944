"""c06: Mean and variance

Every textbook has it: the variance is the mean of the squares minus the
square of the mean. In float32 that is a trap. If the mean is 1000 and the
spread is 1, both terms are about a million, agree in six digits, and the
seven that a float32 has are gone.

The sum of squared distances from the mean is safe, but where is the mean
before everything has been read? Either read twice, or merge: of a block, take
its count, its mean and its sum of squared distances, all of them exact enough,
and join two such triples into one:

    n     = na + nb
    d     = mean_b - mean_a
    mean  = mean_a + d * nb / n
    dist  = dist_a + dist_b + d * d * na * nb / n

Compute mean[i], and var[i] = dist / N. Any way that saves the digits will be
accepted; the best one loads each element once.

    x_ptr      float32, M by N, row-major    given
    mean_ptr   float32, M elements           to be written
    var_ptr    float32, M elements           to be written
    grid       M programs; rows may be longer than a block

About 16 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.mean(1), x.var(1)


@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, M, N, B: tl.constexpr):
    # TODO: the first block is easy. How does the second one join it?
    pass
