# On a terminal: a bar while a run lasts, cleared at its end; colour.
. "$ROOT/tests/support/check.sh"
terminals 'a terminal: bar, colour, how far it is' || exit 0

cat >slow.py <<'S'
import triton
import triton.language as tl


@triton.jit
def slow(x, n):
    for i in range(n):
        tl.store(x, i)
S
run_slow() {
  on_terminal tkdbg run slow.py --grid 60000 \
    --arg 'x=i32[1]:zeros' --arg n=500 "$@"
}
status 'bar' 0 run_slow
says 'bar: shown' out 'slow [='
says 'bar: parts' out 'k/60.0k programs  '
check 'bar: 80 columns' sh -c '! sed "s/<ESC>.*//" out | grep -E "^.{80}"'
check 'bar: cleared before the summary' \
  grep -q '^<ESC>\[Kslow: 60000 programs in ' out
status 'no bar when quiet' 0 run_slow -q
silent 'no bar when quiet: nothing' out

status 'colour on a terminal' 1 on_terminal \
  tkdbg run slow.py --grid 1 --arg 'x=i32[0]:zeros' --arg n=1
says 'colour on a terminal: escapes' out '<ESC>['
status 'no colour with NO_COLOR' 1 on_terminal env NO_COLOR=1 \
  tkdbg run slow.py --grid 1 --arg 'x=i32[0]:zeros' --arg n=1
check 'no colour with NO_COLOR: none' sh -c '! grep -q "<ESC>" out'

# No machine comes to the end of these: Ctrl-C does, when it was told how far
# they are; back from where it took some seconds to come.
endless() {
  at_prompts "$1" \
    tkdbg debug slow.py --grid 1 --arg 'x=i32[1]:zeros' --arg n=2000000000
}
status 'a long move' 0 endless 'b 8 if i < 0;continue;^C programs done;quit'
says 'a long move: how far it is' out ', 0 programs done (Ctrl-C stops)'
status 'a long move back' 0 endless "b 8 if i < 0;continue;\
^C (programs done.*){16};rc;^C programs done;quit"
sed -i '1,/) rc/d' out
says 'a long move back: how far it is' out ' programs done (Ctrl-C stops)'
status 'a long answer' 0 endless 'access 8;^C statements run again;quit'
says 'a long answer: how far it is' out ' statements run again (Ctrl-C stops)'
