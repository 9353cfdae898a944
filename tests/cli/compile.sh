# tkdbg compile: what it prints, runs to the same bits, and what it refuses.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    last = total
    for j in range(0, n):
        total, last = total + tl.load(x + i + j * (2 * B)) * (n + 0), total
    if n > 2:
        total = total + last
    table = total[:, None] * 2 + (total[:, None] + 1)
    table = tl.dot(table.to(tl.float16) + tl.zeros((B, B), tl.float16),
                   tl.full((B, B), 0.5, tl.float16),
                   tl.zeros((B, B), tl.float32))
    tl.store(y + i, tl.sum(table, 1), mask=i < 32 * B)
K
A='--kernel k --arg x=f32[256]:randn --arg y=f32[32]:zeros --arg n=4'
A="$A --arg B=16"
status 'plain' 0 tkdbg run k.py $A --grid 2 -q --save y=plain.npy
status 'compile' 0 tkdbg compile k.py $A
cp out k.tk
says 'a form' out 'tkdbg-ir 1'
status 'what it prints runs' 0 tkdbg run --ir k.tk --grid 2 -q \
  --arg x=f32[256]:randn --arg y=f32[32]:zeros --arg n=4 --save y=passes.npy
check 'to the same bits' cmp plain.npy passes.npy
check 'nothing is added to n' sh -c '! grep -q "binary %n" k.tk'

status 'into a file' 0 tkdbg compile k.py $A -o form.tk
check 'into a file: all of it' cmp k.tk form.tk
check 'into a file: nothing is printed' [ ! -s out ]
status 'into no folder' 2 tkdbg compile k.py $A -o /none/form.tk
says 'into no folder: why' err '/none/form.tk: cannot be written: No such file'
status 'after all' 0 tkdbg compile k.py $A --print-ir-after-all
check 'the manual lists every pass in order' sh -c '
  sed -n "s|^// after ||p" out | tail -n +2 >ran
  sed "1,/^## The passes/d; /^## /,\$d" "$ROOT/docs/compile.md" |
    sed -n "s/^| .\([a-z-]*\). | [^|]*|$/\1/p" | grep -vx as >listed
  cmp ran listed'
for pass in $(cat ran); do
  status "without $pass" 0 tkdbg compile k.py $A --skip-pass $pass
  check "$pass does something" sh -c '! cmp -s out k.tk'
done
status 'two are skipped' 0 tkdbg compile k.py $A --print-ir-after-all \
  --skip-pass cse,licm
check 'they did not run' sh -c '! grep -qE "after (cse|licm)" out'

status 'axis' 0 tkdbg compile k.py $A --emit axis
says 'axis: a block of offsets' out 'contiguity = [16] divisibility = [16]'
grep -v '^|' out | sed 's, // .*,,' >bare
check 'axis: the same form' sh -c 'grep -v "^|" k.tk | cmp - bare'

status 'unknown pass' 2 tkdbg compile k.py $A --skip-pass cse,limc
says 'unknown pass: its name' err "there is no pass called 'limc'"
says 'unknown pass: the nearest' err "did you mean 'licm'?"
says 'unknown pass: all' err 'reorder-broadcast'
status 'layouts' 0 tkdbg compile k.py $A --emit layouts
says 'layouts: a product' out '#linear<{register = [[0, 1], [8, 0]'
sed 's, // .*,,' out >bare
check 'layouts: the same form' sh -c 'sed "s, // .*,," k.tk | cmp - bare'
status 'llir' 0 tkdbg compile k.py $A --emit llir
says 'llir: a kernel' out 'define ptx_kernel void @k(i64 %p0'
says 'llir: the tensor core' out 'mma.sync.aligned.m16n8k16'
says 'llir: shared memory' out '; 4 warps, '
check 'every instruction has a rule' sh -c '
  sed -n "s/^INST(\([A-Z_]*\), .*/\1/p" "$ROOT/src/ir/inst.def" | sort >insts
  sed -n "s/^LOWER[A-Z_]*(\([A-Z_]*\), .*/\1/p" "$ROOT/src/nvptx/lower.def" |
    sort | cmp - insts'
status 'maxnreg' 0 tkdbg compile k.py $A --emit llir --option maxnreg=64
says 'maxnreg' out '"maxnreg", i32 64'
status 'unknown architecture' 2 tkdbg compile k.py $A --emit ptx --arch sm_70
says 'unknown architecture: all' err 'sm_80|sm_86|sm_89|sm_90|sm_90a'

status 'unknown stage' 2 tkdbg compile k.py $A --emit sass
says 'unknown stage: all' err 'ttir'
status 'no file' 2 tkdbg compile
status 'does not compile' 1 tkdbg compile k.py --kernel k --arg x=f32[4] \
  --arg y=f32[4] --arg n=4 --arg B=3
status 'a launch file' 0 tkdbg run k.py $A --grid 2 -q --record k.safetensors
status 'of a launch file' 0 tkdbg compile k.safetensors
check 'the same form' cmp out k.tk
status 'a launch file, a stage behind it' 0 tkdbg compile k.safetensors \
  --emit llir --skip-pass cse,licm --option num_warps=1 \
  --option maxnreg=64 --print-ir-after-all
says 'a launch file: options change it' out '"maxnreg", i32 64'
says 'a launch file: warps, too' out '; 1 warps, '
check 'a launch file: passes are left out' sh -c \
  '! grep -qE "after (cse|licm)" out'
status 'a launch file: a kernel' 2 tkdbg compile k.safetensors --kernel k
says 'a launch file: a kernel is stated' err 'states its kernel'
status 'a launch file: a device' 2 tkdbg run k.safetensors --device sm_90
says 'a launch file: no script' err '--device is for scripts'
status 'a launch file: a typed form' 0 tkdbg ir k.safetensors \
  --option num_warps=2
says 'a launch file: a typed form of other warps' out 'num_warps 2'

# What the language has for no type can stand in a typed form.
cat >refused.py <<'K'
import triton
import triton.language as tl


@triton.jit
def extreme(x):
    tl.atomic_max(x + tl.arange(0, 64), 1)


@triton.jit
def total(x):
    tl.atomic_add(x + tl.arange(0, 64), 1.0)


@triton.jit
def number(x):
    i = tl.arange(0, 64)
    y = x.to(tl.pointer_type(tl.float32))
    tl.store(y + i, tl.load(x + i).to(tl.float32))
K
refused() { # KERNEL TYPE OTHER WHERE WHAT [OTHER ARGUMENT]
  tkdbg ir refused.py --kernel $1 --arg "x=$2[256]" |
    sed "s/pointer<int32>/pointer<int$3>/; s/\(op = .*\), int32>/\1, int$3>/
      s/\(const.*\) : int32/\1 : int$3/; s/fp8e5/fp8e$3/g" >form.tk
  status "$1 of $3" 1 tkdbg run -q --ir form.tk --arg "x=${6:-i$3}[256]" \
    --engine ptx
  says "$1 of $3: where and what" err "refused.py:$4: error: $5"
}
if tkdbg compile k.py $A --emit ptx >/dev/null 2>&1; then
  it="'atomic' is not compiled for the GPU here: PTX has no such operation on"
  refused extreme i32 8 7:5 "$it 8 bits"
  refused extreme i32 16 7:5 "$it 16 bits"
  refused number f8e5 4b8 19:21 \
    "'cast' is not compiled for the GPU here: NVIDIA's GPUs have no fp8e4b8" \
    f8e4b8
  status 'a sum of 16 bits' 0 tkdbg run -q refused.py --kernel total \
    --arg 'x=f16[64]:zeros' --engine ptx --print x
  says 'a sum of 16 bits: it is added' out 'x = [1. 1.'
fi

cat >ptxas.py <<'K'
import triton
import triton.language as tl


@triton.jit
def wrong(x, y, z):
    i = tl.arange(0, 128)
    a = tl.load(x + i)
    a = tl.where(i % 3 == 0, a, a * 3)
    tl.store(x + i, tl.flip(a, 0))
    b = tl.load(y + i)
    tl.store(z + i, tl.maximum(tl.maximum(a, -b), i))
K
if tkdbg compile k.py $A --emit ptx >k.ptx 2>err; then
  status 'what ptxas gets wrong' 0 tkdbg compile ptxas.py --arg x=i16[128] \
    --arg y=i32[128] --arg z=i32[128] --option num_warps=1 --emit ptx
  check '... is not written: the minus in max' sh -c \
    'grep -q "not.b32" out && ! grep -q "neg.s32" out'
  check '... is not written: the upper half of a register' sh -c \
    'grep -q "shr.u32.*, 16;" out && ! grep -q "mov.b32 {tmp," out'
  TKDBG_CACHE_DIR=$PWD/kept/code
  export TKDBG_CACHE_DIR
  status 'an empty cache' 0 tkdbg cache info
  says 'an empty cache: where' out "$TKDBG_CACHE_DIR: 0 kernels, 0 bytes"
  for i in 1 2 3 4; do tkdbg compile k.py $A --emit ptx >k$i.ptx & done
  wait
  check 'at once: the same code' sh -c 'for i in 1 2 3 4; do
    cmp k.ptx k$i.ptx || exit 1; done'
  check 'at once: nothing is left beside' [ "$(ls kept/code | wc -l)" = 1 ]
  sed -i 's/^\.visible/.wrong/' kept/code/*
  status 'a damaged file' 0 tkdbg compile k.py $A --emit ptx
  check 'a damaged file is made anew' cmp k.ptx out
  check '... and replaced' grep -q '^\.visible' kept/code/*
  entry=$(echo kept/code/*)
  rm "$entry" && mkfifo "$entry"
  status 'a pipe in its place' 0 timeout 20 tkdbg compile k.py $A --emit ptx
  check 'a pipe in its place is replaced' [ -f "$entry" ]
  rm "$entry" && mkdir "$entry"
  status 'a folder in its place' 0 tkdbg compile k.py $A --emit ptx
  status 'a folder in its place: info' 0 tkdbg cache info
  says 'a folder in its place is no kernel' out ': 0 kernels, 0 bytes'
  rmdir "$entry"
  tkdbg compile k.py $A --emit ptx >out
  status 'of another architecture' 0 tkdbg compile k.py $A --emit ptx \
    --arch sm_90
  says 'of another architecture: its own' out '.target sm_90'
  status 'info' 0 tkdbg cache info
  says 'info' out "$TKDBG_CACHE_DIR: 2 kernels, "
  status 'clear' 0 tkdbg cache clear
  check 'clear: all are gone' [ "$(ls kept/code | wc -l)" = 0 ]
  status 'no such word' 2 tkdbg cache purge
  mkdir closed && chmod 555 closed
  status 'a folder that cannot be written to' 0 env \
    TKDBG_CACHE_DIR="$PWD/closed/code" tkdbg compile k.py $A --emit ptx
  check '... costs time alone' cmp k.ptx out
  status 'more threads than a program has' 1 tkdbg compile k.py $A --emit ptx \
    --option num_warps=64
  says 'more threads than a program has: how many' err \
    'num_warps 64, which are 2048 threads; a program has at most 1024'
  status 'a cubin without a file' 2 tkdbg compile k.py $A --emit cubin
  says 'a cubin without a file: what to do' err '-o FILE'
  status 'no ptxas' 1 env PATH="$BUILD:/bin" CUDA_HOME=/none \
    TKDBG_PTXAS=/none/ptxas tkdbg compile k.py $A --emit cubin -o k.cubin
  says 'no ptxas: which' err "'/none/ptxas' does not assemble the code: No such"
  status 'no ptxas: another program' 1 env TKDBG_PTXAS=/bin/true \
    tkdbg compile k.py $A --emit cubin -o k.cubin
  says 'no ptxas: what to do' err "it must be NVIDIA's ptxas"
  printf '#!/bin/sh\nkill -SEGV $$\n' >crash && chmod +x crash
  for ptxas in /bin/true /none/ptxas "$PWD" "$PWD/crash"; do
    status "PTX, where ptxas is $ptxas" 0 env TKDBG_PTXAS="$ptxas" \
      tkdbg compile k.py $A --emit ptx
    grep -v '^// k: ' k.ptx >bare
    check "... is printed" cmp bare out
    says '... and a note says what is not known' err \
      'note: what registers and shared memory the kernel takes is not known'
    says '... and why' err "'$ptxas' does not assemble the code: "
  done
  says 'a crash of ptxas: which' err 'it was ended by signal 11 ('
  for stage in ttir axis layouts llir; do
    status "$stage asks no ptxas" 0 env TKDBG_PTXAS=/bin/true \
      tkdbg compile k.py $A --emit $stage
    check "$stage asks no ptxas: nothing is said" [ ! -s err ]
  done
  if grep -q '^// k: [0-9]* registers, ' k.ptx; then
    status 'a cubin' 0 tkdbg compile k.py $A --emit cubin -o k.cubin
    says 'a cubin: what it takes' out ' registers, 0 bytes spilled, '
    check 'a cubin is an ELF file' grep -q ELF k.cubin
    status 'a cubin that cannot be written' 2 tkdbg compile k.py $A \
      --emit cubin -o /none/k.cubin
    says 'a cubin that cannot be written: why' err \
      '/none/k.cubin: cannot be written: No such file'
    status 'a cubin of code that is not assembled' 1 env \
      TKDBG_PTXAS=/bin/false tkdbg compile k.py $A --emit cubin -o k.cubin
    check 'what was in its file stays' grep -q ELF k.cubin
    status 'a kernel that spills' 0 tkdbg compile k.py $A --emit ptx \
      --arg B=64 --option maxnreg=32 --option num_warps=1
    says 'a kernel that spills: a note' err "note: a thread of 'k' has more \
values than its 32 registers hold, and keeps "
  else
    skip 'a cubin' "ptxas is not installed (it comes with CUDA and Triton)"
  fi
else
  says 'without LLVM it says what is missing' err 'llvm-19-dev'
  skip 'a cubin' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
fi

if [ "${SANITIZE:-}" ]; then
  skip 'a script' 'a sanitized library wants its runtime to be in Python first'
else
  status 'a script' 0 tkdbg compile "$vector_add" --emit axis
  check 'a script: each specialisation once' \
    [ "$(grep -c '^kernel @add_kernel' out)" -ge 1 ]
  says 'a script: it runs' out 'vector_add: OK'
  status 'a launch of a script' 0 tkdbg compile -q --launch 2 "$vector_add"
  check 'a launch of a script: it alone' [ "$(grep -c '^kernel @' out)" = 1 ]
  status 'forms of a script' 0 tkdbg ir "$vector_add"
  check 'forms of a script: each specialisation once' \
    [ "$(grep -c '^kernel @add_kernel' out)" -ge 1 ]
  says 'forms of a script: it runs' out 'vector_add: OK'
  status 'the form of a launch of a script' 0 tkdbg ir -q --launch 2 \
    "$vector_add"
  check 'the form of a launch of a script: it alone' \
    [ "$(grep -c '^kernel @' out)" = 1 ]
  cat >forms.py <<'K'
import numpy as np
import triton
import triton.language as tl


@triton.jit
def k(x, n):
    for i in range(n):
        tl.store(x + i, i)


for n in (16, 1, 5, 7, 1):
    k[(1,)](np.zeros(16, np.int32), n)
K
  status 'numbers that make several forms' 0 tkdbg compile -q forms.py
  check 'numbers that make several forms: each once' \
    [ "$(grep -c '^kernel @k' out)" = 3 ]
  status 'forms of a script: numbers that make several' 0 \
    tkdbg ir -q forms.py
  check 'forms of a script: each of them' \
    [ "$(grep -c '^kernel @k' out)" = 3 ]
  status 'numbers that make several forms: a file' 0 \
    tkdbg compile -q forms.py -o last.tk
  status 'numbers that make several forms: the last' 0 \
    tkdbg compile -q forms.py --launch 2
  check 'numbers that make several forms: it is in the file' cmp last.tk out
  status 'numbers that make several forms: as they are compiled' 0 \
    tkdbg run -q --print-ir forms.py
  check 'numbers that make several forms: each of them' \
    [ "$(grep -c '^kernel @k' out)" = 3 ]
  status 'a kernel of a script that it lacks' 2 tkdbg compile \
    --kernel other "$vector_add"
  check 'a kernel of a script: no other' sh -c '! grep -q "^kernel @" out'
  status 'a script, a stage that is not there' 2 tkdbg compile \
    --emit sass "$vector_add"
fi
