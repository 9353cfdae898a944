# tkdbg run --engine ptx: kernels compiled for a GPU give what they should.
. "$ROOT/tests/support/check.sh"

status 'unknown engine' 2 tkdbg run --engine ptxx "$ROOT/examples/rotary.py"
says 'unknown engine: all' err \
  'interp|gpu|ptx|triton|triton-interpret|triton-ptx'

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(a))


@triton.jit
def outside(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1)
K
A='--kernel k --arg x=f32[1000]:randn --arg n=1000 --arg B=256 --grid 4 -q'
if ! tkdbg run k.py --kernel k --arg x=f32[4]:zeros --arg y=f32[4]:zeros \
    --arg n=4 --arg B=4 -q --engine ptx 2>err; then
  says 'without LLVM it says what is missing' err 'llvm-19-dev'
  skip 'the engine ptx' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi

status 'interp' 0 tkdbg run k.py $A --arg y=f32[4]:zeros --save y=a.npy
status 'ptx' 0 tkdbg run k.py $A --arg y=f32[4]:zeros --save y=b.npy \
  --engine ptx
check 'sums have the same bits' cmp a.npy b.npy

status 'outside' 1 tkdbg run k.py --kernel outside --arg x=f32[64]:zeros \
  --arg y=f32[64]:zeros --arg B=128 --engine ptx
says 'outside: what' err 'load of'
says 'outside: the line of the kernel' err 'tl.load(x + i) + 1'

cat >p.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_print('v', tl.load(x + i))
    tl.device_print('100%: ', n, i[:, None] + 8, hex=True)
    print('none')
    tl.print_if('here', '=1')
    tl.device_assert(n == 5, 'n is five')
K
P='--kernel k --arg x=f32[4]:arange --arg B=4 --grid 2 -q --engine ptx'
status 'print' 0 tkdbg run p.py $P --arg n=5
cat >wanted <<'K'
pid (0, 0, 0) idx (0) v: 0.000000
pid (0, 0, 0) idx (1) v: 1.000000
pid (0, 0, 0) idx (2) v: 2.000000
pid (0, 0, 0) idx (3) v: 3.000000
pid (0, 0, 0) idx () 100%: (operand 0) 0x00000005
pid (0, 0, 0) idx (0, 0) 100%: (operand 1) 0x00000008
pid (0, 0, 0) idx (1, 0) 100%: (operand 1) 0x00000009
pid (0, 0, 0) idx (2, 0) 100%: (operand 1) 0x0000000a
pid (0, 0, 0) idx (3, 0) 100%: (operand 1) 0x0000000b
pid (0, 0, 0) none
K
check 'print: as Triton prints' sh -c 'head -10 out | cmp - wanted'
check 'print_if: one of two programs' [ "$(grep -c here out)" = 1 ]
status 'assert' 1 tkdbg run p.py $P --arg n=4
says 'assert: its text' err 'assertion failed: n is five'
says 'assert: its line' err 'tl.device_assert(n == 5'

status 'an option of the interpreter' 2 tkdbg run k.py $A \
  --arg y=f32[4]:zeros --engine ptx --order reverse
says 'an option of the interpreter: what' err "has no 'order'"

status 'detectors' 2 tkdbg run k.py $A --arg y=f32[4]:zeros --engine ptx \
  --check=undef
says 'detectors: what' err 'cannot be watched'
status 'an expectation' 2 tkdbg run k.py $A --arg y=f32[4]:zeros \
  --engine ptx --expect y=@a.npy
says 'an expectation: what' err 'cannot be watched'

if [ "${SANITIZE:-}" ]; then
  skip 'examples' 'a sanitized library wants its runtime to be in Python first'
else
  for name in argmax embedding flash_attention fp8_matmul kahan_sum kv_cache \
      linear_attention lookback_scan maxpool2d rotary sparse_matmul welford; do
    status "examples/$name.py" 0 tkdbg run -q --engine ptx \
      "$ROOT/examples/$name.py"
  done
fi

status 'ptx as text' 0 tkdbg compile k.py --kernel k --arg x=f32[1024]:zeros \
  --arg y=f32[4]:zeros --arg n=1024 --arg B=256 --emit ptx --arch sm_90
says 'ptx: the architecture' out '.target sm_90'
says 'ptx: wide loads' out 'ld.global.v2.b32'
says 'ptx: the source' out '"k.py"'
check 'ptx: lines of the kernel' grep -qE 'loc.*1 8 ' out

# A wait that nobody ends is reported, as the interpreter reports it.
cat >w.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(flag, x):
    i = tl.program_id(0)
    if i == 1:
        tl.atomic_store(flag, 2)
    tl.atomic_poll(flag, 1)
    tl.store(x + i, i)


@triton.jit
def timed(flag, x):
    i = tl.program_id(0)
    seen = tl.atomic_poll(flag, 1, timeout_ns=20000)
    tl.store(x + i, 5 + seen.to(tl.int32))


@triton.jit
def together(flag, x):
    tl.atomic_add(flag, 1)
    tl.atomic_poll(flag, tl.num_programs(0))
    tl.atomic_add(x, 1)
K
W='--triton-version 3.9 --arg flag=i32[1]:zeros --engine ptx -q'
status 'a poll that nobody answers' 1 timeout 60 tkdbg run w.py --kernel k \
  --arg x=i32[4]:zeros --grid 4 $W
says 'poll: what' err 'deadlock: 4 programs wait and none can go on'
says 'poll: where' err 'tl.atomic_poll(flag, 1)'
says 'poll: for what' err '(0, 0, 0), wait for flag[0] to change; it holds 2'
says 'poll: who' err 'flag[0] was last changed here, by program (1, 0, 0)'
says 'poll: who wrote' err 'tl.atomic_store(flag, 2)'
status 'a poll that gives up' 0 timeout 60 tkdbg run w.py --kernel timed \
  --arg x=i32[3]:zeros --grid 3 $W --print x
says 'gave up: what it gives' out 'x = [5 5 5]'
status 'a barrier of the grid' 0 timeout 60 tkdbg run w.py --kernel together \
  --arg x=i32[1]:zeros --grid 70 $W --print x
says 'barrier: everybody came' out 'x = [70]'
