"""Counts of numbers by atomic additions."""
import cuda.tile as ct
import torch


@ct.kernel
def histogram(x, bins, T: ct.Constant[int]):
    t = ct.load(x, (ct.bid(0),), (T,))
    ct.atomic_add(bins, t, 1)


def main():
    x = torch.randint(0, 16, (1024,), device="cuda", dtype=torch.int32)
    bins = torch.zeros(16, device="cuda", dtype=torch.int32)
    ct.launch(torch.cuda.current_stream(), (8,), histogram, (x, bins, 128))
    want = torch.bincount(x, minlength=16).to(torch.int32)
    torch.testing.assert_close(bins, want)
    print("histogram: OK, 16 bins")


if __name__ == "__main__":
    main()
