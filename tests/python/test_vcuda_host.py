"""Host code as users write it, on the virtual device."""
import gc
import unittest
import warnings

import support

support.need("library", "torch")

import torch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

F = torch.nn.functional


class Saved(unittest.TestCase):
    """What packs the tensors that autograd saves sees where they are."""

    def setUp(self):
        self.module = torch.nn.Sequential(torch.nn.Linear(4, 4),
                                          torch.nn.ReLU()).cuda()
        self.x = torch.ones(2, 4, device="cuda", requires_grad=True)

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint
        y = checkpoint(self.module, self.x, use_reentrant=False)
        y.sum().backward()
        self.assertTrue(self.x.grad.is_cuda)

    def test_hooks(self):
        seen = []

        def pack(tensor):
            seen.append(tensor.device.type)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            self.x.exp().sin()
            torch.ones(2, requires_grad=True).exp().sin()
        self.assertEqual(seen, ["cuda"] * 2 + ["cpu"] * 2)

    def test_save_on_cpu(self):
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            y = (self.x * self.x).sum()
        y.backward()
        self.assertEqual(self.x.grad.tolist(), [[2] * 4] * 2)


class Copies(unittest.TestCase):
    def test_of_tensors_in_another_place(self):
        there = torch.ones(3, device="cuda").new_tensor(torch.zeros(3))
        self.assertEqual((there.device.type, there.tolist()),
                         ("cuda", [0] * 3))


class Memory(unittest.TestCase):
    def test_figures_by_pool(self):
        cuda = torch.cuda
        before = cuda.memory_stats()
        kept = [torch.empty(n, dtype=torch.uint8, device="cuda")
                for n in (1, 513, 3 << 20)]
        after = cuda.memory_stats()
        grown = {name: after[name] - before[name] for name in (
            "allocated_bytes.small_pool.current", "allocation.all.current",
            "allocated_bytes.large_pool.current",
            "requested_bytes.all.allocated")}
        self.assertEqual(list(grown.values()), [1536, 3, 3 << 20,
                                                (3 << 20) + 514])
        kept.clear()
        self.assertEqual(cuda.memory_stats()["allocation.all.freed"] -
                         before["allocation.all.freed"], 3)
        self.assertIn("Allocated memory", cuda.memory_summary())
        self.assertEqual(set(cuda.memory_stats_as_nested_dict()["segment"]),
                         {"all", "small_pool", "large_pool"})

    def test_what_the_driver_says_elsewhere(self):
        cuda = torch.cuda
        for function, answer in (
                (cuda.get_sync_debug_mode, 0),
                (cuda.host_memory_stats, {}),
                (cuda.get_per_process_memory_fraction, 1.0)):
            self.assertEqual(function(), answer)
        cuda.memory.caching_allocator_enable(False)

    def test_fake_tensors_have_none(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        gc.collect()  # what other tests left must not go in between
        before = torch.cuda.memory_allocated()
        with FakeTensorMode():
            kept = torch.empty(1 << 20, device="cuda")
        self.assertEqual(kept.device.type, "cuda")
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_too_much(self):
        failures = torch.cuda.memory_stats()["num_ooms"]
        for function in (
                lambda: torch.empty(1 << 45, device="cuda"),
                lambda: torch.ones(1 << 20, device="cuda").repeat(1 << 25)):
            with self.assertRaisesRegex(
                    torch.cuda.OutOfMemoryError,
                    r"CUDA out of memory. Tried to allocate 131072.00 GiB. "
                    r"GPU 0 has a total capacity of 131.32 GiB"):
                function()
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], failures + 2)
        with self.assertRaisesRegex(RuntimeError, "DefaultCPUAllocator"):
            torch.empty(1 << 45)


class Modules(unittest.TestCase):
    """What torch.cuda takes from its modules is there as well."""

    def test_functions(self):
        cuda = torch.cuda
        for module, name in ((cuda.memory, "mem_get_info"),
                             (cuda.memory, "empty_cache"),
                             (cuda.random, "get_rng_state"),
                             (cuda.random, "manual_seed"),
                             (cuda.streams, "Stream"),
                             (cuda.graphs, "CUDAGraph")):
            self.assertIs(getattr(module, name), getattr(cuda, name))
        self.assertGreater(cuda.memory.mem_get_info()[1], 0)

    def test_natives(self):
        c = torch._C
        self.assertEqual(c._cuda_getDevice(), 0)
        with torch.cuda.device(1):
            self.assertEqual(c._cuda_exchangeDevice(0), 1)
        self.assertEqual(torch.cuda._exchange_device(0), 0)
        self.assertEqual(c._cuda_getCurrentStream(0)[1:], (0, 1))
        self.assertTrue(torch.cuda.current_blas_handle())


H, B, S, W = torch.float16, torch.bfloat16, torch.float32, torch.float64


def ones(*shape, dtype=S):
    return torch.ones(shape, device="cuda").to(dtype)


class Dtypes(unittest.TestCase):
    """What CUDA says of tensors of several dtypes, and of rare ones."""

    def refused(self, text, function, *args, **kwargs):
        with self.assertRaises(RuntimeError) as caught:
            function(*args, **kwargs)
        self.assertIn(text, str(caught.exception))
        return caught.exception

    def test_products(self):
        names = {H: ("c10::Half", "Half"), B: ("c10::BFloat16", "BFloat16"),
                 S: ("float", "Float"), W: ("double", "Double")}
        for a, b in ((H, S), (S, H), (H, B), (B, W)):
            same = "expected mat1 and mat2 to have the same dtype, but got: " \
                f"{names[a][0]} != {names[b][0]}"
            scalar = f"expected scalar type {names[a][1]} but found " + \
                names[b][1]
            x, y = ones(3, 4, dtype=a), ones(4, 6, dtype=b)
            self.refused(same, torch.mm, x, y)
            self.refused(same, F.linear, x, y.t())
            self.refused(scalar, torch.bmm, x[None], y[None])
            self.refused(scalar, torch.mv, x, y[:, 0])
            self.refused(scalar, torch.einsum, "ij,jk->ik", x, y)
            self.refused("have same dtype", torch.dot, x[0], y[:, 0])
            self.refused("dtype", torch.mm, x, x.t(),
                         out=torch.empty(3, 3, device="cuda", dtype=b))

    def test_convolutions(self):
        self.refused("Input type (torch.cuda.HalfTensor) and weight type "
                     "(CUDABFloat16Type) should be the same", F.conv1d,
                     ones(1, 2, 5, dtype=H), ones(3, 2, 2, dtype=B))
        self.refused("Input type (torch.cuda.FloatTensor) and weight type "
                     "(torch.cuda.HalfTensor) should be the same", F.conv2d,
                     ones(1, 2, 5, 5), ones(3, 2, 2, 2, dtype=H))

    def test_norms(self):
        x, half = ones(2, 4), ones(2, 4, dtype=H)
        for given, weight, text in ((half, ones(4), "Half but found Float"),
                                    (x, ones(4, dtype=H),
                                     "Float but found Half")):
            self.refused(text, F.layer_norm, given, (4,), weight)
        self.refused("Half but found Float", F.group_norm, half, 2, ones(4),
                     ones(4))
        norm = torch.nn.BatchNorm1d(4).cuda()
        self.assertIs(norm(half).dtype, H)
        self.assertEqual(norm.num_batches_tracked.item(), 1)
        self.refused("expected scalar type Float but found BFloat16",
                     norm.bfloat16(), half)

    def test_losses(self):
        for loss, wanted in ((F.mse_loss, S), (F.smooth_l1_loss, S),
                             (F.huber_loss, H), (F.soft_margin_loss, H)):
            self.assertIs(loss(ones(4, dtype=H), ones(4)).dtype, wanted)
        self.refused("Half but found Float", F.cross_entropy,
                     ones(2, 3, dtype=H), torch.zeros(
                         2, dtype=torch.long, device="cuda"), ones(3))

    def test_writes(self):
        x, i = ones(3, dtype=H), torch.tensor([0, 1], device="cuda")
        self.refused("Expected self.dtype to be equal to src.dtype",
                     x.scatter, 0, i, ones(2))
        self.refused("must have the same scalar type", x.index_add, 0, i,
                     ones(2))
        for target, value in (x, ones(1)[0]), (ones(3), x[0]), (x, ones(3)):
            with self.assertRaisesRegex(RuntimeError, "Index put requires "
                                        "the source and destination dtypes"):
                target[target > 0] = value
        x[x > 0] = 2
        x[:2] = ones(2)
        self.assertEqual(x.tolist(), [1, 1, 2])

    def test_products_that_only_cuda_has(self):
        def bytes_of(*shape):
            return torch.ones(shape, dtype=torch.int8, device="cuda")

        self.assertEqual(torch._int_mm(bytes_of(17, 8), bytes_of(8, 8)).sum(),
                         17 * 8 * 8)
        for text, a, b in (
                ("self.size(0) needs to be greater than 16, but got 16",
                 (16, 8), (8, 8)),
                ("self.size(1) needs to be greater than 0 and a multiple of "
                 "8, but got 30", (32, 30), (30, 8)),
                ("needs to match mat2.size(0) but got 8 and 16", (32, 8),
                 (16, 8)),
                ("mat2.size(1) needs to be greater than 0 and a multiple of "
                 "8, but got 15", (32, 8), (8, 15))):
            self.refused(text, torch._int_mm, bytes_of(*a), bytes_of(*b))
        self.check_weights_of_four_bits()
        self.refused("expected scalar type Char but found Int", torch._int_mm,
                     bytes_of(32, 8).int(), bytes_of(8, 8).int())
        if hasattr(torch.ops.aten.mm, "dtype"):
            self.refused("input dtypes must be the same", torch.mm,
                         ones(2, 2, dtype=H), ones(2, 2, dtype=B),
                         out_dtype=S)

    def check_weights_of_four_bits(self):
        weight = torch.arange(24 * 64).reshape(24, 64).cuda() * 7 % 16
        halves = (weight[:, ::2] << 4 | weight[:, 1::2]).to(torch.uint8)
        packed = torch._convert_weight_to_int4pack(halves, 4)
        self.assertEqual(packed.shape, (3, 1, 32, 2))
        # Lane 5: row 1, columns 2, 3, 10, 11 and 16 further on.
        columns = [2, 10, 18, 26, 3, 11, 19, 27]
        self.assertEqual(packed[0, 0, 5, 0].item() & 0xffffffff, sum(
            weight[1, c].item() << 4 * i for i, c in enumerate(columns)))
        scales = torch.rand(2, 24, 2, device="cuda").bfloat16()
        a = torch.randn(3, 64, device="cuda").bfloat16()
        result = torch._weight_int4pack_mm(a, packed, 32, scales)
        scale, zero = scales.float().repeat_interleave(32, 0).unbind(-1)
        wide = ((weight.t() - 8) * scale + zero).bfloat16()
        torch.testing.assert_close(result, (a.float() @ wide.float()).bfloat16(
            ))
        self.refused("Expected qGroupSize == 32 || qGroupSize == 64 || ",
                     torch._weight_int4pack_mm, a, packed, 16, scales)
        self.refused("Expected in.dtype() == at::kByte to be true",
                     torch._convert_weight_to_int4pack, weight, 2)

    def test_rare_ones(self):
        for dtype, name in ((torch.float8_e4m3fn, "Float8_e4m3fn"),
                            (torch.uint16, "UInt16"),
                            (torch.uint64, "UInt64")):
            x = ones(4, dtype=dtype)
            for function, kernel in (
                    (lambda: x * x, "mul_cuda"), (lambda: x * 2, "mul_cuda"),
                    (lambda: x + x, "ufunc_add_CUDA"), (x.any, "or_cuda"),
                    (lambda: x < x, "compare_cuda"), (x.max, "max_all_cuda"),
                    (lambda: x.roll(1), "roll_cuda"), (lambda: -x, "neg_cuda"),
                    (lambda: x[None] @ x[:, None], "addmm_cuda")):
                error = self.refused(
                    f"\"{kernel}\" not implemented for '{name}'", function)
                self.assertIsInstance(error, NotImplementedError)
            index = torch.tensor([1, 0], device="cuda")
            for moved in (x.flip(0), x.gather(0, index), torch.cat([x, x]),
                          x.scatter(0, index, x[:2]), x.clone(),
                          x.index_select(0, index), x == x,
                          torch.isin(x, x), x.float(), torch.eye(
                              2, dtype=dtype, device="cuda")[0]):
                self.assertEqual(moved.float()[0].item(), 1)
            self.assertTrue(torch.equal(x, x.view(4)))
        self.refused("where_cuda", torch.where, x == x, x, x)
        self.refused("index_cuda", lambda: x[index])

    def test_kernels_have_cudas_names(self):
        i = torch.ones(3, 3, dtype=torch.int32, device="cuda")
        error = self.refused("\"addmm_cuda\" not implemented for 'Int'",
                             torch.mm, i, i)
        self.assertIsInstance(error, NotImplementedError)
        self.refused("max_pool2d_with_indices_out_cuda_frame", F.max_pool1d,
                     i[None], 2)
        self.refused("unable to find an engine", F.conv1d, i[None], i[None])
        self.refused("\"gcd_cuda\"", torch.gcd, i > 0, i > 0)
        self.assertTrue((i > 0).flatten().median().item())

    def test_rounded_once(self):
        x = (torch.arange(1, 2000).double() / 977).half().cuda()
        exact = x.cpu().double().rsqrt().half()
        self.assertTrue(torch.equal(torch.rsqrt(x).cpu(), exact))


class Libraries(unittest.TestCase):
    def define(self, name, **kernels):
        library = torch.library.Library(f"tkdbg_host_{name}", "DEF")
        self.addCleanup(library._destroy)
        library.define("f(Tensor x) -> Tensor")
        for key, kernel in kernels.items():
            library.impl("f", kernel, key)
        return getattr(torch.ops, f"tkdbg_host_{name}").f

    def test_a_kernel_for_the_cpu_is_none_for_cuda(self):
        f = self.define("a", CPU=lambda x: x * 2)
        self.assertEqual(f(torch.ones(2)).tolist(), [2, 2])
        text = "with arguments from the 'CUDA' backend"
        with self.assertRaisesRegex(NotImplementedError, text):
            f(ones(2))
        with self.assertRaisesRegex(NotImplementedError, text):
            self.define("b")(ones(2))

    def test_a_kernel_for_all(self):
        f = self.define("c", CPU=lambda x: x * 2,
                        CompositeExplicitAutograd=lambda x: x * 3)
        self.assertEqual(f(torch.ones(1)).item(), 2)
        self.assertEqual(f(ones(1)).item(), 3)

    def test_custom_op(self):
        @torch.library.custom_op("tkdbg_host_d::f", mutates_args=())
        def f(x: torch.Tensor) -> torch.Tensor:
            return x * 3

        @f.register_kernel("cpu")
        def _(x):
            return x * 2

        self.assertEqual(f(ones(1)).item(), 3)
        self.assertEqual(f(torch.ones(1)).item(), 2)

    def test_opcheck(self):
        @torch.library.custom_op("tkdbg_host_e::f", mutates_args=())
        def f(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        f.register_fake(torch.empty_like)
        f.register_autograd(lambda ctx, g: g * 2)
        found = torch.library.opcheck(f, (ones(3).requires_grad_(),))
        self.assertEqual(set(found.values()), {"SUCCESS"})

    def test_fake_tensors(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        fake = FakeTensorMode()
        with fake:
            x = torch.empty(4, device="cuda", requires_grad=True)
            y = x * 2
            self.assertEqual([t.device.type for t in (x, y, torch.empty(1))],
                             ["cuda", "cuda", "cpu"])
            y.sum().backward()
        self.assertEqual(fake.from_tensor(ones(2)).device.type, "cuda")
        kept = torch.empty(2, device="cuda")  # whose memory is followed
        with warnings.catch_warnings(), fake:
            warnings.simplefilter("error")  # of a fake tensor's address
            torch.empty(4, device="cuda").fill_(1)
        self.assertTrue(kept.is_cuda)

    def test_devices_while_a_program_is_traced(self):
        """Helion and others make fake tensors on the device of a real one."""
        from torch._subclasses.fake_tensor import (
            DataDependentOutputException, FakeTensorMode)
        from torch.fx.experimental.proxy_tensor import make_fx
        x = torch.ones(4, device="cuda")
        there = torch.device("cuda", 0)
        with FakeTensorMode():
            fake = torch.empty_strided((4,), (1,), device=x.device)
            self.assertEqual((x.device, x.is_cuda, x.get_device()),
                             (there, True, 0))
            self.assertEqual(fake.device, there)
            self.assertEqual(torch.ones(4).device.type, "cpu")
            for found in (torch.where(fake > 0, fake, 0.0),
                          torch.where(fake > 0, 1, 0.5),
                          fake.where(fake > 0, 2)):
                self.assertEqual(found.device, there)
            self.assertEqual(torch.where(fake > 0, 1, 0).dtype, torch.int64)
            self.assertEqual(torch.where(fake > 0, 1, 0.5).dtype,
                             torch.float32)
            # a number of the program's is known until somebody writes there
            number = torch.tensor(2.3, device="cuda", dtype=torch.half)
            self.assertEqual(number.item(), 2.30078125)
            number.add_(1)
            with self.assertRaises(DataDependentOutputException):
                number.item()
        text = make_fx(lambda v: torch.where(v > 0, v, 0.0),
                       tracing_mode="fake")(x).code
        self.assertIn("scalar_tensor", text)
        self.assertNotIn("cpu", text)


class Places(unittest.TestCase):
    """Where results are, and what CUDA says of places that differ."""

    def setUp(self):
        self.g, self.c = ones(6), torch.ones(6)

    def refused(self, text, function, *args, error=RuntimeError, **kwargs):
        with self.assertRaises(error) as caught:
            function(*args, **kwargs)
        self.assertIn(text, str(caught.exception))

    def test_operators_that_copy_first(self):
        g, c = self.g, self.c
        self.refused("expected self and mask to be on the same device, but "
                     "got mask on cpu and self on cuda:0", g.masked_fill,
                     c > 0, 1.0)
        two = "found at least two devices, cuda:0 and cpu!"
        self.refused(two, g.index_fill, 0, torch.tensor([0]), 1.0)
        self.refused(two, torch.kron, g, c)
        self.refused(two, lambda: c + g)
        self.refused(two, lambda: torch.tensor(1.0).add_(g[0]))
        self.refused("wrapper_CUDA_clamp_Tensor", g.clamp, c[0])
        for result in (torch.nn.utils.rnn.pad_sequence([g, c]),
                       g.new_tensor(c), g.new_full((2,), c[0])):
            self.assertTrue(result.is_cuda)

    def test_functions_of_several_operators(self):
        g, c = self.g, self.c
        for text, function, args in (
                ("meshgrid expects all tensors", torch.meshgrid, (g, c)),
                ("quantile() q tensor must be", torch.quantile,
                 (g, torch.tensor([0.5]))),
                ("Input 0 is on device cuda:0 and input 2 is on device cpu",
                 torch.block_diag, (g[None], g[None], c[None])),
                ("key.device: cpu and value.device: cuda:0 instead",
                 F.scaled_dot_product_attention,
                 (g[None, None], c[None, None], g[None, None])),
                ("Input type (torch.cuda.FloatTensor) and weight type "
                 "(torch.FloatTensor) should be the same", F.conv1d,
                 (g[None, None], c[None, None, :2])),
                ("Input and parameter tensors are not at the same device, "
                 "found input tensor at cpu and parameter tensor at cuda:0",
                 torch.nn.LSTM(6, 2).cuda(), (c[None, None],)),
                ("Attempted to set the storage of a tensor on device "
                 "\"cuda:0\"", g.set_, (c,))):
            self.refused(text, function, *args)

    def test_factories(self):
        n = torch.tensor(3, device="cuda")
        for result in (torch.full((2,), n), torch.zeros(n, 2), torch.eye(n),
                       torch.arange(n), torch.as_tensor([n, n]),
                       torch.rand(n)):
            self.assertEqual(result.device.type, "cpu")
        self.assertTrue(torch.full((2,), n, device="cuda").is_cuda)

    def test_gradients(self):
        x = self.g.clone().requires_grad_()
        self.refused("invalid gradient at index 0 - expected device cuda:0 "
                     "but got cpu", (x * 2).backward, self.c)

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return torch.ones(6)

        self.refused("Function TwiceBackward returned an invalid gradient at "
                     "index 0 - expected device cuda:0 but got cpu",
                     Twice.apply(x).sum().backward)

    def test_moves(self):
        self.refused("Cannot copy out of meta tensor", torch.nn.Linear(
            2, 2, device="meta").cuda, error=NotImplementedError)
        self.refused("Invalid device, must be cuda device", self.c.cuda, "cpu")
        self.refused("cannot pin 'torch.cuda.FloatTensor'", self.g.pin_memory)
        p = torch.nn.Parameter(self.c).cuda()
        self.assertEqual(type(p.grad_fn).__name__, "ToCopyBackward0")

    def test_devices(self):
        cuda, text = torch.cuda, "Expected a cuda device, but got: cpu"
        for function in (cuda.set_device, cuda.synchronize, cuda.Stream,
                         cuda.get_device_properties):
            self.refused(text, function, "cpu", error=ValueError)
        self.refused("with a specified index", cuda.set_device, "cuda",
                     error=ValueError)

    def test_transforms(self):
        kept = torch.empty(3, device="cuda")  # noqa: F841
        x = ones(2)
        self.assertEqual(torch.func.hessian(lambda a: (a ** 3).sum())(
            x).tolist(), [[6, 0], [0, 6]])

    def test_other_libraries(self):
        x = ones(2, 3)
        self.assertEqual(x.__dlpack_device__(), (2, 0))
        self.assertEqual(self.c.__dlpack_device__(), (1, 0))
        self.assertEqual(torch.from_dlpack(x).device.type, "cuda")
        self.assertEqual(torch.from_dlpack(self.c).device.type, "cpu")
        shared = x.t().__cuda_array_interface__
        self.assertEqual((shared["shape"], shared["strides"],
                          shared["typestr"]), ((3, 2), (4, 12), "<f4"))
        self.assertFalse(hasattr(self.c, "__cuda_array_interface__"))

        class Other:
            __cuda_array_interface__ = shared

        same = torch.as_tensor(Other(), device="cuda")
        self.assertEqual((same.is_cuda, same.data_ptr()),
                         (True, x.data_ptr()))


class Graphs(unittest.TestCase):
    def capture(self, function):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function()
        return graph, result

    def refused(self, text, function):
        with self.assertRaisesRegex(RuntimeError, text):
            function()

    def waits(self, function):
        """CUDA refuses the call, and the graph with it."""
        with self.assertRaisesRegex(
                torch.AcceleratorError, "failed due to a previous error"
        ) as caught:
            self.capture(function)
        self.assertIn("not permitted when stream is capturing",
                      str(caught.exception.__context__))
        self.assertEqual(torch.cuda.current_stream(),
                         torch.cuda.default_stream())

    def test_what_waits(self):
        x = torch.eye(4, device="cuda") + 1
        mask, l = x > 1, torch.linalg
        for function in (
                x[0, 0].item, x.nonzero, lambda: x[mask], lambda: x.unique(),
                lambda: torch.allclose(x, x), lambda: torch.equal(x, x + 1),
                lambda: x.__setitem__(mask, x[0]), lambda: torch.histc(x),
                lambda: torch.bincount(mask.long()[0]), lambda: l.inv(x),
                lambda: l.cholesky(x), lambda: l.solve(x, x),
                lambda: l.eigh(x), lambda: l.eigvals(x), lambda: l.svd(x),
                lambda: l.pinv(x), lambda: l.matrix_rank(x),
                lambda: l.lu_factor(x), lambda: l.cond(x),
                lambda: torch.nn.functional.one_hot(mask.long()),
                lambda: x.repeat_interleave(mask.long()[0], 0)):
            self.waits(function)
        # the program goes on, but there is no graph
        graph = torch.cuda.CUDAGraph()
        with self.assertRaisesRegex(RuntimeError, "a previous error"):
            with torch.cuda.graph(graph):
                y = x + 1
                with self.assertRaises(torch.AcceleratorError):
                    y.tolist()
        self.refused("without a preceding successful capture", graph.replay)

    def test_what_does_not_wait(self):
        x, at = torch.zeros(2, 3, device="cuda"), torch.tensor(
            [1, 0], device="cuda")
        mask = torch.tensor([[True, False, True]] * 2, device="cuda")

        def step():
            x[mask] = 2.0
            x[0, mask[0]] = torch.tensor(3.0)
            x[1, 1:2] = 4.0
            return (torch.nn.functional.one_hot(at, 3),
                    torch.nn.functional.one_hot(at, num_classes=2),
                    at.repeat_interleave(at, output_size=1),
                    torch.histc(x, 2, 0, 4), torch.equal(x, x),
                    torch.linalg.inv_ex(torch.eye(2, device="cuda"))[0],
                    torch.linalg.det(torch.eye(2, device="cuda")))

        graph, found = self.capture(step)
        self.assertEqual(x.tolist(), [[0] * 3] * 2)
        at.copy_(torch.tensor([0, 1]))
        mask[:, 1] = True
        graph.replay()
        self.assertEqual(x.tolist(), [[3, 3, 3], [2, 4, 2]])
        self.assertEqual([f.tolist() for f in found[:4]], [
            [[1, 0, 0], [0, 1, 0]], [[1, 0], [0, 1]], [1], [0, 6]])
        half = torch.zeros(3, device="cuda").half()
        half[mask[0]] = torch.tensor(1.0)  # of another type: a fill
        self.assertEqual(half.tolist(), [1] * 3)
        self.refused("source and destination dtypes match",
                     lambda: half.__setitem__(at, torch.tensor(1.0)))

    def test_where_a_capture_begins(self):
        graph = torch.cuda.CUDAGraph()
        self.refused("must be captured on a non-default stream",
                     graph.capture_begin)
        self.refused("Unknown capture error mode.*got loose", lambda: (
            torch.cuda.graph(graph, capture_error_mode="loose").__enter__()))
        with self.assertWarnsRegex(UserWarning, "The CUDA Graph is empty"):
            with torch.cuda.graph(graph):
                pass
        graph.replay()

    def test_one_capture_for_a_graph(self):
        x = ones(2)
        graph = torch.cuda.CUDAGraph()
        text = "without a preceding successful capture"
        self.refused(text, graph.replay)
        for _ in range(2):
            with torch.cuda.graph(graph):
                y = x + 1
            with self.assertRaisesRegex(RuntimeError, "already owns"):
                with torch.cuda.graph(graph):
                    x + 2
            self.assertEqual(torch.cuda.current_stream(),
                             torch.cuda.default_stream())
            x += 1
            graph.replay()
            self.assertEqual(y.tolist(), (x + 1).tolist())
            graph.reset()
        self.refused(text, graph.replay)

    def test_copies_of_pageable_memory(self):
        x, text = ones(4), "during CUDA graph capture unless the CPU tensor is"
        for function in (lambda: torch.tensor([1.0], device="cuda"),
                         torch.ones(3).cuda, x.cpu, lambda: x.to("cpu"),
                         lambda: torch.as_tensor([1], device="cuda"),
                         lambda: x[[0, 1]], lambda: x.__setitem__(0, 2.0),
                         lambda: x[torch.tensor([1])],
                         lambda: x.copy_(torch.ones(4)),
                         lambda: torch.ones(4).copy_(x)):
            self.refused(text, lambda f=function: self.capture(f))
        pinned = torch.ones(4).pin_memory()
        graph, (y, _) = self.capture(lambda: (
            pinned.cuda(non_blocking=True) + 1, pinned.copy_(
                x * 3, non_blocking=True)))
        graph.replay()
        self.assertEqual((y.tolist(), pinned.tolist()), ([2] * 4, [3] * 4))

    def test_what_runs_on_the_host_runs_once(self):
        count, x = torch.zeros(1), ones(2)

        def step():
            count.add_(1)
            return x + 1

        graph, _ = self.capture(step)
        graph.replay()
        self.assertEqual(count.item(), 1)

    def test_shapes_that_change_in_place(self):
        x = torch.arange(6.0, device="cuda")
        if torch.__version__ < "2.13":  # whose CPU looks at 0.5
            self.skipTest("quantile asks the host in this PyTorch")
        graph, middle = self.capture(lambda: x.quantile(0.5))
        x.add_(3)
        graph.replay()
        self.assertEqual(middle.item(), 5.5)

    def test_clipped_gradients(self):
        p = torch.nn.Parameter(ones(4))
        p.grad = ones(4)
        graph, norm = self.capture(
            lambda: torch.nn.utils.clip_grad_norm_([p], 1.0))
        p.grad.fill_(2)
        graph.replay()
        self.assertEqual(norm.item(), 4)
        self.assertAlmostEqual(p.grad[0].item(), 0.5, 5)

    def test_seeds(self):
        self.refused("can be called during stream capture only",
                     lambda: self.capture(lambda: torch.cuda.manual_seed(1)))

    def test_streams_and_events(self):
        event, stream = torch.cuda.Event(), torch.cuda.Stream(priority=-9)
        self.assertIsNone(event.device)
        event.record(stream)
        self.assertEqual(event.device, torch.device("cuda:0"))
        self.assertEqual((stream.priority, stream.priority_range()),
                         (-3, (0, -3)))
        ones(2).record_stream(stream)
        self.waits(stream.query)


class Again(support.ScriptCase):
    triton = "ours"  # the script installs that itself

    def test_autocast_after_the_device_was_taken_away(self):
        self.run_script("""
            import tkdbg
            import torch
            for i in range(2):
                tkdbg.uninstall()
                tkdbg.install(quiet=True, triton="ours")
                x = torch.ones(2, 2, device="cuda")
                with torch.autocast("cuda"):
                    assert (x @ x).dtype == torch.float16
        """)


class Autocast(unittest.TestCase):
    def test_recurrent_networks_are_cudnns(self):
        for dtype in H, B:
            for kind in torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN:
                network = kind(4, 3).cuda()
                with torch.autocast("cuda", dtype=dtype):
                    y, _ = network(ones(2, 1, 4))
                self.assertIs(y.dtype, H)
                y.float().sum().backward()
                self.assertIs(network.weight_ih_l0.grad.dtype, S)

    def test_weights_are_laid_out_for_cudnn(self):
        """As PyTorch built with cuDNN does when they come to the device."""
        weights = [ones(20, 4), ones(20, 5), ones(20), ones(20)]
        flat = torch._cudnn_rnn_flatten_weight(
            weights, 4, 4, 2, 5, 0, 1, False, False)
        self.assertTrue(flat.is_cuda)
        self.assertEqual(flat.numel(), 220)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.nn.LSTM(4, 5).cuda()

    def test_a_type_that_is_not_the_regions(self):
        x, half = ones(3), ones(3, dtype=H)
        with torch.autocast("cuda", dtype=B):
            with self.assertRaisesRegex(RuntimeError, "autocast::prioritize"):
                torch.addcmul(half, x, x)
        with torch.autocast("cuda", dtype=H):
            self.assertIs(torch.addcmul(half, x, x).dtype, S)
            self.assertIs(torch.atan2(half, half).dtype, H)

    def test_without_a_region(self):
        x = ones(2, 2)
        torch.set_autocast_enabled("cuda", True)
        try:
            self.assertIs((x @ x).dtype, H)
        finally:
            torch.set_autocast_enabled("cuda", False)
        self.assertIs((x @ x).dtype, S)
        with torch.autocast("cuda:0"):
            self.assertIs((x @ x).dtype, H)


class Numbers(unittest.TestCase):
    """The device's generator is not the CPU's."""

    def test_places_do_not_mix(self):
        torch.manual_seed(1)
        here, there = torch.rand(3), torch.rand(3, device="cuda")
        for moved in (lambda: torch.rand(9, device="cuda"),
                      lambda: F.dropout(ones(9)), ones(9).normal_,
                      lambda: torch.nn.Linear(3, 3, device="cuda"),
                      lambda: torch.cuda.manual_seed(9)):
            torch.manual_seed(1)
            moved()
            self.assertTrue(torch.equal(torch.rand(3), here))
        torch.manual_seed(1)
        torch.rand(9)
        torch.randn_like(torch.ones(4))
        self.assertTrue(torch.equal(torch.rand(3, device="cuda"), there))

    def test_states(self):
        state = torch.cuda.get_rng_state()
        self.assertEqual(state.device.type, "cpu")
        first = torch.rand(3, device="cuda")
        torch.rand(3)
        torch.cuda.set_rng_state(state)
        with torch.random.fork_rng():
            torch.rand(3, device="cuda")
        self.assertTrue(torch.equal(torch.rand(3, device="cuda"), first))
        torch.cuda.manual_seed(5)
        self.assertEqual(torch.cuda.initial_seed(), 5)
        (g,) = torch.cuda.default_generators
        self.assertIsInstance(g, torch.Generator)
        first = torch.rand(3, device="cuda", generator=g)
        torch.cuda.manual_seed(5)
        self.assertTrue(torch.equal(torch.rand(3, device="cuda"), first))

    def test_generators(self):
        g = torch.Generator("cuda").manual_seed(2)
        self.assertEqual((g.device, g.get_offset()), (torch.device("cuda"), 0))
        clone = g.clone_state()
        self.assertTrue(torch.equal(*[torch.rand(
            3, device="cuda", generator=each) for each in (g, clone)]))
        g.set_offset(8)
        self.assertEqual(g.get_offset(), 8)
        with self.assertRaisesRegex(RuntimeError, "multiple of 4"):
            g.set_offset(3)

    def test_graphs(self):
        graph = torch.cuda.CUDAGraph()
        torch.cuda.manual_seed(3)
        first = torch.rand(3, device="cuda")
        torch.cuda.manual_seed(3)
        with torch.cuda.graph(graph):
            y = torch.rand(3, device="cuda")
        here = torch.get_rng_state()
        graph.replay()
        self.assertTrue(torch.equal(y, first))
        self.assertTrue(torch.equal(torch.get_rng_state(), here))


if __name__ == "__main__":
    unittest.main()
