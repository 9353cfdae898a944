# tkdbg layout: usage, and, where Triton is installed, its own layouts.
. "$ROOT/tests/support/check.sh"

blocked='#blocked<{sizePerThread = [1], threadsPerWarp = [32],'
blocked="$blocked warpsPerCTA = [1], order = [0]}>"
status 'a layout' 0 tkdbg layout "$blocked" 64
says 'its bases' out 'lane=16 -> (16)'
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
