"""A product of matrices: a tile of the result to a block, summed in fp32."""
import cuda.tile as ct
import torch

Int = ct.Constant[int]


@ct.kernel
def matmul(a, b, c, M: Int, N: Int, K: Int):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, K))):
        x = ct.load(a, (i, k), (M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (K, N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


def main():
    a = torch.randn(100, 70, device="cuda", dtype=torch.float16)
    b = torch.randn(70, 90, device="cuda", dtype=torch.float16)
    c = torch.empty(100, 90, device="cuda", dtype=torch.float16)
    grid = (ct.cdiv(100, 32), ct.cdiv(90, 32))
    ct.launch(torch.cuda.current_stream(), grid, matmul,
              (a, b, c, 32, 32, 16))
    torch.testing.assert_close(c, a @ b, rtol=1e-2, atol=1e-2)
    print("matmul: OK, 9000 elements")


if __name__ == "__main__":
    main()
