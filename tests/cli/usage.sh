# Usage errors: exit status 2, what is wrong, what was perhaps meant.
. "$ROOT/tests/support/check.sh"

status 'no command' 2 tkdbg
says 'no command: usage' err 'Usage: tkdbg COMMAND'
says 'no command: what to type next' err '  tkdbg demo '
status 'unknown command' 2 tkdbg rnu
says 'unknown command: nearest' err "did you mean 'run'?"
status 'file as command' 2 tkdbg kernel.py
says 'file as command: hint' err "did you mean 'tkdbg run kernel.py'?"
status 'unknown option' 2 tkdbg run --gird 3 "$vector_add"
says 'unknown option: nearest' err "did you mean '--grid'?"
silent 'unknown option: nothing on stdout' out
status 'unknown option, nothing near' 2 tkdbg run --frobnicate x
says 'unknown option: named' err "unknown option '--frobnicate'"
status 'option of another command' 2 tkdbg replay --grid 3 x
says 'option of another command: said' err "'replay' has no option --grid"
status 'value missing' 2 tkdbg run --grid
says 'value missing: said' err '--grid needs a value'
status 'flag with a value' 2 tkdbg run --quiet=yes x
says 'flag with a value: said' err '--quiet takes no value'
status 'word not in list' 2 tkdbg run --dot fast x
says 'word not in list: said' err "--dot takes blas|exact, not 'fast'"
status 'not quite -ex' 2 tkdbg debug -e quit "$vector_add"
says 'not quite -ex: named' err "unknown option '-e'"
status 'no file' 2 tkdbg run
says 'no file: said' err 'no FILE is given'
status 'file absent' 2 tkdbg run absent.py
says 'file absent: said' err 'cannot read absent.py'
status 'file absent, direct' 2 tkdbg run absent.py --grid 1
says 'file absent, direct: said' err 'absent.py'
status 'direct option for a script' 2 tkdbg run --save x=y "$vector_add"
says 'direct option for a script: said' err 'needs a direct launch'
status 'script option in a direct launch' 2 \
  tkdbg run --triton ours --grid 1 "$vector_add"
says 'script option: said' err '--triton is for scripts'
status 'two files' 2 tkdbg run "$vector_add" --grid 1 other
says 'two files: named' err "'other' follows '"
status 'a list that names no detector' 2 tkdbg run --check undfe "$vector_add"
says 'a list that names no detector: advice' err '--check=help'
status 'replay without a file' 2 tkdbg replay
status 'ir without a file' 2 tkdbg ir
status 'kernels without a file' 2 tkdbg kernels
status 'python absent' 2 tkdbg run --python /absent/python "$vector_add"
says 'python absent: said' err 'cannot run /absent/python'
