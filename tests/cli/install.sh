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
    share/doc/tkdbg/README.md share/doc/tkdbg/examples/vector_add.py; do
  check "installed $f" test -s "$at/$f"
done
status 'installed command' 0 "$at/bin/tkdbg" version
status 'installed command finds its Python' 0 "$at/bin/tkdbg" --python-path
says 'installed command: place' out "$at/lib/tkdbg/python"
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

check 'uninstall' place uninstall
find "$SCRATCH/root" ! -type d >left
silent 'uninstall leaves nothing' left
