# Every option of every command either works or is refused, as the table
# options/options.txt says.
. "$ROOT/tests/support/check.sh"
python3 "$ROOT/tests/cli/options/run.py" || echo "not ok the table of options"
