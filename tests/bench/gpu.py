"""make bench-gpu: code for a GPU by tkdbg, beside Triton's.

    python3 tests/bench/gpu.py compile DIR [--tkdbg build/tkdbg] [--arch sm_90a]
        [--only TEXT]
    python3 tests/bench/gpu.py run DIR [--rounds 30] [--only TEXT]

The first needs tkdbg with LLVM and ptxas, but no GPU: DIR gets the cases of
gpu_kernels.py as machine code, and what their launches need.  The second needs
a GPU, PyTorch and Triton, but not tkdbg.  Of each case, a graph of launches is
made of either code; the graphs run in turn, and the medians are printed.  A
copy of as much memory as the largest vector addition moves runs beside them.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)


# ---- compiling --------------------------------------------------------------

def described(value):
    """A value of --arg: what is known of an argument, beside its size."""
    if isinstance(value, tuple):
        return f'{value[0]}[16]:empty'
    return str(value)


def compile_case(case, tkdbg, arch, cubin):
    """Machine code in the file; what tkdbg says of it."""
    args = [tkdbg, 'compile', case.kernel.fn.__code__.co_filename,
            '--kernel', case.kernel.__name__, '--emit', 'cubin',
            '--arch', arch, '-o', cubin]
    for name, value in {**case.args, **case.constants}.items():
        args += ['--arg', f'{name}={described(value)}']
    for name, value in case.options.items():
        args += ['--option', f'{name}={value}']
    run = subprocess.run(args, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def compile_all(options):
    from gpu_kernels import CASES
    os.makedirs(options.dir, exist_ok=True)
    about = {}
    for i, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        cubin = os.path.join(options.dir, f'{i}.cubin')
        said = compile_case(case, options.tkdbg, options.arch, cubin)
        shared = said.split(' bytes of shared memory')[0].split()[-1]
        about[case.name] = {'file': f'{i}.cubin', 'shared': int(shared)}
        print(f'{case.name}: {said}', flush=True)
    with open(os.path.join(options.dir, 'cases.json'), 'w') as f:
        json.dump(about, f, indent=1)


# ---- launching --------------------------------------------------------------

class Driver:
    """What is needed of CUDA's driver, in the context that PyTorch made."""
    MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

    def __init__(self, lib=None):
        self.lib = lib or ctypes.CDLL('libcuda.so.1')

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f'{name}: error {status} of the driver')

    def load(self, code, name):
        library, kernel, function = (ctypes.c_void_p() for _ in range(3))
        self.call('cuLibraryLoadData', ctypes.byref(library), code, None, None,
                  0, None, None, 0)
        self.call('cuLibraryGetKernel', ctypes.byref(kernel), library,
                  name.encode())
        self.call('cuKernelGetFunction', ctypes.byref(function), kernel)
        return function

    def launch(self, function, grid, warps, shared, stream, values):
        grid = tuple(grid) + (1, ) * (3 - len(grid))
        at = (ctypes.c_void_p * len(values))(
            *(ctypes.addressof(v) for v in values))
        self.call('cuLaunchKernel', function, *map(ctypes.c_uint, grid),
                  32 * warps, 1, 1, shared, ctypes.c_void_p(stream), at, None)


def c_value(x):
    if hasattr(x, 'data_ptr'):
        return ctypes.c_uint64(x.data_ptr())
    return ctypes.c_float(x) if isinstance(x, float) else ctypes.c_int32(x)


class Ours:
    def __init__(self, case, about, folder, driver):
        self.case, self.driver, self.shared = case, driver, about['shared']
        with open(os.path.join(folder, about['file']), 'rb') as f:
            self.function = driver.load(f.read(), case.kernel.__name__)
        driver.call('cuFuncSetAttribute', self.function, driver.MOST_SHARED,
                    self.shared)

    def launch(self, args, stream):
        self.driver.launch(self.function, self.case.grid,
                           self.case.options.get('num_warps', 4), self.shared,
                           stream, [c_value(x) for x in args.values()])


class Triton:
    def __init__(self, case):
        self.case = case

    def launch(self, args, stream):
        case = self.case
        case.kernel[case.grid](**args, **case.constants, **case.options)


# ---- measuring --------------------------------------------------------------

def tensors(torch, case, seed):
    torch.manual_seed(seed)
    types = {'f32': torch.float32, 'f16': torch.float16}
    args = dict(case.args)
    for name, value in args.items():
        if isinstance(value, tuple):
            args[name] = torch.randn(value[1], device='cuda',
                                     dtype=types[value[0]])
    return args


def make_graph(torch, launch, times):
    """A graph that launches so often; what it needs has been loaded."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        stream = torch.cuda.current_stream().cuda_stream
        for _ in range(times):
            launch(stream)
    return graph


def milliseconds(torch, graph):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def medians(torch, launches, rounds):
    """Of each function that launches on a stream: milliseconds a launch."""
    graphs, times = [], []
    for launch in launches:
        launch(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        graph = make_graph(torch, launch, 1)
        milliseconds(torch, graph)
        once = max(milliseconds(torch, graph), 1e-3)
        times.append(max(1, min(50, int(5 / once))))
        graphs.append(make_graph(torch, launch, times[-1]))
    taken = [[] for _ in graphs]
    for _ in range(rounds):
        for i, graph in enumerate(graphs):
            taken[i].append(milliseconds(torch, graph) / times[i])
    return [statistics.median(t) for t in taken]


def largest_error(torch, a, b):
    """Of what the launches left: by how much two sets of arguments differ."""
    worst = 0.0
    for name, x in a.items():
        if hasattr(x, 'data_ptr'):
            d = (x.float() - b[name].float()).abs().max().item()
            worst = max(worst, d if d == d else float('inf'))
    return worst


def measure(torch, case, about, options, driver):
    ours, theirs = Ours(case, about, options.dir, driver), Triton(case)
    a, b = tensors(torch, case, 0), tensors(torch, case, 0)
    ms = medians(torch, [lambda s: ours.launch(a, s),
                         lambda s: theirs.launch(b, s)], options.rounds)
    unit, work = case.work
    scale = {'GB/s': 1e6, 'TFLOP/s': 1e9}[unit]
    return ms, [work / m / scale for m in ms], largest_error(torch, a, b)


def copy_bandwidth(torch, rounds):
    x = torch.empty(3 << 27, device='cuda', dtype=torch.float32)
    y = torch.empty_like(x)
    ms, = medians(torch, [lambda s: y.copy_(x)], rounds)
    return 2 * x.numel() * 4 / ms / 1e6


def run_all(options):
    import torch
    import triton
    from gpu_kernels import CASES
    with open(os.path.join(options.dir, 'cases.json')) as f:
        about = json.load(f)
    driver = Driver()
    if not options.first:
        print(f'{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, '
              f'PyTorch {torch.__version__}, Triton {triton.__version__}')
        print(f'copy: {copy_bandwidth(torch, options.rounds):.0f} GB/s')
        print('| kernel | tkdbg | Triton | ratio | tkdbg | Triton '
              '| difference |')
        print('|---|---:|---:|---:|---:|---:|---:|', flush=True)
    for i, case in enumerate(CASES[options.first:], options.first):
        if options.only not in case.name:
            continue
        try:
            ms, rate, error = measure(torch, case, about[case.name], options,
                                      driver)
        except Exception as failure:  # CUDA may be of no use in this process
            print(f'| {case.name} | {failure!r} |', flush=True)
            os.execv(sys.executable, [sys.executable, *sys.argv,
                                      '--first', str(i + 1)])
        print(f'| {case.name} | {ms[0] * 1e3:.1f} us | {ms[1] * 1e3:.1f} us | '
              f'{ms[0] / ms[1]:.2f} | {rate[0]:.0f} {case.work[0]} | '
              f'{rate[1]:.0f} {case.work[0]} | {error:.2g} |', flush=True)
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('what', choices=['compile', 'run'])
    parser.add_argument('dir')
    parser.add_argument('--tkdbg', default=os.path.join(ROOT, 'build/tkdbg'))
    parser.add_argument('--arch', default='sm_90a')
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--only', default='')
    parser.add_argument('--first', type=int, default=0,
                        help='the case that is run first')
    options = parser.parse_args()
    {'compile': compile_all, 'run': run_all}[options.what](options)


if __name__ == '__main__':
    main()
