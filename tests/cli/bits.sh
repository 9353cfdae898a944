# Whoever watches a launch, it leaves the same bits (tests/bits): a small part
# of `make sweep-bits`.
. "$ROOT/tests/support/check.sh"

python=${PYTHON:-python3}
if [ "${SANITIZE:-}" ]; then
  skip 'bits' 'a sanitized library wants its runtime to be in Python first'
elif ! "$python" -c 'import numpy' 2>err; then
  skip 'bits' 'NumPy is not installed'
else
  status 'bits' 0 "$python" "$ROOT/tests/bits/sweep.py" --build "$BUILD" \
    --only softmax.py --random 3 --jobs 2
  says 'bits: how many' out '; 0 differ'
fi
