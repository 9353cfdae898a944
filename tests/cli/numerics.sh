# --numerics device: the interpreter computes as code for a GPU does.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def grow(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.exp(a)
    tl.store(y + i, b)


@triton.jit
def wave(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.sin(a)
    tl.store(y + i, b)


@triton.jit
def outside(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i + 1, tl.exp(tl.load(x + i)))
K
args='--arg x=f32[256]:randn --arg y=f32[256] --arg B=256'
grow="tkdbg run -q k.py --kernel grow $args"
status 'a word that is none' 2 tkdbg run k.py --kernel grow $args --numerics gpu
says 'a word that is none: those that are' err \
  "--numerics takes definition|device, not 'gpu'"
for how in definition device; do
  status "numerics: $how" 0 $grow --numerics $how --save y=$how.npy
done
check 'the bits are others' sh -c '! cmp -s definition.npy device.npy'
status 'the default' 0 $grow --save y=default.npy
check 'the default is the definition' cmp definition.npy default.npy

# Whoever looks at a run sees the numbers that it computes with.
status 'threads' 0 $grow --numerics device --jobs 2 --save y=jobs.npy
check 'threads: the same bits' cmp device.npy jobs.npy
status 'stepping' 0 tkdbg debug -q k.py --kernel grow $args --numerics device \
  -ex 'break 10' -ex run -ex 'print tl.max(tl.abs(b - tl.exp(a)), 0)' \
  -ex continue
says 'stepping: at a line of the kernel' out 'tl.store(y + i, b)'
says 'stepping: expressions have the same numerics' out ': fp32 = 0.0'
status 'detectors' 1 tkdbg run -q k.py --kernel outside $args --check \
  --numerics device
says 'detectors: the line' err 'k.py:24'

wave="tkdbg run -q k.py --kernel wave --arg x=f32[512]:randn --arg y=f32[512] \
  --arg B=256 --grid 2"
if ! $wave --numerics device --save y=own.npy >out 2>err; then
  says 'without LLVM it says what is missing' err 'llvm-19-dev'
  says 'without LLVM: the line' err 'b = tl.sin(a)'
  skip '--numerics device' \
    'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
$wave --engine ptx --save y=ptx.npy
check "a function of libdevice: the engine ptx's bits" cmp own.npy ptx.npy
status 'libdevice and threads' 0 \
  $wave --numerics device --jobs 2 --save y=jobs.npy
says 'libdevice and threads: one after the other' err 'the PTX interpreter'
check 'libdevice and threads: the same bits' cmp own.npy jobs.npy
status 'libdevice and a debugger' 0 tkdbg debug -q k.py --kernel wave \
  --arg x=f32[512]:randn --arg y=f32[512] --arg B=256 --grid 2 \
  --numerics device -ex 'break 18' -ex run \
  -ex 'print tl.max(tl.abs(b - tl.sin(a)), 0)' -ex 'print tl.cos(a)'
says 'libdevice and a debugger: the same numerics' out ': fp32 = 0.0'
says 'libdevice and a debugger: functions of its own' out 'tl.cos(a): fp32'

# Code has the instructions that Triton's code has: what Triton 3.6 and 3.9 emit
# for these is the same, but for ieee_rounding, which 3.6 takes no notice of.
cat >near.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x):
    i = tl.arange(0, 32)
    a = tl.load(x + i)
    tl.store(x + i, HOW)
K
instructions() {
  sed "s|HOW|$1|" near.py >one.py
  status "$1" 0 tkdbg compile one.py --emit ptx --kernel k --arg 'x=f32[32]' \
    $3
  check "$1 is $2" [ "$(grep -oE '(div|sqrt|rsqrt|ex2)[.][a-z0-9.]+' out |
    tr '\n' ' ')" = "$2 " ]
}
instructions 'a / 3' div.full.f32
instructions '(a.to(tl.float16) / 3).to(tl.float32)' div.full.f32
instructions 'tl.fdiv(a, 3.0)' div.full.f32
instructions 'tl.fdiv(a, 3.0, ieee_rounding=True)' div.rn.f32
instructions 'tl.fdiv(a, 3.0, approx=True)' div.approx.f32
instructions 'tl.fdiv(a, a)' div.full.f32 '--triton-version 3.6'
instructions 'tl.div_rn(a, a)' div.rn.f32
instructions 'a % 3.0' div.rn.f32
instructions '(a.to(tl.float64) / 3.1).to(tl.float32)' div.rn.f64
instructions 'tl.sqrt(a)' sqrt.approx.ftz.f32
instructions 'tl.sqrt_rn(a)' sqrt.rn.f32
instructions 'tl.sqrt(a.to(tl.float64)).to(tl.float32)' sqrt.rn.f64
instructions 'tl.rsqrt(a)' rsqrt.approx.ftz.f32
instructions 'tl.exp2(a)' ex2.approx.ftz.f32
instructions 'tl.exp(a)' ex2.approx.f32
instructions 'tl.sigmoid(a)' 'ex2.approx.f32 div.full.f32'

if [ "${SANITIZE:-}" ]; then
  skip 'kernels' 'a sanitized library wants its runtime to be in Python first'
  exit 0
fi
kernels="$ROOT/tests/nvptx/numerics.py"
status 'as defined: a remainder is further off' 1 \
  tkdbg diff -q --backend ptx "$kernels"
for tensor in approximated small remainder called called64 multiplied; do
  check "as defined: $tensor has other bits" grep -q "$tensor: .* differ" out
done
status 'as a GPU' 0 tkdbg diff -q --backend ptx --numerics device "$kernels"
check 'as a GPU: no tensor has other bits' sh -c '! grep differ out'
check 'as a GPU: every tensor' \
  [ "$(grep -c 'all bits agree' out)" = 18 ]
