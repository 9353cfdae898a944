"""pip install . and make wheel: the package with the library and the command.

make builds what is C (the target wheel-files); here it is put into the
package tkdbg:

    tkdbg/                 the bridge, as in python/tkdbg
    tkdbg/libtkdbg.so      the library
    tkdbg/tkdbg            the command; the script tkdbg becomes it
    tkdbg/lib*.so.*        libraries that are not glibc's
    tkdbg/puzzles/content/ the puzzles
    tkdbg/demo/            what `tkdbg demo` shows
    tkdbg/path/            what `tkdbg --python-path` names

The wheel serves every Python 3: nothing of it is linked with one.  Its tag
says which glibc it needs, by the symbols that are used; one that needs more
than glibc is for this machine alone.

tools/wheels.py builds for other machines: TKDBG_WHEEL_FILES names the folder
of what it has built, and TKDBG_WHEEL_TAG the platform, of which no more may be
used.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(ROOT, "build", "setuptools")
PATH = os.path.join(ROOT, "tools", "wheel", "path")

# what every Linux with glibc has
GLIBC = re.compile(r"(lib(c|m|dl|pthread|rt)|ld-linux.*)\.so\.\d+")


def version():
    with open(os.path.join(ROOT, "python/tkdbg/_capi.py")) as f:
        return re.search(r'^VERSION = "(.+)"$', f.read(), re.M).group(1)


def read_elf(option, path):
    return subprocess.run(["readelf", option, "-W", path], check=True,
                          stdout=subprocess.PIPE,
                          text=True).stdout


def is_program(path):
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def programs_in(folder):
    files = [f.path for f in os.scandir(folder) if f.is_file()]
    return list(filter(is_program, files))


def strangers(folder):
    """Libraries that programs in a folder need and that neither it nor glibc
    has."""
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", "".join(
        read_elf("-d", p) for p in programs_in(folder))))
    return sorted(name for name in needed - set(os.listdir(folder))
                  if not GLIBC.fullmatch(name))


def newest_glibc(folder):
    """The version of glibc, as two numbers, that programs in a folder need."""
    return max(tuple(map(int, found)) for p in programs_in(folder)
               for found in re.findall(r"\bGLIBC_(\d+)\.(\d+)",
                                       read_elf("-V", p)))


def platform(folder):
    """A wheel's platform: what the programs in a folder need at least."""
    mine = re.sub(r"[^a-z0-9_]", "_", sysconfig.get_platform())
    if strangers(folder):
        return mine
    return mine.replace("linux", "manylinux_%d_%d" % newest_glibc(folder), 1)


def stated_platform(folder, tag):
    """tag, manylinux_X_Y_PROCESSOR; exits where that is not true."""
    found = re.fullmatch(r"manylinux_(\d+)_(\d+)_(\w+)", tag)
    if not found:
        sys.exit(f"setup.py: TKDBG_WHEEL_TAG: '{tag}' is not "
                 "manylinux_X_Y_PROCESSOR")
    newest, missing = newest_glibc(folder), strangers(folder)
    if newest > (int(found[1]), int(found[2])):
        sys.exit("setup.py: glibc %d.%d is needed, which %s has not"
                 % (*newest, tag))
    if missing:
        sys.exit(f"setup.py: {tag} lacks {', '.join(missing)}")
    return tag


def make(*what):
    jobs = f"-j{os.cpu_count() or 1}"
    already = "-j" in os.environ.get("MAKEFLAGS", "")
    subprocess.run(["make", *([] if already else [jobs]), *what], cwd=ROOT,
                   check=True)


class BuildPy(build_py):
    """Adds what make builds to the package."""

    def run(self):
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if getattr(self, "editable_mode", False):
            make("all")
            return
        package = os.path.abspath(os.path.join(self.build_lib, "tkdbg"))
        ready = os.environ.get("TKDBG_WHEEL_FILES")
        if ready:
            shutil.copytree(ready, package, dirs_exist_ok=True)
        else:
            make("wheel-files", f"INTO={package}")
        shutil.copytree(os.path.join(ROOT, "puzzles"),
                        os.path.join(package, "puzzles", "content"))
        shutil.copy(os.path.join(ROOT, "gdbstub", "tkdbg-gdb.py"), package)
        make("demo-files", f"INTO={package}")
        stub = os.path.join(package, "path", "tkdbg")
        os.makedirs(stub, exist_ok=True)
        shutil.copy(os.path.join(PATH, "tkdbg", "__init__.py"), stub)
        shutil.copy(os.path.join(ROOT, "python", "sitecustomize.py"),
                    os.path.dirname(stub))


class BdistWheel(bdist_wheel):
    """Tags the wheel: any Python 3, this processor, what glibc is needed."""

    def get_tag(self):
        build = self.get_finalized_command("build_py").build_lib
        package = os.path.join(build, "tkdbg")
        tag = os.environ.get("TKDBG_WHEEL_TAG")
        return "py3", "none", (stated_platform(package, tag) if tag else
                               platform(package))


class Binary(Distribution):
    """Has programs, so that it goes where those of a platform go."""

    def has_ext_modules(self):
        return True


os.makedirs(WORK, exist_ok=True)
with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
    setup(
        name="tkdbg", version=version(), license="MIT",
        description="Runs and debugs kernels of the Triton language on the "
                    "CPU",
        long_description=readme.read(),
        long_description_content_type="text/markdown",
        python_requires=">=3.9", package_dir={"": "python"},
        packages=find_packages("python"),
        scripts=["tools/wheel/tkdbg"],
        distclass=Binary, options={"build": {"build_base": WORK},
                                   "egg_info": {"egg_base": WORK},
                                   "bdist_wheel": {
                                       "bdist_dir": WORK + "/wheel"}},
        cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel})
