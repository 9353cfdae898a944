# make install puts everything in its place, works from there, and make
# uninstall leaves nothing.
. "$ROOT/tests/support/check.sh"

place() {
  make -s -C "$ROOT" PREFIX=/opt/tk DESTDIR="$SCRATCH/root" "$1"
}
check 'install' place install
at=$SCRATCH/root/opt/tk
for f in bin/tkdbg lib/libtkdbg.so lib/libtkdbg.a include/tkdbg/tkdbg.h \
    include/tkdbg/dtype.def lib/tkdbg/python/tkdbg/__init__.py \
    share/man/man1/tkdbg.1 share/bash-completion/completions/tkdbg \
    share/zsh/site-functions/_tkdbg \
    share/fish/vendor_completions.d/tkdbg.fish lib/tkdbg/demo/demo.sh \
    share/doc/tkdbg/README.md share/doc/tkdbg/examples/vector_add.py; do
  check "installed $f" test -s "$at/$f"
done
status 'installed command' 0 "$at/bin/tkdbg" version
status 'installed command finds its Python' 0 "$at/bin/tkdbg" --python-path
says 'installed command: place' out "$at/lib/tkdbg/python"
status 'installed demo, without a script: its kernels are found' 2 \
  env TKDBG_PYTHON=/nowhere VIRTUAL_ENV=/nowhere "$at/bin/tkdbg" demo
says 'installed demo: where its kernels are' out "$at/lib/tkdbg/demo"
status 'TKDBG_PYTHONPATH is heeded' 0 \
  env TKDBG_PYTHONPATH=/elsewhere "$at/bin/tkdbg" --python-path
says 'TKDBG_PYTHONPATH: place' out /elsewhere
status 'command in the build folder finds its Python' 0 tkdbg --python-path
says 'build folder: place' out "$ROOT/python"

cat >program.c <<'S'
#include <tkdbg/tkdbg.h>
int main(void) {
  tk_session *s = tk_session_new();
  tk_status st = tk_pids_check(s, "0,>1");
  tk_session_free(s);
  return st;
}
S
check 'a program builds with what is installed' ${CC:-cc} -o program \
  ${SANITIZE:+"-fsanitize=$SANITIZE"} -I"$at/include" program.c \
  -L"$at/lib" -Wl,-rpath,"$at/lib" -ltkdbg
status 'and runs' 0 ./program

if [ -n "$SANITIZE" ]; then
  skip 'installed puzzles' \
    'a sanitized library wants its runtime to be in Python first'
elif "${PYTHON:-python3}" -c 'import numpy' 2>/dev/null; then
  status 'installed puzzles' 0 env TKDBG_PYTHON="${PYTHON:-python3}" \
    "$at/bin/tkdbg" puzzles init puzzles
  (cd puzzles && "$at/bin/tkdbg" puzzles view b03) >out 2>&1
  says 'installed puzzles: a page' out 'as a page'
else
  skip 'installed puzzles' 'NumPy is not installed'
fi

check 'uninstall' place uninstall
find "$SCRATCH/root" ! -type d >left
silent 'uninstall leaves nothing' left

# The wheel: everything in a package, for any Python.
pythons='python3 /usr/bin/python3'
has() {
  for python in ${PYTHON:-} $pythons; do
    "$python" -c "$1" 2>/dev/null && return 0
  done
  return 1
}
if [ "${SANITIZE:-}" ]; then
  skip 'wheel' 'a sanitized library wants its runtime to be in Python first'
elif ! has 'import setuptools, wheel.bdist_wheel' &&
    ! has 'import setuptools.command.bdist_wheel'; then
  skip 'wheel' 'setuptools and wheel are not installed'
else
  check 'make wheel' make -s -C "$ROOT" wheel DIST="$SCRATCH/dist"
  wheel=$(echo dist/tkdbg-*.whl)
  if ! has 'import numpy, ensurepip' ||
      ! "$python" -m venv --system-site-packages venv >venv.log 2>&1; then
    skip 'pip install' 'no Python with NumPy can make virtual environments'
  else
    unset VIRTUAL_ENV TKDBG_LIBRARY
    check 'pip install' venv/bin/pip install -q --no-index --no-deps "$wheel"
    status 'a script' 0 venv/bin/tkdbg run "$vector_add"
    says 'a script: its output' out 'vector_add: OK'
    venv/bin/tkdbg run -c 'import sys; print(sys.prefix)' >out 2>err
    says "the script's Python is the wheel's own" out "$SCRATCH/venv"
    status "the wheel's demo" 0 venv/bin/tkdbg demo
    says "the wheel's demo: its end" out 'That is the demo.'
    says "the wheel's demo: what is found" err 'out-of-bounds'
    status 'the bridge to CUDA Tile is in the wheel' 0 \
      venv/bin/python -c 'import tkdbg.cutile'
    status 'the module' 0 venv/bin/python -m tkdbg run "$vector_add"
    status "the wheel's puzzles" 0 venv/bin/tkdbg puzzles init course
    (cd course && ../venv/bin/tkdbg puzzles view b03) >out 2>&1
    says "the wheel's puzzles: a page" out 'as a page'
    status 'a place for other Pythons' 0 venv/bin/tkdbg --python-path
    says 'a place for other Pythons: it is in the package' out \
      /site-packages/tkdbg/path
    status 'another Python' 0 env TKDBG=1 PYTHONPATH="$(cat out)" \
      "$python" "$vector_add"
    venv/bin/tkdbg run --python "$python" \
      -c 'import sys, tkdbg; print(sys.prefix, tkdbg.__file__)' >out 2>err
    says 'another Python: the package is the same' out \
      "$SCRATCH/venv/lib/python"
    check 'pip uninstall' venv/bin/pip uninstall -q -y tkdbg
    find venv -name '*tkdbg*' >left
    silent 'pip uninstall leaves nothing' left
  fi
fi
