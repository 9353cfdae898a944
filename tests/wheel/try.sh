#!/bin/bash
# What a user does first, with a wheel in a system that has Python and NumPy and
# nothing else: installs it, and begins with each front end.  Prints a line for
# each; the exit status is 1 if one fails.  It runs in the folder that holds the
# wheel and the tree's examples/.
set -u
failed=0

try() {
  local name=$1 wanted=$2
  shift 2
  if "$@" >said 2>&1 </dev/null &&
    { [ -z "$wanted" ] || grep -qE -e "$wanted" said; }; then
    echo "ok $name"
  else
    echo "not ok $name: no '$wanted' or exit status not 0: $*"
    sed 's/^/  /' said | tail -15
    failed=1
  fi
}

# ... of something that ends with that exit status.
ends() {
  local status=$1
  shift
  "$@"
  [ $? = "$status" ]
}

direct=(examples/vector_add.py --grid 4 --arg 'x_ptr=f32[4096]:arange'
  --arg 'y_ptr=f32[4096]:ones' --arg 'output_ptr=f32[4096]:zeros'
  --arg n_elements=4096 --arg BLOCK_SIZE=1024)
cat >wrong.py <<'E'
import numpy as np, triton, triton.language as tl
@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 3, i < n)
x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
double[(4,)](x, y, 100, B=32)
np.testing.assert_allclose(y, x * 2)
E

python3 -m venv --system-site-packages env || exit 1
try 'pip install' '' env/bin/pip install --no-index --no-deps ./*.whl
export PATH=$PWD/env/bin:$PATH
try 'version' '^tkdbg [0-9]' tkdbg version
try 'doctor' '^NumPy +ok' tkdbg doctor
try 'products by OpenBLAS' "^OpenBLAS +ok" tkdbg doctor
for example in vector_add softmax matmul; do
  try "run $example.py" 'OK' tkdbg run "examples/$example.py"
done
try 'a direct launch' 'program' tkdbg run "${direct[@]}"
try 'debug' 'x_ptr: pointer<fp32>' \
  tkdbg debug "${direct[@]}" -ex 'info args' -ex quit
try 'ir' 'kernel @' tkdbg ir "${direct[@]}"
try 'compile' 'kernel @' tkdbg compile --emit ttir "${direct[@]}"
try 'profile' 'tl.load' tkdbg profile "${direct[@]}"
try 'profile --html' '' tkdbg profile --html p.html "${direct[@]}"
try 'a page' '</html>' cat p.html
try 'why' 'line 5|wrong.py:5' ends 1 tkdbg why wrong.py
try 'record' '' tkdbg run -q --record l.safetensors "${direct[@]}"
try 'replay' '4 programs' tkdbg replay l.safetensors
try 'python -m tkdbg' 'OK' python3 -m tkdbg run examples/softmax.py
try 'puzzles init' '' tkdbg puzzles init p
try 'puzzles verify' 'of [0-9]+ solved' \
  bash -c 'cd p && tkdbg puzzles verify --all; :'
try 'gdb helper' '' python3 -c 'import os, tkdbg
assert os.path.exists(os.path.dirname(tkdbg.__file__) + "/tkdbg-gdb.py")'
try 'dap' 'initialized|"success"' bash -c 'm="{\"seq\":1,\"type\":\"request\",
\"command\":\"initialize\",\"arguments\":{\"adapterID\":\"t\"}}"
printf "Content-Length: %d\r\n\r\n%s" ${#m} "$m" | timeout 20 tkdbg dap; :'
try 'gdbserver' 'waiting' \
  ends 124 timeout 10 tkdbg gdbserver :0 "${direct[@]}"
try 'demo' 'That is the demo' tkdbg demo
for shell in bash zsh fish; do
  try "completion for $shell" 'tkdbg' tkdbg help --completion $shell
done
cat >kernel.py <<'E'
import triton, triton.language as tl
@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)
E
try 'prove' 'proved' tkdbg prove kernel.py --grid 4 --arg 'x=f32[100]:arange' \
  --arg 'y=f32[100]:zeros' --arg n=100 --arg B=32
try 'ptx' '[.]entry' tkdbg compile --emit ptx "${direct[@]}"
try 'engine ptx' 'program' tkdbg run --engine ptx "${direct[@]}"
try 'diff' '' tkdbg diff --backend ptx "${direct[@]}"
try 'the bridge to CUDA Tile' '' python3 -c 'import tkdbg.cutile'
try 'manual page' '.TH' tkdbg help --man
exit "$failed"
