# tkdbg diff: two engines beside each other.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def add(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def curve(a):
    return tl.exp(a) * 2


@triton.jit
def sums(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    s = 0.0
    for k in range(3):
        s += tl.sum(curve(a + k))
    tl.store(y + tl.program_id(0), s)


@triton.jit
def undefined(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i, mask=i < n)
    tl.store(y + i, a)


@triton.jit
def total(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(y + i * 0, tl.exp(a), mask=i < n)


@triton.jit
def outside(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i + 4096, tl.load(x + i))


@triton.jit
def rows(x, y, n, B: tl.constexpr):
    i = tl.arange(0, 64)[:, None]
    j = tl.arange(0, 64)[None, :]
    tl.store(y + j + i * 0, i + j * 0, mask=(i <= 32) & (j >= 0))


@triton.jit
def sum_all(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(y + i * 0, tl.load(x + i, mask=i < n, other=0.0))


@triton.jit
def handed_on(x, y):
    tl.store(x + tl.arange(0, 256), 3)
    s = tl.atomic_cas(y, tl.load(x + 255), 5)
    tl.store(y + 1, s)
K
for cause in $(sed -n 's/^CAUSE([A-Z0-9_]*, "\([a-z0-9-]*\)",.*/\1/p' \
    "$ROOT/include/tkdbg/cause.def" | grep -v unknown); do
  says "the manual knows the cause $cause" "$ROOT/docs/diff.md" "| \`$cause\` |"
done
args='--arg x=f32[1000]:randn --arg n=1000 --arg B=256 --grid 4'
if ! tkdbg diff k.py --kernel add $args --arg y=f32[1000]:zeros -q \
    >out 2>err; then
  says 'without LLVM it says what is missing' err 'llvm-19-dev'
  skip 'tkdbg diff' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
says 'equal bits' out 'y: 1000 elements, all bits agree'
status 'the backend is named' 0 tkdbg diff k.py --backend ptx --kernel add \
  $args --arg y=f32[1000]:zeros
says 'the backend is named: which' out "'ptx' beside the interpreter"

sums="tkdbg diff k.py --backend ptx --kernel sums $args --arg y=f32[4]:zeros"
status 'rounding' 0 $sums
says 'rounding: it is no fault' out 'rounding explains up to'
says 'rounding: whose error' out "error (rms, against float64): "
status 'a bound of zero' 1 $sums --rtol 0
says 'a bound of zero: which' out 'differs from what the interpreter gives in'
says 'a bound of zero: who' out 'by program ('
status 'a bound in units' 0 $sums --ulp 64
status 'why' 0 $sums --explain
says 'why: the line' out 'return tl.exp(a) * 2'
says 'why: the operation' out "'unary exp' in lane ["
says 'why: the operand' out 'of a = '
says 'why: the cause' out 'cause: approximation'

cat >long.py <<'K'
import triton.language as tl
import triton
@triton.jit
def long(x, y, n):
    i = tl.arange(0, 16384)
    a = tl.load(x + i)
    for t in range(n):
        a = tl.minimum(tl.abs(a * 2 - 1), 3)
    tl.store(y + i, tl.exp(a + i * 0.0001))
K
status 'after 32 MiB of records' 1 tkdbg diff long.py --backend ptx --rtol 0 \
  --explain --arg x=f32[16384]:rand --arg y=f32[16384]:zeros --arg n=160
says 'after 32 MiB of records: what differs' out "'unary exp' in lane"

tkdbg run k.py -q --kernel sums $args --arg y=f32[4]:zeros --save y=own.npy
check 'memory' $sums --save y=after.npy
check 'memory is what the interpreter left' cmp own.npy after.npy

status 'atomic sums' 0 tkdbg diff k.py --backend ptx --kernel total $args \
  --arg y=f32[1]:zeros
says 'atomic sums: what is explained' out 'rounding explains up to 0.01'

status 'fp64' 0 tkdbg diff k.py --backend ptx --kernel add \
  --arg x=f64[1000]:randn --arg n=1000 --arg B=256 --grid 4 \
  --arg y=f64[1000]:zeros
says 'fp64: its tensor' out 'y: 1000 elements'

status 'the backend faults' 1 tkdbg diff k.py --backend ptx --kernel outside \
  --arg x=f32[64]:zeros --arg y=f32[64]:zeros --arg n=1 --arg B=64
says 'the backend faults: where' err 'k.py:43'

status 'a bad bound' 2 $sums --rtol many
says 'a bad bound: what' err \
  "--rtol takes a number that is not negative, not 'many'"
status 'a bound that all is within' 2 $sums --rtol inf
status 'a bound of a user' 0 $sums --ulp 1000
says 'a bound of a user: that it is' out \
  'that is within 1000 ulp, as it was asked for'
status 'a backend that is none' 2 tkdbg diff --backend cpu k.py --kernel add \
  $args --arg y=f32[1000]:zeros
says 'a backend that is none: what' err "no engine is called 'cpu'"
status 'another engine' 2 tkdbg diff --engine ptx k.py --kernel add $args \
  --arg y=f32[1000]:zeros
says 'another engine: what' err 'cannot be watched'

tkdbg run k.py -q --kernel sums $args --arg y=f32[4]:zeros \
  --record l.safetensors
status 'lanes that store to one element' 1 tkdbg diff k.py --kernel rows $args \
  --grid 1 --arg y=i32[64]:zeros -q --explain --backend ptx
says 'lanes that store to one element: the store' out \
  "'store' is what another order leaves"
says 'lanes that store to one element: no miscompile' out 'cause: race'
status 'a sum of four programs' 0 tkdbg diff k.py --kernel sum_all $args \
  --arg y=f32[1]:zeros -q --explain --backend ptx
says 'a sum of four programs: its order' out 'cause: race'

status 'a lane that reads what another writes' 1 tkdbg diff k.py -q --explain \
  --kernel handed_on --arg x=i32[256]:zeros --arg 'y=i32[2]:full(3)' \
  --backend ptx
says 'a lane that reads what another writes: a race' out 'cause: race'
says 'a lane that reads what another writes: where' out \
  '| s = tl.atomic_cas(y, tl.load(x + 255), 5)'
says 'a lane that reads what another writes: what' out 'no barrier in between'

status 'a launch file' 0 tkdbg diff --backend ptx l.safetensors
says 'a launch file: its tensor' out 'y: 4 elements'

if [ "${SANITIZE:-}" ]; then
  skip 'scripts' 'a sanitized library wants its runtime to be in Python first'
  exit 0
fi
status 'a script runs once' 0 tkdbg run "$vector_add"
check 'a script runs once: nothing is compared' sh -c '! grep -q beside out'
status 'a script' 0 tkdbg diff --backend ptx "$vector_add"
says 'a script: each launch' out 'all bits agree'
status 'a script that differs' 1 tkdbg diff --backend ptx --rtol 0 --explain \
  "$ROOT/examples/softmax.py"
says 'a script that differs: why' out 'cause: approximation'
says 'a script that differs: it goes on' out 'softmax: OK'

cat >endless.py <<'K'
import triton
import triton.language as tl


@triton.jit
def endless(x, n):
    i = n
    while i >= 0:
        i = (i + 1) & 1023
        tl.store(x, i.to(tl.float32))
K
# A shell without job control starts jobs with SIGINT ignored, hence Python.
cat >interrupt.py <<'S'
import signal, subprocess, time
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen(['tkdbg', 'run', '-q', 'endless.py', '--engine', 'ptx',
                      '--arg', 'x=f32[1]:zeros', '--arg', 'n=1'])
time.sleep(0.5)
p.send_signal(signal.SIGINT)
try:
    p.wait(timeout=10)
finally:
    p.kill()
raise SystemExit(p.returncode)
S
status 'Ctrl-C ends the PTX interpreter' 130 python3 interrupt.py
