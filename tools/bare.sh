#!/bin/bash
# README's two commands where nobody prepared anything: `make demo` and
# `make test` in roots of a bare Debian 12, with Debian's own Python and nothing
# else.  Needs root and a network; leaves nothing mounted, whatever ends it.
#
#   tools/bare.sh  both roots, see below
#   BASE=FOLDER tools/bare.sh  begins with a copy of what debootstrap made there
#
# The first root is what debootstrap makes, the machine's configuration of apt
# copied into it, a terminal for who asks for one.  The second is the first as
# it is then, so that nothing is compiled again, where everything is worse:
# nobody in particular runs the commands, in the background, where SIGINT is
# ignored, and without /dev/pts, so that there are no terminals.  There `make
# test` leaves out what takes long, but for the debugger's own suites.
#
# The tree is what git has, with the changes of tracked files.  Which files of
# tests passed in the first root with nothing skipped is in build-bare/passed.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-bare root=$PWD/build-bare/root
suite=bookworm packages=make,git,ca-certificates
TIMEFORMAT='-- %R s; processors: %U s + %S s for the system'

cannot() {
  echo "bare-check: it cannot be run here: $*" >&2
  echo "bare-check: BARE=0 .ci/run leaves it out" >&2
  exit 1
}

. tools/roots.sh

remove() { rm -rf --one-file-system "$root"; }

clean() {
  trap - EXIT
  end_inside
  [ "${KEEP:-}" ] || remove || { sleep 1; remove; }
  rm -f "$work/gitconfig" "$work/changes"
}

step() { printf '\n== bare root%s: %s\n' "$@"; }

# ---- the root ---------------------------------------------------------------

check_machine() {
  command -v git >/dev/null || cannot "git is not installed"
  git_here rev-parse HEAD >/dev/null || cannot "$PWD is no clone of git"
  [ "${BASE:-}" ] || command -v debootstrap >/dev/null ||
    cannot "debootstrap is not installed (tools/setup.sh --lint)"
  unshare --mount --pid --fork mount -t tmpfs tmpfs "$work" 2>/dev/null ||
    cannot "mounts in a namespace of their own are not allowed"
}

make_root() {
  if [ "${BASE:-}" ]; then
    cp -a "$BASE" "$root"
    return
  fi
  step '' "debootstrap $suite"
  apart --mount-proc debootstrap --variant=minbase --include="$packages" \
    "$suite" "$root" >"$work/debootstrap.log" 2>&1 || {
    tail -20 "$work/debootstrap.log" >&2
    cannot "debootstrap failed: $work/debootstrap.log"
  }
}

# dpkg waits for the disk after each file; what is lost here can be made again.
hurry() { echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"; }

# What apt here needs to reach its mirrors; its sources, where they are those
# of the same Debian.
copy_apt() {
  local names='apt.conf apt.conf.d auth.conf auth.conf.d'
  if grep -q "^VERSION_CODENAME=$suite\$" /etc/os-release; then
    names="$names sources.list sources.list.d preferences preferences.d
      trusted.gpg trusted.gpg.d keyrings"
    rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
    cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
  fi
  for name in $names; do
    [ -e "/etc/apt/$name" ] || continue
    rm -rf "$root/etc/apt/$name"
    cp -a "/etc/apt/$name" "$root/etc/apt/$name"
  done
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  if [ -d /usr/local/share/ca-certificates ]; then
    cp -a /usr/local/share/ca-certificates/. \
      "$root/usr/local/share/ca-certificates/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
}

# The tree may belong to somebody else than to root.
git_here() { GIT_CONFIG_GLOBAL=$work/gitconfig git "$@"; }

clone() {
  git_here clone -q "$PWD" "$root/root/tkdbg"
  git_here diff --binary HEAD >"$work/changes"
  git_here -C "$root/root/tkdbg" apply --allow-empty "$work/changes"
}

# ---- what runs there ---------------------------------------------------------

first() {
  step '' "$*"
  time apart bash -c "$enter" bash "$root" terminals 0 tkdbg "$@"
}

second() {
  step ', the second' "$*"
  time apart bash -c "$enter" bash "$root" none 1000 tkdbg \
    bash -c '"$@" & wait $!' bash "$@"
}

to_somebody() {
  mkdir -p "$root/home/somebody"
  mv "$root/root/tkdbg" "$root/home/somebody/tkdbg"
  chown -R 1000:1000 "$root/home/somebody"
  echo 'somebody:x:1000:1000::/home/somebody:/bin/bash' >>"$root/etc/passwd"
  echo 'somebody:x:1000:' >>"$root/etc/group"
}

# Read to its end before anything runs, so that it may change meanwhile.
main() {
  [ "$(id -u)" = 0 ] || cannot "it needs root"
  umask 022
  mkdir -p "$work"
  printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
  check_machine
  rm -f "$work/passed"
  remove
  trap clean EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  time make_root
  hurry
  copy_apt
  clone

  first make demo
  first make test
  cp "$root/root/tkdbg/build-asserts/test-passed" "$work/passed"
  to_somebody
  second make demo
  second make test FAST=1
  second make test SUITES='debug dap'
}
main
exit
