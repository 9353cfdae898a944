# tkdbg profile: table, JSON, page, what goes wrong.
. "$ROOT/tests/support/check.sh"
export XDG_CACHE_HOME="$SCRATCH/cache"
unset TKDBG_CACHE_DIR

# profile [OPTIONS]: the direct launch of the documentation.
profile() {
  tkdbg profile "$vector_add" --kernel add_kernel --grid 97 \
    --arg 'x_ptr=f32[98432]:rand(0)' --arg 'y_ptr=f32[98432]:rand(1)' \
    --arg 'output_ptr=f32[98432]:empty' --arg "${N:-n_elements=98432}" \
    --arg BLOCK_SIZE=1024 "$@"
}
# asks NAME EXPRESSION: of the JSON object in out, as p.
asks() {
  check "$1" python3 -c "
import json
p = json.load(open('out'))
lines = {l['text'].split('#')[0].strip(): l
         for f in p['functions'] for l in f['lines']}
assert ($2)"
}

status 'table' 0 profile
says 'table: what ran' out 'profile of 1 launch, 97 programs: '
says 'table: the kernel' out 'add_kernel ('
says 'table: a line' out 'x = tl.load(x_ptr + offsets, mask=mask)'
says 'table: summary' err 'add_kernel: 97 programs in '
check 'ceilings are kept' grep -q bandwidth cache/tkdbg/ceilings.json

status 'json' 0 profile --json
silent 'json: nothing on standard error' err
asks 'json: bytes' "p['total']['bytes_read'] == 2 * 98432 * 4"
asks 'json: bytes written' "p['total']['bytes_written'] == 98432 * 4"
asks 'json: lanes' "p['total']['lanes_off'] == 3 * (97 * 1024 - 98432)"
asks 'json: flops' "p['total']['flops'] == 97 * 1024"
asks 'json: intensity' "abs(p['total']['intensity'] -
  97 * 1024 / (3 * 98432 * 4)) < 1e-6"
asks 'json: a line' "[o['name'] for o in lines[
  'x = tl.load(x_ptr + offsets, mask=mask)']['operations']
  if o['bytes_read']] == ['load']"
asks 'json: time adds up' "abs(sum(l['seconds'] for l in lines.values()) -
  p['total']['seconds']) < 1e-6 < p['seconds']"

# JSON has standard output for itself.
for command in profile 'debug -ex continue'; do
  # shellcheck disable=SC2086
  status "$command: json and suppressions" 1 tkdbg $command --json --check \
    --gen-suppressions "$vector_add" --kernel add_kernel --grid 1 \
    --arg 'x_ptr=f32[8]:empty' --arg 'y_ptr=f32[8]:rand' \
    --arg 'output_ptr=f32[8]:empty' --arg n_elements=8 --arg BLOCK_SIZE=8
  says "$command: lines for a suppression file" err \
    "undef  $vector_add  add_kernel"
  check "$command: nothing but json" python3 -c 'import json
text = open("out").read().strip()
assert text
while text:
    text = text[json.JSONDecoder().raw_decode(text)[1]:].strip()'
done

status 'json: what is printed goes elsewhere' 0 profile --json --print x_ptr
asks 'json: alone on standard output' "p['launches'] == 1"
check 'json: the tensor is on standard error' test -s err

cp cache/tkdbg/ceilings.json good.json
for bad in '' '{' '[]' '{"cpu": 5}' '{"bandwidth": 1e400, "flops": -1}'; do
  echo "$bad" >cache/tkdbg/ceilings.json
  status "corrupt ceilings '$bad'" 0 profile --json
  asks "corrupt ceilings '$bad': measured" "
    p['ceilings']['bytes_per_second'] > 1e8 and
    p['ceilings']['flops_per_second'] > 1e8"
  check "corrupt ceilings '$bad': kept anew" grep -q cpu \
    cache/tkdbg/ceilings.json
done
sed 's/"flops": [0-9.e+]*/"flops": 12345678.0/' good.json \
  >cache/tkdbg/ceilings.json
status 'ceilings of the file' 0 profile --json
asks 'ceilings of the file: used' "
  p['ceilings']['flops_per_second'] == 12345678"
echo >blocked
if [ "${SANITIZE:-}" ]; then
  skip 'no place for ceilings' 'a sanitized library cannot run scripts'
else
  status 'no place for ceilings' 0 env XDG_CACHE_HOME="$SCRATCH/blocked" sh -c '
    . "$ROOT/tests/support/check.sh"; tkdbg profile -q "$vector_add"'
fi

status 'page' 0 profile --html page.html
check 'page: well-formed' python3 - <<P
import html.parser
import sys
sys.path.append('$ROOT/tests/support')
import page_data

class Page(html.parser.HTMLParser):
    EMPTY = 'meta', 'link', 'br'

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ''

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(k in ('src', 'href') for k, _ in attrs), attrs
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.text += data

page = Page()
with open('page.html', encoding='utf-8') as f:
    html_ = f.read()
page.feed(html_)
assert not page.open and {'script', 'style', 'body'} <= page.seen
assert 'tl.load(x_ptr + offsets, mask=mask)' in page_data.text(html_)
P
status 'page: the same again' 0 profile --html page.html

N=n_elements=98433
status 'finding' 1 profile
says 'finding: reported' err out-of-bounds
says 'finding: profiled' out 'profile of 1 launch, 96 programs: '
unset N

status 'launch file' 0 add 98432 -q --record l.safetensors
status 'launch file: profiled' 0 tkdbg profile --json l.safetensors
asks 'launch file: counts' "p['total']['flops'] == 97 * 1024"

cat >two.py <<'P'
import triton, triton.language as tl
@triton.jit
def spin(n):
    while n > 0:
        n -= 1
P
# A slow machine may still look at its ceilings when the first signal comes.
for seconds in 2 10 30; do
  status "interrupted after $seconds s" 130 timeout --preserve-status \
    -s INT $seconds tkdbg profile two.py --arg n=1000000000000
  if grep -q 'while n > 0' out; then break; fi
done
says 'interrupted: profiled' out 'while n > 0'

status 'no file' 2 tkdbg profile
status 'absent file' 2 tkdbg profile absent.py
says 'absent file: named' err absent.py
status 'absent launch file' 2 tkdbg profile absent.safetensors
status 'unknown option' 2 tkdbg profile --htm x two.py
says 'unknown option: near' err "did you mean '--html'?"
status 'html needs a file' 2 tkdbg profile two.py --kernel spin --html
status 'html elsewhere' 2 tkdbg run --html x two.py
if [ "${SANITIZE:-}" ]; then
  skip 'a script' 'a sanitized library wants its runtime to be in Python first'
else
  status 'html after a script' 0 tkdbg profile two.py --html late.html
  says 'html after a script: warning' err \
    "'--html' after two.py is an argument of the script"
fi
status 'unknown kernel' 2 profile --kernel sub_kernel
silent 'unknown kernel: no profile' out
status 'argument missing' 2 tkdbg profile "$vector_add" --kernel add_kernel \
  --grid 1
silent 'argument missing: no profile' out
status 'page in no folder' 2 profile --html absent/page.html
says 'page in no folder: said' err 'cannot write absent/page.html'
silent 'page in no folder: nothing ran' out
status 'page of a script in no folder' 2 tkdbg profile --html absent/page.html \
  "$vector_add"
silent 'page of a script in no folder: nothing ran' out
if [ -e /dev/full ]; then
  for way in --json -q; do
    status "full disk, $way" 2 sh -c "
      . '$ROOT/tests/support/check.sh'
      tkdbg profile $way two.py --arg n=0 >/dev/full"
    says "full disk, $way: said" err 'cannot write to standard output'
  done
  status 'full disk, page' 2 profile --html /dev/full
  says 'full disk, page: said' err 'cannot write /dev/full'
else
  skip 'full disk' 'no /dev/full'
fi
