# On a terminal: a bar while a run lasts, cleared at its end; colour.
. "$ROOT/tests/support/check.sh"

# Runs a command with its standard error on a terminal; shows what it wrote.
cat >terminal.py <<'S'
import os, pty, subprocess, sys
master, slave = pty.openpty()
env = dict(os.environ, TERM='xterm', COLUMNS='80')
if '--color-allowed' in sys.argv:
    sys.argv.remove('--color-allowed')
    env.pop('NO_COLOR', None)
p = subprocess.Popen(sys.argv[1:], stderr=slave, env=env)
os.close(slave)
text = b''
while True:
    try:
        piece = os.read(master, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
sys.stdout.write(text.decode().replace('\r', '\n').replace('\033', '<ESC>'))
sys.exit(p.wait())
S
cat >slow.py <<'S'
import triton
import triton.language as tl


@triton.jit
def slow(x, n):
    for i in range(n):
        tl.store(x, i)
S
run_slow() {
  python3 terminal.py tkdbg run slow.py --grid 60000 \
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

status 'colour on a terminal' 1 python3 terminal.py --color-allowed \
  tkdbg run slow.py --grid 1 --arg 'x=i32[0]:zeros' --arg n=1
says 'colour on a terminal: escapes' out '<ESC>['
status 'no colour with NO_COLOR' 1 env NO_COLOR=1 python3 terminal.py \
  tkdbg run slow.py --grid 1 --arg 'x=i32[0]:zeros' --arg n=1
check 'no colour with NO_COLOR: none' sh -c '! grep -q "<ESC>" out'
