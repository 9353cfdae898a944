# Direct launches: exit codes, results, reports, launch files.
. "$ROOT/tests/support/check.sh"

status 'vector add' 0 add 98432 --save output_ptr=o.npy
silent 'vector add: nothing on stdout' out
says 'vector add: summary' err 'add_kernel: 97 programs in '
check 'vector add: one line' sh -c '[ $(wc -l <err) = 1 ]'
check 'vector add: size of o.npy' sh -c '[ $(wc -c <o.npy) = 393856 ]'
status 'quiet' 0 add 98432 -q
silent 'quiet: nothing on stderr' err

status 'out of bounds' 1 add 98433
says 'out of bounds: kind' err 'out-of-bounds'
says 'out of bounds: parameter' err 'x_ptr'
says 'out of bounds: file and line' err 'vector_add.py:'
says 'out of bounds: summary' err 'stopped after 96 programs'
printf '@triton.jit\ndef f(x):\n    y = z\n' >name.py
status 'compile-time finding' 1 tkdbg run name.py --arg x=1
says 'compile-time finding: place' err 'name.py:3:9'
check 'compile-time finding: no summary' sh -c '! grep "f: stopped" err'
status 'out of bounds, no file saved' 1 add 98433 --save output_ptr=bad.npy
check 'out of bounds: nothing written' test ! -e bad.npy
status 'finding outside the programs that run' 0 add 98433 --pid '<96'

status 'colour always' 1 add 98433 --color always
check 'colour always: escapes' grep -q "$(printf '\033\[')" err
status 'colour never' 1 add 98433 --color=never
check 'colour never: none' sh -c '! grep -q "$(printf "\033")" err'

status 'json without findings' 0 add 98432 --json
silent 'json without findings: nothing on stderr' err

status 'print' 0 add 98432 --print output_ptr
says 'print: elided' out '...'
status 'print of no tensor' 2 add 98432 --print n_elements
says 'print of no tensor: said' err "no tensor argument is called 'n_elements'"
status 'save without a file' 2 add 98432 --save output_ptr

status 'unknown argument' 2 add 98432 --arg nothing=1
status 'bad value' 2 add 98432 --arg 'x_ptr=f32[8]:what'
status 'bad grid' 2 add 98432 --grid 0,x
status 'bad condition' 2 add 98432 --pid '>'
status 'bad order' 2 add 98432 --order sideways
status 'unknown kernel' 2 tkdbg run "$vector_add" --kernel sub_kernel --grid 1
says 'unknown kernel: named' err sub_kernel
status 'argument missing' 2 \
  tkdbg run "$vector_add" --kernel add_kernel --grid 1
status 'output lost' 2 sh -c '
  . "$ROOT/tests/support/check.sh"; add 98432 --print x_ptr >/dev/full'

for order in serial reverse shuffle:1; do
  status "order $order" 0 add 98432 --order $order --save output_ptr=p.npy
  check "order $order: same result" cmp o.npy p.npy
done

status 'record' 0 add 98432 --record l.safetensors
status 'replay' 0 tkdbg replay l.safetensors --save output_ptr=r.npy
check 'replay: same result' cmp o.npy r.npy
status 'the form of a launch file' 0 tkdbg ir l.safetensors
sed 's/ %x, %y {op = add}/ %x, %x {op = sub}/' out >zeros.ir
check 'the form was edited' sh -c '! cmp -s out zeros.ir'
cp out same.ir
status 'replay of a form' 0 tkdbg replay l.safetensors --ir same.ir \
  --save output_ptr=r.npy
check 'replay of a form: same result' cmp o.npy r.npy
status 'replay of an edited form' 0 tkdbg replay -q l.safetensors \
  --ir zeros.ir --print output_ptr
says 'replay of an edited form: another result' out 'output_ptr = [0. 0. 0.'
cat >other.py <<'K'
import triton.language as tl


@triton.jit
def other(x):
    tl.store(x, 1.0)
K
status 'the form of another kernel' 0 tkdbg ir other.py --arg x=f32[4]
cp out other.ir
status 'replay of a form with other parameters' 2 \
  tkdbg replay l.safetensors --ir other.ir
says 'replay of a form with other parameters: why' err \
  'the form of other has other parameters than the launch of add_kernel'
status 'replay of a form that is not there' 2 \
  tkdbg replay l.safetensors --ir none.ir
says 'replay of a form that is not there: why' err "cannot read 'none.ir'"

printf '%s\n' 'def f(x: tl.constexpr):' '    pass' >plain.py
status 'a decorator that is forgotten' 2 tkdbg run plain.py --arg x=1
says 'a decorator that is forgotten: where' err \
  'plain.py:1:5: error: there is no jit function in this file [launch]'
says 'a decorator that is forgotten: what to do' err \
  'a kernel is a function decorated with @triton.jit: write that'
status 'a function that is named' 2 tkdbg ir plain.py --kernel f --arg x=1
says 'a function that is named: where' err \
  "plain.py:1:5: error: 'f' is not a jit function [launch]"

# ---- encodings of source files (PEP 263) --------------------------------
printf '%s\n' '@triton.jit' 'def k(x):' '    # d\351j\340' \
  '    print(x, "\351")' >letters
printf "$(cat letters)\n" >latin.py
status 'a file that is not UTF-8' 1 tkdbg run latin.py --arg x=1
says 'a file that is not UTF-8: the byte' err \
  'latin.py:3:8: error: the byte 0xe9 is not UTF-8 [file]'
says 'a file that is not UTF-8: what to do' err '# -*- coding: latin-1 -*-'
status 'kernels of it' 1 tkdbg kernels latin.py
{
  echo '#!/usr/bin/python3'
  echo '# vim: set fileencoding=ISO-8859-1 :'
  cat latin.py
} >named.py
status 'a file that names its encoding' 0 tkdbg run -q named.py --arg x=1
says 'a file that names its encoding: its text' out '1 é'
sed 's/ISO-8859-1/koi8-r/' named.py >koi.py
status 'an encoding that is not read' 1 tkdbg run koi.py --arg x=1
says 'an encoding that is not read: its name' err \
  'the byte 0xe9 is in the encoding koi8-r, which tkdbg does not read'

status 'replay of a finding' 1 sh -c '
  . "$ROOT/tests/support/check.sh"
  add 98433 -q --record f.safetensors 2>/dev/null
  tkdbg replay f.safetensors'
says 'replay of a finding: kind' err out-of-bounds
cp l.safetensors l.launch
status 'a launch file by another name' 0 tkdbg run l.launch -q \
  --save output_ptr=r.npy
check 'a launch file by another name: same result' cmp o.npy r.npy
head -c 1000 l.safetensors >cut.safetensors
status 'replay of a truncated file' 2 tkdbg replay cut.safetensors
says 'replay of a truncated file: why' err \
  "cut.safetensors: damaged launch file: 'header' is longer than the file"
sed 's/\\"version\\":1/\\"version\\":7/' l.safetensors >new.safetensors
status 'replay of a file of another version' 2 tkdbg replay new.safetensors
says 'replay of a file of another version: what to do' err \
  'this launch file has version 7, and 1 is expected: record it with this tkdbg'
status 'replay of another file' 2 tkdbg replay "$vector_add"
status 'replay of no file' 2 tkdbg replay absent.safetensors

status 'kernels' 0 tkdbg kernels "$vector_add"
says 'kernels: signature' out \
  'add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: constexpr)'
status 'ir' 0 tkdbg ir "$vector_add" --kernel add_kernel \
  --arg 'x_ptr=f32[8]:zeros' --arg 'y_ptr=f32[8]:zeros' \
  --arg 'output_ptr=f32[8]:empty' --arg n_elements=8 --arg BLOCK_SIZE=8
says 'ir: not empty' out add_kernel
status 'ir of a launch file' 0 tkdbg ir l.safetensors

cat >endless.py <<'S'
import triton
import triton.language as tl


@triton.jit
def endless(x):
    i = 0
    while i >= 0:
        i = (i + 1) & 1023
        tl.store(x, 1.0)
S
# A shell without job control starts background jobs with SIGINT ignored, so
# the signal is sent from Python.
cat >interrupt.py <<'S'
import signal, subprocess, time
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen(['tkdbg', 'run', 'endless.py', '--grid', '1', '--arg',
                      'x=f32[1]:zeros'], stderr=subprocess.PIPE)
time.sleep(0.5)
p.send_signal(signal.SIGINT)
try:
    print(p.communicate(timeout=10)[1].decode())
finally:
    p.kill()
raise SystemExit(p.returncode)
S
status 'Ctrl-C' 130 python3 interrupt.py
says 'Ctrl-C: said' out 'interrupted after 0 programs'

blamed() { add 98432 -q "$@"; }
status 'blame' 0 blamed --blame 'output_ptr[1025]' --blame 'x[3]'
says 'blame: program' out 'program (1, 0, 0): value '
says 'blame: line' out 'tl.store(output_ptr + offsets, output, mask=mask)'
says 'blame: nobody' out ': no program wrote it'
status 'blame of no tensor' 2 blamed --blame 'nobody[3]'
says 'blame of no tensor: said' err 'nobody[3]: no tensor of this launch'
status 'explain' 0 blamed --explain 'output_ptr[1025]' --save output_ptr=e.npy
says 'explain: operation' out ': x + y, line '
says 'explain: load' out ': x_ptr[1025], mask true'
says 'explain: mask' out 'offsets < n_elements, 1025 < 98432'
check 'explain: memory is what the run left' cmp o.npy e.npy
status 'explain and detectors' 0 blamed --explain 'output_ptr[7]' --check
status 'explain of a program left out' 0 blamed --explain 'y[0]' --pid 3
says 'explain of a program left out: said' out 'no program wrote it'
status 'explain in any order' 0 blamed --explain 'output[5]' --order shuffle:3
says 'explain in any order: load' out ': x_ptr[5], mask true'
status 'explain of no element' 2 blamed --explain 'output_ptr[98432]'
says 'explain of no element: said' err 'the index is out of range'
status 'explain when the run stops' 1 add 98433 -q --explain 'output_ptr[0]'
says 'explain when the run stops: load' out ': x_ptr[0], mask true'

# ---- what is expected ----
add 98432 -q --save output_ptr=right.npy >out 2>err
status 'expect' 0 add 98432 -q --expect output_ptr=@right.npy
expecting() { add 98400 -q --expect output_ptr=@right.npy "$@"; }
status 'expect: what differs' 1 expecting
says 'expect: where' out 'all of output_ptr[98400:98432]'
says 'expect: the line' out '| tl.store(output_ptr + offsets, output, mask...'
status 'expect with tolerances' 0 expecting --rtol 1 --atol 1e9
status 'expect: no tolerance' 2 expecting --rtol little
says 'expect: no tolerance, said' err 'rtol takes a number'
status 'expect: no file' 2 add 98432 --expect output_ptr=@nothing.npy
status 'expect: nobody' 2 add 98432 --expect nobody=@right.npy

# ---- what it held elsewhere ----
cat >plus.py <<'END'
import triton
import triton.language as tl
@triton.jit
def plus(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
END
plus() {
  tkdbg "$@" plus.py --kernel plus --arg x=f32[4]:arange --arg y=f32[4]:zeros \
    --arg z=f32[2]:zeros --arg n=4 --arg BLOCK=4
}
plus run -q --record plus.safetensors --save y=right.npy --save x=wrong.npy
plus run -q --save z=other.npy
why() { tkdbg why -q "$@"; }
status 'got: right here' 1 why --got y=@wrong.npy --expect y=@right.npy \
  --launch plus.safetensors
says 'got: right here, said' out 'leaves what is expected in each of them'
says 'got: the file' out 'first y[0] is 0.0 in wrong.npy, expected 1.0'
status 'got: wrong here' 1 why --got y=@right.npy --expect y=@wrong.npy \
  plus.safetensors
says 'got: wrong here, said' out 'the same in each of them: the kernel says so'
says 'got: wrong here, the line' out '| tl.store(y + i,'
status 'got: nothing wrong' 0 why --got y=@right.npy --expect y=@right.npy \
  plus.safetensors
status 'got: no name needed' 0 why --got other.npy --expect other.npy \
  plus.safetensors
status 'got: a name is needed' 2 why --expect right.npy plus.safetensors
says 'got: a name is needed, said' err 'several tensors have its shape: x, y'
status 'got: nothing expected' 2 why --got x=@right.npy --expect y=@right.npy \
  plus.safetensors
says 'got: nothing expected, said' err 'nothing is expected of x'
status 'got: another shape' 2 why --got y=@other.npy --expect y=@right.npy \
  plus.safetensors
says 'got: another shape, said' err 'has another shape'
status 'why of a direct launch' 2 tkdbg why -q "$ROOT/examples/vector_add.py" \
  --kernel add_kernel --arg x_ptr=f32[4]:ones --arg y_ptr=f32[4]:ones \
  --arg output_ptr=f32[4]:empty --arg n_elements=4 --arg BLOCK_SIZE=4
says 'why of a direct launch: what it needs' err 'give --expect NAME=@FILE.npy'
