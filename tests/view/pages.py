"""Pages of ten scripts and of the planted kernels, to be looked at.

    python3 tests/view/pages.py --build BUILD --out FOLDER [--pictures]

Scripts need PyTorch; the planted kernels need nothing.  With --pictures, and
where Chromium is installed, each page is drawn at four widths, dark and light,
and docs/view.png is made anew.
"""
import argparse
import ast
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import browser  # noqa: E402

PLANTED = os.path.join(HERE, "planted.py")
SCRIPTS = ("vector_add softmax matmul split_k flash_attention layer_norm moe "
           "paged_attention histogram").split()
WIDTHS = 390, 800, 1280, 2560


def launches():
    """{kernel: the words of its launch} of the planted kernels."""
    with open(PLANTED, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    return {d.name: ast.get_docstring(d).split("\n\n")[0].split()
            for d in tree.body if isinstance(d, ast.FunctionDef)}


def planted(build, kernel, *words):
    """Runs tkdbg view on a planted kernel; returns what came of it."""
    return subprocess.run(
        [os.path.join(os.path.abspath(build), "tkdbg"), "view", "--quiet",
         *words, os.path.relpath(PLANTED, ROOT), "--kernel", kernel,
         *launches()[kernel]],
        cwd=ROOT, capture_output=True, text=True, timeout=60)


def script(build, name, page):
    """Makes the page of an example; returns whether it could be made."""
    done = subprocess.run(
        [os.path.join(build, "tkdbg"), "view", "--quiet", "--python",
         sys.executable, "--output", page,
         os.path.join(ROOT, "examples", f"{name}.py")])
    return done.returncode == 0


def draw(page, picture, width, height, dark, address=""):
    """A picture of a page."""
    with tempfile.TemporaryDirectory() as made:
        browser.run("--hide-scrollbars", "--virtual-time-budget=3000",
                    f"--screenshot={picture}", f"file://{page}#{address}",
                    width=width, height=height, dark=dark,
                    profile=made).check_returncode()


def pictures(page, stem):
    for width in WIDTHS:
        for dark in (False, True):
            draw(page, f"{stem}-{width}-{'dark' if dark else 'light'}.png",
                 width, 3000 if width < 800 else 1600, dark)


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


if __name__ == "__main__":
    main()
