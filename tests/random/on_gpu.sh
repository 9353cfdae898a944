# on_gpu.sh BUILD COUNT SEED JOBS [STEP ...] - random kernels on a GPU.
#
# PYTHON has Triton 3.6 and PyTorch with CUDA.  The steps, all of them if none
# is named, each with its time:
#   ours    code that tkdbg makes, beside its interpreter
#   triton  Triton's code, beside tkdbg's interpreter
#   engine  `tkdbg run --engine gpu`: COUNT / 100 kernels, as a script
# A kernel that differs is shown; WHOLE=--whole: by its seed alone.
build=$1 count=$2 seed=$3 jobs=$4
shift 4
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
step() {
  begin=$(date +%s)
  echo "== $1"
  shift
  "$@"
  echo "   exit status $?, $(($(date +%s) - begin)) s"
}
random() {
  "$python" "$here/run.py" --build "$build" --count "$count" --seed "$seed" \
    --jobs "$jobs" $WHOLE --ways "$1"
}
engine() {
  some=$((count / 100 + 1))
  "$build/tkdbg" run -q --python "$python" "$here/launch.py" wanted.npz \
    --first "$seed" --count $some &&
  "$build/tkdbg" run -q --python "$python" --engine "${ENGINE:-gpu}" \
    "$here/launch.py" engine.npz --first "$seed" --count $some &&
  "$python" "$here/compare.py" wanted.npz -- engine.npz
}
for name in ${*:-ours triton engine}; do
  case $name in
  ours) step 'code by tkdbg, launched by the driver' random cuda ;;
  triton) step 'Triton' random triton ;;
  engine) step 'tkdbg run --engine gpu' engine ;;
  esac
done
