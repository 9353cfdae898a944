#!/bin/bash
# make wheels-check: the wheel of `make wheels` in each system of
# tests/wheel/roots.txt, as debootstrap makes it with Python and NumPy and
# nothing else: installed there by nobody in particular, tests/wheel/try.sh
# begins with each front end.  Needs root and a network.
#
#   tools/wheel-roots.sh [TEXT]   systems with TEXT in their name
#
# Prints a row for each system; the exit status is 1 if one fails.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/wheels/roots
wheel=$(ls "${DIST:-dist}"/tkdbg-*manylinux*_"$(uname -m)".whl | tail -1)
packages=python3,python3-venv,python3-numpy,ca-certificates,ncurses-base

. tools/roots.sh

clean() {
  trap - EXIT
  end_inside
}

# A root is made once.
make_root() { # SUITE MIRROR
  local root=$work/$1 parts=main script=
  [ -e "$root/ready" ] && return
  # that of every Ubuntu since, whether or not debootstrap knows its name
  case $2 in
  *ubuntu*) parts=main,universe script=/usr/share/debootstrap/scripts/gutsy ;;
  esac
  rm -rf --one-file-system "$root"
  apart --mount-proc debootstrap --variant=minbase --no-check-gpg \
    --components="$parts" --include="$packages" "$1" "$root" "$2" $script \
    >"$work/$1.log" 2>&1 || return 1
  touch "$root/ready"
}

# One system; its row on standard output.
try_root() { # SUITE NAME
  local root=$work/$1 home=$work/$1/home/somebody/try status=passed
  rm -rf "$root/home/somebody"
  mkdir -p "$home"
  cp -r "$wheel" examples tests/wheel/try.sh "$home"
  chown -R 1000:1000 "$root/home/somebody"
  grep -q ^somebody "$root/etc/passwd" ||
    echo 'somebody:x:1000:1000::/home/somebody:/bin/bash' >>"$root/etc/passwd"
  apart bash -c "$enter" bash "$root" terminals 1000 try bash try.sh \
    >"$work/$1.said" 2>&1 || status=FAILED
  grep '^not ok' -A15 "$work/$1.said" >&2 || true
  printf '| %s | %s | %s | %s | %s |\n' "$2" \
    "$(chroot "$root" ldd --version | head -1 | grep -oE '[0-9.]+$')" \
    "$(chroot "$root" python3 -c 'import platform as p
print(p.python_version())')" \
    "$status, $(grep -c '^ok' "$work/$1.said") checks" "$(date +%F)"
}

main() {
  local failed=0 first second suite mirror row
  mkdir -p "$work"
  trap clean EXIT
  while read -r first second suite mirror; do
    case $first in ''|'#'*) continue ;; esac
    case "$first $second" in *"${1:-}"*) ;; *) continue ;; esac
    if ! make_root "$suite" "$mirror"; then
      echo "| $first $second | skipped: debootstrap failed: $work/$suite.log |"
      continue
    fi
    row=$(try_root "$suite" "$first $second")
    echo "$row"
    case $row in *FAILED*) failed=1 ;; esac
  done <tests/wheel/roots.txt
  return "$failed"
}
main "$@"
exit
