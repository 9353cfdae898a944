# tkdbg diff: what another engine changes is found, on kernels of every kind and
# on launches of examples.
. "$ROOT/tests/support/check.sh"

judge="env LD_LIBRARY_PATH=$BUILD $BUILD/tests/run/test_judge"
if ! [ -e "$BUILD/libtkdbg-nvptx.so" ]; then
  skip 'what another engine changes' \
    'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
if ! [ -x "$BUILD/tests/run/test_judge" ]; then
  skip 'what another engine changes' 'the programs of tests are not built'
  exit 0
fi
in_root() { (cd "$ROOT" && "$@"); }
check 'code for a GPU passes, and what is changed does not' in_root $judge
if [ "${SANITIZE:-}" ]; then
  skip 'what is changed in examples' \
    "Python's own library is not built with a sanitizer"
  exit 0
fi
for example in layer_norm:9 flash_attention:20 fp8_matmul:9 grouped_gemm:6 \
    cross_entropy:11 selective_scan:3 online_softmax:3; do
  file=$SCRATCH/${example%:*}.safetensors
  tkdbg run -q "$ROOT/examples/${example%:*}.py" --launch "${example#*:}" \
    --record "$file" >/dev/null 2>&1
  check "what is changed in ${example%:*} is found" $judge "$file"
done
