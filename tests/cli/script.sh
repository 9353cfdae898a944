# Scripts under Python: which Python, whose options, which exit status.
. "$ROOT/tests/support/check.sh"

# A sanitized library wants its runtime to be in the process first.
if [ "${SANITIZE:-}" ]; then
  LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
  ASAN_OPTIONS=detect_leaks=0
  export LD_PRELOAD ASAN_OPTIONS
fi

if ! tkdbg run "$vector_add" >/dev/null 2>why; then
  if grep -q 'no Python' why; then
    skip 'scripts' 'no Python with NumPy'
    exit 0
  fi
fi

status 'script' 0 tkdbg run "$vector_add"
says 'script: its output' out 'vector_add: OK'
for example in softmax matmul; do
  status "example $example" 0 tkdbg run "$ROOT/examples/$example.py"
done

cat >args.py <<'S'
import sys
print(sys.argv[1:])
sys.exit(int(sys.argv[1]))
S
status 'exit status of the script' 7 tkdbg run args.py 7 --grd -q --json
says 'arguments of the script' out "['7', '--grd', '-q', '--json']"
status 'options after the file' 5 tkdbg run args.py --pid 0 -q -- 5 --json
says 'options after the file: arguments' out "['5', '--json']"
status 'unknown option after the file' 2 tkdbg run args.py --pid 0 --epochs 3
says 'unknown option after the file: named' err "'--epochs'"

status 'module' 4 tkdbg run -q -m args 4 -q
says 'module: arguments' out "['4', '-q']"
status 'code' 6 tkdbg run -c 'raise SystemExit(6)'

cat >bad.py <<'S'
import numpy as np
import triton
import triton.language as tl


@triton.jit
def past_the_end(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


x = np.zeros(100, np.float32)
past_the_end[(2,)](x, 101, BLOCK=64)
print('not reached')
S
status 'finding' 1 tkdbg run bad.py
says 'finding: kind' err out-of-bounds
says 'finding: place' err 'bad.py:9'
silent 'finding: the script went no further' out
status 'finding in a program that does not run' 0 tkdbg run --pid 0 bad.py
status 'condition for another kernel' 1 \
  tkdbg run --pid 0 --kernel other bad.py
status 'bad condition' 2 tkdbg run --pid '>' bad.py

status 'record' 1 tkdbg run -q --record l.safetensors bad.py
status 'replay' 1 tkdbg replay l.safetensors
says 'replay: kind' err out-of-bounds

status 'run a launch file' 1 tkdbg run l.safetensors
says 'run a launch file: kind' err out-of-bounds
status 'a grid for a launch file' 2 tkdbg run --grid 4 l.safetensors
says 'a grid for a launch file: said' err '--grid cannot be given with'
status 'detectors as a word of their own' 1 tkdbg run --check undef,race bad.py
status 'detectors of a launch file' 1 tkdbg run --check undef l.safetensors

echo 'print("no kernel")' >none.py
status 'no launch' 0 tkdbg run none.py
says 'no launch: said' err 'no kernel was launched in this process'
status 'a kernel, and nothing about it' 2 tkdbg run --kernel k none.py
says 'a kernel, and nothing about it: said' err '--kernel needs --pid'
status 'no launch, of a kernel' 2 tkdbg run --kernel k --pid 0 none.py
says 'no launch, of a kernel: how to' err "--arg describes a launch of 'k'"
status 'no launch, quiet' 0 tkdbg run -q none.py
silent 'no launch, quiet: nothing said' err
status 'no launch before an exit' 7 tkdbg run args.py 7
silent 'no launch before an exit: nothing said' err
status 'no launch of that kernel' 2 \
  tkdbg run --kernel other --pid 0 "$vector_add"
says 'no launch of that kernel: said' err "no kernel named 'other' was launched"
status 'no launch with that number' 2 tkdbg run --launch 9 --pid 0 "$vector_add"
says 'no launch with that number: said' err \
  'launch 9 never came: there were 3 launches'

status 'an option after the file' 7 tkdbg run args.py 7 -ex quit
says 'an option after the file: warning' err \
  "'-ex' after args.py is an argument of the script"
says 'an option after the file: who gets it' out "['7', '-ex', 'quit']"
status 'an option of both' 7 tkdbg run args.py 7 --quiet
silent 'an option of both: nothing said' err
tkdbg run - 1 <args.py >out 2>err
says 'standard input: arguments' out "['1']"

# The line that README.md has for what the command cannot start, with the
# library that is tested, not one that was made before.
cp "$vector_add" script.py
line=$(grep -o 'TKDBG=1 PYTHONPATH=[^`]*' "$ROOT/README.md")
status 'the line of README' 0 \
  env TKDBG_LIBRARY="$BUILD/libtkdbg.so" sh -c "$line"
says 'the line of README: output' out 'vector_add: OK'

# A disk that is full costs nothing that was there.
full() {
  sh -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "$@"
}
cp l.safetensors l.before
echo 'what was there' >x.npy
cp x.npy x.before
cat >large.py <<'S'
import numpy as np
import triton
import triton.language as tl


@triton.jit
def one(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


one[(1,)](np.zeros(1024, np.float32), BLOCK=1024)
S
status 'record on a full disk' 2 full tkdbg run --record l.safetensors large.py
says 'record on a full disk: said' err \
  'l.safetensors: cannot be written: File too large'
check 'record on a full disk: the file before is there' \
  cmp l.safetensors l.before
status 'record' 0 tkdbg run -q --record large.safetensors large.py
status 'save on a full disk' 2 \
  full tkdbg run -q --save x=x.npy large.safetensors
check 'save on a full disk: the file before is there' cmp x.npy x.before
check 'a full disk: nothing is left over' sh -c '! ls | grep new'
status 'save twice on a full disk' 2 tkdbg run -q --save x=/dev/full \
  --save x=x.npy large.safetensors
check 'save twice on a full disk: the second is there' \
  sh -c '! cmp -s x.npy x.before'
status 'save where nothing can be' 2 \
  tkdbg run --save x=no/x.npy large.safetensors
says 'save where nothing can be: said' err 'cannot write no/x.npy'
check 'save where nothing can be: before the run' \
  sh -c '! grep programs err'

printf 'raise SystemExit("no")\n' >exit.py
status 'SystemExit with a text' 1 tkdbg run exit.py
printf 'x = (\n' >syntax.py
status 'syntax error of the host' 1 tkdbg run syntax.py
says 'syntax error of the host: named' err SyntaxError

# A stand-in for Python shows what it is started with.
mkdir -p venv/bin
cat >venv/bin/python <<'S'
#!/bin/sh
echo "$0 $*"
printenv TKDBG_OPTIONS PYTHONPATH
S
chmod +x venv/bin/python
status '--python' 0 tkdbg run --python venv/bin/python --order reverse \
  --launch 2 --no-virtual-cuda args.py 1 2
says '--python: command' out 'venv/bin/python -m tkdbg run args.py 1 2'
says '--python: options' out \
  '{"launch": 2, "order": "reverse", "virtual_cuda": false}'
says '--python: path' out "$ROOT/python"
status 'virtual environment' 0 env VIRTUAL_ENV=venv tkdbg run args.py
says 'virtual environment: command' out 'venv/bin/python -m tkdbg run args.py'
silent 'virtual environment: nothing said' err

# The python3 on PATH has no NumPy: the system's is taken, and named.
mkdir bin
printf '#!/bin/sh\nexit 1\n' >bin/python3
chmod +x bin/python3
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  status 'another Python' 3 env PATH="$PWD/bin:$PATH" tkdbg run args.py 3
  says 'another Python: said' err 'using /usr/bin/python3'
else
  skip 'another Python' '/usr/bin/python3 has no NumPy'
fi

cat >endless.py <<'S'
import numpy as np
import triton
import triton.language as tl


@triton.jit
def endless(x):
    i = 0
    while i >= 0:
        i = (i + 1) & 1023
        tl.store(x, 1.0)


print('started', flush=True)
endless[(1,)](np.zeros(1, np.float32))
S
# Tests that run in the background may have been told to ignore Ctrl-C.
cat >interrupt.py <<'S'
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen(['tkdbg', 'run', 'endless.py'], stdout=subprocess.PIPE)
try:
    p.stdout.readline()
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    p.wait(timeout=20)
finally:
    p.kill()
print(p.returncode)
sys.exit(p.returncode if p.returncode >= 0 else 128 - p.returncode)
S
status 'Ctrl-C' 130 python3 interrupt.py

status 'blame and explain' 0 tkdbg run -q --blame 'output_ptr[0]' \
  --explain 'output_ptr[0]' "$vector_add"
says 'blame: writer' out ': written once'
says 'explain: load' out ': x_ptr[0], mask true'
cat >twice.py <<'S'
import runpy, sys
import tkdbg
import numpy as np
import triton
import triton.language as tl
@triton.jit
def first(x, y):
    i = tl.arange(0, 4)
    tl.store(y + i, tl.load(x + i) * 2)
@triton.jit
def second(y, z):
    i = tl.arange(0, 4)
    tl.store(z + i, tl.load(y + i) + 1)
x, y, z = np.arange(4), np.zeros(4, int), np.zeros(4, int)
for _ in range(2):
    first[(1,)](x, y)
    second[(1,)](y, z)
print(z)
S
status 'explain of one kernel' 0 tkdbg run -q --kernel second \
  --explain 'z[3]' twice.py
says 'explain of one kernel: load' out 'tl.load(y + i) = 6: y[3]'
says 'explain of one kernel: results' out '[1 3 5 7]'
status 'explain of one launch' 0 tkdbg run -q --kernel second --launch 2 \
  --explain 'z[3]' twice.py
check 'explain of one launch: once' \
  sh -c '[ $(grep -c "the last write" out) = 1 ]'
status 'explain of no element of a script' 2 tkdbg run -q --explain 'y[9]' \
  twice.py
says 'explain of no element of a script: said' err 'the index is out of range'

cat >shared.py <<'S'
import numpy as np
import triton
import triton.language as tl
@triton.jit
def add(a, b, y):
    i = tl.arange(0, 4)
    tl.store(y + i, tl.sum(tl.load(a + i) + tl.load(b + i), 0))
pair, y = np.arange(8).reshape(2, 4), np.zeros(4, int)
add[(1,)](pair[0], pair[1], y)
S
status 'explain of tensors in one storage' 0 tkdbg run -q --explain 'y[3]' \
  shared.py
says 'explain of tensors in one storage: all' out 'reads b[0..3], line 7'
says 'explain of tensors in one storage: one' out '= 4: b[0]'
