"""make wheels: wheels for any Linux with glibc 2.28 or newer.

    python3 tools/wheels.py [--into FOLDER] [--jobs N] [ARCHITECTURE ...]

For each architecture (x86_64, aarch64; one that runs here needs nothing but
gcc, the other Debian's cross compiler) the libraries that a wheel carries are
built from Debian's source packages (PARTS), then tkdbg by the same compiler
as always, so that its results have the same bits.  Only the linker is
another one: zig's, which knows which symbols each glibc has (`ziglang` of the
package index).  A wheel that needs more than glibc 2.28, or a library that it
does not carry, is refused.

Everything lies in build/wheels/: sources/, zig/, and a folder for each
architecture; what is there already is not made again.
"""
from __future__ import annotations

import argparse
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
from typing import Callable, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, 'build', 'wheels')
SOURCES = os.path.join(WORK, 'sources')
ZIG = 'ziglang==0.17.1'
GLIBC = '2.28'
COMPILE = '-O2 -fPIC'


class Failed(Exception):
    """What cannot be done, and what to do about it."""


class Target(NamedTuple):
    """A processor, as GNU names it, and how OpenBLAS is built for it."""
    name: str
    openblas: list[str]

    @property
    def gcc(self) -> str:
        own = self.name == platform.machine()
        return 'gcc' if own else f'{self.name}-linux-gnu-gcc'

    @property
    def debian(self) -> str:
        return {'x86_64': 'amd64', 'aarch64': 'arm64'}[self.name]

    @property
    def folder(self) -> str:
        return os.path.join(WORK, self.name)

    @property
    def tag(self) -> str:
        return f'manylinux_{GLIBC.replace(".", "_")}_{self.name}'


TARGETS = {t.name: t for t in (
    Target('x86_64', ['TARGET=GENERIC', 'BINARY=64',
                      'DYNAMIC_LIST=HASWELL SKYLAKEX ZEN']),
    Target('aarch64', ['TARGET=ARMV8', 'BINARY=64',
                       'DYNAMIC_LIST=NEOVERSEN1']))}


def run(argv: list[str], folder: str, log: str, **env: str) -> None:
    """Runs a program in a folder; what it prints goes to log."""
    with open(log, 'ab') as f:
        done = subprocess.run(argv, cwd=folder, env={**os.environ, **env},
                              stdin=subprocess.DEVNULL, stdout=f,
                              stderr=subprocess.STDOUT)
    if done.returncode:
        with open(log, encoding='utf-8', errors='replace') as text:
            sys.stderr.write(''.join(text.readlines()[-15:]))
        raise Failed(f'{argv[0]} failed in {folder}; all that it said is in '
                     f'{log}')


def log_of(name: str) -> str:
    return os.path.join(WORK, f'{name}.log')


def make(folder: str, log: str, *what: str) -> None:
    run(['make', f'-j{args.jobs}', *what], folder, log)


# ---- sources -----------------------------------------------------------------

def apt_options(own: str, kind: str) -> list[str]:
    """apt-get's, for packages of this machine's lists: deb-src, or deb for an
    architecture; what it remembers lies in a folder of our own."""
    for name in 'lists/partial', 'parts', 'archives/partial':
        os.makedirs(os.path.join(own, name), exist_ok=True)
    open(os.path.join(own, 'status'), 'w').close()
    lines = []
    for path in ['/etc/apt/sources.list',
                 *glob.glob('/etc/apt/sources.list.d/*.list')]:
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                lines += re.findall(r'^deb( .*debian.*)$', f.read(), re.M)
    with open(os.path.join(own, 'sources.list'), 'w', encoding='utf-8') as f:
        f.writelines(f'{kind}{line}\n' for line in lines)
    for path in glob.glob('/etc/apt/sources.list.d/debian*.sources'):
        with open(path, encoding='utf-8') as f:
            text = re.sub(r'^Types:.*$', f'Types: {kind}', f.read(), flags=re.M)
        with open(os.path.join(own, 'parts', os.path.basename(path)), 'w',
                  encoding='utf-8') as f:
            f.write(text)
    return [f'-oDir::Etc::SourceList={own}/sources.list',
            f'-oDir::Etc::SourceParts={own}/parts',
            f'-oDir::State::Lists={own}/lists',
            f'-oDir::State::status={own}/status',
            f'-oDir::Cache={own}', '-oAPT::Sandbox::User=root']


def fetch(names: list[str]) -> None:
    """Debian's source packages, each in a folder with its name."""
    wanted = [n for n in names if not os.path.isdir(os.path.join(SOURCES, n))]
    if not wanted:
        return
    for program in 'apt-get', 'dpkg-source':
        if not shutil.which(program):
            raise Failed(f'wheels are made on Debian: {program} is missing')
    log = log_of('sources')
    options = apt_options(os.path.join(SOURCES, 'apt'), 'deb-src')
    run(['apt-get', *options, 'update'], SOURCES, log)
    run(['apt-get', *options, 'source', '--download-only', *wanted], SOURCES,
        log)
    for name in wanted:
        found = glob.glob(os.path.join(SOURCES, f'{name}_*.dsc'))
        run(['dpkg-source', '--no-check', '-x', found[-1], name], SOURCES, log)


def unpack(t: Target, names: list[str]) -> str:
    """Debian's packages for a processor, in a folder, which is returned."""
    folder, log = os.path.join(t.folder, 'debian'), log_of(f'{t.name}-debian')
    options = apt_options(os.path.join(folder, 'apt'), 'deb')
    options += [f'-oAPT::Architecture={t.debian}',
                f'-oAPT::Architectures={t.debian}']
    run(['apt-get', *options, 'update'], folder, log)
    run(['apt-get', *options, 'download', *names], folder, log)
    for package in glob.glob(os.path.join(folder, '*.deb')):
        run(['dpkg-deb', '-x', package, folder], folder, log)
        os.remove(package)
    return folder


def zig() -> str:
    """The linker, from the package index."""
    folder = os.path.join(WORK, 'zig')
    program = os.path.join(folder, 'ziglang', 'zig')
    if not os.path.exists(program):
        run([sys.executable, '-m', 'pip', 'install', '-q', '--target', folder,
             ZIG], WORK, log_of('zig'))
    return program


# ---- libraries that a wheel carries ------------------------------------------

def configure(t: Target, name: str, *options: str, **env: str) -> str:
    """Configures a part in a folder of its own, which is returned."""
    folder = os.path.join(t.folder, name)
    os.makedirs(folder, exist_ok=True)
    run([os.path.join(SOURCES, name, 'configure'), f'--prefix={t.folder}',
         f'--libdir={t.folder}/lib', f'--host={t.name}-linux-gnu',
         *options], folder, log_of(f'{t.name}-{name}'), CC=t.gcc,
        CFLAGS=COMPILE, **env)
    return folder


def build_libffi(t: Target) -> None:
    folder = configure(t, 'libffi', '--disable-shared', '--disable-docs')
    make(folder, log_of(f'{t.name}-libffi'), 'install')


# What its configure would find out, of any Linux.
JANSSON_HAS = ('STDINT_H INTTYPES_H UNISTD_H FCNTL_H SCHED_H SYS_STAT_H '
               'SYS_TIME_H SYS_TYPES_H LOCALE_H ATOMIC_BUILTINS '
               'SYNC_BUILTINS GETPID GETTIMEOFDAY OPEN READ CLOSE '
               'SCHED_YIELD STRTOLL LOCALECONV SNPRINTF').split()


def build_jansson(t: Target) -> None:
    """Its source package has no configure, which autoconf would write."""
    folder, log = os.path.join(t.folder, 'jansson'), log_of(f'{t.name}-jansson')
    source = os.path.join(SOURCES, 'jansson', 'src')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(source, 'jansson_config.h.in'),
              encoding='utf-8') as f:
        text = f.read().replace('@json_inline@', 'inline')
    for place in 'include', 'lib':
        os.makedirs(os.path.join(t.folder, place), exist_ok=True)
    with open(os.path.join(t.folder, 'include', 'jansson_config.h'), 'w',
              encoding='utf-8') as f:
        f.write(re.sub(r'@json_have_\w+@', '1', text))
    open(os.path.join(folder, 'jansson_private_config.h'), 'w').close()
    shutil.copy(os.path.join(source, 'jansson.h'),
                os.path.join(t.folder, 'include'))
    run([t.gcc, *COMPILE.split(), '-DUSE_URANDOM=1',
         *(f'-DHAVE_{name}=1' for name in JANSSON_HAS), '-I.',
         f'-I{t.folder}/include', '-c',
         *sorted(glob.glob(os.path.join(source, '*.c')))], folder, log)
    run([t.gcc.replace('gcc', 'gcc-ar'), 'rcs', f'{t.folder}/lib/libjansson.a',
         *sorted(glob.glob(os.path.join(folder, '*.o')))], folder, log)


def build_zlib(t: Target) -> None:
    """Its configure takes no --host, and works where it lies."""
    folder, log = os.path.join(t.folder, 'zlib'), log_of(f'{t.name}-zlib')
    shutil.copytree(os.path.join(SOURCES, 'zlib'), folder, dirs_exist_ok=True)
    run(['./configure', '--static', f'--prefix={t.folder}'], folder, log,
        CC=t.gcc, CFLAGS=COMPILE)
    make(folder, log, 'install')


def build_openblas(t: Target) -> None:
    """Products of fp32 and fp64 matrices alone, on one thread."""
    folder, log = os.path.join(t.folder, 'openblas'), log_of(
        f'{t.name}-openblas')
    shutil.copytree(os.path.join(SOURCES, 'openblas'), folder,
                    dirs_exist_ok=True)
    make(folder, log, 'libs', f'CC={t.gcc}', 'HOSTCC=gcc', 'NOFORTRAN=1',
         'NO_LAPACK=1', 'NO_LAPACKE=1', 'DYNAMIC_ARCH=1', 'USE_THREAD=0',
         'USE_OPENMP=0', 'USE_LOCKING=1', 'NO_AFFINITY=1', 'BUILD_SINGLE=1',
         'BUILD_DOUBLE=1', *t.openblas)
    library = glob.glob(os.path.join(folder, 'libopenblas*-r*.a'))
    exports = os.path.join(folder, 'exports.map')
    with open(exports, 'w', encoding='utf-8') as f:
        f.write('{ global: cblas_sgemm; cblas_dgemm; openblas_*; '
                'local: *; };\n')
    link(t, os.path.join(t.folder, 'carried', 'libopenblas.so.0'), log,
         f'-Wl,--version-script={exports}', '-Wl,--whole-archive', library[0],
         '-Wl,--no-whole-archive', '-lm')


def build_isl(t: Target) -> None:
    """With its own arithmetic of whole numbers (imath) in place of GMP's."""
    folder = configure(t, 'isl', '--disable-shared', '--with-int=imath-32',
                       '--with-clang=no', '--enable-portable-binary')
    log = log_of(f'{t.name}-isl')
    make(folder, log, 'gitversion.h')
    make(folder, log, 'install-libLTLIBRARIES',
         'install-nodist_pkgincludeHEADERS', 'install-pkgincludeHEADERS')


# Packages of its libraries and what these need; the folders of licences, in
# them, by the names that they have in a wheel.
LLVM = ['llvm-19-dev', 'libstdc++-12-dev', 'zlib1g-dev', 'libzstd-dev',
        'gcc-12-base']
LLVM_LICENCES = {'llvm-19': 'llvm-19-dev', 'libstdc++': 'gcc-12-base',
                 'zlib': 'zlib1g-dev', 'zstd': 'libzstd-dev'}


def build_plugin(t: Target) -> None:
    """LLVM's back end for NVIDIA's GPUs, of Debian's own static libraries: LLVM
    from source takes hours.  They were compiled for a newer glibc; what 2.28
    lacks of it is in tools/wheel/glibc.c."""
    debian, log = unpack(t, LLVM), log_of(f'{t.name}-plugin')
    include = [f'-isystem{debian}/usr/include/{name}'
               for name in ('llvm-c-19', 'llvm-19')]
    own = [os.path.join(ROOT, name)
           for name in ('src/nvptx/llvm/llvm.c', 'tools/wheel/glibc.c')]
    run([t.gcc, '-std=c11', '-D_GNU_SOURCE', f'-I{ROOT}/src', *include,
         *COMPILE.split(), '-fvisibility=hidden', '-c', *own], t.folder, log)
    exports = os.path.join(t.folder, 'plugin.map')
    with open(exports, 'w', encoding='utf-8') as f:
        f.write('{ global: tkv_llvm_*; local: *; };\n')
    usr = f'{debian}/usr/lib'
    link(t, os.path.join(t.folder, 'carried', 'libtkdbg-nvptx.so'), log,
         f'-Wl,--version-script={exports}', '-Wl,--gc-sections', '-Wl,-z,defs',
         'llvm.o', 'glibc.o', '-Wl,--start-group',
         *sorted(glob.glob(f'{usr}/llvm-19/lib/libLLVM*.a')),
         '-Wl,--end-group',
         f'{usr}/gcc/{t.name}-linux-gnu/12/libstdc++.a',
         f'{usr}/{t.name}-linux-gnu/libz.a',
         f'{usr}/{t.name}-linux-gnu/libzstd.a',
         '-lunwind', '-lpthread', '-ldl', '-lm')


class Part(NamedTuple):
    """What a wheel carries of others, and how that is built."""
    name: str
    build: Callable[[Target], None]
    makes: str  # in the folder of the target
    source: bool = True  # of Debian's source package of that name


PARTS = (
    Part('libffi', build_libffi, 'lib/libffi.a'),
    Part('jansson', build_jansson, 'lib/libjansson.a'),
    Part('zlib', build_zlib, 'lib/libz.a'),
    Part('isl', build_isl, 'lib/libisl.a'),
    Part('openblas', build_openblas, 'carried/libopenblas.so.0'),
    Part('plugin', build_plugin, 'carried/libtkdbg-nvptx.so', source=False))


def link(t: Target, into: str, log: str, *what: str) -> None:
    os.makedirs(os.path.dirname(into), exist_ok=True)
    run([*linker(t), '-shared', '-s', f'-Wl,-soname,{os.path.basename(into)}',
         '-o', into, *what], t.folder, log)


def linker(t: Target) -> list[str]:
    return [zig(), 'cc', '-target', f'{t.name}-linux-gnu.{GLIBC}']


# ---- wheels ------------------------------------------------------------------

def build_tkdbg(t: Target) -> None:
    """The library and the commands, beside what the wheel carries."""
    libraries = ' '.join(f'{t.folder}/{part.makes}' for part in PARTS
                         if part.makes.endswith('.a'))
    make(ROOT, log_of(f'{t.name}-tkdbg'), f'B=build/wheels/{t.name}/build',
         f'CC={t.gcc}', f'LINKER={" ".join(linker(t))}',
         f'CPPFLAGS=-I{t.folder}/include', 'NVPTX=',
         f'ISL_LIBS={t.folder}/lib/libisl.a',
         f'LIBS={libraries} -lm -ldl -lpthread', 'wheel-files',
         f'INTO={t.folder}/carried')


def add_licences(t: Target) -> None:
    folder = os.path.join(t.folder, 'carried', 'licences')
    os.makedirs(folder, exist_ok=True)
    whose = {part.name: os.path.join(SOURCES, part.name, 'debian', 'copyright')
             for part in PARTS if part.source}
    for name, package in LLVM_LICENCES.items():
        whose[name] = os.path.join(t.folder, 'debian', 'usr', 'share', 'doc',
                                   package, 'copyright')
    for name, path in whose.items():
        shutil.copy(path, os.path.join(folder, f'{name}.txt'))


def build(t: Target, into: str) -> str:
    """A wheel; its path."""
    if not shutil.which(t.gcc):
        raise Failed(f'{t.gcc} is missing: apt-get install '
                     f'gcc-{t.name.replace("_", "-")}-linux-gnu')
    os.makedirs(t.folder, exist_ok=True)
    for part in PARTS:
        if not os.path.exists(os.path.join(t.folder, part.makes)):
            print(f'{t.name}: {part.name}', flush=True)
            part.build(t)
    print(f'{t.name}: tkdbg', flush=True)
    build_tkdbg(t)
    add_licences(t)
    dist = os.path.join(t.folder, 'dist')
    shutil.rmtree(dist, ignore_errors=True)
    run(['sh', os.path.join(ROOT, 'tools', 'wheel.sh')], ROOT,
        log_of(f'{t.name}-wheel'), DIST=dist,
        TKDBG_WHEEL_FILES=os.path.join(t.folder, 'carried'),
        TKDBG_WHEEL_TAG=t.tag)
    return shutil.copy(glob.glob(os.path.join(dist, '*.whl'))[0], into)


def main() -> int:
    for folder in SOURCES, args.into:
        os.makedirs(folder, exist_ok=True)
    try:
        fetch([part.name for part in PARTS if part.source])
        for name in args.architecture or sorted(TARGETS):
            print(build(TARGETS[name], args.into), flush=True)
    except Failed as e:
        print(f'wheels: {e}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('architecture', nargs='*', metavar='ARCHITECTURE',
                        choices=[[], *TARGETS])
    parser.add_argument('--into', type=os.path.abspath, default='dist')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    sys.exit(main())
