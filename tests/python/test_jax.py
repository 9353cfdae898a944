"""jax_triton.triton_call where JAX has no GPU."""
import os
import re
import unittest

import support

support.need("library", "jax", "jax_triton")

PAGE = os.path.join(support.ROOT, "docs", "jax.md")
HEAD = """
    import sys
    import warnings
    import jax
    import jax.numpy as jnp
    import jax_triton as jt
    import numpy as np
    import triton
    import triton.language as tl

    same = np.testing.assert_array_equal

    @triton.jit
    def increase(x, out, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(out + i) + 1)

    def increased(z, BLOCK=8, **others):
        return jt.triton_call(z, kernel=increase, out_shape=z, grid=1,
                              input_output_aliases={0: 0}, BLOCK=BLOCK,
                              **others)

    z = jnp.arange(8)
"""

TUNED = """
    @triton.autotune([triton.Config({"BLOCK": b}, num_warps=w)
                      for b, w in ((8, 64), (16, 4), (32, 4))], key=["n"])
    @triton.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
    @triton.jit
    def scale(x, a, flag, n, out, count, BLOCK: tl.constexpr,
              EVEN: tl.constexpr):
        tl.static_assert(a.dtype == tl.float64)
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        values = tl.load(x + i, mask=i < n)
        if flag:
            values = (values * a).to(values.dtype)
        tl.store(out + i, values, mask=i < n)
        tl.atomic_add(count + i, 1 + EVEN, mask=i < n)

    def scaled(x, a=2.5, flag=True, **metaparams):
        return jt.triton_call(
            x, a, flag, x.size, kernel=scale, zeroed_outputs=(1,),
            out_shape=(x, jax.ShapeDtypeStruct(x.shape, jnp.int32)),
            grid=lambda meta: triton.cdiv(x.size, meta["BLOCK"]),
            **metaparams)

    x = jnp.arange(48.0).reshape(6, 8)
    for function in scaled, jax.jit(scaled):
        y, n = function(x)
        same(y, x * 2.5)
        same(n, np.full((6, 8), 2))  # 48 / 16
    same(scaled(x, BLOCK=32)[1], np.ones((6, 8)))
    same(scaled(x, 1.5, False)[0], x)
    b = x.astype(jnp.bfloat16)
    same(scaled(b, 2.0)[0], b * 2)
    print("right")
"""


class TritonCall(support.ScriptCase):
    def test_configurations(self):
        done = self.run_script(TUNED, "--check", head=HEAD)
        self.assertEqual(done.stdout, "right\n")
        self.assertIn("scale: --check saw 1 of 3 configurations",
                      done.stderr)

    def test_all_configurations(self):
        done = self.run_script(TUNED.replace("1 + EVEN", "BLOCK").replace(
            "same(n, ", "len(").replace(
            "same(scaled(x, BLOCK=32)[1], np.ones((6, 8)))", ""),
            "--autotune", "all", head=HEAD, check=False)
        self.assertRegex(done.stderr, "the configurations of scale disagree")
        self.assertIn("48 of 48 elements of count differ", done.stderr)

    def test_inputs_do_not_change(self):
        done = self.run_script("""
            same(increased(z), np.arange(8) + 1)
            same(z, np.arange(8))
            same(jax.jit(lambda z: increased(z * 2))(z), np.arange(8) * 2 + 1)

            @triton.jit
            def writes(x, out):
                tl.store(x, 1)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                out = jt.triton_call(z * 1.5, kernel=writes, grid=1,
                                     out_shape=z.astype(jnp.float32))
            print(caught[0].message)
            print(out[0])
        """, head=HEAD)
        self.assertIn("writes writes x, an input, which JAX takes for "
                      "unchanged", done.stdout)
        self.assertIn("\nnan\n", done.stdout)

    def test_what_is_refused(self):
        done = self.run_script("""
            for others in (dict(compute_capability=80), dict(NOPE=3),
                           dict(custom_call_target_name="x")):
                try:
                    increased(z, **others)
                except (NotImplementedError, TypeError) as e:
                    print(e)
        """, head=HEAD)
        self.assertEqual(done.stdout.splitlines(), [
            "triton_call(..., compute_capability=80): the virtual device has "
            "90; --device chooses another",
            "increase has no parameter NOPE, which triton_call was given",
            "triton_call(..., custom_call_target_name='x'): there are no "
            "custom calls of XLA on the virtual device"])

    def test_the_manuals_example(self):
        """An error in a call back, and the same at once."""
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        script, = re.findall(r"```python\n(.*?)```", page, re.S)
        said, = re.findall(r"```text\n(.*?)```", page, re.S)
        for text in script, script.replace("jax.jit(sum_of)", "sum_of"):
            done = self.run_script(text, head="", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)

    def test_why(self):
        script = """
            got = jax.jit(increased)(z)
            np.testing.assert_allclose(got, z + 2)
        """
        done = self.run_script(script, "--why", head=HEAD, check=False)
        self.assertIn("fails on x of launch 1, increase", done.stderr)
        self.assertIn("script.py:16: with `2` in place of `1` the comparison "
                      "passes", done.stderr)
        self.assertIn("25 | got = jax.jit(increased)(z)", done.stderr)


if __name__ == "__main__":
    unittest.main()
