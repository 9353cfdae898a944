# tkdbg diff --backend triton-interpret: how Triton is asked and what is said of
# it, by a Python that has none; and with the one that is installed.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import math
import triton
import triton.language as tl
from triton import jit

SCALE = tl.constexpr(3)


@triton.jit
def scaled(v, by: tl.constexpr = SCALE):
    return v * by * 0.5


@jit
def add(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n)
    tl.store(y + i, scaled(a) + 1, mask=i < n)


@triton.jit
def narrow(y, v):
    tl.store(y, v)
K
cat >fake <<'F'
#!/bin/sh
[ "$1" = -c ] && exit "${FAKE_PROBE:-0}"
case "$FAKE" in
fail) printf 'printed\n\036CompilationError: at 7:4' && exit 3 ;;
crash) kill -9 $$ ;;
damage) echo short >"$2" ;;
code)
  echo "asked with $3 ${TKDBG:-clean}"
  echo '{"ptx": "nothing", "entry": "add", "params": [1, 2, 3]}' >"$2"
  ;;
*) echo "asked with ${3:-nothing} ${TKDBG:-clean}" ;;
esac
F
chmod +x fake
args='--arg x=f32[100]:randn --arg n=100 --arg B=64 --grid 2
  --arg y=f32[100]:zeros'
run="tkdbg run k.py -q --kernel add $args --engine triton-interpret"
diff="tkdbg diff k.py --kernel add $args --backend triton-interpret"
mkdir tmp
export TKDBG_PYTHON="$PWD/fake" TMPDIR="$PWD/tmp"
status 'it is asked' 0 env TKDBG=1 $run
says 'it is asked: how' out 'asked with --interpret clean'
status 'memory as it was' 1 $diff
says 'memory as it was: what differs' out 'y: 100 elements, 100 differ'
FAKE=fail status 'a failure' 1 $run
says 'a failure: why' err 'Triton did not run this launch: CompilationError: at'
says 'a failure: what it printed' out 'printed'
FAKE=crash status 'a crash' 1 $run
says 'a crash: what is said' err 'its process was ended, and printed nothing'
FAKE=damage status 'a damaged file' 2 $run
FAKE_PROBE=1 status 'no Triton' 2 $run
says 'no Triton: what to do' err 'pip install torch triton'
FAKE=code status 'its code' 1 tkdbg run k.py -q --kernel add $args \
  --engine triton-ptx
says 'its code: how it is asked' out 'asked with --ptx clean'
says 'its code: it is run' err 'add.ptx:1:'
FAKE=damage status 'no code' 2 tkdbg run k.py -q --kernel add $args \
  --engine triton-ptx
says 'no code: what is said' err "its compiler's answer has no code"
check 'no file is left' rmdir tmp
status 'no records of operations' 2 $diff --explain
says 'no records of operations: why' err "runs the kernel's source"
says 'no records of operations: what to do' err "the backend 'gpu' or 'ptx'"
unset TKDBG_PYTHON TMPDIR
for python in "${TRITON_PYTHON:-python3}"; do
  if ! "$python" -c 'import torch, triton, numpy
exit(tuple(map(int, numpy.__version__.split(".")[:2])) > (2, 3))' 2>err; then
    skip 'Triton itself' 'no Python with Triton, PyTorch and NumPy below 2.4'
    exit 0
  fi
  export TKDBG_PYTHON="$python"
done
status 'a kernel file' 0 $diff
says 'a kernel file: equal' out 'y: 100 elements, all bits agree'
status 'a number of a type' 1 tkdbg run k.py -q --kernel narrow \
  --arg y=i8[1]:zeros --arg v=i8:3 --engine triton-interpret
says 'a number of a type: why' err "argument 'v' is a number of type int8"
status 'a script' 0 tkdbg diff --backend triton-interpret \
  "$ROOT/examples/vector_add.py"
says 'a script: each launch' out 'output_ptr: 98432 elements, all bits agree'
status 'pointers in memory' 0 tkdbg diff --backend triton-interpret \
  "$ROOT/examples/grouped_gemm.py"
