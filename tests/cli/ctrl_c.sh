# Ctrl-C, once and twice, at every command and phase that can take long.
. "$ROOT/tests/support/check.sh"
if [ ! -d /proc/self ]; then
  skip 'Ctrl-C' 'no /proc'
  exit 0
fi
python3 "$ROOT/tests/support/ctrl_c.py"
