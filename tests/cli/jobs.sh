# --jobs: programs on threads, the bits and findings of the serial run, and why
# some launches are run one program after the other.
. "$ROOT/tests/support/check.sh"
kernels="$ROOT/tests/bench/kernels.py"

# ---- the same bits ----
# NAME OUTPUT ARGUMENTS...: a kernel of the bench, on one to five threads
same() {
  name=$1 output=$2
  shift 2
  tkdbg run -q "$kernels" --kernel "$@" --save "$output=one.npy"
  for jobs in 2 5; do
    status "$name, $jobs jobs" 0 tkdbg run "$kernels" --kernel "$@" \
      --jobs $jobs --save "$output=many.npy"
    check "$name, $jobs jobs: same bits" cmp one.npy many.npy
    check "$name, $jobs jobs: nothing refused" sh -c '! grep -q note err'
  done
}
same add output_ptr add_kernel --grid 97 --arg 'x_ptr=f32[98432]:rand' \
  --arg 'y_ptr=f32[98432]:rand' --arg 'output_ptr=f32[98432]:zeros' \
  --arg n=98432 --arg BLOCK=1024
same softmax y_ptr softmax_kernel --grid 64 --arg 'x_ptr=f32[64,781]:rand' \
  --arg 'y_ptr=f32[64,781]:zeros' --arg n_cols=781 --arg BLOCK=1024
same matmul c_ptr matmul_kernel --grid 8,8 --arg 'a_ptr=f16[128,128]:rand' \
  --arg 'b_ptr=f16[128,128]:rand' --arg 'c_ptr=f32[128,128]:zeros' \
  --arg M=128 --arg N=128 --arg K=128 --arg BLOCK_M=16 --arg BLOCK_N=16 \
  --arg BLOCK_K=16
same attention o_ptr attention_kernel --grid 4,2 \
  --arg 'q_ptr=f32[2,128,32]:rand' --arg 'k_ptr=f32[2,128,32]:rand' \
  --arg 'v_ptr=f32[2,128,32]:rand' --arg 'o_ptr=f32[2,128,32]:zeros' \
  --arg n_ctx=128 --arg scale=0.125 --arg BLOCK=32 --arg D=32
status 'every program counts' 0 add 98432 --jobs 3
says 'every program counts: summary' err 'add_kernel: 97 programs in '
status 'conditions hold' 0 add 98432 --jobs 3 --pid '>90'
says 'conditions hold: summary' err 'add_kernel: 6 programs in '
status 'more jobs than programs' 0 add 98432 --jobs 999999999
status 'a launch file' 0 add 98432 --jobs 2 --record l.safetensors
status 'its replay' 0 tkdbg replay l.safetensors --jobs 2

# ---- the first finding ----
status 'serial finding' 1 add 98433
sed '/stopped after/d' err >serial
for i in 1 2 3 4 5; do
  status "finding, time $i" 1 add 98433 --jobs 4
  check "finding, time $i: that of the serial run" sh -c \
    'sed "/stopped after/d" err | cmp - serial'
done

# ---- refused ----
abs_max() {
  tkdbg run "$kernels" --kernel abs_max_kernel --grid 256 \
    --arg 'x_ptr=f32[262144]:rand' --arg 'out_ptr=f32[1]:zeros' \
    --arg n=262144 --arg BLOCK=1024 --save out_ptr=m.npy "$@"
}
status 'atomics, one job' 0 abs_max -q
mv m.npy one.npy
status 'atomics' 0 abs_max --jobs 2
says 'atomics: why' err \
  'the programs run one after the other: this atomic operation orders them'
says 'atomics: where' err 'tl.atomic_max(out_ptr'
check 'atomics: same bits' cmp one.npy m.npy
status 'atomics, told' 0 abs_max --jobs 2 --unordered
status 'told without threads' 2 abs_max --unordered
says 'told without threads' err '--unordered needs --jobs'
check 'atomics, told: not refused' sh -c '! grep -q serial err'
check 'atomics, told: the maximum' cmp one.npy m.npy
cat >count.py <<'END'
import triton
import triton.language as tl


@triton.jit
def count(x):
    tl.atomic_add(x + tl.arange(0, 16), 1)


@triton.jit
def wait(x):
    pid = tl.program_id(0)
    while tl.load(x) < pid:
        pass
    tl.store(x, pid + 1)


@triton.jit
def say(x):
    print("at", tl.program_id(0))
END
status 'atomics on threads lose nothing' 0 tkdbg run count.py --kernel count \
  --grid 4000 --arg 'x=i32[16]:zeros' --jobs 4 --unordered --print x
says 'atomics on threads lose nothing: sums' out '4000 4000 4000'
status 'a loop that waits' 0 tkdbg run count.py --kernel wait --grid 4 \
  --arg 'x=i32[1]:zeros' --jobs 2 --unordered
says 'a loop that waits: why' err 'this loop may wait for another program'
says 'a loop that waits: where' err 'count.py:13:5'
status 'output' 0 tkdbg run count.py --kernel say --grid 3 \
  --arg 'x=i32[1]:zeros' --jobs 2
says 'output: why' err 'their output here must come in order'
status 'detectors' 0 add 98432 --check --jobs 2
says 'detectors: why' err 'other observers see one program'
status 'the schedule' 0 add 98432 --schedule yield --jobs 2
says 'the schedule: why' err "the schedule 'yield' decides which program"

status 'auto takes back a number' 0 add 98432 --jobs 7 --jobs auto
status 'no number' 2 add 98432 --jobs 0
