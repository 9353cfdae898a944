"""A file in the form of those that PyTorch's compiler writes (output_code).

Written by hand for the tests, for the function

    lambda x, y: (torch.relu(x + y).sum(1), x.cumsum(1), x.cumprod(1))

with x and y of shape (s0, 100).
"""
import torch
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

assert_size_stride = torch._C._dynamo.guards.assert_size_stride
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
async_compile = AsyncCompile()


triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'x': 1024},
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32',
                               'out_ptr0': '*fp32', 'xnumel': 'i32',
                               'XBLOCK': 'constexpr'},
                 'device': DeviceProperties(
                     type='cuda', index=0, multi_processor_count=132, cc=90,
                     major=9, regs_per_multiprocessor=65536,
                     max_threads_per_multi_processor=2048, warp_size=32),
                 'constants': {},
                 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(),
                   'kernel_name': 'triton_poi_fused_add_0',
                   'mutated_arg_names': [], 'num_load': 2,
                   'backend_hash': '0', 'num_reduction': 0},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_add_0(in_ptr0, in_ptr1, out_ptr0, xnumel,
                           XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp0 + tmp1
    tmp3 = tl.full([1], 0, tl.int32)
    tmp4 = triton_helpers.maximum(tmp3, tmp2)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')


triton_red_fused_sum_1 = async_compile.triton('triton_red_fused_sum_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import ReductionHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton.jit
def _triton_helper_fn_0(arg0_0, arg1_0):
    tmp0 = arg0_0 + arg1_0
    return tmp0

@triton_heuristics.reduction(
    size_hints={'x': 16, 'r0_': 128},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32',
                               'out_ptr0': '*fp32', 'out_ptr1': '*fp32',
                               'ks0': 'i64', 'xnumel': 'i32',
                               'r0_numel': 'i32', 'XBLOCK': 'constexpr',
                               'R0_BLOCK': 'constexpr'},
                 'device': DeviceProperties(
                     type='cuda', index=0, multi_processor_count=132, cc=90,
                     major=9, regs_per_multiprocessor=65536,
                     max_threads_per_multi_processor=2048, warp_size=32),
                 'constants': {},
                 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(),
                   'kernel_name': 'triton_red_fused_sum_1',
                   'mutated_arg_names': [], 'num_load': 2,
                   'backend_hash': '0', 'num_reduction': 1}
)
@triton.jit
def triton_red_fused_sum_1(in_ptr0, in_ptr1, out_ptr0, out_ptr1, ks0, xnumel,
                           r0_numel, XBLOCK : tl.constexpr,
                           R0_BLOCK : tl.constexpr):
    r0_numel = 100
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    tl.static_assert(ks0.dtype == tl.int64)
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    tmp5 = tl.full([XBLOCK, 1], 0.0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        r0_1 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1 + 100*x0), r0_mask & xmask,
                       eviction_policy='evict_first', other=0.0)
        tmp6 = tl.load(in_ptr1 + (r0_1 + 100*x0), r0_mask & xmask,
                       eviction_policy='evict_first', other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
        tmp7, = tl.associative_scan((tmp6,), 1, _triton_helper_fn_0)
        tl.store(out_ptr1 + (r0_1 + 100*x0), tmp7 + tmp5, r0_mask & xmask)
        tmp8 = triton_helpers.select_one(tmp7, r0_base == (RBLOCK - 1),
                                         dim=-1, keep_dims=True)
        tmp5 += tmp8
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
''', device_str='cuda')


triton_per_fused_prod_2 = async_compile.triton('triton_per_fused_prod_2', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import ReductionHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton.jit
def _triton_helper_fn_0(arg0_0, arg1_0):
    tmp0 = arg0_0 * arg1_0
    return tmp0

@triton_heuristics.persistent_reduction(
    size_hints={'x': 16, 'r0_': 128},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32',
                               'xnumel': 'i32', 'r0_numel': 'i32',
                               'XBLOCK': 'constexpr'},
                 'device': DeviceProperties(
                     type='cuda', index=0, multi_processor_count=132, cc=90,
                     major=9, regs_per_multiprocessor=65536,
                     max_threads_per_multi_processor=2048, warp_size=32),
                 'constants': {},
                 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(),
                   'kernel_name': 'triton_per_fused_prod_2',
                   'mutated_arg_names': [], 'num_load': 1,
                   'backend_hash': '0', 'num_reduction': 0}
)
@triton.jit
def triton_per_fused_prod_2(in_ptr0, out_ptr0, xnumel, r0_numel,
                               XBLOCK : tl.constexpr):
    r0_numel = 100
    R0_BLOCK: tl.constexpr = 128
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 100*x0), r0_mask & xmask, other=0.0)
    tmp1, = tl.associative_scan((tmp0,), 1, _triton_helper_fn_0)
    tl.store(out_ptr0 + (r0_1 + 100*x0), tmp1, r0_mask & xmask)
''', device_str='cuda')


async_compile.wait(globals())
del async_compile


def call(args):
    arg0_1, arg1_1, s0 = args
    args.clear()
    assert_size_stride(arg0_1, (s0, 100), (100, 1))
    assert_size_stride(arg1_1, (s0, 100), (100, 1))
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((s0, 100), (100, 1), torch.float32)
        buf1 = empty_strided_cuda((s0, ), (1, ), torch.float32)
        buf2 = empty_strided_cuda((s0, 100), (100, 1), torch.float32)
        buf3 = empty_strided_cuda((s0, 100), (100, 1), torch.float32)
        stream0 = get_raw_stream(0)
        triton_poi_fused_add_0.run(arg0_1, arg1_1, buf0, 100*s0,
                                   stream=stream0)
        triton_red_fused_sum_1.run(buf0, arg0_1, buf1, buf2, s0, s0, 100,
                                   stream=stream0)
        del buf0
        triton_per_fused_prod_2.run(arg0_1, buf3, s0, 100, stream=stream0)
    return (buf1, buf2, buf3, )


def benchmark_compiled_module(times=10, repeat=10):
    from torch._dynamo.testing import rand_strided
    from torch._inductor.utils import print_performance
    arg0_1 = rand_strided((7, 100), (100, 1), device='cuda:0',
                          dtype=torch.float32)
    arg1_1 = rand_strided((7, 100), (100, 1), device='cuda:0',
                          dtype=torch.float32)
    fn = lambda: call([arg0_1, arg1_1, 7])
    return print_performance(fn, times=times, repeat=repeat)


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    compiled_module_main('None', benchmark_compiled_module)
