# Code for a GPU gives the bits that the interpreter gives: kernels of
# tests/nvptx/codegen.py, and a part of the specification (the whole of it:
# make spec ENGINE=ptx).
. "$ROOT/tests/support/check.sh"

if ! tkdbg run -q "$ROOT/examples/vector_add.py" --kernel add_kernel \
    --engine ptx 2>err && grep -q llvm-19-dev err; then
  skip 'code for a GPU' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi

# ptxas takes the absolute value of -32768 in 16 bits for 32768.
cat >abs.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.abs(tl.load(x + i)).to(tl.int32))
K
status 'abs of int16' 0 tkdbg compile abs.py --emit ptx --kernel k \
  --arg x=i16[64]:arange --arg y=i32[64]:zeros
says 'abs of int16 is computed in 32 bits' out 'abs.s32'

if [ "${SANITIZE:-}" ]; then
  skip 'kernels' 'a sanitized library wants its runtime to be in Python first'
else
  kernels=$ROOT/tests/nvptx/codegen.py
  status 'by the interpreter' 0 tkdbg run -q "$kernels"
  cp out wanted
  status 'by code for a GPU' 0 tkdbg run -q --engine ptx "$kernels"
  check 'every kernel ran' [ "$(wc -l <wanted)" = "$(wc -l <out)" ]
  while read -r line; do
    check "the same bits: ${line% *}" grep -qxF "$line" out
  done <wanted
fi

logs=$ROOT/tests/nvptx/logarithms.py
if [ ! "${SANITIZE:-}" ]; then
  status 'logarithms' 0 tkdbg run -q --engine ptx "$logs"
  status 'logarithms without libdevice' 0 env TKDBG_LIBDEVICE= \
    tkdbg run -q --engine ptx "$logs"
fi

if [ ! -x "$BUILD/tests/language/test_spec" ]; then
  skip 'the specification' 'this build has no test programs'
  exit 0
fi
for part in shape reduce scan memory control; do
  check "specification: $part" sh -c 'cd "$ROOT" && LD_LIBRARY_PATH=$BUILD \
    "$BUILD/tests/language/test_spec" --engine ptx '$part
done
