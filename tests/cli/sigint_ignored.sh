# Where SIGINT is ignored, as in a job in the background, tests/run.py goes on
# ignoring it, and what it starts does not: tests send it to what they test.
. "$ROOT/tests/support/check.sh"

cat >start.py <<'S'
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ['ROOT'], 'tests'))
import run

SENT = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT
run.leave_no_signal_ignored()
for number in SENT:
    os.kill(os.getpid(), number)
for number in SENT:
    status, said = run.run(['sh', '-c', f'kill -{int(number)} $$; echo alive'])
    print(status == -number, said)
S
status 'ignored signals' 0 sh -c "trap '' HUP INT QUIT; exec python3 start.py"
check 'ignored signals: not in what is started' \
  sh -c '[ "$(grep -c "^True $" out)" = 3 ]'
status 'signals as they are' 129 python3 start.py
