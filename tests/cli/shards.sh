# --shard and merge: parts of a launch, the bits of the serial run, and what
# cannot be joined.
. "$ROOT/tests/support/check.sh"
kernels="$ROOT/tests/bench/kernels.py"

# A sanitized library wants its runtime to be in the script's process first.
in_python() {
  if [ "${SANITIZE:-}" ]; then
    LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so) \
      ASAN_OPTIONS=detect_leaks=0 "$@"
  else
    "$@"
  fi
}

cat >kernels.py <<'END'
import triton, triton.language as tl
@triton.jit
def shift(x, y, n, B: tl.constexpr, STEP: tl.constexpr):
    i = tl.program_id(0) * STEP + tl.arange(0, B)
    v = tl.load(y + i, mask=i < n)
    tl.store(x + i, v + tl.program_id(0), mask=i < n)
@triton.jit
def chain(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i - 1, mask=(i < n) & (i > 0), other=1.0)
    tl.store(x + i, v + 1, mask=i < n)
@triton.jit
def square(x):
    at = x + tl.program_id(0) * 3 + tl.arange(0, 4)
    tl.store(at, tl.load(at) + 1, mask=tl.arange(0, 4) < 3)
@triton.jit
def same(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 7.0)
@triton.jit
def count(x):
    tl.atomic_add(x, 1)
@triton.jit
def wait(x):
    while tl.load(x) == 0:
        pass
@triton.jit
def bad(x):
    tl.store(x + tl.program_id(0), 1.0)
END

# parts N ARGUMENTS...: every part of a launch, the last one first
parts() {
  n=$1
  shift
  rm -f ./*.stores
  i=$n
  while [ "$i" -gt 0 ]; do
    i=$((i - 1))
    tkdbg run -q "$@" --shard $i/$n || return
  done
}

# ---- the bits of the serial run ----
# NAME OUTPUT ARGUMENTS...
joined() {
  name=$1 output=$2
  shift 2
  tkdbg run -q "$@" --save "$output=one.npy"
  for n in 1 2 3 7; do
    check "$name: $n parts run" parts $n "$@"
    status "$name: $n parts are joined" 0 \
      tkdbg merge ./*.stores --save "$output=joined.npy"
    check "$name: $n parts, same bits" cmp one.npy joined.npy
    silent "$name: $n parts, nothing to say" err
  done
}
joined add output_ptr "$kernels" --kernel add_kernel --grid 97 \
  --arg 'x_ptr=f32[98432]:rand' --arg 'y_ptr=f32[98432]:rand' \
  --arg 'output_ptr=f32[98432]:zeros' --arg n=98432 --arg BLOCK=1024
joined matmul c_ptr "$kernels" --kernel matmul_kernel --grid 8,8 \
  --arg 'a_ptr=f16[128,128]:rand' --arg 'b_ptr=f16[128,128]:rand' \
  --arg 'c_ptr=f32[128,128]:zeros' --arg M=128 --arg N=128 --arg K=128 \
  --arg BLOCK_M=16 --arg BLOCK_N=16 --arg BLOCK_K=16
joined 'read and written' x kernels.py --kernel square --grid 20 \
  --arg 'x=f32[64]:rand'
joined 'fewer programs than parts' x kernels.py --kernel square --grid 2 \
  --arg 'x=i8[64]:arange'
joined 'conditions' x kernels.py --kernel square --grid 20 \
  --arg 'x=f32[64]:rand' --pid '>7'

shift_x="kernels.py --kernel shift --grid 8 --arg x=f32[64]:zeros
  --arg y=f32[64]:rand --arg n=64 --arg B=8"

# ---- a launch file, and a name of one's own ----
# shellcheck disable=SC2086
tkdbg run -q $shift_x --arg STEP=8 --record l.safetensors --save x=one.npy
for i in 0 1; do
  status "replay of part $i" 0 \
    tkdbg replay l.safetensors --shard $i/2 --stores part$i
done
status 'a file of stores without a part' 2 \
  tkdbg replay l.safetensors --stores part0
says 'a file of stores without a part' err '--stores needs --shard'
status 'no name for the stores' 2 \
  tkdbg replay l.safetensors --shard 0/2 --stores ''
says 'no name for the stores' err "takes the name of a file, not ''"
for i in 0 1; do
  status "part $i is no launch" 2 tkdbg replay part$i
  says "part $i is no launch" err "'tkdbg merge' reads"
done
status 'parts of a replay' 0 tkdbg merge part1 part0 --save x=joined.npy
check 'parts of a replay: same bits' cmp one.npy joined.npy
status 'merge prints' 0 tkdbg merge part1 part0 --print x
says 'merge prints the tensor' out 'x = ['
status 'tensor that is not there' 2 tkdbg merge part1 part0 --print z

# ---- a script: launches before the one that is chosen are whole, and it ends
# behind that one ----
if python3 -c 'import numpy' 2>/dev/null; then
  cat >script.py <<'END'
import numpy as np, triton, triton.language as tl
@triton.jit
def add(z):
    at = z + tl.program_id(0)
    tl.store(at, tl.load(at) + 1)
z = np.zeros(5, "f4")
add[(5,)](z)
add[(5,)](z)
print("behind", z)
END
  for i in 0 1; do
    status "part $i of a script" 0 \
      in_python tkdbg run --launch 2 --shard $i/2 --stores part$i script.py
    silent "part $i of a script ends behind the launch" out
  done
  status 'parts of a script' 0 tkdbg merge part0 part1 --print z
  says 'parts of a script are joined' out 'z = [2. 2. 2. 2. 2.]'
else
  skip 'parts of a script' 'no NumPy'
fi

# ---- what is in two parts ----
# shellcheck disable=SC2086
parts 2 $shift_x --arg STEP=6
# shellcheck disable=SC2086
tkdbg run -q $shift_x --arg STEP=6 --save x=one.npy
status 'different values' 1 tkdbg merge ./*.stores --save x=joined.npy
check 'different values: the last one stays' cmp one.npy joined.npy
says 'different values, said' err \
  'kernels.py:6:5: error: programs (3, 0, 0) and (4, 0, 0) both write x[24]'
says 'different values, the files' err \
  'part 0 (./shift-0-of-2.stores) and part 1 (./shift-1-of-2.stores)'

parts 2 kernels.py --kernel same --grid 4 --arg 'x=f32[8]' --arg B=8
status 'the same value' 0 tkdbg merge ./*.stores --print x
says 'the same value, said' err 'both write x[0], the same value [twice]'

parts 2 kernels.py --kernel chain --grid 8 --arg 'x=f32[64]:zeros' \
  --arg n=64 --arg B=8
rm -f joined.npy
status 'read by another part' 1 tkdbg merge ./*.stores --save x=joined.npy
says 'read by another part, said' err \
  'kernels.py:10:9: error: program (4, 0, 0) reads x[31], which program'
says 'read by another part, where it is written' err 'kernels.py:11:5: program'
check 'read by another part: nothing is saved' test ! -e joined.npy

# ---- what is no part ----
status 'atomics' 2 tkdbg run kernels.py --kernel count --grid 4 \
  --arg 'x=i32[1]' --shard 0/2
says 'atomics, said' err \
  ':21:5: error: this launch cannot be split into parts: this atomic'
status 'waiting' 2 tkdbg run kernels.py --kernel wait --grid 4 \
  --arg 'x=i32[1]' --shard 0/2
status 'no such part' 2 tkdbg run kernels.py --kernel bad --grid 4 \
  --arg 'x=f32[4]' --shard 2/2
says 'no such part, said' err "'2/2' does not name a part of the programs"
rm -f ./*.stores
status 'a part that fails' 1 tkdbg run kernels.py --kernel bad --grid 4 \
  --arg 'x=f32[2]' --shard 1/2
check 'a part that fails writes nothing' test ! -e bad-1-of-2.stores

# ---- files that do not belong together ----
parts 3 kernels.py --kernel bad --grid 6 --arg 'x=f32[6]:rand'
refused() {
  name=$1 text=$2
  shift 2
  status "$name" 2 tkdbg merge "$@"
  says "$name, said" err "$text"
}
refused 'none' 'merge takes the files'
refused 'one is missing' '1 of 3 parts is missing: 1' \
  bad-0-of-3.stores bad-2-of-3.stores
refused 'two are missing' '2 of 3 parts are missing: 0, 2' bad-1-of-3.stores
refused 'twice the same' 'this is the same part as' ./*.stores \
  bad-1-of-3.stores
# like WHAT TEXT ARGUMENTS...: part 1 of another launch among the others
like() {
  name=$1 text=$2
  shift 2
  tkdbg run -q kernels.py --stores other --shard "$@"
  refused "$name" "$text" bad-0-of-3.stores other bad-2-of-3.stores
}
like 'other parts' 'one of 4, not of 3 parts' 1/4 --kernel bad --grid 6 \
  --arg 'x=f32[6]:rand'
like 'other grid' 'has a different grid, 5,1,1' 1/3 --kernel bad --grid 5 \
  --arg 'x=f32[6]:rand'
like 'other size' "'x' has another size" 1/3 --kernel bad --grid 6 \
  --arg 'x=f32[7]:rand'
like 'other type' 'has other arguments' 1/3 --kernel bad --grid 6 \
  --arg 'x=f64[6]:rand'
like 'other values' "'x' held different values" 1/3 --kernel bad --grid 6 \
  --arg 'x=f32[6]:rand(1)'
like 'other order' 'with other options: order reverse' 1/3 --kernel bad \
  --grid 6 --arg 'x=f32[6]:rand' --order reverse
like 'other kernel' "a different kernel, 'same'" 1/3 --kernel same --grid 6 \
  --arg 'x=f32[6]:rand' --arg B=2
refused 'no such file' 'was not written by --shard' "$kernels"
refused 'no file' 'No such file' nowhere

# Every byte that is damaged is seen, and so is every end that is missing.
python3 - "$(command -v tkdbg)" <<'END' >damage.out 2>&1
import random, subprocess, sys
names = [f"bad-{i}-of-3.stores" for i in range(3)]
for name in names[:2]:
    whole = open(name, "rb").read()
    for at in random.Random(1).sample(range(len(whole)), 40):
        flipped = bytes([whole[at] ^ 1 << at % 8])
        for bytes_ in whole[:at] + flipped + whole[at + 1:], whole[:at]:
            open("damaged", "wb").write(bytes_)
            given = ["damaged" if n == name else n for n in names]
            run = subprocess.run([sys.argv[1], "merge", *given],
                                 capture_output=True, text=True)
            assert run.returncode == 2, (name, at, run)
END
check 'damaged files are refused' test ! -s damage.out

# ---- by a scheduler ----
both='tkdbg run -q kernels.py --kernel square --grid 20 --arg x=f32[64]:rand'
tkdbg run -q kernels.py --kernel square --grid 20 --arg 'x=f32[64]:rand' \
  --save x=one.npy
rm -f ./*.stores
sh -c "$both --shard 0/2" &
sh -c "$both --shard 1/2"
wait
status 'two processes' 0 tkdbg merge ./*.stores --save x=joined.npy
check 'two processes: same bits' cmp one.npy joined.npy
if command -v mpirun >/dev/null; then
  rm -f ./*.stores
  status 'mpirun' 0 env OMPI_ALLOW_RUN_AS_ROOT=1 \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 sh -c "$both \
    --shard \$OMPI_COMM_WORLD_RANK/\$OMPI_COMM_WORLD_SIZE"
  status 'mpirun: parts are joined' 0 \
    tkdbg merge ./*.stores --save x=joined.npy
  check 'mpirun: same bits' cmp one.npy joined.npy
else
  skip 'mpirun' 'there is no mpirun (Debian: openmpi-bin)'
fi
