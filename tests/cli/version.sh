# --triton-version: what kernels mean in older versions of Triton.
. "$ROOT/tests/support/check.sh"

cat >v.py <<'END'
import triton
import triton.language as tl


@triton.jit
def types(x):
    v = tl.load(x + tl.arange(0, 16))
    tl.static_print((v * 2.0).dtype, (v.to(tl.int8) + 1).dtype)
    tl.static_print(tl.sum(v.to(tl.int8), 0).dtype,
                    tl.sum(v.to(tl.bfloat16), 0).dtype)


@triton.jit
def small(x):
    i = tl.arange(0, 8)
    k = tl.arange(0, 16)
    a = tl.load(x + i[:, None] * 0 + k[None, :])
    b = tl.load(x + k[:, None] + i[None, :] * 0)
    print("d", tl.max(tl.dot(a, b), 0))


@triton.jit
def eight(x):
    k = tl.arange(0, 16)
    a = tl.load(x + k[:, None] * 0 + k[None, :]).to(tl.int8)
    print("e", tl.max(tl.max(tl.dot(a, tl.trans(a)), 0), 0))


@triton.jit
def picks(x):
    k = tl.arange(0, 16)
    print("g", tl.gather(k, 15 - k, 0))


@triton.jit
def math(x):
    print("t", tl.math.tanh(0.0))
END

v() { kernel=$1 version=$2 && shift 2 &&
  tkdbg run -q --triton-version $version "$@" v.py --kernel $kernel \
    --arg x=f16[16]:ones; }

status 'types now' 0 v types 3.6
says 'a number yields' out 'fp16 int8'
says 'sums widen' out 'int32 bf16'
status 'types of 3.2' 0 v types 3.2
says '3.2: a number yields' out 'fp16 int8'
says '3.2: sums stay' out 'int8 fp32'
status 'types of 3.1' 0 v types 3.1
says '3.1: a number widens' out 'fp32 int32'
status 'small products now' 0 v small 3.6
status 'small products of 3.4' 1 v small 3.4
says '3.4: said' err 'tl.dot needs M >= 16 and N >= 16 before Triton 3.5'
status '8-bit products now' 1 v eight 3.6
says '8-bit products now: said' err 'K >= 32'
status '8-bit products of 3.1' 0 v eight 3.1
status 'names now' 0 v picks 3.6
status 'names of 3.2' 1 v picks 3.2
says '3.2: said' err 'tl.gather came with Triton 3.3'
says '3.2: what to do' err '--triton-version'
status 'tl.math now' 0 v math 3.6
says 'tl.math now: said' err 'tl.math.tanh is libdevice.tanh since Triton 3.0'
status 'tl.math of 2.1' 0 v math 2.1
silent 'tl.math of 2.1: nothing said' err
status 'unknown version' 2 v math 9.9
says 'unknown version: said' err 'unknown version of Triton: 9.9'
known=$(sed -n 's/^VERSION([0-9]*, "\([^"]*\)".*/\1/p' \
  "$ROOT/src/typing/version.def")
oldest=$(echo "$known" | head -n 1) newest=$(echo "$known" | tail -n 1)
says 'unknown version: known ones' err "$oldest to $newest are known"
tkdbg run --help >help
tr -s ' \n' ' ' <help >words
says '--help: known ones' words "$oldest to $newest"

cat >weak.py <<'END'
import triton
import triton.language as tl


@triton.jit
def weak(x):
    tl.static_print(tl.maximum(tl.load(x), 0.1).dtype)


@triton.jit
def window(x):
    p = tl.make_block_ptr(x, (16,), (1,), (0,), (16,), (0,))
    print("w", tl.max(tl.load(p), 0))
END

w() { kernel=$1 && shift && tkdbg run -q "$@" weak.py --kernel $kernel \
  --arg x=f16[16]:ones; }

# 3.7 to 3.9 are followed, and the newest is the default.
status 'numbers of 3.8' 0 w weak --triton-version 3.8
says 'numbers of 3.8: wide' out fp32
status 'numbers of 3.9' 0 w weak --triton-version 3.9
says 'numbers of 3.9: weak' out fp16
status 'numbers without a version' 0 w weak
says 'numbers without a version: weak' out fp16
status 'block pointers of 3.8' 0 w window --triton-version 3.8
status 'block pointers of 3.9' 1 w window
says 'block pointers of 3.9: said' err 'was removed in Triton 3.9'
says 'block pointers of 3.9: what to write' err 'tl.make_tensor_descriptor'
status 'types of 3.6, not quiet' 0 tkdbg run --triton-version 3.6 v.py \
  --kernel types --arg x=f16[16]:ones
check 'types of 3.6, not quiet: nothing said' test "$(wc -l <err)" = 1
if ! "${PYTHON:-python3}" -c 'import numpy' 2>err; then
  skip 'versions of scripts' 'no Python with NumPy'
  exit 0
fi
cat >s.py <<'END'
import numpy, triton
from v import small
print(triton.__version__)
for _ in range(2):
    small[(1,)](numpy.ones(16, "f2"))
END
if [ "${SANITIZE:-}" ]; then
  skip 'scripts' 'a sanitized library wants its runtime to be in Python first'
  exit 0
fi
export TKDBG_PYTHON="${PYTHON:-python3}"
s() { tkdbg run --triton ours "$@" s.py; }
status 'a script' 0 s
says 'a script: the newest that is followed' out '3.9.0'
check 'a script: nothing said' test "$(wc -l <err)" = 1
status 'a script of 3.9' 0 s --triton-version 3.9
says 'a script of 3.9: its version' out '3.9.0'
check 'a script of 3.9: nothing said' test "$(wc -l <err)" = 1
status 'a script of 3.4' 1 s --triton-version 3.4 -q
says 'a script of 3.4: refused' err 'before Triton 3.5'
status 'a script of 9.9' 2 s --triton-version 9.9
says 'a script of 9.9: said' err 'unknown version of Triton: 9.9'
