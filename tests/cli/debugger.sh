# The debugger over scripts, its files of commands, Ctrl-C, events.
. "$ROOT/tests/support/check.sh"

if [ "${SANITIZE:-}" ]; then
  LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
  ASAN_OPTIONS=detect_leaks=0
  export LD_PRELOAD ASAN_OPTIONS
fi
HOME=$PWD/home
mkdir -p home sub
export HOME

cat >stops.py <<'S'
import triton
import triton.language as tl


@triton.jit
def kernel(out):
    p = tl.program_id(0)
    breakpoint()
    tl.store(out + p, p + 1)
S
direct="stops.py --kernel kernel --grid 2 --arg out=i32[2]:zeros"

# ---- .tkdbgrc
echo 'alias twice = print 2 *' >home/.tkdbgrc
status 'rc' 0 tkdbg debug $direct -ex 'twice 21' -ex quit
says 'rc: of the home folder' out '2 * 21: constexpr = 42'
status 'rc: left out' 0 tkdbg debug $direct -nx -ex 'twice 21' -ex quit
says 'rc: left out by -nx' out "There is no command 'twice'"
status 'rc: left out' 0 tkdbg debug $direct --nx -ex 'twice 21' -ex quit
says 'rc: left out by --nx' out "There is no command 'twice'"
cp stops.py sub/
echo 'echo from here' >sub/.tkdbgrc
in_sub() { (cd sub && tkdbg debug $direct -ex quit); }
status 'rc: of the current folder' 0 in_sub
says 'rc: of the current folder, not read' out 'of this folder is not read'
check 'rc: of the current folder, not carried out' \
  sh -c '! grep "^from here" out'
echo "set safe-path $(cd sub && pwd -P)" >home/.tkdbgrc
status 'rc: of a safe folder' 0 in_sub
says 'rc: of a safe folder, read' out 'from here'
printf 'define broken\necho 1\n' >home/.tkdbgrc
status 'rc: a body without its end' 0 tkdbg debug $direct -ex 'p 3' -ex quit
says 'rc: a body without its end takes nothing' out '3: constexpr = 3'
rm home/.tkdbgrc

# ---- breakpoint() without a debugger
if terminals 'breakpoint() on a terminal'; then
  status 'breakpoint()' 0 at_prompts 'p p;c;p p;c' tkdbg run $direct
  says 'breakpoint(): starts a debugger on a terminal' out 'p: int32 = 1'
fi
status 'breakpoint(): in a pipe' 0 tkdbg run $direct --print out </dev/null
says 'breakpoint(): in a pipe, passed' out 'out = [1 2]'

# ---- events
is_events() {
  python3 -c 'import json, sys
events = [json.loads(line) for line in open("out")]
kinds = [e["event"] for e in events]
stops = [e for e in events if e["event"] == "stop"]
assert set(kinds) <= {"stop", "output", "program-output"}, kinds
assert [s["reason"] for s in stops] == sys.argv[1].split(), stops
assert all(isinstance(s["when"], int) for s in stops)
assert stops[0]["program"] == [0, 0, 0] and stops[0]["line"] == 7
assert stops[0]["file"].endswith("stops.py") and stops[0]["grid"] == [2, 1, 1]
' "$1"
}
status 'events' 0 tkdbg debug --json $direct -ex c -ex c -ex c -ex quit
check 'events: of a direct launch' \
  is_events 'start breakpoint-call breakpoint-call end'

# ---- scripts
if ! tkdbg run "$vector_add" >/dev/null 2>why; then
  if grep -q 'no Python' why; then
    skip 'the debugger over scripts' 'no Python with NumPy'
    exit 0
  fi
fi
cat >host.py <<'S'
import sys
import numpy as np
from stops import kernel
import triton
import triton.language as tl


@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, v * 2, mask=i < n)


@triton.jit
def long(x, n):
    t = 0
    for k in range(n):
        t += k & 1
    tl.store(x, t)


@triton.jit
def loose(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, v)


x = np.arange(10, dtype=np.int32)
if sys.argv[1] == 'two':
    double[(2,)](x, 10, B=8)
    print('between')
    double[(1,)](x, 10, B=8)
    print('after', x[:3])
elif sys.argv[1] == 'error':
    double[(2,)](x, 10, B=8)
    raise ValueError('of the host')
elif sys.argv[1] == 'exit':
    double[(2,)](x, 10, B=8)
    sys.exit('not as expected')
elif sys.argv[1] == 'tests':
    import unittest

    class Tests(unittest.TestCase):
        def test_double(self):
            double[(2,)](x, 10, B=8)
            self.assertEqual(x[1], 3)
    unittest.main(argv=['host.py'])
elif sys.argv[1] == 'stops':
    kernel[(2,)](x)
    print('after', x[:3])
elif sys.argv[1] == 'outside':
    double[(2,)](x, 100, B=8)
elif sys.argv[1] == 'undefined':
    loose[(1,)](x, 5, B=8)
    print('after', x[:3])
elif sys.argv[1] == 'long':
    long[(1,)](x, int(sys.argv[2]))
    print('after', x[0])
S
status 'script' 0 tkdbg debug -ex 'b 12 if pid_0 == 1' -ex c -ex 'p v[0]' \
  -ex launch -ex 'info launch' -ex c host.py two
says 'script: a breakpoint in the first launch' out 'v[0]: int32 = 8'
says 'script: host code between' out 'between'
says 'script: the second launch' out 'launch 2: double[1, 1, 1]'
says 'script: to its end' out 'after [0 4 8]'
status 'script that fails' 1 tkdbg debug -ex 'b later' -ex 'catch end' -ex c \
  -ex c -ex bt -ex 'info launches' -ex 'launch 2' -ex 'launch 1' -ex 'n 2' \
  -ex 'p v' -ex c -ex c host.py error
says 'script: a breakpoint that waits' out \
  'Breakpoint 1 at later (not in this launch yet)'
says 'script: the end of a launch' out \
  'Catchpoint 2 (end), launch 1 (double) has ended: 2 programs ran.'
says 'script: it stops when the host raises' out \
  'The script raised ValueError: of the host'
says 'script: its launches are listed' out '1    double, grid (2, 1, 1)'
says 'script: one that was not' out 'There is no launch 2'
says 'script: one that was runs again' out \
  'Start, launch 1 (double) again, program (0, 0, 0) of (2, 1, 1)'
says 'script: from what memory was' out \
  'v: int32[8] = [0 1 2 3 4 5 6 7]'
sed "s/v \* 2,/v * 2 $(printf '+ 0 %.0s' $(seq 99)),/" host.py >wide.py
status 'a line that is very long' 0 tkdbg debug -ex 'next 2' \
  -ex quit wide.py two
says 'a line that is very long, cut' out '+ 0 + 0 + 0 + ...'
check 'a line that is very long, 180 columns' sh -c '! grep -E "^.{180}" out'
status 'script that exits with an error' 1 tkdbg debug -ex c -ex 'launch 1' \
  -ex 'p x[3]' -ex c -ex c host.py exit
says 'script: it stops at such an exit' out \
  'The script raised SystemExit: not as expected'
says 'script: from what memory was before the exit' out 'x[3]: int32 = 3'
status 'script with tests' 1 tkdbg debug -ex c -ex 'launch 1' -ex c -ex c \
  host.py tests
says 'script: it stops where a test raises' out \
  'The script raised AssertionError: '
says 'script: the test has a name' out 'test_double (__main__.Tests'
check 'script: it stops there once' \
  sh -c 'test $(grep -c "The script raised" out) = 2'
status 'script: launches that are not kept' 0 tkdbg debug \
  -ex 'set launches 0' -ex launch -ex 'launch 1' -ex c host.py two
says 'script: launches that are not kept, refused' out 'Launch 1 is not kept'
says 'script: launches that are not kept, what to do' out \
  "'info launches' lists those that are kept"
printf 'p 3\nbogus\nquit\n' >lines
status 'a file of commands' 0 tkdbg debug $direct -x lines
says 'a file of commands: where an error is' out 'lines:2: bogus'
status 'script: one launch alone' 0 tkdbg debug --launch 2 -ex 'info launch' \
  -ex c host.py two
says 'script: one launch alone, the second' out 'launch 1: double[1, 1, 1]'
status 'script: a kernel that is not launched' 2 tkdbg debug --kernel none \
  -ex c host.py two
check 'script: a kernel that is not launched, no stop' \
  sh -c '! grep Start out'
status 'script: quit midway' 0 tkdbg debug -ex launch -ex quit host.py two
check 'script: quit midway, the rest does not run' sh -c '! grep after out'
status 'script: an error of the host' 1 tkdbg debug -ex c host.py error
says 'script: an error of the host, told' err 'ValueError: of the host'
status 'script: detectors' 1 tkdbg debug --check=undef -ex 'catch finding' \
  -ex c -ex 'info checks' -ex c host.py undefined
says 'script: stops at a finding' out \
  'Catchpoint 1 (finding): undef, launch 1 (loose), program'
says 'script: told what was found' out '1 finding so far'
check 'script: told once' sh -c '! grep "undefined value" err'
status 'script: a bad access' 1 tkdbg debug -ex c -ex c host.py outside
says 'script: a bad access, told at the stop' out '[out-of-bounds]'
says 'script: a bad access, told once' err 'double stopped, as shown above'
status 'script: events' 0 tkdbg debug --json -ex c -ex c -ex c host.py stops
sed -i '/^after/d' out
check 'script: events, as of a direct launch' \
  is_events 'start breakpoint-call breakpoint-call'
terminals 'script: breakpoint() and Ctrl-C' || exit 0
status 'script: breakpoint()' 0 \
  at_prompts 'p p;c;p p;c' tkdbg run host.py stops
says 'script: breakpoint() on a terminal' out 'p: int32 = 1'
says 'script: breakpoint(), to its end' out 'after [1 2 2]'
status 'Ctrl-C' 0 at_prompts 'c;^C;p k > 0;q' \
  tkdbg debug host.py long 100000000
says 'Ctrl-C: stops the kernel' out \
  'Interrupted, launch 1 (long), program (0, 0, 0)'
says 'Ctrl-C: things can be looked at' out 'k > 0: int1 = True'
status 'Ctrl-C: going on' 0 at_prompts 'c;^C;c' \
  tkdbg debug host.py long 16000000
says 'Ctrl-C: going on, the script is not interrupted' out 'after 8000000'
