# tkdbg doctor: what it finds, with Pythons that say this and that.
. "$ROOT/tests/support/check.sh"

python_that_says() {
  printf '#!/bin/sh\nprintf "%s"\n' "$1" >python
  chmod +x python
}

# state NAME STATE: a line of out.
state() {
  if grep -qE "^$1 +$2 " out; then echo "ok $1: $2"; else
    echo "not ok $1: not $2"
    sed 's/^/  /' out
  fi
}

python_that_says 'python 3.12.4, /bin/python\nnumpy 2.1\ntorch 2.12.0+cpu\n'
status 'all that is needed' 0 tkdbg doctor --python ./python
says 'where Python is' out '3.12.4, /bin/python'
state 'C library' ok
state NumPy ok
state PyTorch ok
state Triton missing
silent 'nothing else' err
# a column for names, one for states, and no line is longer than a terminal's
check 'short lines' sh -c '! grep -E "^.{80}" out'
check 'a line for each' [ "$(grep -c '^[^ ]' out)" = 15 ]

python_that_says 'python 3.12.4, /p\nnumpy 2\ntorch 2.10.1\ntriton 99.1.0\n'
status 'an old package' 0 tkdbg doctor --python ./python
state PyTorch 'too old'
state Triton 'not tried'

python_that_says 'python 3.12.4, /p\ntorch 2.11\nnumpyro 3\n'
status 'no NumPy' 1 tkdbg doctor --python ./python
state NumPy missing
state PyTorch ok

printf '#!/bin/sh\nexit 7\n' >python
status 'a Python that fails' 1 tkdbg doctor --python ./python
state Python missing
status 'no such Python' 1 tkdbg doctor --python /nosuch
state Python missing
status 'an operand' 2 tkdbg doctor now

# what was tried is what the table of pairs has
python_that_says 'python 3\nnumpy 2\ntorch 2.11\ntriton 3.6\n'
tkdbg doctor --python ./python >out
column() {
  grep -v '^#' "$ROOT/tests/matrix/pairs.txt" |
    awk -v n="$1" '{ sub(/\+.*/, "", $n); print $n }' | sort -V |
    sed -n '1p;$p' | paste -sd ' ' | sed 's/ / to /'
}
says 'PyTorch was tried with' out "(tried with $(column 2))"
says 'Triton was tried with' out "(tried with $(column 3))"
