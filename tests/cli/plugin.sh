# The plug-in with LLVM: what is said where it is missing, damaged, another's or
# too old, and where it ends or memory runs out.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, M: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, K)
    a = tl.load(x + m[:, None] * K + n[None, :])
    b = tl.load(x + n[:, None] * M + m[None, :])
    tl.store(x + m[:, None] * M + m[None, :], tl.dot(a, b).to(tl.float16))
K
small='--kernel k --arg x=f16[1024]:ones --arg M=16 --arg K=16'
large='--kernel k --arg x=f16[65536]:ones --arg M=256 --arg K=64'
TKDBG_CACHE_DIR=$PWD/code TKDBG_PTXAS=
export TKDBG_CACHE_DIR TKDBG_PTXAS

# A tkdbg of our own, which looks for plug-ins beside itself.
mkdir bin
cp "$BUILD/tkdbg" bin/tkdbg
own=$PWD/bin/libtkdbg-nvptx.so
PATH=$PWD/bin:$PATH

# The interface of this version.
number=$(sed -n 's/.*TKV_LLVM_INTERFACE = \([0-9]*\).*/\1/p' \
  "$ROOT/src/nvptx/llvm.h")

said() { # NAME STATUS TEXT HELP [ENGINE'S STATUS]: PTX, and the engine.
  rm -rf code
  status "$1" "$2" tkdbg compile k.py $small --emit ptx
  says "$1: what" err "error: $3"
  says "$1: what to do" err "$4"
  silent "$1: nothing else" out
  check "$1: in a line and its help" [ "$(wc -l <err)" = 2 ]
  status "$1: run" "${5:-$2}" tkdbg run k.py -q $small --engine ptx
  says "$1: run: what" err "$4"
}
plugin() { # TEXT OF C: is made the plug-in
  cc -w -shared -fPIC -D_GNU_SOURCE -o "$own" -x c - <<K
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
$1
K
}

said 'no plug-in' 1 'PTX needs the plug-in libtkdbg-nvptx.so: ' llvm-19-dev 2
again='build it again: run '
echo nonsense >"$own"
said 'text' 1 "the plug-in libtkdbg-nvptx.so cannot be opened: $own" \
  "remove it and run 'make'"
: >"$own"
said 'an empty file' 1 'the plug-in libtkdbg-nvptx.so cannot be opened: ' \
  "remove it and run 'make'"
plugin 'int other;'
said 'another library' 1 "the file '$own' is not a plug-in of this version of t\
kdbg: it lacks the symbol 'tkv_llvm_interface'" "$again"
plugin "const int tkv_llvm_interface = $number;"
said 'no function' 1 "the file '$own' is not a plug-in of this version of tk\
dbg: it lacks the symbol 'tkv_llvm_compile'" "$again"
plugin 'const int tkv_llvm_interface = 0; char tkv_llvm_compile[1];'
said 'an old one' 1 "the plug-in '$own' is of another version of tkdbg: its in\
terface has number 0, and $number is expected" "$again"
plugin 'void LLVMNone(void); void f(void) { LLVMNone(); }'
said 'a symbol that LLVM lacks' 1 \
  'the plug-in libtkdbg-nvptx.so cannot be opened: ' 'or a symbol of LLVM'

doing() { # C: is what the plug-in does
  plugin "const int tkv_llvm_interface = $number;
char *tkv_llvm_compile(void *r, char **error) { $1 }"
}
begin='LLVM ended while it compiled the kernel, '
doing 'fputs("LLVM ERROR: Cannot select\nmore\n", stderr); exit(1);'
said 'an end' 1 "${begin}with status 1: LLVM ERROR: Cannot select" '--emit llir'
doing 'raise(SIGABRT);'
said 'an abort' 1 "${begin}by signal 6" '--emit llir'
check 'an abort leaves no core' sh -c '! ls core* 2>/dev/null'
doing 'fputs("LLVM ERROR: out of memory\nmore\n", stderr); abort();'
said 'no memory' 3 'LLVM ran out of memory while it compiled the kernel [' \
  'help: end what else uses memory, or use smaller blocks'
doing 'raise(SIGKILL);'
said 'killed' 3 'LLVM ran out of memory while it compiled the kernel [' \
  'help: end what else uses memory, or use smaller blocks'
doing '*error = strdup("LLVM: no"); return NULL;'
rm -rf code
status 'refused' 1 tkdbg compile k.py $small --emit ptx
says 'refused: why' err 'error: LLVM: no [unsupported]'
doing 'fputs("warning\n", stderr); return strdup(".version 7.8\n");'
rm -rf code
status 'a warning' 0 tkdbg compile k.py $small --emit ptx
says 'a warning is shown' err warning
check 'a warning is not code' grep -qx '.version 7.8' out

if [ ! -f "$BUILD/libtkdbg-nvptx.so" ]; then
  skip 'memory that runs out' \
    'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
if [ "${SANITIZE:-}" ]; then
  skip 'memory that runs out' 'the sanitizer reserves memory of its own'
  exit 0
fi
head -c 20000 "$BUILD/libtkdbg-nvptx.so" >"$own"
said 'a plug-in that is cut off' 1 '' "remove it and run 'make'"
cp "$BUILD/libtkdbg-nvptx.so" "$own"

# From what the loader needs to what LLVM needs for a product.
limited() { (ulimit -v "$1" && tkdbg compile k.py $large --emit ptx); }
for megabytes in 12 50 100 150 175 190 195 200 205 210 215 220 1000; do
  rm -rf code
  limited $((megabytes * 1024)) >out 2>err </dev/null
  ended=$?
  if [ $ended = 0 ]; then
    check "$megabytes MiB suffice" grep -q mma.sync out
    enough=$megabytes
  else
    check "$megabytes MiB: status 3" [ $ended = 3 ]
    check "$megabytes MiB: what" \
      grep -qE '^(error|tkdbg): (LLVM ran )?out of memory' err
    if grep -q LLVM err; then
      says "$megabytes MiB: why" err \
        "help: memory is limited to $megabytes MiB here: raise the limit"
      by_llvm=yes
    fi
    silent "$megabytes MiB: no code" out
  fi
done
check 'LLVM ran out of memory' [ "${by_llvm:-}" ]
check '1000 MiB suffice' [ "${enough:-0}" = 1000 ]
check 'nothing that is cut short is kept' [ "$(ls code | wc -l)" = 1 ]
