# Random kernels (tests/random): the interpreter beside its own form read again,
# what each pass of the compiler leaves, and code for a GPU.  `make random` runs
# as many as are wanted.
. "$ROOT/tests/support/check.sh"

if [ "${SANITIZE:-}" ]; then
  skip 'random kernels' 'a sanitized library wants its runtime to be in Python'
  exit 0
fi
python=${PYTHON:-python3}
random() {
  "$python" "$ROOT/tests/random/run.py" --build "$BUILD" "$@"
}
if ! "$python" -c 'import numpy' 2>err; then
  skip 'random kernels' 'NumPy is not installed'
  exit 0
fi
check 'a seed is always the same kernel' sh -c '
  for i in 1 2; do
    PYTHONHASHSEED=$i "$1" "$2" --build "$3" --show 7 >$i || exit 1
  done
  cmp 1 2' - "$python" "$ROOT/tests/random/run.py" "$BUILD"
status 'read again, and after each pass' 0 random --count 40 \
  --ways text,passes --jobs 2
says 'how many' out '40 kernels by interp, text, passes: 0 differ'
written=$ROOT/tests/random/validation.md
status 'that Triton gets wrong' 0 random --written "$written" \
  --ways text,passes --jobs 2
says 'that Triton gets wrong: how many' out \
  '22 kernels by interp, text, passes: 0 differ'
status 'by a script' 0 tkdbg run -q "$ROOT/tests/random/launch.py" a.npz \
  --count 10
status 'two runs' 0 tkdbg run -q "$ROOT/tests/random/launch.py" b.npz --count 10
status 'compared' 0 "$python" "$ROOT/tests/random/compare.py" a.npz -- b.npz
says 'compared: what' out '10 kernels, 0 differ'

if ! tkdbg run -q --engine ptx "$ROOT/examples/vector_add.py" >out 2>err &&
    grep -q llvm-19-dev err; then
  skip 'by code for a GPU' \
    'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
status 'by code for a GPU' 0 random --seed 100 --count 20 --ways ptx --jobs 2
says 'by code for a GPU: how many' out '20 kernels by interp, ptx: 0 differ'
status 'that Triton gets wrong, by code for a GPU' 0 random \
  --written "$written" --ways ptx --jobs 2
