"""Which kernel of PyTorch's compiler does not compute what its operators do."""
import re
import unittest

import support

support.need("library", "torch")

import torch  # noqa: E402

from tkdbg import fragments  # noqa: E402

TRACED = "what is traced is the same beside any Triton"

# A softmax whose sum takes in the padding of a block, if it is planted.
MODEL = """
    import torch
    import torch._inductor.codegen.triton as triton

    write = triton.TritonKernel.codegen_kernel
    PLANTED = {planted}

    def codegen_kernel(self, *args, **kwargs):
        text = write(self, *args, **kwargs)
        if not PLANTED:
            return text
        assert "r0_mask & xmask, tmp" in text
        return text.replace("r0_mask & xmask, tmp", "xmask, tmp")
    triton.TritonKernel.codegen_kernel = codegen_kernel

    def model(x, w):
        y = torch.softmax(x * 2, -1)
        return (y + w).relu()

    torch.manual_seed(0)
    x = torch.randn(5, 24, device="cuda")
    w = torch.randn(24, device="cuda")
    got, want = torch.compile(model)(x, w), model(x, w)
    torch.testing.assert_close(got, want{more})
"""

COMMENT = """\
x = 1
# kernel path: /tmp/k.py
# Graph fragment:
#   %arg0_1 : Tensor "f32[2, 3][3, 1]cuda:0" = PlaceHolder[target=arg0_1]
#   %getitem : Tensor "f32[2, 1][1, 2]cuda:0" = PlaceHolder[target=getitem]
#   %var_mean : [num_users=2] = call_function[target=torch.ops.aten.var_mean\
.correction](args = (%arg0_1, [1]), kwargs = {correction: 0, keepdim: True})
#   %add : Tensor "f32[2, 1][1, 1]cuda:0"[num_users=1] = call_function[target=\
torch.ops.aten.add.Tensor](args = (%getitem, -1e-05), kwargs = {})
#   %full : Tensor "f16[][]cuda:0"[num_users=1] = call_function[target=torch.\
ops.aten.full.default](args = ([], -inf), kwargs = {dtype: torch.float16, \
layout: torch.strided, device: cuda:0, pin_memory: False})
#   %mul : Tensor "f32[2, 1][1, 1]cuda:0"[num_users=1] = call_function[\
target=torch.ops.aten.mul.Tensor](args = (%getitem_1, 1), kwargs = {})
#   %index : Tensor "f32[1, 3][3, 1]cuda:0"[num_users=1] = call_function[\
target=operator.getitem](args = (%arg0_1, slice(1, None, None)), kwargs = {})
#   %noise : Tensor "f32[2][1]cuda:0"[num_users=1] = call_function[\
target=torch.ops.prims.inductor_random.default](args = ([2], %s, rand), \
kwargs = {})
#   %after : Tensor "f32[2][1]cuda:0"[num_users=1] = call_function[target=torch\
.ops.aten.neg.default](args = (%noise,), kwargs = {})
#   return %getitem,%add,%mul
"""


class Fragments(unittest.TestCase):
    """The comment above a kernel, read and computed."""

    def read(self, *more):
        return fragments.read([*COMMENT.splitlines(True), *more])

    def test_what_is_read(self):
        found = self.read("#   in_ptr0 reads %arg0_1\n",
                          "#   out_ptr1 writes %add\n")
        self.assertEqual(found.inputs, {"arg0_1": fragments.Layout(
            "float32", (2, 3), (3, 1))})
        self.assertEqual(found.returns, ["getitem", "add", "mul"])
        self.assertEqual(found.reads, {"in_ptr0": "arg0_1"})
        self.assertEqual(found.writes, {"out_ptr1": "add"})
        self.assertEqual(found.parts, {"getitem": ("var_mean", 0),
                                       "getitem_1": ("var_mean", 1)})

    def test_no_fragment(self):
        for lines in [], ["x = 1\n"], ["# Graph fragment:\n", "x = 1\n"]:
            with self.subTest(lines):
                self.assertIsNone(fragments.read(lines))

    def test_lines_that_say_more(self):
        lines = fragments.bound_lines({"in_ptr0": "a"}, {"in_out_ptr0": "b"},
                                      {"getitem_3": ("topk", 1)},
                                      {"ks0": "s77", "%arg1_1": "s77"})
        found = self.read(*(f"{line}\n" for line in lines))
        self.assertEqual(found.numbers({"ks0": 5}), {"arg1_1": 5})
        self.assertEqual(found.numbers({"ks1": 5}), {})
        self.assertEqual((found.reads, found.writes, found.parts), (
            {"in_ptr0": "a"}, {"in_out_ptr0": "b"},
            {"getitem_3": ("topk", 1)}))

    def test_what_it_computes(self):
        x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
        for wide, dtype in (False, torch.float32), (True, torch.float64):
            known = fragments.compute(self.read(), {"arg0_1": x}, wide)
            var, mean = torch.var_mean(x.to(dtype), 1, correction=0,
                                       keepdim=True)
            self.assertEqual(known["add"].dtype, dtype)
            torch.testing.assert_close(known["add"], var - 1e-05)
            torch.testing.assert_close(known["mul"], mean)
            self.assertEqual(known["full"].dtype, torch.float64 if wide else
                             torch.float16)
            self.assertEqual(known["index"].tolist(), [[0.0, 0.0, 3.0]])
            self.assertFalse({"noise", "after"} & set(known))

    def test_what_is_written_in_place(self):
        found = fragments.read([
            "# Graph fragment:\n",
            '#   %copy_ : Tensor "f32[4][1]cuda:0" = PlaceHolder[target=c]\n',
            '#   %add : Tensor "f32[4][1]"[num_users=1] = call_function[target='
            "torch.ops.aten.add.Tensor](args = (%arg0_1, 1), kwargs = {})\n",
            '#   %copy_ : Tensor "f32[4][1]"[num_users=0] = call_function['
            "target=torch.ops.aten.copy_.default](args = (%arg0_1, %add), "
            "kwargs = {})\n", "#   in_ptr0 reads %copy_\n"])
        self.assertEqual(list(found.inputs), ["arg0_1"])
        self.assertEqual(found.reads, {"in_ptr0": "arg0_1"})
        x = torch.zeros(4)
        known = fragments.compute(found, {"arg0_1": x}, False)
        self.assertEqual(known["copy_"].tolist(), [1.0] * 4)
        self.assertEqual(x.tolist(), [0.0] * 4)


@unittest.skipIf(not hasattr(torch, "compile"), "this PyTorch has no compiler")
class Why(support.ScriptCase):
    def why(self, text, *options, **kwargs):
        return self.run_script(
            text, "--why", *options, check=False, env={
                "TORCHINDUCTOR_CACHE_DIR": self.path("inductor"),
                "TORCH_LOGS": "output_code"}, **kwargs)

    @support.only_ours(TRACED)
    def test_kernel_and_node(self):
        done = self.why(MODEL.format(planted=True, more=""),
                        "--torch-compile", "inductor")
        self.assertRegex(
            done.stderr, "assert_close fails; of the kernels that PyTorch's "
            "compiler wrote the first that does not compute what its "
            r"operators do is launch 1, triton_\w+\n  out_ptr\d should hold "
            r"relu\n  the kernel computes .*\n  of script.py:\d+, in model: ")
        self.assertRegex(done.stderr, r"tl\.where\(xmask, tmp")
        self.assertRegex(done.stderr, r"to stop there: .* -b \d+ "
                         ".*--torch-compile inductor .*script.py")

    @support.only_ours(TRACED)
    def test_sizes_that_are_known_when_it_runs(self):
        done = self.why("""
            import torch
            import torch._inductor.config as config
            config.triton.inject_relu_bug_TESTING_ONLY = "accuracy"

            def model(x):
                return x.relu() + x.shape[0]

            compiled = torch.compile(model, dynamic=True)
            for n in 5, 17:
                x = torch.randn(n, 33, device="cuda")
                torch.testing.assert_close(compiled(x), model(x))
        """, "--torch-compile", "inductor")
        self.assertRegex(done.stderr, r"is launch 1, triton_\w+\n  out_ptr0 "
                         "should hold add\n")

    @support.only_ours(TRACED)
    def test_a_model_that_stays_eager(self):
        """PyTorch's compiler does not trace tkdbg's own functions where it
        gives a model up."""
        done = self.why("""
            import torch
            torch.manual_seed(0)
            model = torch.nn.GRU(8, 16).cuda()
            x = torch.randn(5, 2, 8, device="cuda")
            got = torch.compile(model)(x)[0]
            torch.testing.assert_close(got, model(x)[0] + 1)
        """, "--torch-compile", "inductor")
        self.assertNotIn("Exception ignored", done.stderr)
        self.assertIn("Greatest absolute difference: 1.0", done.stderr)

    @support.only_ours(TRACED)
    def test_kernels_that_are_right_and_a_file_of_them(self):
        done = self.why(MODEL.format(planted=False, more=" + 1"),
                        "--torch-compile", "inductor")
        self.assertIn("1 launch of kernels that PyTorch's compiler wrote "
                      "computes what its operators do for what it reads",
                      done.stderr)
        lines = [line.partition("[__output_code] ")[2]
                 for line in done.stderr.splitlines()
                 if "[__output_code] " in line]
        text = "\n".join(line for line in lines if not re.match(
            r"Output code|#   \w+ (reads|writes) %|#   %\w+ is part", line))
        self.assertIn("# Graph fragment:", text)
        done = self.why(text, head="")
        self.assertIn("no comparison of arrays has failed", done.stderr)
        self.assertIn("computes what its operators do", done.stderr)
        done = self.why(text.replace("r0_mask & xmask, tmp", "xmask, tmp"),
                        head="")
        self.assertRegex(done.stderr, "tkdbg: of the kernels that PyTorch's "
                         "compiler wrote the first that does not .*\n  out_ptr"
                         r"\d should hold relu, or another node of its shape")


if __name__ == "__main__":
    unittest.main()
