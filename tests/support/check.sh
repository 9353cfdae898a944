# check.sh - what the scripts in tests/cli share; they source it.
#
# tests/run.py sets ROOT, BUILD, SCRATCH (an empty folder, the current one
# from here on) and a PATH on which tkdbg is the one under test.  A script
# prints one line for each test: ok, not ok, or skip with a reason.
cd "$SCRATCH" || exit 1
vector_add=$ROOT/examples/vector_add.py

# check NAME COMMAND...: the command must succeed.
check() {
  name=$1
  shift
  if "$@" >check.log 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name: exit status $?: $*"
    sed 's/^/  /' check.log
  fi
}

# status NAME WANTED COMMAND...: ends with that exit status; what it printed
# is in the files out and err.
status() {
  name=$1 wanted=$2
  shift 2
  "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" = "$wanted" ]; then
    echo "ok $name"
  else
    echo "not ok $name: exit status $got, not $wanted: $*"
    sed 's/^/  /' out err
  fi
}

# says NAME FILE TEXT: the file has a line with the text.
says() {
  if grep -qF -e "$3" "$2"; then
    echo "ok $1"
  else
    echo "not ok $1: no '$3' in:"
    sed 's/^/  /' "$2"
  fi
}

# silent NAME FILE: the file is empty.
silent() {
  if [ -s "$2" ]; then
    echo "not ok $1: not empty:"
    sed 's/^/  /' "$2"
  else
    echo "ok $1"
  fi
}

skip() { echo "skip $1: $2"; }

# terminals NAME: whether there can be terminals here; skips NAME if not.
terminals() {
  no_terminals=$(python3 "$ROOT/tests/support/terminal.py" missing) || return 0
  skip "$1" "$no_terminals"
  return 1
}

# on_terminal COMMAND...: its standard error is a terminal, and what comes
# there the standard output.  at_prompts LINES COMMAND...: a session with the
# debugger.
on_terminal() { python3 "$ROOT/tests/support/terminal.py" stderr "$@"; }
at_prompts() { python3 "$ROOT/tests/support/terminal.py" session "$@"; }

# add N [OPTIONS]: the direct launch of the documentation, with n_elements=N.
add() {
  n=$1
  shift
  tkdbg run "$vector_add" --kernel add_kernel --grid 97 \
    --arg 'x_ptr=f32[98432]:rand(0)' --arg 'y_ptr=f32[98432]:rand(1)' \
    --arg 'output_ptr=f32[98432]:empty' --arg "n_elements=$n" \
    --arg BLOCK_SIZE=1024 "$@"
}
