# tkdbg run --ir FILE.ttir: Triton's IR as text, without Triton.
. "$ROOT/tests/support/check.sh"

K="$ROOT/tests/ttir/small.ttir"
X='--arg o_ptr=f32[4]:zeros'
status 'runs' 0 tkdbg run --ir "$K" --arg x_ptr=f32[3]:ones $X --arg n=3 \
  --print o_ptr
says 'runs: a scan, a reduction, loops, an if, a call' out \
  'o_ptr = [  3.   3.   0. -inf]'
status 'returns early' 0 tkdbg run --ir "$K" --arg x_ptr=f32[3]:ones $X \
  --arg n=0 --print o_ptr
says 'returns early: nothing is stored' out 'o_ptr = [0. 0. 0. 0.]'
status 'natural numbers' 0 tkdbg run --ir "$K" --arg x_ptr=f32[3]:ones $X \
  --arg n=u32:2 --print o_ptr
says 'natural numbers' out 'o_ptr = [  2.   2. -inf   0.]'
status 'a finding' 1 tkdbg run --ir "$K" --arg x_ptr=f32[2]:ones $X --arg n=3
says 'a finding: the line of the IR' err 'small.ttir:21:5: error: load past'
says 'a finding: the line of the kernel' err 'note: of small.py:4:7'
status 'another type' 2 tkdbg run --ir "$K" --arg x_ptr=i32[3]:ones $X \
  --arg n=3
sed 's/tt.make_range/tt.make_circle/' "$K" >bad.ttir
status 'not read' 2 tkdbg run --ir bad.ttir --arg x_ptr=f32[3]:ones $X \
  --arg n=3
says 'not read: where' err "bad.ttir:16:10: error: the operation"
says 'not read: what' err "'tt.make_circle' is not read"

status 'recorded' 0 tkdbg run --ir "$K" --arg x_ptr=f32[3]:ones $X --arg n=3 \
  -q --record l.safetensors
sed 's/arith.addf/arith.subf/' "$K" >other.ttir
check 'another text' sh -c '! cmp -s other.ttir "$1"' sh "$K"
status 'one beside its launch' 0 tkdbg diff --ir "$K" l.safetensors
says 'one beside its launch: how' out 'all bits agree'
status 'two texts' 1 tkdbg diff --ir "$K" --ir other.ttir l.safetensors
says 'two texts: which is compared' out "'other.ttir' beside the interpreter"
status 'three texts' 2 tkdbg diff --ir "$K" --ir "$K" --ir "$K" l.safetensors
