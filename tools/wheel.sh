#!/bin/sh
# make wheel: $DIST/*.whl, by a Python that has setuptools and wheel; else by
# pip, which fetches them.
set -u
find='from setuptools import build_meta
try: from setuptools.command import bdist_wheel
except ImportError: import wheel.bdist_wheel'
build='import sys; from setuptools import build_meta
build_meta.build_wheel(sys.argv.pop())'
dist=${DIST:-dist}

make_wheel() {
  for python in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$python" -c "$find" 2>/dev/null; then
      "$python" -c "$build" "$dist"
      return
    fi
  done
  "${PYTHON:-python3}" -m pip wheel --no-deps -w "$dist" . || {
    echo "tkdbg: a wheel needs setuptools and wheel (Debian: python3-wheel)"
    echo "or pip and a network"
    return 1
  }
}

mkdir -p build "$dist"
rm -f "$dist"/tkdbg-*.whl
if make_wheel >build/wheel.log 2>&1; then
  ls "$dist"/tkdbg-*.whl
else
  cat build/wheel.log >&2
  exit 1
fi
