"""Sums of two vectors, a tile to a block; the last tile is clipped."""
import cuda.tile as ct
import torch


@ct.kernel
def add(a, b, c, T: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(T,))
    y = ct.load(b, index=(i,), shape=(T,))
    ct.store(c, index=(i,), tile=x + y)


def main():
    a, b = torch.randn(2, 1000, device="cuda")
    c = torch.empty_like(a)
    grid = (ct.cdiv(1000, 128),)
    ct.launch(torch.cuda.current_stream(), grid, add, (a, b, c, 128))
    torch.testing.assert_close(c, a + b)
    print("vector_add: OK, 1000 elements")


if __name__ == "__main__":
    main()
