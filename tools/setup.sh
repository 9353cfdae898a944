#!/bin/sh
# Installs the packages that tkdbg is built and tested with, those that are
# missing only: by apt-get, dnf or pacman.
#
#   setup.sh               installs
#   setup.sh --if-missing  the same, silent and quick when all is there
#   setup.sh --lint        and clang-format, debootstrap for bare.sh, and mypy
#                          and ruff: not Debian's (which has no ruff), but the
#                          versions of tools/lint-tools.txt, in build-lint/
#
# Without --if-missing also what some tests need that are skipped without it,
# if that can be had.
set -u

# Debian's packages, and what they are called by dnf (Fedora, and RHEL's clones
# with CRB and EPEL) and by pacman (Arch); -: another one has it, or none.
names='
gcc gcc gcc
libc6-dev glibc-devel -
make make make
pkg-config pkgconf-pkg-config pkgconf
libffi-dev libffi-devel libffi
libreadline-dev readline-devel readline
libjansson-dev jansson-devel jansson
zlib1g-dev zlib-devel zlib
check check-devel check
libisl-dev isl-devel libisl
libmpfr-dev mpfr-devel mpfr
libopenblas0-pthread openblas-serial openblas
python3 python3 python
python3-numpy python3-numpy python-numpy
clang-format clang-tools-extra clang
debootstrap debootstrap debootstrap
libedit2 libedit libedit
python3-setuptools python3-setuptools python-setuptools
python3-wheel python3-wheel python-wheel
python3-venv - -
python3-pytest python3-pytest python-pytest
python3-ipython python3-ipython ipython
python3-jsonschema python3-jsonschema python-jsonschema
python3-debugpy python3-debugpy python-debugpy
python3-mpmath python3-mpmath python-mpmath
llvm-19-dev - -
gdb gdb gdb
valgrind valgrind valgrind
gdb-multiarch - -
lldb lldb lldb
dwarfdump libdwarf-tools libdwarf
elfutils elfutils elfutils
'

# The first package manager that is here; its number is the column of names.
for manager in apt-get dnf pacman ''; do
  [ -z "$manager" ] || ! command -v "$manager" >/dev/null 2>&1 || break
done

# Debian's names on standard input, this system's on standard output.
translated() {
  while read -r name; do
    for name in $name; do
      echo "$names" | while read -r debian dnf pacman; do
        [ "$debian" = "$name" ] || continue
        case $manager in
          dnf) name=$dnf ;;
          pacman) name=$pacman ;;
        esac
        [ "$name" = - ] || echo "$name"
      done
    done
  done
}

# What is needed and the package that has it, as pairs of test and package.
has_command() { command -v "$1" >/dev/null 2>&1; }
has_module() { pkg-config --exists "$1" 2>/dev/null; }
has_openblas() {
  for f in /usr/lib/*/libopenblas.so.0 /usr/lib*/libopenblas.so.0 \
      /usr/local/lib/libopenblas.so.0; do
    [ -e "$f" ] && return 0
  done
  return 1
}
has_numpy() {
  find='import importlib.util as u, sys; sys.exit(not u.find_spec("numpy"))'
  for p in ${PYTHON:-} python3 /usr/bin/python3; do
    "$p" -c "$find" 2>/dev/null && return 0
  done
  return 1
}

missing() {
  cc=${CC:-cc}
  has_command "${cc%% *}" || echo gcc libc6-dev
  has_command make || echo make
  has_command pkg-config || echo pkg-config
  has_module libffi || echo libffi-dev
  has_module readline || echo libreadline-dev
  has_module jansson || echo libjansson-dev
  has_module zlib || echo zlib1g-dev
  has_module check || echo check
  has_module isl || echo libisl-dev
  has_module mpfr || echo libmpfr-dev
  has_openblas || echo libopenblas0-pthread
  has_command python3 || echo python3
  has_numpy || echo python3-numpy
  if [ "$lint" ]; then
    has_command clang-format || echo clang-format
    [ -x /usr/sbin/debootstrap ] || echo debootstrap
  fi
}

has_python() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
has_libedit() {
  for f in /usr/lib/*/libedit.so.2 /usr/lib*/libedit.so.[02]; do
    [ -e "$f" ] && return 0
  done
  return 1
}
wanted() {
  has_libedit || echo libedit2
  has_python setuptools || echo python3-setuptools
  has_python wheel || echo python3-wheel
  has_python ensurepip || echo python3-venv
  has_python pytest || echo python3-pytest
  has_python IPython || echo python3-ipython
  has_python jsonschema || echo python3-jsonschema
  has_python debugpy || echo python3-debugpy
  has_python mpmath || echo python3-mpmath
  has_command llvm-config-19 || echo llvm-19-dev
  has_command gdb || echo gdb
  has_command valgrind || echo valgrind
  has_command gdb-multiarch || echo gdb-multiarch
  has_command lldb || echo lldb
  has_command dwarfdump || echo dwarfdump
  has_command eu-elflint || echo elfutils
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif has_command sudo; then sudo "$@"
  else
    echo "tkdbg: setup needs root or sudo, to run: $*" >&2
    exit 1
  fi
}

# Other versions find other things.  Without the index of packages `make lint`
# leaves them out, and says so.
lint_tools() {
  [ "$lint" ] || return 0
  cd "$(dirname "$0")/.." || exit 1
  cmp -s tools/lint-tools.txt build-lint/installed && return 0
  echo "setup: installing $(tr '\n' ' ' <tools/lint-tools.txt)in build-lint"
  rm -rf build-lint
  for p in ${PYTHON:-} python3 /usr/bin/python3; do
    "$p" -m venv build-lint >/dev/null 2>&1 &&
      build-lint/bin/python -m pip install --quiet \
        --disable-pip-version-check --only-binary :all: --retries 1 \
        --timeout 20 --requirement tools/lint-tools.txt &&
      cp tools/lint-tools.txt build-lint/installed && return 0
    rm -rf build-lint
  done
  echo "setup: they cannot be had here: make lint leaves them out"
}

quiet=
lint=
for a in "$@"; do
  case $a in
    --if-missing) quiet=1 ;;
    --lint) lint=1 ;;
    *) echo "usage: setup.sh [--if-missing] [--lint]" >&2; exit 2 ;;
  esac
done

packages=$(missing | translated | tr '\n' ' ')
optional=$([ "$quiet" ] || wanted | translated | tr '\n' ' ')
if [ -z "$packages$optional" ]; then
  [ "$quiet" ] || echo "setup: no package is missing"
  lint_tools
  exit 0
fi
if [ -z "$manager" ]; then
  [ -z "$packages" ] && exit 0
  echo "tkdbg: these Debian packages, or what your system calls them, are" >&2
  echo "missing, and this system has no apt-get, dnf or pacman: $packages" >&2
  exit 1
fi

# The package lists may be absent or too old: fetch them when needed.
install_by_apt() {
  apt='env DEBIAN_FRONTEND=noninteractive apt-get'
  install="$apt install -y -q --no-install-recommends"
  # shellcheck disable=SC2086
  as_root $install "$@" </dev/null || {
    as_root $apt update -q </dev/null && as_root $install "$@" </dev/null
  }
}

install() {
  echo "setup: installing $*"
  case $manager in
    apt-get) install_by_apt "$@" ;;
    dnf) as_root dnf install -y --setopt=install_weak_deps=False "$@" \
      </dev/null ;;
    pacman) as_root pacman -S --needed --noconfirm "$@" </dev/null ;;
  esac || { echo "tkdbg: $manager could not install: $*" >&2; return 1; }
}
# shellcheck disable=SC2086
[ -z "$packages" ] || install $packages || exit 1
# shellcheck disable=SC2086
[ -z "$optional" ] || install $optional ||
  echo "setup: the tests that need these will be skipped"
lint_tools
