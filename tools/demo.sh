#!/bin/sh
# tkdbg demo: a script, a kernel without Python, a bug, and the debugger.
#
#   demo.sh TKDBG
#
# The kernels lie beside this script, as installed, or one folder up.
set -eu
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
cd "$(dirname "$0")"
[ -d examples ] || cd ..
example=examples/vector_add.py
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Shows a command as a person would type it, then runs it.
show() {
  printf '\n$'
  for word; do
    case $word in
      *[\(\[\ ]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$@"
}

add() {
  show tkdbg run $example --kernel add_kernel --grid 97 \
    --arg 'x_ptr=f32[98432]:rand(0)' --arg 'y_ptr=f32[98432]:rand(1)' \
    --arg 'output_ptr=f32[98432]:empty' --arg "n_elements=$1" \
    --arg BLOCK_SIZE=1024 --save "output_ptr=$out/o.npy"
}

echo "The kernels are in $PWD."
echo
echo 'A script: Python runs the host code, tkdbg every kernel it launches.'
show tkdbg run $example

echo
echo 'The same kernel without any Python: the arguments are described.'
add 98432

echo
echo 'The same with a wrong size: one element too many.'
status=0
add 98433 || status=$?
echo "(exit status $status: a finding)"
[ $status = 1 ]

echo
echo 'A kernel that sums lanes which its mask left out.'
status=0
show tkdbg run -q --check docs/findings/undef.py --arg 'x=f32[6]:ones' \
  --arg 'y=f32[1]:zeros' --arg n=6 || status=$?
[ $status = 1 ]

echo
echo 'The debugger: stop in one program, look, and step back.'
show tkdbg debug $example --kernel add_kernel --grid 97 \
  --arg 'x_ptr=f32[98432]:arange' --arg 'y_ptr=f32[98432]:ones' \
  --arg 'output_ptr=f32[98432]:empty' --arg n_elements=98432 \
  --arg BLOCK_SIZE=1024 -ex 'break 28 if pid_0 == 96' -ex continue \
  -ex 'print offsets[0:4]' -ex 'show mask' -ex reverse-next -ex quit

echo
echo "That is the demo. Next: 'tkdbg run' or 'tkdbg why' with your script;"
echo "'tkdbg puzzles init DIR' to learn the language; 'tkdbg help'."
