"""Pages of ten scripts and of the planted kernels, to be looked at.

    python3 tests/view/pages.py --build BUILD --out FOLDER [--pictures]

Scripts need PyTorch; the planted kernels need nothing.  With --pictures, and
where Chromium is installed, each page is drawn at four widths, dark and light;
docs/view.png and the pictures in tests/view/expected are made anew.  Where
Firefox is installed, it opens every page, and what its console says is printed.
"""
import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import browser  # noqa: E402
import page_data  # noqa: E402

PLANTED = os.path.join(HERE, "planted.py")
SCRIPTS = ("vector_add softmax matmul split_k flash_attention layer_norm moe "
           "paged_attention histogram").split()
WIDTHS = 390, 800, 1280, 2560
# Pages that are to look as they do in tests/view/expected, at half their size:
# kernel, width, height, dark, and what is chosen.
EXPECTED = {"tail-1280-light": ("tail", 1280, 700, False, "program=2&step=2"),
            "stride-800-dark": ("stride", 800, 1200, True, "step=4"),
            "axis-390-light": ("axis", 390, 1700, False, "step=4")}


def launches():
    """{kernel: the words of its launch} of the planted kernels."""
    with open(PLANTED, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    return {d.name: ast.get_docstring(d).split("\n\n")[0].split()
            for d in tree.body if isinstance(d, ast.FunctionDef)}


def tkdbg(build, *words):
    """Runs it; returns what came of it."""
    return subprocess.run(
        [os.path.join(os.path.abspath(build), "tkdbg"), *words], cwd=ROOT,
        capture_output=True, text=True, timeout=60)


def view(build, *words):
    """Runs tkdbg view."""
    return tkdbg(build, "view", "--quiet", *words)


def planted(build, kernel, *words):
    """The same of a planted kernel."""
    return view(build, *words, os.path.relpath(PLANTED, ROOT), "--kernel",
                kernel, *launches()[kernel])


def script(build, name, page):
    """Makes the page of an example; returns whether it could be made."""
    done = subprocess.run(
        [os.path.join(build, "tkdbg"), "view", "--quiet", "--python",
         sys.executable, "--output", page,
         os.path.join(ROOT, "examples", f"{name}.py")])
    return done.returncode == 0


def draw(page, picture, width, height, dark, address="", scale=1):
    """A picture of a page."""
    with tempfile.TemporaryDirectory() as made:
        browser.run("--hide-scrollbars", "--virtual-time-budget=3000",
                    f"--force-device-scale-factor={scale}",
                    f"--screenshot={picture}", f"file://{page}#{address}",
                    width=width, height=height, dark=dark,
                    profile=made).check_returncode()


def expected(name):
    """The file of a picture that a page is to look like."""
    return os.path.join(HERE, "expected", f"{name}.png")


def draw_steady(page, name, picture):
    """One of EXPECTED, from the page of its kernel; times, which differ from
    run to run, are left out."""
    _, width, height, dark, address = EXPECTED[name]
    with open(page, encoding="utf-8") as f:
        html = f.read()
    data = page_data.text(html)
    data = re.sub(r'"seconds":[-+.e\d]+', '"seconds":0', data)
    data = re.sub(r'"nanoseconds":\d+', '"nanoseconds":0', data)
    data = re.sub(r'"nanoseconds":\[([\d,]*)\]', lambda found:
                  f'"nanoseconds":[{re.sub("[0-9]+", "0", found.group(1))}]',
                  data)
    html = page_data.replaced(html, data)
    with tempfile.TemporaryDirectory() as made:
        steady = os.path.join(made, "page.html")
        with open(steady, "w", encoding="utf-8") as f:
            f.write(html)
        draw(steady, picture, width, height, dark, address, scale=0.5)


def pictures(page, stem):
    for width in WIDTHS:
        for dark in (False, True):
            draw(page, f"{stem}-{width}-{'dark' if dark else 'light'}.png",
                 width, 3000 if width < 800 else 1600, dark)


def console(made):
    """Opens pages in Firefox; returns in how many something is wrong."""
    said = browser.firefox_told(made)
    for page, one in zip(made, said):
        for text in one["wrong"]:
            print(f"{page}: {text}")
    return len(made) - sum(not one["wrong"] for one in said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--pictures", action="store_true")
    asked = parser.parse_args()
    out = os.path.abspath(asked.out)
    os.makedirs(out, exist_ok=True)
    pages = []
    for kernel in launches():
        page = os.path.join(out, f"planted-{kernel}.html")
        planted(asked.build, kernel, "--output", page)
        pages.append(page)
    for name in SCRIPTS:
        page = os.path.join(out, f"{name}.html")
        if script(asked.build, name, page):
            pages.append(page)
        else:
            print(f"skip {name}: its script does not run here")
    for page in pages:
        print(f"{os.path.getsize(page):9,} bytes  {page}")
        if asked.pictures and browser.BROWSER:
            pictures(page, page[:-len(".html")])
    if asked.pictures and browser.BROWSER:
        draw(os.path.join(out, "planted-tail.html"),
             os.path.join(ROOT, "docs", "view.png"), 1280, 900, False,
             "launch=1&program=2&step=2")
        for name, (kernel, *_) in EXPECTED.items():
            draw_steady(os.path.join(out, f"planted-{kernel}.html"), name,
                        expected(name))
    return 1 if browser.FIREFOX and console(pages) else 0


if __name__ == "__main__":
    sys.exit(main())
