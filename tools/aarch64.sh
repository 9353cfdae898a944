#!/bin/bash
# make aarch64-check: tkdbg on aarch64, by qemu: Debian 12's arm64 in a root
# that debootstrap makes, with a build by Debian's cross compiler.
#
#   tools/aarch64.sh [PART ...]
#
# Parts: c (the programs in C, without what takes long; with the language's
# specifications), debug, cli and python (those of CLI and PYTHON_TESTS), and
# bits: launches of the examples, of the bench and random ones leave the same
# bits as on this machine.  Without a PART, all: about half an hour on two
# processors.  Needs root, a network, and gcc-aarch64-linux-gnu, debootstrap and
# qemu-user-static.  The kernel is told to run aarch64 by qemu while this lasts.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-aarch64 root=$PWD/build-aarch64/root
tree=$root/home/somebody/tkdbg
packages=make,python3,python3-numpy,python3-venv,libffi-dev,libjansson-dev
packages=$packages,libreadline8,libopenblas0-pthread,check,libisl-dev,libgmp-dev
packages=$packages,libc6-dev,pkg-config,zlib1g-dev
cli=${CLI:-usage help direct_launches doctor layout shards jobs version random}
python_tests=${PYTHON_TESTS:-test_capi test_parsing test_launch.py test_tuples
  test_variables test_signals test_workers}
binfmt=/proc/sys/fs/binfmt_misc
ours=

. tools/roots.sh

cannot() {
  echo "aarch64-check: it cannot be run here: $*" >&2
  exit 1
}

clean() {
  trap - EXIT
  end_inside
  [ -z "$ours" ] || echo -1 >"$binfmt/tkdbg-aarch64" || true
}

# Programs for aarch64 run by qemu, which the kernel keeps open, so that it is
# there in the root as well.
run_foreign() {
  local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'
  local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff'
  [ "$(uname -m)" != aarch64 ] || return 0
  [ -e "$binfmt/register" ] || mount -t binfmt_misc none "$binfmt" ||
    cannot "binfmt_misc cannot be mounted"
  ! grep -qs aarch64 "$binfmt"/*aarch64* || return 0
  local qemu
  qemu=$(command -v qemu-aarch64-static) || cannot \
    "qemu-aarch64-static is not installed (Debian: qemu-user-static)"
  printf '%s' ":tkdbg-aarch64:M::$magic\xb7\x00:$mask\xfe\xff\xff\xff:$qemu:F" \
    >"$binfmt/register"
  ours=1
}

make_root() {
  [ ! -e "$root/ready" ] || return 0
  rm -rf --one-file-system "$root"
  apart --mount-proc debootstrap --arch=arm64 --variant=minbase \
    --include="$packages" bookworm "$root" "${MIRROR:-\
http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 ||
    cannot "debootstrap failed: $work/debootstrap.log"
  echo 'somebody:x:1000:1000::/home/somebody:/bin/bash' >>"$root/etc/passwd"
  touch "$root/ready"
}

# The cross compiler looks for libraries in the root, where a link to /lib would
# lead out of it.
mend_links() {
  local link
  find "$root/usr/lib/aarch64-linux-gnu" -maxdepth 1 -lname '/*' |
    while read -r link; do
      ln -sfr "$root$(readlink "$link")" "$link"
    done
}

build() {
  mkdir -p "$tree"
  git ls-files -z --cached --others --exclude-standard |
    xargs -0 cp -u --parents -t "$tree" 2>/dev/null || true
  mend_links
  QEMU_LD_PREFIX=$root PKG_CONFIG_SYSROOT_DIR=$root \
    PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig \
    make -C "$tree" -j"${JOBS:-$(nproc)}" ASSERTS=1 NVPTX= \
    CC="${CCACHE:-} aarch64-linux-gnu-gcc --sysroot=$root" WERROR=1 \
    all test-programs >"$work/build.log" 2>&1 || {
    tail -20 "$work/build.log" >&2
    cannot "the build failed: $work/build.log"
  }
  chown -R 1000:1000 "$root/home/somebody"
}

inside() {
  apart bash -c "$enter" bash "$root" terminals 1000 tkdbg "$@"
}

tests() { # OPTIONS AND SUITES
  inside python3 tests/run.py --build build-asserts --patience 10 "$@"
}

# Files of tests that are named, one after the other.
named() { # SUITE NAME...
  local suite=$1 name failed=0
  shift
  for name; do
    tests --only "$name" "$suite" || failed=1
  done
  return $failed
}

bits() {
  local here=$work/launches there=$tree/build-asserts/launches
  local script=tests/bits/elsewhere.py
  make -j"${JOBS:-$(nproc)}" CC="${CCACHE:-} ${CC:-cc}" all >"$work/here.log"
  rm -rf "$here" "$there"
  python3 $script --build build write "$here"
  python3 $script --build build run "$here" "$work/here.json"
  cp -r "$here" "$there"
  chown -R 1000:1000 "$there"
  inside python3 $script --build build-asserts run build-asserts/launches \
    build-asserts/there.json
  python3 $script compare "$work/here.json" "$tree/build-asserts/there.json"
}

part() {
  echo "== aarch64: $1"
  case $1 in
    c) tests --fast c ;;
    debug) tests --fast debug ;;
    cli) named cli $cli ;;
    python) named python $python_tests ;;
    bits) bits ;;
    *) cannot "there is no part '$1'" ;;
  esac
}

main() {
  local failed=0 name
  mkdir -p "$work"
  trap clean EXIT
  command -v debootstrap >/dev/null || cannot "debootstrap is not installed"
  command -v aarch64-linux-gnu-gcc >/dev/null ||
    cannot "gcc-aarch64-linux-gnu is not installed"
  run_foreign
  make_root
  build
  for name in "${@:-c debug cli python bits}"; do
    for name in $name; do
      time part "$name" || failed=1
    done
  done
  return $failed
}
main "$@"
exit
