# On a terminal: a bar while a run lasts, cleared at its end; colour.
. "$ROOT/tests/support/check.sh"

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

status 'a long move' 0 at_prompts 'b 8 if i < 0;continue;quit' \
  tkdbg debug slow.py --grid 1 --arg 'x=i32[1]:zeros' --arg n=12000000
says 'a long move: how far it is' out ', 0 programs done (Ctrl-C stops)'
status 'a long move back' 0 \
  at_prompts 'advance 8;next 11000000;tbreak 8 if i < 0;rc;quit' \
  tkdbg debug slow.py --grid 1 --arg 'x=i32[1]:zeros' --arg n=12000000
sed -i '1,/) rc/d' out
says 'a long move back: how far it is' out ' programs done (Ctrl-C stops)'
status 'a long answer' 0 at_prompts 'access 8;quit' \
  tkdbg debug slow.py --grid 1 --arg 'x=i32[1]:zeros' --arg n=12000000
says 'a long answer: how far it is' out ' statements run again (Ctrl-C stops)'
