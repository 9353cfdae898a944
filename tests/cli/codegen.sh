# Code for a GPU gives the bits that the interpreter gives: kernels of
# tests/nvptx/codegen.py, and a part of the specification (the whole of it:
# make spec ENGINE=ptx).
. "$ROOT/tests/support/check.sh"

if ! tkdbg run -q --engine ptx "$ROOT/examples/vector_add.py" >out 2>err &&
    grep -q llvm-19-dev err; then
  skip 'code for a GPU' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi

# ptxas takes what abs and neg make of -32768 in 16 bits for 32768.
for how in 'tl.abs(a)' '-a' '0 - a' 'a * -1'; do
  cat >sign.py <<K
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    tl.store(y + i, ($how).to(tl.int32))
K
  for type in i8 i16; do
    status "$how of $type" 0 tkdbg compile sign.py --emit ptx --kernel k \
      --arg "x=$type[64]:arange" --arg y=i32[64]:zeros
    check "$how of $type is computed in 32 bits" sh -c \
      'grep -q -e abs.s32 -e neg.s32 out && ! grep -q -e abs.s16 -e neg.s16 out'
  done
done

# It takes what abs makes of the least number for positive in a remainder.
for how in 'tl.abs(a)' 'tl.where(a < 0, -a, a)' 'tl.maximum(a, -a)'; do
  cat >size.py <<K
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    tl.store(y + i, $how % (i | 5))
K
  for bits in 16 32; do
    status "$how of i$bits" 0 tkdbg compile size.py --emit ptx --kernel k \
      --arg "x=i$bits[64]:arange" --arg "y=i$bits[64]:zeros"
    check "$how of i$bits is not seen" sh -c \
      "! grep -q abs.s$bits out && grep -q rem.s out"
  done
done

# It takes a byte that bfe.s32 extended for signed where it is not to be.
cat >extended.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 256)
    tl.store(y + i, tl.load(x + i).to(tl.uint32).to(tl.float32))
K
status 'a byte as a large number' 0 tkdbg compile extended.py --emit ptx \
  --kernel k --arg 'x=i8[256]:arange' --arg y=f32[256]:zeros \
  --option num_warps=1
check 'a byte as a large number is extended by shifts' sh -c \
  'grep -q cvt.rn.f32.u32 out && grep -q "shr.s32.*24" out &&
   ! grep -q bfe.s32 out'

# ptxas for sm_90 loses the minus of b in max(max(a, -b), c).
cat >extreme.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    b = tl.load(x + 64 + i)
    c = tl.load(x + 128 + i)
    tl.store(y + i, tl.maximum(tl.maximum(-a, b * -1), c))
K
for bits in 16 32; do
  status "the greatest of negatives of i$bits" 0 tkdbg compile extreme.py \
    --emit ptx --kernel k --arg "x=i$bits[192]:arange" \
    --arg "y=i$bits[64]:zeros"
  check "ptxas does not see that i$bits is negated" sh -c \
    "grep -q max.s$bits out && ! grep -q neg.s$bits out"
done

if [ "${SANITIZE:-}" ]; then
  skip 'kernels' 'a sanitized library wants its runtime to be in Python first'
else
  kernels=$ROOT/tests/nvptx/codegen.py
  status 'by the interpreter' 0 tkdbg run -q --dot exact "$kernels"
  cp out wanted
  status 'by code for a GPU' 0 tkdbg run -q --engine ptx "$kernels"
  check 'every kernel ran' [ "$(wc -l <wanted)" = "$(wc -l <out)" ]
  while read -r line; do
    check "the same bits: ${line% *}" grep -qxF "$line" out
  done <wanted
fi

# Products of warpgroups: bits, and which instructions they are.
groups=$ROOT/tests/nvptx/warpgroups.py
if [ ! "${SANITIZE:-}" ]; then
  status 'warpgroups by the interpreter' 0 \
    tkdbg run -q --dot exact "$groups"
  cp out wanted
  status 'warpgroups by code for sm_90a' 0 \
    tkdbg run -q --engine ptx --arch sm_90a "$groups"
  check 'every kernel of warpgroups ran' [ "$(wc -l <wanted)" -gt 100 ]
  check 'the same bits by warpgroups' cmp wanted out
fi
for type in f16 bf16; do
  status "random $type by warpgroups" 0 tkdbg diff -q --backend ptx \
    --arch sm_90a --numerics device "$groups" --kernel at_once \
    --arg "x=$type[128,64]:randn" --arg "y=$type[64,128]:randn" \
    --arg 'z=f32[128,128]:zeros' --arg M=128 --arg N=128 --arg K=64 \
    --arg LEFT=False --arg RIGHT=False
  says "random $type by warpgroups: bits" out 'all bits agree'
done
while read -r arch m n k warps left right expected; do
  for kernel in at_once in_steps; do
    what="$kernel $m $n $k $warps $left $right for $arch"
    more=
    [ $kernel = at_once ] || more="--arg lots=$((4 * k)) --arg STAGES=3"
    status "$what" 0 tkdbg compile "$groups" --kernel $kernel --emit llir \
      --arch "$arch" --arg "x=f16[$((4 * m * k))]:empty" \
      --arg "y=f16[$((4 * k * n))]:empty" --arg "z=f32[$((m * n))]:empty" \
      --arg "M=$m" --arg "N=$n" --arg "K=$k" --arg "LEFT=$left" \
      --arg "RIGHT=$right" --option "num_warps=$warps" $more
    grep -o 'm64n[0-9]*k16' out | sort | uniq -c >said
    read -r count shape <said || count=none shape=
    check "$what: $expected" [ "$count$shape" = "$expected" ]
  done
done <<E
sm_90 128 128 64 4 False False none
sm_90a 128 128 64 4 False False 8m64n128k16
sm_90a 128 128 64 8 True True 4m64n128k16
sm_90a 64 128 32 8 False False 2m64n64k16
sm_90a 64 512 16 4 False True 2m64n256k16
sm_90a 256 16 64 4 False False 16m64n16k16
sm_90a 64 32 128 16 False True 8m64n8k16
sm_90a 64 32 128 16 False False none
sm_90a 32 64 64 4 False False none
sm_90a 64 64 64 2 False False none
E

logs=$ROOT/tests/nvptx/logarithms.py
if [ ! "${SANITIZE:-}" ]; then
  status 'logarithms' 0 tkdbg run -q --engine ptx "$logs"
  status 'logarithms without libdevice' 0 env TKDBG_LIBDEVICE= \
    tkdbg run -q --engine ptx "$logs"
fi

cat >sine.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x):
    tl.store(x, tl.sin(tl.load(x)))
K
status 'a libdevice that is another file' 1 env TKDBG_LIBDEVICE=sine.py \
  tkdbg compile sine.py --emit ptx --kernel k --arg 'x=f32[1]'
says 'a libdevice that is another file: which' err \
  'sine.py: is not bitcode that LLVM 19 reads'

# Every function of libdevice, with every type that it takes.
if [ ! "${SANITIZE:-}" ]; then
  python3 "$ROOT/tests/nvptx/externs.py" >externs.py
  status 'libdevice' 0 tkdbg diff -q --backend ptx --rtol 1e-5 --atol 1e-6 \
    externs.py
  check 'libdevice: 314 calls' [ "$(grep -c 'L\.' externs.py)" = 314 ]
fi

if [ ! -x "$BUILD/tests/language/test_spec" ]; then
  skip 'the specification' 'this build has no test programs'
  exit 0
fi
for part in shape reduce scan memory control; do
  check "specification: $part" sh -c 'cd "$ROOT" && LD_LIBRARY_PATH=$BUILD \
    "$BUILD/tests/language/test_spec" --engine ptx '$part
done
