"""The page of ``tkdbg view`` in a browser without a window: clicks and keys
change what is shown, and the numbers there are the interpreter's."""
import importlib.util
import json
import os
import re
import sys
import tempfile
import unittest

import support

support.need("library")

sys.path.append(os.path.join(support.ROOT, "tests", "view"))
import browser  # noqa: E402
import pages  # noqa: E402
from probe import told  # noqa: E402

# Counts what the page does: reads of its data, elements that it makes, cells
# that it draws.
COUNTS = """<script>
const work = { reads: 0, made: 0, drawn: 0 };
const seen = new WeakMap();
const watched = (object) => {
  if (!seen.has(object)) {
    seen.set(object, new Proxy(object, { get(target, key, receiver) {
      work.reads++;
      const found = Reflect.get(target, key, receiver);
      return found && typeof found === "object" ? watched(found) : found;
    } }));
  }
  return seen.get(object);
};
const { parse } = JSON;
JSON.parse = (text) => watched(parse(text));
const counted = (of, name, key) => {
  const plain = of[name];
  of[name] = function (...words) {
    work[key]++;
    return plain.apply(this, words);
  };
};
counted(document, "createElement", "made");
counted(CanvasRenderingContext2D.prototype, "fillRect", "drawn");
// the work of f
const workOf = (f) => {
  const before = { ...work };
  f();
  return Object.fromEntries(Object.keys(work).map(
    (k) => [k, work[k] - before[k]]));
};
</script>"""

LOOP = """import triton
import triton.language as tl


@triton.jit
def loop(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    for k in range(n):
        v = tl.load(x + at)
        w = v * 2.0
        tl.store(y + at, w)
"""

UNDEFINED = """import triton
import triton.language as tl


@triton.jit
def computed(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    w = v * 2.0
    s = tl.sum(w, 0)
    tl.store(y + at, w, mask=at < n)
"""

THROUGH = """import triton
import triton.language as tl


@triton.jit
def through(x, y):
    i = tl.arange(0, 32)
    v = tl.load(x + i[:, None] * 32 + i[None, :])
    tl.store(y + i[:, None] + i[None, :] * 32, v)
"""

HEADS = ["Programs", "Source", "Values", "Tensors", "Stages", "Keys"]


def heads(said):
    """The last headings of a page; Layouts is there where a block has one."""
    return [head for head in said["heads"] if head != "Layouts"][-len(HEADS):]


def line_of(text):
    """The number of the planted kernels' line that has a text."""
    with open(pages.PLANTED, encoding="utf-8") as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)

    def setUp(self):
        if not browser.BROWSER:
            self.skipTest("Chromium is not installed")

    def page(self, kernel):
        path = os.path.join(self.made.name, f"{kernel}.html")
        if not os.path.exists(path):
            done = pages.planted(support.BUILD, kernel, "--output", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def data(self, kernel):
        done = pages.planted(support.BUILD, kernel, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["launches"][0]

    def test_it_looks_as_expected(self):
        for name, (kernel, *_) in pages.EXPECTED.items():
            with self.subTest(name=name):
                now = os.path.join(self.made.name, f"{name}.png")
                pages.draw_steady(self.page(kernel), name, now)
                unlike = browser.unlike(pages.expected(name), now)
                # other fonts make other letters, and break lines elsewhere
                self.assertLess(unlike, 0.015)

    def test_firefox_opens_it_without_an_error(self):
        if not browser.FIREFOX:
            self.skipTest("Firefox is not installed")
        told_ = browser.firefox_told([self.page(k) for k in pages.launches()])
        self.assertEqual([said["wrong"] for said in told_],
                         [[]] * len(pages.launches()))
        for said in told_:
            self.assertEqual(heads(said), HEADS)

    def test_the_button_makes_it_dark_or_light(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        for dark in (False, True):
            said = told(self.page("tail"), f"""
              told.grounds = [{ground}];
              for (let k = 0; k < 2; k++) {{
                click("#theme");
                told.grounds.push({ground});
              }}""", dark=dark)
            first, second, third = said["grounds"]
            self.assertNotEqual(first, second)
            self.assertEqual(first, third)

    def test_it_fits_at_every_width(self):
        grounds = set()
        for width, dark in ((390, False), (800, True), (1280, False),
                            (2560, True)):
            with self.subTest(width=width, dark=dark):
                said = told(self.page("stride"), width=width, dark=dark)
                self.assertEqual(said["wrong"], [])
                self.assertLessEqual(said["wide"], said["room"])
                self.assertEqual((said["cut"], said["clipped"]), ([], 0))
                self.assertEqual(said["unnamed"], 0)
                self.assertEqual(heads(said), HEADS)
                grounds.add(said["ground"])
        self.assertEqual(len(grounds), 2)

    def test_keys_and_clicks(self):
        store = line_of("v * 2.0")
        said = told(self.page("tail"), f"""
          then(() => key("ArrowRight"));
          then(() => key("End"));
          then(() => key("]"));
          then(() => key("Home"));
          then(() => click("[data-line='{store}']"));
          document.getElementById("map").focus();
          then(() => key("ArrowRight"));
          then(() => click("[data-metric=bytes]"));
          then(() => at("article[data-tensor=y] canvas", 3, 3));
        """)
        self.assertEqual(said["wrong"], [])
        steps = [s["step"].split(":")[0] for s in said["seen"]]
        self.assertEqual(steps[:5], [
            "Step 1 of 3", "Step 2 of 3", "Step 3 of 3", "Step 3 of 3",
            "Step 1 of 3"])
        self.assertIn(f"line {store}", said["seen"][5]["step"])
        self.assertIn("program (1, 0, 0)", said["seen"][5]["program"])
        self.assertIn("program (2, 0, 0)", said["seen"][6]["program"])
        self.assertIn("256 B", said["seen"][7]["program"])
        for what in ("y[0]", "program (0, 0, 0)", "value0"):
            self.assertIn(what, said["detail"])

    def test_the_debuggers_page_opens_where_it_stands(self):
        store = line_of("v * 2.0")
        path = os.path.join(self.made.name, "stop.html")
        done = pages.tkdbg(
            support.BUILD, "debug", "-q", "-nx", pages.PLANTED, "--kernel",
            "tail", *pages.launches()["tail"], "-ex",
            f"break {store} if pid_0 == 1", "-ex", "c", "-ex", f"view {path}",
            "-ex", "p at[0]", "-ex", "quit")
        self.assertIn(f"Written to file://{path}\n", done.stdout)
        self.assertIn("at[0]: int32 = 32\n", done.stdout)
        said = told(path)
        self.assertEqual(said["wrong"], [])
        self.assertIn("program (1, 0, 0)", said["seen"][0]["program"])
        # the statement before the store is the last that was done
        self.assertIn(f"Step 2 of 2: line {store - 1}",
                      said["seen"][0]["step"])
        self.assertIn("The launch was paused after 1 program.",
                      said["warnings"])
        self.assertIn("68 elements never written: y[32] to y[99]",
                      said["warnings"])

    def test_values_are_the_interpreters(self):
        """The blocks that a page shows are what a run left in memory."""
        launch = self.data("axis")
        y = launch["tensors"][1]["values"]
        steps = launch["steps"]["0"]
        sums = next(v for s in steps for v in s.get("values", [])
                    if v.get("name") == "s")
        self.assertEqual(sums["lanes"][:16], y)
        said = told(self.page("race"), 'then(() => key("End"));')
        shown = said["numbers"]
        race = self.data("race")["steps"]["0"][-1]
        stored = race["values"][race["accesses"][-1]["value"]]
        self.assertEqual([round(float(x), 4) for x in shown[-16:]],
                         [round(x, 4) for x in stored["lanes"]])

    def test_planted_bugs_are_seen(self):
        said = told(self.page("tail"))
        self.assertIn("4 elements never written: y[96] to y[99]",
                      said["warnings"])
        said = told(self.page("race"), """
          then(() => at("article[data-tensor=bins] canvas", 3, 3));""")
        self.assertIn("16 elements written by more than one program",
                      said["warnings"])
        self.assertIn("bins[0]", said["detail"])
        self.assertIn("program (3, 0, 0)", said["detail"])
        line = line_of("tl.sum(v, 0)")
        said = told(self.page("axis"),
                    f"""then(() => click("[data-line='{line}']"));""")
        self.assertIn("sum along axis 0", " ".join(said["values"]))
        line = line_of("tl.load(x + i[:, None] * M")
        said = told(self.page("stride"), f"""
          then(() => click("[data-line='{line}']"));
          told.x = text("article[data-tensor=x]");
          told.read = text("#step-text + .access");""")
        # eight rows of 48, each 32 after the one before: not from x[0, 0] to
        # the end of a row
        self.assertIn("x[0, 0] to x[5, 31], step 32, 1", said["read"])
        self.assertIn("496 elements never read", said["x"])

    def test_stages_are_linked_to_the_source(self):
        """Each stage marks what the step's line has become, and a click there
        goes to the line that it was made of."""
        store = line_of("v * 2.0")
        said = told(self.page("tail"), f"""
          const shown = ["ttir", "layouts", "llir", "ptx"];
          for (const name of shown) click(`#stage-${{name}}`);
          then(() => click("[data-line='{store}']"));
          told.marked = shown.map((name) =>
            all(`[data-stage=${{name}}] .here`).join(""));
          then(() => key("Home"));
          then(() => [...document.querySelectorAll("[data-stage=ptx] span")]
            .find((e) => e.textContent.includes("st.global")).click());
          told.sides = shown.map((name) => document.querySelector(
            `[data-stage=${{name}}]`).getBoundingClientRect().top);
        """, width=2560)
        self.assertEqual(said["wrong"], [])
        for marked, words in zip(said["marked"], (
                "store %", "store %", "st.global", "st.global")):
            self.assertIn(words, marked)
            self.assertNotIn("ld.global", marked)
            self.assertNotIn("= load", marked)
        self.assertIn(f"line {store - 2}", said["seen"][2]["step"])
        self.assertIn(f"line {store}", said["seen"][3]["step"])
        self.assertEqual(len(set(said["sides"])), 1)

    def test_stages_of_triton_stand_beside(self):
        """Where it is installed: what it makes of a line is marked, too."""
        if not importlib.util.find_spec("triton"):
            self.skipTest("Triton is not installed")
        page = os.path.join(self.made.name, "triton.html")
        done = pages.planted(support.BUILD, "tail", "--by", "triton",
                             "--python", sys.executable, "--output", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        store = line_of("v * 2.0")
        said = told(page, f"""
          const shown = ["ttir", "ttgir", "llir", "ptx"].map(
            (name) => `triton-${{name}}`);
          for (const name of shown) click(`#stage-${{name}}`);
          then(() => click("[data-line='{store}']"));
          told.marked = shown.map((name) =>
            all(`[data-stage=${{name}}] .here`).join(""));
          then(() => [...document.querySelectorAll(
            "[data-stage=triton-ttgir] span")]
            .find((e) => e.textContent.includes("tt.load")).click());
        """, width=2560)
        self.assertEqual(said["wrong"], [])
        for marked, stored, loaded in zip(
                said["marked"], ("tt.store", "tt.store", "st.global",
                                 "st.global"),
                ("tt.load", "tt.load", "ld.global", "ld.global")):
            self.assertIn(stored, marked)
            self.assertNotIn(loaded, marked)
        self.assertIn(f"line {store - 1}", said["seen"][2]["step"])

    def test_layouts_say_who_holds_an_element(self):
        """As tkdbg layout says of the layout that the compiler prints."""
        line = line_of("v = tl.load(x + i[:, None] * M")
        said = told(self.page("stride"), f"""
          then(() => click("[data-line='{line}']"));
          told.blocks = all("#block-0");
          then(() => at("[aria-label=Layouts] canvas", 3, 3));
          told.first = text("[aria-label=Layouts] output");
          const canvas = document.querySelector("[aria-label=Layouts] canvas");
          const side = canvas.getBoundingClientRect().width / 64;
          then(() => at("[aria-label=Layouts] canvas", 5.5 * side,
            side * 1.5));
          told.other = text("[aria-label=Layouts] output");
        """)
        self.assertEqual(said["wrong"], [])
        self.assertEqual(said["blocks"], ["load %v fp32[8, 64]"])
        self.assertEqual(said["first"], "[0, 0]: warp 0, lane 0, register 0")
        done = pages.tkdbg(
            support.BUILD, "compile", "--emit", "layouts", pages.PLANTED,
            "--kernel", "stride", *pages.launches()["stride"])
        spread = re.search(r"%v = load .*// (#linear<.*>)", done.stdout)[1]
        drawn = pages.tkdbg(support.BUILD, "layout", spread, "8x64").stdout
        row = re.search(r"^ +1 +(T.*)", drawn, re.M)[1].split()
        thread, register = map(int, row[5][1:].split(":"))
        self.assertEqual(
            said["other"], f"[1, 5]: warp {thread // 32}, lane {thread % 32}, "
            f"register {register}")

    def test_shared_memory_is_drawn(self):
        """Where an element lies is the xor of the places that the compiler
        prints for the bits of its number."""
        script = os.path.join(self.made.name, "through.py")
        page = os.path.join(self.made.name, "through.html")
        with open(script, "w", encoding="utf-8") as f:
            f.write(THROUGH)
        launch = (script, "--kernel", "through", "--grid", "1", "--arg",
                  "x=f32[1024]:arange", "--arg", "y=f32[1024]:zeros")
        done = pages.view(support.BUILD, "-o", page, *launch)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = told(page, """
          then(() => click("[data-line='9']"));
          told.blocks = all("[aria-label=Block] button");
          told.conflicts = all("[aria-label=Layouts] p").join(" ");
          const canvas = document.querySelector("[aria-label=Layouts] canvas");
          const side = canvas.getBoundingClientRect().width / 32;
          then(() => at("[aria-label=Layouts] canvas", 5.5 * side,
            side * 3.5));
          told.place = text("[aria-label=Layouts] output");
        """)
        self.assertEqual(said["wrong"], [])
        self.assertEqual(said["blocks"], ["shared memory: fp32[32, 32]"])
        printed = pages.tkdbg(support.BUILD, "compile", "--emit", "layouts",
                              *launch).stdout
        places, *conflicts = re.search(
            r"places = (\[.*\]), conflicts: write x(\d), read x(\d), in "
            r"row-major order write x(\d), read x(\d)", printed).groups()
        place, number = 0, 3 * 32 + 5
        for bit, leads_to in enumerate(json.loads(places)):
            place ^= leads_to if number >> bit & 1 else 0
        self.assertEqual(said["place"],
                         f"[3, 5]: place {place}, bank {place % 32}")
        # one of both goes along the columns, whose words are in one bank
        self.assertEqual(conflicts[:2], ["1", "1"])
        longer = [n for n in conflicts[2:] if n != "1"]
        self.assertEqual(len(longer), 1, conflicts)
        self.assertIn(f"{longer[0]} times as long", said["conflicts"])

    def test_undefined_lanes_are_followed(self):
        """A block that was computed from undefined lanes shows which of its own
        are, whether or not detectors watch the run."""
        for check in ["--check"], ["--check", "nan"], []:
            with self.subTest(check=check):
                self.undefined(check)

    def undefined(self, check):
        script = os.path.join(self.made.name, "computed.py")
        page = os.path.join(self.made.name, "computed.html")
        with open(script, "w", encoding="utf-8") as f:
            f.write(UNDEFINED)
        done = pages.view(
            support.BUILD, *check, "-o", page, script, "--kernel",
            "computed", "--grid", "1", "--arg", "x=f32[5]:ones", "--arg",
            "y=f32[5]:zeros", "--arg", "n=5", "--arg", "B=8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = told(page, """
          then(() => click("[data-line='9']"));
          told.product = all("article.value .numbers td");
          then(() => click("[data-line='10']"));
          told.sum = all(".along .scalar");
        """)
        self.assertEqual(said["wrong"], [])
        if check[1:]:  # that detector follows the lanes of others
            return self.assertEqual(len(said["product"]), 8)
        self.assertEqual(said["product"], ["2"] * 5 + ["?"] * 3)
        self.assertEqual(said["sum"], ["undefined"])

    def test_paper_is_light(self):
        """Pictures that were drawn in the dark are drawn anew to be printed."""
        said = told(self.page("axis"), """
          const ink = () => getComputedStyle(document.documentElement)
            .getPropertyValue("--dark").trim();
          const seen = () => [ink(), document.querySelector(
            "article.tensor canvas").toDataURL()];
          told.screen = seen();
          window.dispatchEvent(new Event("beforeprint"));
          told.paper = seen();
          window.dispatchEvent(new Event("afterprint"));
          told.after = seen();
        """, dark=True)
        self.assertEqual(said["wrong"], [])
        self.assertEqual((said["screen"][0], said["paper"][0]), ("1", "0"))
        self.assertNotEqual(said["screen"][1], said["paper"][1])
        self.assertEqual(said["screen"], said["after"])

    def test_a_profile(self):
        """The profile's page: nothing but its part, whose frames can be
        chosen."""
        page = os.path.join(self.made.name, "profile.html")
        done = pages.tkdbg(
            support.BUILD, "profile", "-q", "--html", page, pages.PLANTED,
            "--kernel", "axis", *pages.launches()["axis"])
        self.assertEqual(done.returncode, 0, done.stderr)
        said = told(page, """
          told.frames = all(".flame button");
          const zoomed = document.querySelector(".flame .operation");
          zoomed.click();
          told.frame = text(".flame + output");
          document.querySelector("details").open = true;
          told.lines = all(".cost code");
        """, 390, True)
        self.assertEqual(said["wrong"], [])
        self.assertEqual((said["cut"], said["unnamed"]), ([], 0))
        self.assertLessEqual(said["wide"], said["room"])
        self.assertEqual(said["heads"][:2], ["Where the time goes", "axis"])
        self.assertEqual(said["frames"][:2], ["all operations", "axis"])
        self.assertIn("    s = tl.sum(v, 0)", said["lines"])
        self.assertRegex(said["frame"],
                         r"^\S.*, [\d.]+ [nµm]?s, [\d.]+ %$")

    def work(self, trips, programs):
        """What a page does when it opens, and for each of some keys."""
        script = os.path.join(self.made.name, "loop.py")
        page = os.path.join(self.made.name, f"loop-{trips}.html")
        with open(script, "w", encoding="utf-8") as f:
            f.write(LOOP)
        tensor = f"f32[{8 * programs}]:ones"
        done = pages.view(
            support.BUILD, "-o", page, script, "--kernel", "loop", "--grid",
            str(programs), "--arg", f"x={tensor}", "--arg", f"y={tensor}",
            "--arg", f"n={trips}", "--arg", "B=8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # keys once before: the first may note something for all others
        said = told(page, """
          told.opened = { ...work };
          for (const k of ["ArrowRight", "ArrowRight", "]", "End"]) key(k);
          key("ArrowLeft");
          told.keys = ["ArrowLeft", "ArrowLeft", "ArrowLeft"].map(
            (k) => workOf(() => key(k)));
          told.line = workOf(() => click("button.line:enabled"));
        """, before=COUNTS)
        self.assertEqual(said["wrong"], [])
        return said

    def test_work_grows_with_what_is_shown(self):
        """A step costs the same in a recording of four times as many steps and
        programs; to open it costs at most four times as much."""
        small, large = self.work(30, 16), self.work(120, 64)
        for what in ("reads", "made", "drawn"):
            with self.subTest(what=what):
                self.assertLess(large["opened"][what],
                                4.2 * small["opened"][what] + 400)
                for a, b in zip(small["keys"] + [small["line"]],
                                large["keys"] + [large["line"]]):
                    self.assertGreater(a["made"], 0)
                    self.assertLess(b[what], 1.1 * a[what] + 40)


if __name__ == "__main__":
    unittest.main()
