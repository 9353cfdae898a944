#!/bin/sh
# make compilers: builds everything by each compiler of COMPILERS that is
# installed, and prints a row for each: what it is, how many warnings it gives,
# and whether the kernels of `tkdbg demo` run.  The exit status is 1 where one
# warns or fails.
set -u
cd "$(dirname "$0")/.." || exit 1
usual='gcc-11 gcc-12 gcc-13 gcc-14 clang-14 clang-15 clang-16 clang-17 clang-18
  clang-19'
work=build/compilers
failed=0

# Prints a row; 1 if the compiler warns or fails.
try() {
  log=$work/$1.log
  result='no warnings'
  if ! make -j"${JOBS:-$(nproc)}" B="$work/$1" CC="${CCACHE:-} $1" NVPTX= \
    all >"$log" 2>&1; then
    result="FAILED: $log"
  elif grep -q 'warning:' "$log"; then
    result="$(grep -c 'warning:' "$log") warnings: $log"
  elif ! "$work/$1/tkdbg" run examples/vector_add.py --grid 4 \
    --arg 'x_ptr=f32[4096]:arange' --arg 'y_ptr=f32[4096]:ones' \
    --arg 'output_ptr=f32[4096]:zeros' --arg n_elements=4096 \
    --arg BLOCK_SIZE=1024 >>"$log" 2>&1; then
    result="no warnings, but a kernel FAILED: $log"
  fi
  echo "| $1 | $("$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion) |" \
    "$result | $(date +%F) |"
  [ "$result" = 'no warnings' ]
}

mkdir -p "$work"
for compiler in ${COMPILERS:-$usual}; do
  if command -v "$compiler" >/dev/null 2>&1; then
    try "$compiler" || failed=1
  else
    echo "| $compiler | | skipped: not installed | |"
  fi
done
exit $failed
