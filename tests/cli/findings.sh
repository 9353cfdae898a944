# Findings of direct launches and of scripts: JSON, colour, which are shown.
. "$ROOT/tests/support/check.sh"

if [ "${SANITIZE:-}" ]; then # see script.sh
  LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
  ASAN_OPTIONS=detect_leaks=0
  export LD_PRELOAD ASAN_OPTIONS
fi

cat >kernels.py <<'S_'
import triton
import triton.language as tl


@triton.jit
def total(x, y, n):
    i = tl.arange(0, 8)
    v = tl.load(x + i, mask=i < n)
    tl.store(y, tl.sum(v, 0))


@triton.jit
def twice(x, y):
    i = tl.arange(0, 8)
    v = tl.load(x + i)
    tl.store(y, tl.sum(v, 0) / tl.program_id(0))
    tl.load(x + i)
    j = i * 2
S_
cat kernels.py - >script.py <<'S_'


import numpy as np
x, y = np.ones(8, np.float32), np.zeros(1, np.float32)
total[(1,)](x, y, 8)
total[(1,)](x, y, 6)
twice[(2,)](x, y)
print('between')
try:
    total[(1,)](x, np.zeros(0, np.float32), 8)
except Exception as e:
    print(type(e).__name__)
total[(1,)](x, np.zeros(0, np.float32), 8)
S_
cat >past.py <<'S_'
import triton
import triton.language as tl


@triton.jit
def past(x, n):
    i = tl.program_id(0) * 8 + tl.arange(0, 8)
    tl.store(x + i, 1.0, mask=i < n)
S_
# json FILE EXPRESSION: holds of d, the objects that the file's lines are.
json() {
  python3 -c 'import json, sys
d = [json.loads(l) for l in open(sys.argv[1]) if l.startswith("{")]
sys.exit("false of %s" % d if not eval("(%s)" % sys.argv[2]) else 0)' "$@"
}
count() { test "$(grep -c -e "$2" "$1")" = "$3"; }

direct() {
  tkdbg run -q kernels.py --kernel total --grid 1 --arg 'x=f32[8]:ones' \
    --arg 'y=f32[1]:zeros' --arg n=6 "$@"
}
several() {
  tkdbg run -q kernels.py --kernel twice --grid 2 --arg 'x=f32[8]:ones' \
    --arg 'y=f32[1]:zeros' --check=inf,race,lint "$@"
}
past() {
  tkdbg run past.py --grid 2 --arg 'x=f32[12]:zeros' --arg n=16 --json
}

# ---- direct launches --------------------------------------------------------

status 'json' 1 direct --json --check
check 'json: one object a line' count err '^{"kind": .*}$' 1
check 'json: nothing else' count err '' 1
check 'json: what' json err 'd[0]["kind"] == "undef" and
  d[0]["severity"] == "error" and d[0]["message"] and d[0]["help"]'
check 'json: where' json err '[d[0][k] for k in
  ("file", "line", "column", "length")] == ["kernels.py", 9, 17, 12]'
check 'json: program, lane, count' json err '(d[0]["program"], d[0]["lane"],
  d[0]["count"]) == ([0, 0, 0], [6], 1)'
check 'json: notes' json err 'd[0]["notes"][1]["line"] == 8 and
  "masked off" in d[0]["notes"][1]["text"]'
status 'json of an error' 1 past
check 'json of an error: what' json err 'len(d) == 1 and
  d[0]["kind"] == "out-of-bounds"'
check 'json of an error: program, lane' json err \
  '(d[0]["program"], d[0]["lane"]) == ([1, 0, 0], [4])'
status 'json of several kinds' 1 several --json
check 'json of several kinds: all' json err \
  'sorted({e["kind"] for e in d}) ==
   ["inf", "lint-unread", "lint-unused", "race"]'
status 'json of a bad argument' 2 direct --json --arg z=1
check 'json of a bad argument: kind' json err 'd[0]["kind"] == "argument"'
echo 'lint-unused * *' >some
status 'a note is no finding' 0 several --check=lint --suppressions some
says 'a note is no finding: shown' err '[lint-unread]'
direct --json --record l.safetensors
status 'json of a launch file' 1 tkdbg replay --json --check l.safetensors
check 'json of a launch file: kind' json err 'd[0]["kind"] == "undef"'

status 'an exit status of one own' 9 several --error-exitcode 9
status 'an exit status of one own, nothing found' 0 several --check=lint \
  --suppressions some --error-exitcode 9
status 'limit' 1 several --limit 1
check 'limit: one' count err ' \[[a-z-]*\]$' 2
says 'limit: the others' err '3 more findings are not shown [more]'
says 'limit: advice' err '--limit 4 would show them'
status 'limit that all are below' 1 several --limit 4
check 'limit that all are below: all' sh -c '! grep -F "[more]" err'

status 'lines for a suppression file' 1 several --gen-suppressions
cp out suppressions
check 'lines for a suppression file: each' count suppressions kernels.py 4
says 'lines for a suppression file: which' suppressions \
  'inf  kernels.py  twice'
status 'suppression file' 0 several --suppressions suppressions
silent 'suppression file: nothing' err
grep -v race suppressions >some
status 'suppression of some' 1 several --suppressions some
check 'suppression of some: the other' count err ' \[[a-z-]*\]$' 1
says 'suppression of some: which' err '[race]'
echo 'lint * *' >some
status 'suppression by a family of kinds' 1 several --suppressions some
check 'suppression by a family of kinds: gone' sh -c '! grep -F "[lint" err'
says 'suppression by a family of kinds: others' err '[race]'
echo 'race' >some
status 'bad suppression file' 2 several --suppressions some
says 'bad suppression file: place' err 'some:1: '

ignoring() {
  sed "s/= i \* 2/&  # tkdbg: ignore/; s/tl.load(x + i)\$/&  # tkdbg: $1/;
    s/program_id(0))\$/&  # tkdbg: $2/" kernels.py >ignoring.py
  shift 2
  tkdbg run -q ignoring.py --kernel twice --grid 2 --arg 'x=f32[8]:ones' \
    --arg 'y=f32[1]:zeros' --check=inf,race,lint "$@"
}
status 'comments' 0 ignoring ignore 'ignore[inf, race]'
silent 'comments: nothing' err
status 'comment for one kind of two' 1 ignoring 'ignore[lint]' 'ignore[inf]'
check 'comment for one kind of two: one left' count err ' \[[a-z-]*\]$' 1
says 'comment for one kind of two: which' err '[race]'
status 'comment for another kind' 1 ignoring 'ignore[undef]' ignore
says 'comment for another kind: shown' err '[lint-unused]'

coloured() {
  on_terminal tkdbg run -q kernels.py --kernel twice --grid 2 \
    --arg 'x=f32[8]:ones' --arg 'y=f32[1]:zeros' --check=inf,race,lint "$@"
}
colours() {
  says "$1: error" "$2" '<ESC>[1;31merror: <ESC>[0m'
  says "$1: note" "$2" '<ESC>[1;36mnote:<ESC>[0m'
  says "$1: caret" "$2" '<ESC>[1;32m^'
}
plain() { check "$1: none" sh -c "! grep -F -e '<ESC>' -e '$(printf '\033')' $2"
}
if terminals 'colour on a terminal'; then
  status 'colour' 1 coloured
  colours 'colour' out
  says 'colour: warning' out '<ESC>[1;35mwarning: <ESC>[0m'
  status 'never colour' 1 coloured --color=never
  plain 'never colour' out
  status 'NO_COLOR' 1 on_terminal env NO_COLOR=1 \
    tkdbg run -q past.py --grid 2 --arg 'x=f32[12]:zeros' --arg n=16
  plain 'NO_COLOR' out
fi
status 'colour in a pipe' 1 direct --check
plain 'colour in a pipe' err
status 'always colour' 1 direct --check --color=always
check 'always colour: error' grep -q "$(printf '\033\\[1;31m')" err

# ---- scripts ----------------------------------------------------------------

if ! tkdbg run "$vector_add" >/dev/null 2>why; then
  if grep -q 'no Python' why; then
    skip 'findings of scripts' 'no Python with NumPy'
    exit 0
  fi
fi

script() { tkdbg run -q --check=undef,inf,race,lint "$@" script.py; }
status 'script, json' 1 script --json
says 'script, json: its output' out between
says 'script, json: caught' out LaunchError
check 'script, json: nothing else' count err '' 8
check 'script, json: in the order of the launches' json err \
  '[(e["kind"], e["kernel"], e["launch"]) for e in d] ==
  [("lint-other", "total", 1), ("undef", "total", 2),
   ("lint-unused", "twice", 3), ("lint-unread", "twice", 3),
   ("inf", "twice", 3), ("race", "twice", 3),
   ("out-of-bounds", "total", 4), ("out-of-bounds", "total", 5)]'
check 'script, json: place, program, lane' json err \
  '(d[1]["file"], d[1]["line"], d[1]["program"],
    d[1]["lane"]) == ("script.py", 9, [0, 0, 0], [6])'
sed 's/total\[(1,)\](x, np.*/totel()/' script.py >other.py
status 'script, json, an exception of its own' 1 tkdbg run --json other.py
says 'script, json, an exception of its own: shown' err NameError
cat kernels.py - >clean.py <<'S_'


import numpy as np
total[(1,)](np.ones(8, np.float32), np.zeros(1, np.float32), 8)
S_
status 'script, json, no finding' 0 tkdbg run --json --check=undef clean.py
silent 'script, json, no finding: nothing' err
sed 's/^    tl.store.*/    tl.stor(y, 1)/' clean.py >wrong.py
status 'script, json of an error' 1 tkdbg run --json wrong.py
check 'script, json of an error: what' json err '[e["kind"] for e in d] ==
  ["name"] and d[0]["kernel"] == "total"'

status 'script, text' 1 script
says 'script, text: kinds' err '[undef]'
says 'script, text: stack' err 'tkdbg.LaunchError: total stopped'
status 'script, limit' 1 script --limit 2
check 'script, limit: two, the error, and the one that was caught' \
  count err ' \[[a-z-]*\]$' 5
says 'script, limit: the others' err '[more]'
status 'script, lines for a suppression file' 1 script --gen-suppressions
grep script.py out >suppressions
check 'script, lines for a suppression file: each' count suppressions '' 6
status 'script, suppression file' 1 script --suppressions suppressions
check 'script, suppression file: the error, and the one that was caught' \
  count err ' \[[a-z-]*\]$' 2
says 'script, suppression file: which' err '[out-of-bounds]'
sed '/^try/,$d; s/i < n)$/&  # tkdbg: ignore[lint-other, undef]/
  s/program_id(0))$/&  # tkdbg: ignore[inf, race]/
  s/^    tl.load.*/&  # tkdbg: ignore[lint]/' script.py >ignored.py
status 'script, comments' 0 tkdbg run -q --check=undef,inf,race,lint ignored.py
check 'script, comments: the note' count err ' \[[a-z-]*\]$' 1
says 'script, comments: which' err '[lint-unread]'
sed 's/, race\]/]/' ignored.py >shown.py
status 'script, fewer comments' 1 tkdbg run -q --check=inf,race shown.py
says 'script, fewer comments: shown' err '[race]'

if terminals 'script, colour on a terminal'; then
  status 'script, colour' 1 on_terminal tkdbg run -q \
    --check=undef,inf,race,lint script.py
  colours 'script, colour' out
  says 'script, colour: warning' out '<ESC>[1;35mwarning: <ESC>[0m'
  says 'script, colour: uncaught' out \
    '<ESC>[1;31merror: <ESC>[0m<ESC>[1mstore past the end of y'
  status 'script, never colour' 1 on_terminal tkdbg run -q --check \
    --color never script.py
  plain 'script, never colour' out
  status 'script, NO_COLOR' 1 on_terminal env NO_COLOR=1 \
    tkdbg run -q --check script.py
  plain 'script, NO_COLOR' out
fi
status 'script, colour in a pipe' 1 \
  env -u NO_COLOR tkdbg run -q --check script.py
plain 'script, colour in a pipe' err
status 'script, always colour' 1 script --color always
check 'script, always colour: error' grep -q "$(printf '\033\\[1;31m')" err

# ---- runs that go on after bad accesses -------------------------------------

cat >bad.py <<'S_'
import triton
import triton.language as tl


@triton.jit
def both(x, y, idx, out):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(y + i, v)
    tl.store(out + tl.load(idx + i), v)
S_
cat bad.py - >bad_script.py <<'S_'


import numpy as np
x, y, out = (np.zeros(100, np.float32) for _ in range(3))
x += 1
both[(4,)](x, y, np.arange(100), out)
both[(4,)](x, y, np.arange(100), out)
print('went on', y.sum(), out.sum())
S_
bad() {
  tkdbg run -q --keep-going bad.py --grid 4 --arg 'x=f32[100]:ones' \
    --arg 'y=f32[128]:zeros' --arg 'idx=i64[128]:arange' \
    --arg 'out=f32[128]:zeros' "$@"
}
status 'keep going' 1 bad --print y
says 'keep going: poison' out 'nan nan nan'
check 'keep going: the kinds' count err ' \[[a-z-]*\]$' 2
says 'keep going: summary' err \
  'bad accesses at 1 place: stores wrote nothing, and loads gave NaN or'
says 'keep going: a place' err \
  'bad.py:8:9: load past the end of x: 28 lanes, in 1 program'
status 'keep going, status' 9 bad --error-exitcode 9
status 'keep going, json' 1 bad --json
check 'keep going, json: what' json err '[e["kind"] for e in d] == [
  "out-of-bounds", "kept-going"] and d[1]["notes"][0]["line"] == 8'
status 'keep going, script' 1 tkdbg run -q --keep-going --check bad_script.py
says 'keep going, script: to its end' out 'went on 100.0 100.0'
check 'keep going, script: no others' count err ' \[[a-z-]*\]$' 4
says 'keep going, script: summary' err \
  'store past the end of y: 56 lanes, in 2 programs of 2 launches'
status 'keep going, script, json' 1 \
  tkdbg run --json --keep-going bad_script.py
check 'keep going, script, json: what' json err \
  '[e["kind"] for e in d] == 3 * ["out-of-bounds"] + ["kept-going"]'
status 'keep going, no bad access' 0 tkdbg run -q --keep-going bad.py \
  --grid 4 --arg 'x=f32[128]:ones' --arg 'y=f32[128]:zeros' \
  --arg 'idx=i64[128]:arange' --arg 'out=f32[128]:zeros'

# ---- the manual

page=$ROOT/docs/findings.md
status 'detectors' 0 tkdbg run --check=help
cut -d ' ' -f 1 out >names
check 'detectors: some' test "$(wc -l <names)" -gt 9
while read -r name; do
  check "manual has $name" grep -qx "## $name" "$page"
done <names
for name in $(sed -n 's/^DIAG(LINT.*"\(lint-[a-z0-9-]*\)", "lint")$/\1/p' \
    "$ROOT/include/tkdbg/diag.def"); do
  says "manual has $name" "$page" "| \`$name\` |"
done

# Of a long line, what is around the caret.
{
  printf 'import triton\nimport triton.language as tl\n\n\n'
  printf '@triton.jit\ndef k(x):\n    tl.store(x, '
  printf '0 + %.0s' $(seq 99)
  printf 'absent'
  printf ' + é%.0s' $(seq 99)
  echo ')'
} >long.py
status 'a long line' 1 tkdbg run --kernel k --arg x=f32[1]:zeros long.py
says 'a long line: cut' err \
  '    7 | ...0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + absent + é'
says 'a long line: caret' err \
  '      |                                            ^~~~~~'
check 'a long line: length' sh -c '[ $(wc -L <err) -le 140 ]'
