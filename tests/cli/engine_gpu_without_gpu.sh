# tkdbg run --engine gpu: what it says where something is missing or fails, by a
# CUDA Runtime that has no GPU.
. "$ROOT/tests/support/check.sh"

cat >k.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i))
K
run="tkdbg run k.py -q --arg x=i8[64]:zeros --arg B=64 --engine gpu --print x"
if ! tkdbg run k.py -q --arg x=i8[64]:zeros --arg B=64 --engine ptx 2>err; then
  skip 'the engine gpu' 'LLVM 19 is not installed (apt-get install llvm-19-dev)'
  exit 0
fi
if [ "${SANITIZE:-}" ]; then
  skip 'the engine gpu' 'the sanitizer itself lies where the memory should be'
  exit 0
fi
mkdir lib
echo 'int tkdbg_test;' >none.c
cc -shared -fPIC -o lib/libcuda.so.1 none.c
cc -w -shared -fPIC -D_GNU_SOURCE -o cudart.so \
  "$ROOT/tests/cli/fake_cudart.c"
export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export TKDBG_CUDART="$PWD/cudart.so"

status 'a kernel' 0 $run
says 'a kernel: memory comes back' out 'x = [1 0 0'
says 'a kernel: what it prints' out 'printed by the kernel'
# Whichever of two tensors lies below the other, both get their memory.
cat >two.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    tl.store(y, tl.load(x))
K
for order in 'x y' 'y x'; do
  set -- $order
  status "two tensors, $order" 0 tkdbg run two.py -q --engine gpu \
    --arg "$1=i8[8388608]:zeros" --arg "$2=i8[8388608]:zeros"
done
failing() { # NAME FAKE STATUS TEXT
  export FAKE_CUDA="$2"
  status "$1" "$3" $run
  says "$1: what" err "$4"
}
failing 'an illegal access' 700 1 'accessed memory outside of every tensor'
says 'an illegal access: what to do' err "--engine ptx"
failing 'a misaligned access' 716 1 'an address that is misaligned'
failing 'an assertion' 710 1 'an assertion of the kernel failed'
failing 'out of memory' 2 2 'the GPU is out of memory'
failing 'an old driver' 35 2 'the driver is too old'
failing 'an unknown error' 999 2 'an error (CUDA error 999)'
failing 'no GPU' none 2 'no GPU was found'
failing 'an old runtime' old 2 "cudart.so', is of version 11.8, and 12.8 or \
newer is expected"
says 'an old runtime: what to do' err 'help: install the CUDA Runtime, 12.8'
failing 'no address' busy 2 'cannot have memory at the addresses'
failing 'a crash' crash 3 'was ended by signal 6'
export TKDBG_GPU_TIMEOUT=1
failing 'a kernel that does not end' hang 1 'did not end within 1 seconds'
unset FAKE_CUDA
given() { # NAME FILE TEXT
  TKDBG_CUDART=$2 failing "$1" '' 2 "$3"
  says "$1: what to do" err 'help: install the CUDA Runtime, 12.8'
}
opened='the CUDA Runtime that TKDBG_CUDART names'
given 'no such runtime' /nowhere/libcudart.so \
  "$opened, '/nowhere/libcudart.so', cannot be opened: "
echo nonsense >text.so
given 'a runtime that is no library' "$PWD/text.so" \
  "$opened, '$PWD/text.so', cannot be opened: "
head -c 5000 cudart.so >short.so
given 'a damaged runtime' "$PWD/short.so" \
  'signal 7 while it opened the CUDA Runtime '
says 'a damaged runtime: which' err "$PWD/short.so'"
given 'another library' "$PWD/lib/libcuda.so.1" \
  "is not a CUDA Runtime of version 12.8 or newer: it lacks the function 'cuda"
if ldconfig -p | grep -q libcudart.so || [ -e /usr/local/cuda ]; then
  skip 'no runtime' 'this machine has one'
else
  TKDBG_CUDART= failing 'no runtime' '' 2 \
    'no CUDA Runtime (libcudart.so) was found'
fi

# A Triton that leaves memory as it was, or what the interpreter leaves.
cat >triton <<'T'
#!/bin/sh
[ "$1" = -c ] && exit 0
[ "$UNFUSED" ] && grep -q 'enable_fp_fusion[^,]*:0' "$2" && cp "$UNFUSED" "$2"
exit 0
T
chmod +x triton
cat >one.py <<'K'
import triton
import triton.language as tl


@triton.jit
def k(x):
    i = tl.arange(0, 64)
    tl.store(x + i, tl.load(x + i) * 3 + 1)
K
export TKDBG_PYTHON="$PWD/triton" UNFUSED=
diff="tkdbg diff one.py -q --backend triton --explain --arg x=i8[64]:zeros"
status 'Triton differs' 1 $diff
says 'Triton differs: who is recorded' out \
  "operations cannot be recorded; 'gpu' runs in its place:"
says 'Triton differs: it alone' out 'no operation differs, in program (0, 0, 0)'
tkdbg run one.py -q --arg x=i8[64]:ones --record after.safetensors
UNFUSED="$PWD/after.safetensors"
status 'Triton differs when it fuses' 1 $diff
says 'Triton differs when it fuses: what' out \
  "with enable_fp_fusion=False 'triton' gives what the interpreter gives"
says 'Triton differs when it fuses: why' out 'cause: contraction'
unset TKDBG_PYTHON UNFUSED
rm lib/libcuda.so.1
if ldconfig -p | grep -q libcuda.so.1; then
  skip 'no driver' 'this machine has one'
else
  status 'no driver' 2 $run
  says 'no driver: what' err 'no driver of an NVIDIA GPU'
fi

status 'a direct call of the program' 2 "$BUILD/tkdbg-cuda"
says 'a direct call of the program: what' err 'tkdbg starts this program'
echo nonsense >junk
status 'a request that is none' 2 sh -c "'$BUILD/tkdbg-cuda' 9 9<>junk"
