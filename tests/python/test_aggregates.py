"""Aggregates, and Python functions that kernels call with values of theirs:
with our Triton, and beside an installed one.
"""
import os
import subprocess
import tempfile
import textwrap
import unittest

import support

support.need("library", "torch")

HEAD = """
    import torch
    import triton
    import triton.language as tl

    @tl.core._aggregate
    class State:
        acc: tl.tensor
        n: tl.tensor
        K: tl.constexpr

        @triton.constexpr_function
        def __init__(self, acc, n, K):
            self.acc = acc
            self.n = n
            self.K = tl.constexpr(K)

        @staticmethod
        @triton.jit
        def create(K: tl.constexpr):
            n = tl.full((), 0, tl.int32)
            return State(tl.zeros((4,), tl.float32), n, K)

        @triton.jit
        def step(self, x):
            return State(self.acc + x * self.K, self.n + 1, self.K)

        @triton.jit
        def mean(self):
            return self.acc / self.n

        @triton.constexpr_function
        def twice(self):
            return self.K * 2

        @triton.jit
        def __mul__(self, k):
            return State(self.acc * k, self.n, self.K)

        @triton.jit
        def __getitem__(self, i):
            return self.acc + i

    @tl.core._aggregate
    class Nest:
        s: State
        t: tl.tuple

        @triton.constexpr_function
        def __init__(self, s, t):
            self.s = s
            self.t = t

    @triton.jit
    def total(s):
        return tl.sum(s.acc)

    def launch(kernel, *args, n=4):
        out = torch.zeros(n, device="cuda")
        kernel[(1,)](out, *args)
        return [round(x, 4) for x in out.tolist()]
"""

# classes with plain Python methods: Triton compiles these, but its launches
# refuse to hash them
PLAIN = """
    import torch
    import triton
    import triton.language as tl

    @tl.core._aggregate
    class Pair:
        first: tl.tensor
        second: tl.tensor

        def __init__(self, first, second):
            self.first = first
            self.second = second

        def __getitem__(self, i: tl.constexpr, _semantic=None):
            if i == 0:
                return self.first
            assert i == 1, f"a pair has no item {i}"
            return self.second

        def swap(self, _semantic=None):
            kept = self.first
            self.first = self.second
            self.second = kept

        def set(self, a, b, _semantic=None):
            self.first = a
            self.second = b

        def raised(self, k, _semantic=None):
            self.first = _semantic.mul(self.first, k, True)
            self.second = self.second.__add__(k, _semantic=_semantic)
            return self

        @triton.jit
        def unpack(self):
            return self.first, self[1]

    def launch(kernel, *args, n=4):
        out = torch.zeros(n, dtype=torch.int32, device="cuda")
        kernel[(1,)](out, *args)
        return out.tolist()
"""

# classes of Triton 3.8, without constructors
GENERATED = """
    @triton.aggregate
    class Item:
        a: tl.tensor
        b: tl.constexpr = 3
        c: tl.tuple = (1, 2)

        @triton.jit
        def sum(self):
            return self.a + self.b + self.c[0]

    @triton.aggregate
    class Derived(Item):
        d: tl.tensor
        b: tl.constexpr = 5

    @triton.aggregate
    class Own(Derived):
        @triton.constexpr_function
        def __init__(self, x):
            self.a = x
            self.b = tl.constexpr(1)
            self.c = tl.tuple((x,))
            self.d = x
"""


class Cases:
    """Runs under both settings: `triton` says which."""

    def lines(self, text, *options, head=HEAD):
        done = self.run_script(text, "-q", "--triton", self.triton, *options,
                               head=head)
        return done.stdout.splitlines()

    def refused(self, form, cases, head=HEAD, options=()):
        """Each of cases, (text, what is said of it), in the place of BODY
        in form makes a script that defines k; k is refused."""
        text = ""
        for i, (body, _) in enumerate(cases):
            text += textwrap.dedent(form).replace("BODY", body)
            text += ("try:\n    launch(k)\n    print('taken')\n"
                     "except Exception as e:\n    print(*str(e).split())\n")
        lines = self.lines(text, *options, head=head)
        for (body, said), line in zip(cases, lines, strict=True):
            self.assertIn(said, line, body)

    def test_members_of_enumerations(self):
        self.assertEqual(self.lines("""
            import enum
            class Mode(enum.Enum):
                ADD = 3
            @triton.jit
            def k(out, M: tl.constexpr):
                tl.static_print(M, M.name, f"{M.value}", M == 3,
                                M.value == 3, M.value.value)
                tl.store(out, M.value.value)
            print(launch(k, Mode.ADD, n=1))
            KIND = tl.constexpr(tl.int8.kind())
            SPACE = tl.constexpr(tl.pointer_type(tl.int8, 3))
            @triton.jit
            def k(out):
                tl.static_print(KIND, KIND.value == tl.int64.kind(),
                                SPACE.value.address_space)
            launch(k)
        """), ["Mode.ADD ADD Mode.ADD False False 3", "[3.0]",
               "KIND.INTEGRAL True 3"])

    def test_operators_of_objects(self):
        """A constexpr of Python's own object has that object's operators."""
        self.assertEqual(self.lines("""
            import enum, fractions
            class Way(enum.Flag):
                A = 1
                B = 2
            A, B = tl.constexpr(Way.A), tl.constexpr(Way.B)
            HALF = tl.constexpr(fractions.Fraction(1, 2))
            @triton.jit
            def k(out, M: tl.constexpr):
                tl.static_print(A | B, (A | B) & A == A, A ^ B, ~A,
                                not (A & B), not A, M & A)
                tl.static_print(HALF + 1, 1 - HALF, -HALF)
                tl.store(out, 3)
            print(launch(k, Way.A, n=1))
            launch(k, Way.A)
            @triton.jit
            def k(out):
                tl.static_print(A + B)
            try:
                launch(k)
            except Exception as e:
                print("operator + cannot take" in str(e))
        """), ["Way.A|B True Way.A|B Way.B True False Way.A",
               "3/2 1/2 -1/2", "[3.0]", "True"])

    def test_keywords_and_classes_that_inherit(self):
        self.assertEqual(self.lines("""
            @tl.core._aggregate
            class Sum:
                a: tl.tensor
                b: tl.tensor
                @triton.constexpr_function
                def __init__(self, a, **kw):
                    self.a = a
                    self.b = kw.pop("b")
                    for name, value in kw.items():
                        setattr(self, name, value)
                @triton.jit
                def sum(self):
                    return self.a + self.b
            class Twice(Sum):
                @triton.jit
                def twice(self):
                    return self.sum() * 2
            @triton.jit
            def k(out, n):
                tl.store(out, Sum(n, b=n).sum())
                tl.store(out + 1, Sum(b=n, a=n * 5).sum())
                tl.store(out + 2, Twice(n, b=n).twice())
            print(launch(k, 7, n=3))
        """), ["[14.0, 42.0, 28.0]"])

    def test_methods_fields_and_operators(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def k(o, K: tl.constexpr):
                i = tl.arange(0, 4)
                s = State.create(K).step(i).step(i)
                tl.store(o + i, s.mean())
                tl.store(o + 4 + i, s.__mul__(2.0)[1])
                tl.store(o + 8, total(s))
                tl.store(o + 9, s.twice())
                tl.store(o + 10, s.K)
                tl.static_assert(isinstance(s, State) and s is not None)
                tl.static_assert(s.type == s.step(1).type)
            print(launch(k, 3, n=11))
        """), ["[0.0, 3.0, 6.0, 9.0, 1.0, 13.0, 25.0, 37.0, 36.0, 6.0, 3.0]"])

    def test_carried_through_loops_and_branches(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def k(o, n, K: tl.constexpr):
                i = tl.arange(0, 4)
                s = State.create(K)
                for j in range(n):
                    s = s.step(i)
                    if j == 1:
                        s = s.__mul__(2.0)
                    else:
                        s = s.step(1)
                r = s
                while tl.sum(r.acc) < 1000:
                    r = r.step(100)
                if n > 2:
                    q = State(i.to(tl.float32), n, 7)
                else:
                    q = State(i + 0.5, n, 7)
                tl.store(o + i, s.acc)
                tl.store(o + 4 + i, r.acc + q.acc)
                tl.store(o + 8, s.n)
                tl.store(o + 9, q.K + q.n)
            print(launch(k, 3, 2, n=10))
            print(launch(k, 0, 2, n=10))
        """), ["[6.0, 16.0, 26.0, 36.0, 406.0, 417.0, 428.0, 439.0, 5.0, 10.0]",
               "[0.0, 0.0, 0.0, 0.0, 400.5, 401.5, 402.5, 403.5, 0.0, 7.0]"])

    def test_nested_and_in_tuples(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def build(K: tl.constexpr):
                s = State.create(K).step(1)
                return Nest(s, (s.acc, 3))
            @triton.jit
            def both(p):
                return p[0].acc + p[1].s.acc
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                n = build(2)
                for j in range(2):
                    n = Nest(n.s.step(i), (n.t[0] * 2, 3))
                tl.store(o + i, n.s.acc + n.t[0])
                tl.store(o + 4 + i, both((n.s, build(5))))
            print(launch(k, n=8))
        """), ["[10.0, 14.0, 18.0, 22.0, 7.0, 11.0, 15.0, 19.0]"])

    def test_a_loop_carries_lanes_and_no_constants(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                s = State.create(2)
                for j in range(2):
                    s = State(s.acc + s.K, s.n, s.K + 1)
                tl.store(o + i, s.acc + s.K)
            print(launch(k, n=4))
        """), ["[6.0, 6.0, 6.0, 6.0]"])

    def test_what_is_refused(self):
        self.refused("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                s = State.create(2)
                BODY
        """, [
            ("s.acc = i", "Attribute assignment is not supported"),
            ("s.acc += i", "Attribute assignment is not supported"),
            ("s.zcc", "has no attribute zcc"),
            ("s[0] = i", "cannot be assigned"),
            ("s + s", "__add__"),
            ("State(3, 4, 5)", "for the attribute 'acc' of State"),
            ("State(i)", "missing the argument n"),
            ("State(i, i, 1, 2)", "positional arguments"),
            ("if s: pass", "an if takes a bool"),
            ("for j in range(2): s = State(s.acc.to(tl.float16), s.n, s.K)",
             "loop-carried variable s"),
            ("Forgets(i)", "constructor for Forgets did not initialize "
                           "attribute 'a'")], HEAD + """
    @tl.core._aggregate
    class Forgets:
        a: tl.tensor

        @triton.constexpr_function
        def __init__(self, a):
            pass
""")

    def test_builtins_and_externs(self):
        self.assertEqual(self.lines("""
            @tl.core.builtin
            def power(x, n, *rest, twice=False, _semantic=None):
                y = x
                for k in range(n - 1):
                    y = _semantic.mul(y, x, True)
                if twice and isinstance(n, tl.constexpr):
                    y = y.__add__(y, _semantic=_semantic)
                for k, r in enumerate(rest):
                    y = tl.where(_semantic.less_than(y, k), y,
                                 _semantic.add(y, r, True),
                                 _semantic=_semantic)
                return y
            @tl.core.builtin
            def low(x, _semantic=None):
                x = _semantic.to_tensor(x)
                return tl.tensor(_semantic.builder.create_exp(x.handle),
                                 x.type)
            @tl.core.extern
            def tanh(x, _semantic=None):
                fp32, fp64 = tl.core.dtype("fp32"), tl.core.dtype("fp64")
                return tl.core.extern_elementwise(
                    "", "", [x], {(fp32,): ("__nv_tanhf", fp32),
                                  (fp64,): ("__nv_tanh", fp64)},
                    is_pure=True, _semantic=_semantic)
            @triton.jit
            def double(x):
                return x * 2
            @tl.core.builtin
            def calls(x, _semantic=None, _generator=None):
                return _generator.call_JitFunction(double, (x,), {})
            @tl.core.builtin
            def larger(a, b, _semantic=None):
                return tl.constexpr(max(a.value, b.value))
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                tl.store(o + i, power(i, 3, i, twice=True))
                tl.store(o + 4 + i, low(i.to(tl.float32)))
                tl.store(o + 8 + i, tanh(i.to(tl.float32)))
                tl.store(o + 12 + i, calls(i))
                tl.static_assert(larger(3, 5) == 5)
            out = launch(k, n=16)
            for at in range(0, 16, 4):
                print(out[at:at + 4])
        """), ["[0.0, 3.0, 18.0, 57.0]", "[1.0, 2.7183, 7.3891, 20.0855]",
               "[0.0, 0.7616, 0.964, 0.9951]", "[0.0, 2.0, 4.0, 6.0]"])

    def test_builtins_that_are_refused(self):
        self.refused("""
            @tl.core.builtin
            def own(x, k, _semantic=None):
                _semantic.to_tensor(k)
                BODY
            @triton.jit
            def k(o):
                own(tl.arange(0, 4).to(tl.float32), 1)
        """, [
            ("return x + 1", "`_semantic` argument must be provided"),
            ("return tl.exp(x)", "`_semantic` argument must be provided"),
            ("raise TypeError(f'wants {k}')", "raises TypeError: wants 1"),
            ("assert k == 2, 'two'", "does not hold: two"),
            ("with x: return x", "cannot be followed: with"),
            ("return _semantic.builder.create_warp(x)", "create_warp"),
            ("return tl.core.extern_elementwise('', '', [x], {(x.dtype,): "
             "('__my_own', x.dtype)}, True, _semantic=_semantic)",
             "external function __my_own is not known")])

    def test_a_change_of_a_method_is_seen(self):
        self.assertEqual(self.lines("""
            @tl.core.builtin
            def scaled(x, _semantic=None):
                return _semantic.mul(x, FACTOR, True)
            FACTOR = 2
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                tl.store(o + i, scaled(i))
            print(launch(k))
            FACTOR = 3
            try:
                print(launch(k))
            except RuntimeError as e:
                print("FACTOR" in str(e))
        """)[0], "[0.0, 2.0, 4.0, 6.0]")

    def test_a_launch_file_has_the_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.launch")
            self.lines("""
                @tl.core.builtin
                def cubed(x, _semantic=None):
                    return _semantic.mul(x, _semantic.mul(x, x, True), True)
                @triton.jit
                def k(o):
                    i = tl.arange(0, 4)
                    tl.store(o + i, cubed(State.create(2).step(i).mean()))
                launch(k)
            """, "--record", path)
            command = os.path.join(os.path.dirname(support.library()),
                                   "tkdbg")
            done = subprocess.run([command, "replay", path, "--print", "o"],
                                  capture_output=True, text=True)
            self.assertIn("[  0.   8.  64. 216.]", done.stdout)

    def test_a_launch_file_has_types_of_blocks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.launch")
            self.assertEqual(self.lines("""
                @triton.constexpr_function
                def halved(t):
                    return tl.block_type(t.scalar, [t.shape[0] // 2, 2])
                @triton.jit
                def k(o):
                    t: tl.constexpr = halved(tl.arange(0, 4).type)
                    x = tl.full(t.shape, 3, t.element_ty)
                    tl.store(o, tl.sum(x) + t.shape[1] * 100)
                print(launch(k))
            """, "--record", path), ["[212.0, 0.0, 0.0, 0.0]"])
            command = os.path.join(os.path.dirname(support.library()),
                                   "tkdbg")
            done = subprocess.run([command, "replay", path, "--print", "o"],
                                  capture_output=True, text=True)
            self.assertIn("[212.   0.   0.   0.]", done.stdout)


class Ours(Cases, support.ScriptCase):
    triton = "ours"

    def test_python_methods_change_a_value_in_place(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def k(o, n):
                i = tl.arange(0, 4)
                p = Pair(i, i * 10)
                for j in range(n):
                    p.set(p.second, p.first)
                if n > 2:
                    p.swap()
                else:
                    p = p.raised(3)
                a, b = p.unpack()
                tl.store(o + i, a)
                tl.store(o + 4 + i, b)
            print(launch(k, 3, n=8))
            print(launch(k, 2, n=8))
        """, "--triton-version", "3.7", head=PLAIN), [
            "[0, 1, 2, 3, 0, 10, 20, 30]",
            "[0, 3, 6, 9, 3, 13, 23, 33]"])

    def test_python_methods_that_are_refused(self):
        self.refused("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                p = Pair(i, i * 10)
                BODY
        """, [
            ("p[2]", "does not hold: a pair has no item 2"),
            ("for j in range(3): p.set(i.to(tl.int64), i)",
             "the attribute 'first' of p is"),
            ("q = p; p.swap()", "has another name as well"),
            ("p.set(i, 5)", "expected tl.tensor for the attribute")],
            PLAIN, ("--triton-version", "3.7"))

    def test_a_value_stays_what_its_constructor_made_it(self):
        self.refused("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                p = Pair(i, i * 10)
                BODY
        """, [
            ("p.swap()", "cannot assign to field 'first' on immutable "
                         "aggregate Pair"),
            ("p.set(i, 5)", "cannot assign to field 'first'"),
            ("q = p; q.swap()", "cannot assign to field 'first'")], PLAIN)

    def test_parameters_and_results_are_made_without_a_constructor(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def swapped(p):
                p.swap()
                return p
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                p = swapped(Pair(i, i * 10))
                p.set(p.first + 1, p.second)
                tl.store(o + i, p.first)
            print(launch(k))
        """, head=PLAIN), ["[1, 11, 21, 31]"])

    def test_constructors_that_the_decorator_makes(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                tl.store(o + i, Item(i).sum())
                tl.store(o + 4 + i, Item(b=7, a=i, c=(i, 4)).sum())
                d = Derived(i, d=i * 10)
                tl.store(o + 8 + i, d.sum() + d.d)
                tl.static_assert(d.b == 5 and not isinstance(d, Item))
                own = Own(i)
                tl.store(o + 12 + i, own.sum() + own.d)
                e = tl.aggregate_replace(d, a=i * 2, b=0)
                tl.store(o + 16 + i, e.sum() + d.a)
            out = launch(k, n=20)
            for at in range(0, 20, 4):
                print(out[at:at + 4])
        """, head=HEAD + GENERATED), [
            "[4.0, 5.0, 6.0, 7.0]", "[7.0, 9.0, 11.0, 13.0]",
            "[6.0, 17.0, 28.0, 39.0]", "[1.0, 4.0, 7.0, 10.0]",
            "[1.0, 4.0, 7.0, 10.0]"])

    def test_generated_constructors_that_are_refused(self):
        self.refused("""
            @triton.jit
            def k(o):
                i = tl.arange(0, 4)
                BODY
        """, [
            ("Item(3)", "expected tl.tensor for the attribute 'a' of Item"),
            ("Item(i, a=i)", "Item.__init__() got multiple values for "
                             "argument 'a'"),
            ("Item(b=3)", "missing required argument: 'a'"),
            ("Item(i, 1, (2, 3), 4)", "takes 4 positional arguments but 5 "
                                      "were given"),
            ("Item(i, z=3)", "got an unexpected keyword argument 'z'"),
            ("Derived(i, i)", "for the attribute 'b' of Derived"),
            ("tl.aggregate_replace(Item(i), z=i)", "Item has no field 'z'"),
            ("tl.aggregate_replace(Own(i), a=i)", "has no parameter a"),
            ("tl.aggregate_replace(i, a=i)", "expects an aggregate instance"),
        ], HEAD + GENERATED)

    def test_an_aggregate_inherits_from_aggregates_alone(self):
        self.assertEqual(self.lines("""
            class Plain:
                pass
            try:
                @triton.aggregate
                class Wrong(Plain):
                    a: tl.tensor
            except TypeError as e:
                print(str(e)[:52])
        """), ["Aggregates can only inherit from other aggregates, b"])

    def test_classes_as_arguments(self):
        text = """
            @tl.core._aggregate
            class Item:
                a: tl.tensor
                @triton.constexpr_function
                def __init__(self, a):
                    self.a = a
            @triton.jit
            def made(of: tl.constexpr, a):
                return of(a)
            @triton.jit
            def k(o):
                tl.store(o, made(Item, tl.program_id(0) + 3).a)
        """
        self.assertEqual(self.lines(text + """
            print(launch(k)[0])
        """, "--triton-version", "3.7"), ["3.0"])
        self.assertEqual(self.lines(text + """
            try:
                launch(k)
            except Exception as e:
                print("cannot take the class Item" in str(e))
        """, "--triton-version", "3.6"), ["True"])

    def test_operators_that_join_values(self):
        """Since 3.9 and, or ask a method, and nothing whether a value holds;
        no version compiles @."""
        text = """
            @triton.aggregate
            class Item:
                a: tl.tensor
                @triton.jit
                def logical_or(self, other):
                    return Item(self.a + other.a)
                @triton.jit
                def __len__(self):
                    return 0
                @triton.jit
                def __matmul__(self, other):
                    return self.a
            @triton.jit
            def k(o):
                x = Item(tl.program_id(0) + 3)
                tl.store(o, BODY)
            try:
                print(launch(k)[0])
            except Exception as e:
                print(str(e).partition("error: ")[2].splitlines()[0])
        """
        for body, version, said in (
                ("(x and 4).a", "3.9", "3.0"), ("(x or x).a", "3.9", "6.0"),
                ("(x and 4).a", "3.8", "__len__ of Item is called by Python "
                 "itself here, which cannot call a jit function [type]"),
                ("x @ x", "3.9", "Triton compiles no operator @ "
                 "[unsupported]")):
            with self.subTest(body, version=version):
                self.assertEqual(self.lines(text.replace("BODY", body),
                                            "--triton-version", version),
                                 [said])

    def test_what_a_method_returns_is_used(self):
        text = """
            @tl.core._aggregate
            class Item:
                a: tl.tensor
                @triton.constexpr_function
                def __init__(self, a):
                    self.a = a
                @triton.must_use_result("it changes nothing")
                @triton.jit
                def next(self):
                    return Item(self.a + 1)
                @triton.must_use_result("it changes nothing")
                @triton.constexpr_function
                def two(self):
                    return 2
                @triton.jit
                @triton.must_use_result
                def again(self):
                    return Item(self.a + 1)
            @triton.jit
            def k(o):
                v = Item(tl.program_id(0))
                v.again()
                v.NAME()
                tl.store(o, v.a)
            try:
                launch(k)
                print("it runs")
            except Exception as e:
                said = "The result of v.NAME is not being used. it changes no"
                print(said in str(e))
        """
        if self.triton == "installed":
            return
        for version, name, said in (("3.6", "next", "it runs"),
                                    ("3.7", "next", "True"),
                                    ("3.9", "two", "True")):
            with self.subTest(name, version=version):
                self.assertEqual(
                    self.lines(text.replace("NAME", name), "--triton-version",
                               version), [said])

    def test_names_of_fields_pass_through_python(self):
        text = """
            from typing import NamedTuple
            class Size(NamedTuple):
                rows: tl.constexpr
                columns: tl.constexpr = 3
            @triton.constexpr_function
            def same(x):
                return x
            @triton.constexpr_function
            def rows(x):
                return x.rows
            @triton.jit
            def k(o):
                tl.store(o, same(Size(2)).columns + rows(Size(rows=4)))
            try:
                print(launch(k)[0])
            except Exception as e:
                print("has no attribute" in str(e))
        """
        if self.triton == "installed":
            return
        for version, said in ("3.6", "True"), ("3.7", "7.0"):
            with self.subTest(version=version):
                self.assertEqual(self.lines(text, "--triton-version",
                                            version), [said])

    def test_what_older_versions_lack(self):
        self.assertEqual(self.lines("""
            print(hasattr(triton, "aggregate"))
            @tl.core._aggregate
            class Item:
                a: tl.tensor
            @triton.jit
            def k(o):
                tl.store(o, Item(1).a)
            try:
                launch(k)
            except Exception as e:
                print("it has no constructor" in str(e))
        """, "--triton-version", "3.7"), ["False", "True"])


@unittest.skipUnless(support.real_triton(), "triton is not installed")
class Installed(Cases, support.ScriptCase):
    triton = "installed"


if __name__ == "__main__":
    unittest.main()
