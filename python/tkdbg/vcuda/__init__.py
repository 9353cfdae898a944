"""Virtual CUDA devices in host memory, for a PyTorch without CUDA.

What is listed in ``__all__`` is the door: the rest of tkdbg imports nothing
else from this package, which tools/pyknots.py checks.  The modules stand in
layers, as those of tkdbg do.

door       __init__    VirtualCuda, has_cuda(), hooks()
mode       virtual     the torch function mode, and what is marked
patches    patches     what names a device and is not told to the mode
           api         ... torch.cuda
           fakes       ... fake tensors, by which PyTorch traces
           traced      ... torch.compile
calls      calls       functions that are more than marking a result
           exchange    ... tensors that are given to other libraries
           packed      ... products with weights of four bits
           scaled      ... products of scaled 8-bit floats
           bags        ... embedding bags
           random      ... random numbers
operators  operators   devices that CUDA refuses, types that only it has
           attention   ... attention by operators that only CUDA has
           library     implementations that libraries register for CUDA
           halves      products and sums of halves in fp32
           tf32        products of fp32 in TF32
           refusals    types that only the CPU has
state      graphs      CUDA graphs
           streams     streams, events, the current device
           memory      how much memory tensors hold
           files       torch.save and torch.load
           subclasses  classes of the program that hold tensors
           autocast    CUDA's lists of operators
ground     marks       where a tensor is
"""
from __future__ import annotations

from .traced import hooks
from .virtual import VirtualCuda, has_cuda

__all__ = ["VirtualCuda", "has_cuda", "hooks"]
