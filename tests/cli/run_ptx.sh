# tkdbg run FILE.ptx: a PTX file, run by the interpreter of PTX.
. "$ROOT/tests/support/check.sh"

cat >k.ptx <<'P'
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 by,
                      .param .u32 n)
{
  .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
  ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r4, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r4, %r1;
  @%p1 ret;
  mul.wide.u32 %d3, %r4, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d1];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%d2], %f3;
  ret;
}
.visible .entry threads(.param .u64 y)
.reqntid 64
{
  .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [y]; mov.u32 %r1, %ntid.x;
  st.global.u32 [%d1], %r1;
  ret;
}
P
X='--arg x=f32[100]:arange --arg y=f32[100]:zeros --arg by=f32:0.5'
status 'runs' 0 tkdbg run k.ptx --kernel scale $X --arg n=100 \
  --option num_warps=1 --grid 4 --print y
says 'runs: values' out '49.5'
status 'beyond the end' 1 tkdbg run k.ptx --kernel scale $X --arg n=128 --grid 1
says 'beyond the end: the line' err 'k.ptx:16:3: error: load of 4 bytes'
says 'beyond the end: the tensor' err 'x + 400 bytes'
status 'default threads' 0 tkdbg run k.ptx --kernel scale $X --arg n=100 \
  --print y --grid 1
says 'default threads: values' out '49.5'
status '.reqntid' 0 tkdbg run k.ptx --kernel threads --arg a=u32[1] --print a
says '.reqntid: values' out 'a = [64]'

T='tkdbg run k.ptx --kernel threads'
status 'several kernels' 2 tkdbg run k.ptx --arg y=u32[1]
says 'several kernels: which' err 'name the one to run' \
  'its kernels: scale, threads'
status 'no such kernel' 2 tkdbg run k.ptx --kernel scal --arg y=u32[1]
says 'no such kernel: which' err "no kernel 'scal'" 'scale, threads'
status 'too few arguments' 2 tkdbg run k.ptx --kernel scale --arg x=f32[1]
says 'too few arguments: what' err 'takes 4 arguments, and 1 is given' \
  'parameters of 8, 8, 4, 4 bytes'
status 'a wrong size' 2 $T --arg y=i32:5
says 'a wrong size: what' err "'y' has 4 bytes" 'parameter has 8'
status 'too large' 2 tkdbg run k.ptx --kernel scale $X --arg n=5000000000
says 'too large: what' err "'n' does not fit the kernel's parameter of 4 bytes"
status 'no type' 2 tkdbg run k.ptx --kernel scale --arg x=0 --arg y=0 \
  --arg by=0.5 --arg n=0
says 'no type: what' err "'by' is no integer" 'x=f32:1.5'
status 'given twice' 2 tkdbg run k.ptx --kernel scale --arg x=0 --arg x=0 \
  --arg y=0 --arg n=0
says 'given twice: what' err "'x' is given twice"
status 'a keyword' 2 $T --arg in=u32[1]
says 'a keyword: what' err "unexpected keyword 'in'" 'arguments of k.ptx:'
status 'other threads' 2 $T --arg y=u32[1] --option num_warps=8
says 'other threads: what' err 'num_warps is 8' '64 threads'
for option in --engine=ptx --check=race --record=r.safetensors --jobs=2 \
    --option=num_stages=2 --numerics=device; do
  status "$option" 2 $T --arg y=u32[1] $option
  says "$option: why" err 'cannot be given with a PTX file'
done

sed 's/mul.f32/mull.f32/' k.ptx >wrong.ptx
status 'no PTX' 1 tkdbg run wrong.ptx --kernel scale $X --arg n=1
says 'no PTX: where' err 'wrong.ptx:17:3' 'mull'
status 'no file' 2 tkdbg run none.ptx
says 'no file: which' err "cannot read 'none.ptx'"
printf 'x\0y' >zero.ptx
status 'not a text' 1 tkdbg run zero.ptx
says 'not a text: where' err 'zero.ptx:1:1'

cat >alone.ptx <<'P'
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing()
{
  ret;
}
P
status 'an option after the file' 0 tkdbg run alone.ptx -q --option num_warps=1
status 'only -q after the file' 0 tkdbg run alone.ptx -q
