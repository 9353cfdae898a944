# tkdbg layout: usage, and, where Triton is installed, its own layouts.
. "$ROOT/tests/support/check.sh"

blocked='#blocked<{sizePerThread = [1], threadsPerWarp = [32],'
blocked="$blocked warpsPerCTA = [1], order = [0]}>"
status 'a layout' 0 tkdbg layout "$blocked" 64
says 'its bases' out 'lane=16 -> (16)'
cp out plain
status 'a line of a .ttgir file' 0 \
  tkdbg layout "#blocked1 = #ttg.${blocked#\#}" 64
check 'the same layout' cmp out plain
status 'a line that refers to another' 0 tkdbg layout "
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32],
  warpsPerCTA = [1, 1], order = [1, 0]}>
#slice = #ttg.slice<{dim = 0, parent = #blocked}>" 64
says 'the slice of it' out 'lane=16 -> (16)'
status 'a line that is missing' 2 \
  tkdbg layout '#slice = #ttg.slice<{dim = 0, parent = #blocked}>' 64
says 'what is missing' err 'write that line before this one'
status 'two layouts without a name' 2 tkdbg layout "$blocked $blocked" 64
says 'one of them' err 'unexpected text after the layout'
status 'no shape' 2 tkdbg layout "$blocked"
for shape in x 16x 16x16x16x16x16x16x16x16 -4 3.5 ''; do
  status "shape '$shape'" 2 tkdbg layout "$blocked" "$shape"
done
status 'a size that is no power of two' 2 tkdbg layout "$blocked" 48
status 'a name that is none' 2 tkdbg layout '#bloked<{}>' 64
says 'a name that is none: all' err 'swizzled_shared'
if ${PYTHON:-python3} -c 'import triton.experimental.gluon' 2>/dev/null; then
  check 'as Triton has them' ${PYTHON:-python3} \
    "$ROOT/tests/nvptx/peer_layouts.py" --build "$BUILD" --count 200
else
  skip 'as Triton has them' 'Triton is not installed'
fi
