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

sh tools/wheel-audit.sh "$dist" || failed=$((failed + 1))

echo "$tried Pythons, $failed failed"
test "$tried" -gt 0 && test "$failed" -eq 0
