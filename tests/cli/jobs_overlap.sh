# Programs of several threads that store to one element: the last one counts, as
# on one thread.  A race of the kernel's own, so no test of make thread-check.
. "$ROOT/tests/support/check.sh"
cat >same.py <<'END'
import triton
import triton.language as tl


@triton.jit
def last(x, y, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + pid % 7 * B + i, tl.load(x + pid * B + i) + pid)
    tl.store(y + (pid % 5 * 131 + i * i) % 4096, pid)
END
last() {
  tkdbg run -q same.py --kernel last --grid 6000 --arg 'x=f32[384000]:rand' \
    --arg 'y=f32[4160]:zeros' --arg B=64 --save y=last.npy "$@"
}
last --jobs 1
mv last.npy serial.npy
for jobs in 2 5 auto; do
  status "the last program counts, $jobs" 0 last --jobs $jobs
  check "the last program counts, $jobs: same bits" cmp last.npy serial.npy
done
