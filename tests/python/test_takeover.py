"""Real Triton stays in place; launches are ours."""
import unittest

import support

support.need("library", "torch")
if not support.real_triton():
    raise unittest.SkipTest("triton is not installed")

HEAD = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, z, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m),
                 mask=m)
"""


class Installed(support.ScriptCase):
    triton = "installed"  # tests of both modes are in test_launch_options

    def run_installed(self, text, *options, **kwargs):
        return self.run_script(text, "-q", *options, head=HEAD, **kwargs)

    def test_launch(self):
        done = self.run_installed("""
            x = torch.arange(100.0, device="cuda")
            z = torch.empty_like(x)
            grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)
            add[grid](x, x, z, 100, BLOCK=32, num_warps=2)
            assert torch.equal(z, x * 2)
            print("libtriton" in str(triton._C.libtriton), type(add))
        """)
        self.assertEqual(done.stdout, "True <class 'triton.runtime.jit."
                                      "JITFunction'>\n")

    def test_triton_asks_for_addresses_itself(self):
        """It asks whether they are divisible, and hands them to nobody."""
        done = self.run_installed("""
            x = torch.ones(100, device="cuda")
            z = torch.empty(101, device="cuda")
            for _ in range(3):
                add[(4,)](x, x, z, 100, BLOCK=32)
            from tkdbg import session
            assert not session.current().addresses
            z.sum()
        """, "--check=unwritten", check=False)
        self.assertIn("no program writes z[100]", done.stderr)

    def test_language_objects(self):
        done = self.run_installed("""
            from triton.language.extra import libdevice
            from triton.language import math
            K = tl.constexpr(3)
            F = tl.float32
            @triton.jit
            def inner(v):
                return tl.sum(v, axis=0) + K
            @triton.jit
            def kernel(z, n, D: tl.constexpr):
                v = tl.full((4,), 2.0, F)
                tl.store(z, inner(tl.maximum(tl.exp(v - 2), v)) + tl.cdiv(n, 2))
                tl.store(z + 1, math.sqrt(tl.zeros((), D) + 9))
                tl.store(z + 2, triton.next_power_of_2(5) + min(n, 3))
            z = torch.zeros(3, device="cuda")
            kernel[(1,)](z, 5, tl.float32)
            print(z.tolist())
        """)
        self.assertEqual(done.stdout, "[14.0, 3.0, 11.0]\n")

    def test_helpers_that_the_tool_has_itself(self):
        done = self.run_installed("""
            def print_if(text, condition, pid_0=[0], pid_1=[0], pid_2=[0]):
                print("the host's")
            @triton.jit
            def kernel(z):
                pid = tl.program_id(0)
                print_if(f"program {pid}", ">1", pid)
                tl.store(z + pid, pid)
            z = torch.zeros(3, dtype=torch.int32, device="cuda")
            kernel[(3,)](z)
            print(z.tolist())
        """)
        self.assertEqual(done.stdout, "program 2\n[0, 1, 2]\n")

    def test_plain_functions_know_dtypes(self):
        done = self.run_installed("""
            @tl.constexpr
            def wide(d):
                return tl.float32 if d.is_bf16() else d
            @triton.jit
            def kernel(z):
                t: tl.constexpr = wide(z.type.element_ty)
                tl.static_print(t)
                tl.store(z, tl.full((), 3, t))
            z = torch.zeros(1, device="cuda", dtype=torch.bfloat16)
            kernel[(1,)](z)
            print(z.tolist())
        """)
        self.assertEqual(done.stdout, "fp32\n[3.0]\n")

    def test_autotune_and_heuristics(self):
        done = self.run_installed("""
            @triton.autotune(configs=[triton.Config({"B": 64}),
                                      triton.Config({"B": 128})],
                             key=["n"], reset_to_zero=["z"])
            @triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
            @triton.jit
            def kernel(z, n, B: tl.constexpr, EVEN: tl.constexpr):
                i = tl.arange(0, B)
                tl.store(z + i, B + EVEN, mask=i < n)
            z = torch.zeros(50, device="cuda")
            kernel[(1,)](z, 50)
            print(z[0].item(), kernel.best_config.kwargs)
        """)
        self.assertEqual(done.stdout, "65.0 {'B': 64}\n")

    def test_driver_and_testing(self):
        done = self.run_installed("""
            from triton.runtime import driver
            print(driver.active.get_current_target())
            x = torch.zeros(8, device="cuda")
            ms = triton.testing.do_bench(
                lambda: add[(1,)](x, x, x, 8, BLOCK=8), warmup=1, rep=2)
            print(ms > 0)
        """)
        self.assertIn("arch=90", done.stdout)
        self.assertTrue(done.stdout.endswith("True\n"))

    def test_errors_are_tritons_too(self):
        done = self.run_installed("""
            from triton.compiler.errors import CompilationError
            import tkdbg
            @triton.jit
            def bad(z):
                tl.store(z, nothing_here)
            try:
                bad[(1,)](torch.zeros(1, device="cuda"))
            except CompilationError as e:
                print(isinstance(e, tkdbg.KernelError), "nothing_here" in
                      str(e))
                import pickle
                again = pickle.loads(pickle.dumps(e))
                print(type(again) is type(e), str(again) == str(e))
        """)
        self.assertEqual(done.stdout, "True True\n" * 2)

    def test_decorated_before_install(self):
        path = self.write("""
            import tkdbg
            x = torch.arange(16.0)
            tkdbg.install(quiet=True)
            z = torch.zeros(16, device="cuda")
            add[(1,)](x, x, z, 16, BLOCK=16)
            print(z.sum().item())
            tkdbg.uninstall()
            try:
                add[(1,)](x, x, z, 16, BLOCK=16)
            except Exception as e:
                print("back")
        """, head=HEAD)
        import subprocess
        import sys
        done = subprocess.run([sys.executable, path], text=True,
                              env=support.environment(), cwd=self.folder.name,
                              capture_output=True)
        self.assertEqual(done.stdout, "240.0\nback\n", done.stderr)

    def test_interpreter_variable_does_not_matter(self):
        done = self.run_installed("""
            x = torch.arange(16.0)
            z = torch.zeros(16, device="cuda")
            add[(1,)](x, x, z, 16, BLOCK=16)
            print(z.sum().item())
        """, env={"TRITON_INTERPRET": "1"})
        self.assertEqual(done.stdout, "240.0\n")

    def test_source_that_was_replaced(self):
        done = self.run_installed("""
            @triton.jit
            def template(p):
                tl.store(p, HERE)
            def made(value):
                kernel = triton.JITFunction(template.fn)
                kernel._unsafe_update_src(kernel.src.replace("HERE", value))
                return kernel
            p = torch.zeros(1, device="cuda")
            first, second = made("7"), made("8")
            first[(1,)](p); print(p.item())
            second[(1,)](p); print(p.item())
            second._unsafe_update_src(second.src.replace("8", "9"))
            second[(1,)](p); print(p.item())
            made("nothing")[(1,)](p)
        """, check=False)
        self.assertEqual(done.stdout, "7.0\n8.0\n9.0\n")
        self.assertIn("nothing is not defined", done.stderr)
        self.assertIn("|     tl.store(p, nothing)", done.stderr)

    def test_a_wrapper_under_the_decorator(self):
        done = self.run_installed("""
            import functools
            def wrap(fn):
                @functools.wraps(fn)
                def wrapper(*args):
                    return fn(*args)
                return wrapper
            @triton.jit
            @wrap
            def kernel(p):
                tl.store(p, 7)
            p = torch.zeros(1, device="cuda")
            kernel[(1,)](p); print(p.item())
        """)
        self.assertEqual(done.stdout, "7.0\n")

    def test_grids_are_integers(self):
        done = self.run_installed("""
            @triton.jit
            def kernel(p):
                tl.store(p, 7)
            for grid in (torch.tensor(1),), (1.0,), ("1",), (1 << 31,):
                p = torch.zeros(1, device="cuda")
                try:
                    kernel[grid](p); print(p.item())
                except (TypeError, OverflowError) as e:
                    print(e)
        """)
        self.assertEqual(done.stdout, "7.0\n" + "".join(
            f"'{kind}' object cannot be interpreted as an integer\n"
            for kind in ("float", "str")) +
            "signed integer is greater than maximum\n")

    def test_a_file_that_changed_or_went(self):
        done = self.run_installed("""
            import importlib.util, linecache, os
            def load(text):
                with open("other.py", "w") as file:
                    file.write("import triton, triton.language as tl\\n"
                               "@triton.jit\\ndef k(p):\\n" + text)
                spec = importlib.util.spec_from_file_location("o", "other.py")
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module.k
            p = torch.zeros(1, device="cuda")
            k = load("  tl.store(p, 1)\\n")
            os.remove("other.py")
            linecache.clearcache()
            k[(1,)](p); print(p.item())
        """)
        self.assertEqual(done.stdout, "1.0\n")

    def test_hooks(self):
        done = self.run_installed("""
            from triton import knobs
            from triton.compiler import CompiledKernel
            got = []
            def facts(grid, kernel, args):
                return {"grid": grid, "args": args, "warps": kernel.num_warps}
            def name(proxy):
                return f"made_for_{proxy.constants['n']}"
            @triton.jit(launch_metadata=facts, repr=name)
            def kernel(p, n):
                tl.store(p, n)
            def before(*a, key, repr, fn, compile, is_manual_warmup,
                       already_compiled):
                got.append(("before", fn.name, compile["num_warps"],
                            is_manual_warmup))
            knobs.runtime.jit_cache_hook = before
            knobs.runtime.jit_post_compile_hook = (
                lambda **k: got.append(("after", k["fn"].name)))
            knobs.runtime.launch_enter_hook.add(
                lambda m: got.append(("enter", m.get()["name"],
                                      m.get()["grid"], m.get()["warps"])))
            knobs.runtime.launch_exit_hook.add(
                lambda m: got.append(("exit", m.get()["args"]["n"])))
            knobs.runtime.kernel_load_start_hook.add(
                lambda m, f, name, group, hash: got.append(("load", name)))
            knobs.compilation.listener = (
                lambda **k: got.append(("listened", k["cache_hit"])))
            p = torch.zeros(1, device="cuda")
            compiled = kernel[(2,)](p, 1, num_warps=2)
            kernel[(2,)](p, 1, num_warps=2)
            for line in got:
                print(*line)
            print(isinstance(compiled, CompiledKernel), compiled.name)
            print(len(kernel.device_caches[0][0]))
            knobs.runtime.jit_cache_hook = lambda **k: True
            print(kernel[(1,)](p, 2, num_warps=8), p.item())
        """)
        self.assertEqual(done.stdout.splitlines(), [
            "before kernel 2 False", "listened False", "after kernel",
            "load made_for_1", "enter made_for_1 (2,) 2", "exit 1",
            "enter made_for_1 (2,) 2", "exit 1", "True made_for_1", "1",
            "None 1.0"])

    def test_what_hooks_are_told(self):
        done = self.run_installed("""
            from triton import knobs
            stages, asked = [], []
            def told(backend=None, made=(), options=None, language=None,
                     capability=None):
                if not made:  # since 3.7, for the keys of caches
                    asked.append(backend)
                    return "key", "hash"
                stages.append((sorted(made), options.num_warps, capability))
            knobs.runtime.add_stages_inspection_hook = told
            knobs.runtime.kernel_load_end_hook.add(
                lambda module, function, *others: print(type(function)))
            x = torch.zeros(4, device="cuda")
            kernel = add[(1,)](x, x, x, 4, BLOCK=4, num_warps=2)
            print(stages)
            knobs.runtime.add_stages_inspection_hook = None
            theirs = kernel._triton_kernel()
            print(set(kernel.metadata._fields) ^ set(theirs.metadata._fields))
            print(type(kernel.asm).__name__, kernel.metadata.ptx_options)
            print(len(asked))
        """)
        asked = 2 if support.triton_version() >= (3, 7) else 0
        self.assertEqual(done.stdout, "<class 'int'>\n"
                         "[(['cubin', 'llir', 'ptx', 'ttgir', 'ttir'], 2, "
                         f"90)]\nset()\nAsmDict None\n{asked}\n")

    def test_kernels_that_are_collected(self):
        """Triton unloads them since 3.8; after uninstall too."""
        text = """
            import gc, tkdbg
            from triton import knobs
            told = []
            if hasattr(knobs.runtime, "kernel_unload_hook"):
                knobs.runtime.kernel_unload_hook.add(
                    lambda module, function, name, group, hash:
                    told.append(name))
            x = torch.zeros(4, device="cuda")
            add[(1,)](x, x, x, 4, BLOCK=4)
            compiled = add.warmup(x, x, x, 4, BLOCK=8, grid=(1,))
            add.device_caches.clear()
            gc.collect()
            print(told)
            kernel = add[(1,)](x, x, x, 4, BLOCK=4)
            add.device_caches.clear()
            tkdbg.uninstall()
            del kernel, compiled
            gc.collect()
            print(told)
        """
        done = self.run_installed(text)
        told = ["add"] if support.triton_version() >= (3, 8) else []
        self.assertEqual(done.stdout, f"{told}\n{told * 2}\n")
        self.assertEqual(done.stderr, "")

    def test_a_kernel_that_was_not_made(self):
        done = self.run_installed("""
            import gc
            @triton.jit(repr=lambda specialization: "no name")
            def k(x):
                tl.store(x, 1.0)
            try:
                k[(1,)](torch.zeros(1, device="cuda"))
            except Exception as e:
                print(type(e).__name__)
            gc.collect()
        """)
        self.assertEqual(done.stdout, "CompilationError\n")
        self.assertEqual(done.stderr, "")

    def test_drivers_that_a_program_makes(self):
        """As PyTorch's compiler does for the code that it has made."""
        done = self.run_installed("""
            import tkdbg
            from triton.backends.nvidia.driver import CudaDriver
            driver, known = triton.runtime.driver, triton.backends.backends
            before = dict(known)
            print(isinstance(driver.active, known["nvidia"].driver),
                  known["nvidia"].driver is CudaDriver,
                  [n for n, b in known.items() if b.driver.is_active()])
            x = torch.zeros(4, device="cuda")
            for name in "cpu", "nvidia":
                driver.set_active(known[name].driver())
                add[(1,)](x, x + 1, x, 4, BLOCK=4)
                print(type(driver.active).__name__, x.tolist(),
                      driver.active.get_current_target().arch)
            utils = driver.active.utils
            print(utils.get_current_device(), utils.get_default_stream(0),
                  utils.is_stream_capturing(0),
                  utils.get_device_capability(0), utils.unload_module(1))
            print(driver.active.allocate_default_profile_scratch(8, 1, 0))
            for refused in utils.launch, utils.fill_tma_descriptor_tiled:
                try:
                    refused(1, 2)
                except RuntimeError as e:
                    print(str(e)[:37])
            triton.compiler.make_backend(driver.active.get_current_target())
            tkdbg.uninstall()
            print(sorted(set(known) ^ set(before)), "tkdbg" in
                  known["nvidia"].driver.__module__)
        """)
        self.assertEqual(done.stdout.splitlines(), [
            "True True ['nvidia']",
            "CpuDriver [1.0, 1.0, 1.0, 1.0] 90",
            "CudaDriver [3.0, 3.0, 3.0, 3.0] 90",
            "0 0 False (9, 0) None",
            "tensor([0, 0, 0, 0, 0, 0, 0, 0], device='cuda:0', "
            "dtype=torch.int8)",
            *["tkdbg runs @triton.jit kernels and lo"] * 2,
            "['cpu'] False"])

    def test_pointer_types_in_variables(self):
        """Address spaces are texts since 3.9."""
        done = self.run_installed("""
            P, C = tl.pointer_type(tl.int32), tl.pointer_type(tl.int32,
                                                              const=True)
            @triton.jit
            def k(x, o):
                tl.static_print(P == x.to(P).dtype, C == x.to(P).dtype)
                tl.store(o, tl.load(x.to(P)))
            o = torch.zeros(1, device="cuda", dtype=torch.int32)
            k[(1,)](torch.ones(1, device="cuda"), o)
            print(hex(o.item()))
        """)
        self.assertEqual(done.stdout, "True False\n0x3f800000\n")

    def test_a_newer_triton_is_named_once(self):
        text = """
            x = torch.zeros(4, device="cuda")
            for _ in range(2):
                add[(1,)](x, x, x, 4, BLOCK=4)
            print("ran")
        """
        version, newest = support.triton_version(), support.newest_version()
        line = ("tkdbg: Triton {}.{} is installed: kernels mean what they "
                "mean in Triton %d.%d; docs/compatibility.md lists the "
                "differences\n" % newest)
        done = self.run_script(text, head=HEAD)
        said = line.format(*version) if version > newest else ""
        self.assertEqual(done.stdout, "ran\n")
        self.assertTrue(done.stderr.startswith(said + "tkdbg: 2 launches"),
                        done.stderr)
        newer = """
            import tkdbg.session
            tkdbg.session.current().version.follow("4.1.0+git")
            print(tkdbg.session.current().version.unfollowed(), end="")
        """
        done = self.run_script(newer, head=HEAD)
        self.assertEqual(done.stdout, line.format(4, 1))
        done = self.run_installed(text)
        self.assertEqual((done.stdout, done.stderr), ("ran\n", ""))

    def test_the_installed_version_is_followed(self):
        text = """
            import tkdbg.session
            tkdbg.session.current().version.follow("3.1.0")
            @triton.jit
            def k(x):
                tl.static_print((tl.load(x) * 2.0).dtype)
            k[(1,)](torch.ones(1, device="cuda", dtype=torch.float16))
        """
        for options, dtype in ((), "fp32"), (("--triton-version=3.5",),
                                             "fp16"):
            done = self.run_installed(text, *options)
            self.assertEqual(done.stdout, f"{dtype}\n")

    def test_profiler(self):
        """Proton starts where there is no GPU to profile."""
        done = self.run_installed("""
            import triton.profiler as proton
            session = proton.start("nothing", hook="triton")
            x = torch.zeros(4, device="cuda")
            with proton.scope("part", metrics={"flops": 4.0}):
                add[(1,)](x, x, x, 4, BLOCK=4)
                print(session, proton.context.depth(session))
            proton.deactivate(session)
            proton.finalize()
            print(triton.knobs.runtime.launch_enter_hook.calls)
        """)
        self.assertEqual(done.stdout, "0 1\n[]\n")

    def test_preload(self):
        done = self.run_installed("""
            data = []
            @triton.jit
            def kernel(p, n, D: tl.constexpr):
                tl.store(p, n)
            triton.knobs.runtime.jit_cache_hook = (
                lambda **k: data.append(k["compile"]["specialization_data"]))
            p = torch.zeros(1, device="cuda")
            kernel.warmup(p, 5, tl.float32, grid=(1,))
            triton.knobs.runtime.jit_cache_hook = None
            kernel.device_caches.clear()
            kernel.preload(data[0])
            print(len(kernel.device_caches[0][0]))
            triton.knobs.runtime.jit_cache_hook = lambda **k: print("again")
            kernel[(1,)](p, 5, tl.float32)
            print(p.item())
        """)
        self.assertEqual(done.stdout, "1\n5.0\n")

    def test_compile(self):
        done = self.run_installed("""
            from triton.compiler import ASTSource
            source = ASTSource(add, {"x": "*fp32", "y": "*fp32", "z": "*fp32",
                                     "n": "i32", "BLOCK": "constexpr"},
                               {"BLOCK": 32})
            kernel = triton.compile(source, options={"num_warps": 2})
            x = torch.ones(40, device="cuda")
            z = torch.zeros_like(x)
            kernel[(2, 1, 1)](x, x, z, 40, 32)
            print(kernel.metadata.num_warps, z.sum().item())
            print("tt.load" in kernel.asm["ttir"], "ptx" in kernel.asm)
            @triton.jit
            def bad():
                a + 1
            try:
                triton.compile(ASTSource(bad, {}, {}))
            except triton.compiler.errors.CompilationError as e:
                print("a is not defined" in str(e))
        """)
        self.assertEqual(done.stdout, "2 80.0\nTrue True\nTrue\n")

    def test_errors_of_tuning(self):
        done = self.run_installed("""
            from triton.runtime.errors import AutotunerError, OutOfResources
            def kernel(configs, **options):
                @triton.autotune(configs=configs, key=["n"], **options)
                @triton.jit
                def tuned(p, n):
                    tl.store(p, n)
                return tuned
            p = torch.zeros(1, device="cuda")
            wide, fits = (triton.Config({}, num_warps=n) for n in (128, 4))
            tuned = kernel([wide, fits])
            tuned[(1,)](p, 3)
            print(p.item(), tuned.best_config is fits)
            try:
                kernel([wide])[(1,)](p, 3)
            except OutOfResources as e:
                print(e)
            none = {"early_config_prune": lambda *a, **k: []}
            try:
                kernel([wide, fits], prune_configs_by=none)[(1,)](p, 3)
            except AutotunerError as e:
                print(isinstance(e, triton.TritonError))
        """)
        self.assertEqual(
            done.stdout, "3.0 True\nout of resource: threads, Required: 4096,"
            " Hardware limit: 1024. Reducing block sizes or `num_stages` may "
            "help.\nTrue\n")
        self.assertIn("tuned: the configuration (num_warps: 128", done.stderr)

    def test_shared_memory_that_does_not_fit(self):
        """The number is Triton's own, which it knows before LLVM's turn."""
        done = self.run_installed("""
            import triton.backends.nvidia.compiler as compiler
            from triton.runtime.errors import OutOfResources
            @triton.jit
            def product(x, y, z, M: tl.constexpr, N: tl.constexpr,
                        K: tl.constexpr, steps):
                i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
                k = tl.arange(0, K)
                total = tl.zeros((M, N), tl.float32)
                for n in range(steps):
                    total = tl.dot(
                        tl.load(x + i * K * steps + k[None, :] + n * K),
                        tl.load(y + (k[:, None] + n * K) * N + j), total)
                tl.store(z + i * N + j, total)
            x, y = (torch.empty(n * 512, dtype=torch.float16, device="cuda")
                    for n in (64, 256))
            z = torch.empty(64 * 256, device="cuda")
            compiler.llvm = None
            try:
                product[(1,)](x, y, z, 64, 256, 128, 4, num_stages=5)
            except OutOfResources as e:
                print(e)
        """)
        self.assertIn("shared memory, Required: 409600, Hardware limit: "
                      "232448.", done.stdout)

    def test_all_configurations(self):
        done = self.run_installed("""
            @triton.autotune([triton.Config({"B": 4}), triton.Config({"B": 8})],
                             key=[])
            @triton.jit
            def tuned(p, B: tl.constexpr):
                tl.store(p + tl.arange(0, B), B)
            p = torch.zeros(8, device="cuda")
            tuned[(1,)](p)
            print(p.tolist())
        """, "--autotune", "all", check=False)
        self.assertEqual(done.stdout, f"{[4.0] * 4 + [0.0] * 4}\n")
        self.assertIn("B: 8", done.stderr)

    def test_arrays_without_torch(self):
        done = self.run_installed("""
            import numpy as np
            x = np.arange(8, dtype=np.float32)
            z = np.zeros(8, np.float32)
            add[(1,)](x, x, z, 8, BLOCK=8)
            print(z[7])
            try:
                add[(1,)](object(), x, z, 8, BLOCK=8)
            except TypeError as e:
                print(e)
        """)
        self.assertEqual(done.stdout, "14.0\nfailed to specialize argument "
                         "of type: object\n")

    def test_annotations_of_a_decorator(self):
        done = self.run_installed("""
            def annotated(**notes):
                def decorate(fn):
                    fn.__annotations__ = notes
                    return fn
                return decorate
            for note in (tl.bfloat16, "tl.float64"):
                @triton.jit
                @annotated(v=note)
                def kernel(p, v):
                    tl.static_print(v.dtype)
                    tl.store(p, v)
                p = torch.zeros(1, device="cuda")
                kernel[(1,)](p, 1.5)
                print(p.item())
        """)
        self.assertEqual(done.stdout, "bf16\n1.5\nfp64\n1.5\n")

    def test_a_replaced_text_with_another_name(self):
        done = self.run_installed("""
            other = triton.JITFunction(add.fn)
            other._unsafe_update_src("def sub(x, y, z, n, BLOCK: "
                "tl.constexpr):\\n    tl.store(z, tl.load(x) - tl.load(y))")
            x, y = torch.full((1,), 5.0, device="cuda"), torch.ones(1).cuda()
            kernel = other[(1,)](x, y, x, 1, 1)
            print(x.item())
            try:
                kernel[(1, 1, 1)](x, y, x, 1)
            except TypeError as e:
                print(e)
            kernel[(1, 1, 1)](x, y, x, 1, 1)
            print(x.item())
        """)
        self.assertEqual(done.stdout.splitlines()[::2], ["4.0", "3.0"],
                         done.stderr)
        self.assertIn("takes exactly 5 arguments (4 given)", done.stdout)

    def test_products_by_cublas(self):
        text = """
            from triton._C.libtriton import nvidia
            a, b = (torch.arange(12.0, device="cuda").reshape(3, 4) + i
                    for i in range(2))
            c, d = torch.ones(3, 3, device="cuda"), torch.empty(3, 3).cuda()
            handle = nvidia.cublas.CublasLt(torch.empty(8, device="cuda"))
            handle.gemm(a, b, c, d, 2.0, 3.0)
            assert torch.equal(d, 2 * (a @ b.T) + 3)
            handle.matmul(a.half(), b.half(), c.half())
            handle.matmul(a, b, c)
            assert torch.equal(c, a @ b.T)
            for wrong in ((a, b.half(), c), (a, b.T, c), (a, b, d[:2]),
                          (a.long(), b.long(), c.long())):
                try:
                    handle.matmul(*wrong)
                except RuntimeError as e:
                    print(str(e)[:20])
        """
        for triton in "installed", "ours":
            done = self.run_script(text, "-q", "--triton", triton, head=HEAD)
            self.assertEqual(done.stdout, "Data types do not ma\n" +
                             "Matrix dimensions do\n" * 2 +
                             "Unsupported dtype fo\n", done.stderr)

    def test_ours_hides_the_installed_one(self):
        done = self.run_script("""
            import triton
            print(type(triton.__spec__.loader).__module__)
        """, "-q", "--triton", "ours")
        self.assertEqual(done.stdout, "tkdbg.modules.finder\n")


if __name__ == "__main__":
    unittest.main()
