; What LLVM 19 makes llvm.ptx of:
; llc-19 -march=nvptx64 -mcpu=sm_80 -mattr=+ptx70 -O2 llvm.ll -o llvm.ptx
target triple = "nvptx64-nvidia-cuda"
@sm = external addrspace(3) global [0 x i8], align 16
@fmt = private constant [9 x i8] c"v %d %f\0A\00"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.fma.f32(float,float,float)
declare i32 @vprintf(ptr,ptr)
declare float @llvm.nvvm.ex2.approx.f(float)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32,i32,i32,i32)
declare <2 x half> @llvm.fma.v2f16(<2 x half>,<2 x half>,<2 x half>)
define internal float @helper(float %x, i32 %n) noinline {
entry:
  br label %l
l:
  %i = phi i32 [0,%entry],[%i1,%l]
  %a = phi float [%x,%entry],[%b,%l]
  %b = call float @llvm.fma.f32(float %a, float 0.5, float 1.0)
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %i1, %n
  br i1 %c, label %l, label %e
e:
  ret float %b
}
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = sext i32 %t to i64
  %q = getelementptr float, ptr addrspace(1) %p, i64 %i
  %v = load float, ptr addrspace(1) %q
  %h = call float @helper(float %v, i32 %n)
  %s = getelementptr float, ptr addrspace(3) @sm, i32 %t
  store float %h, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier0()
  %x = xor i32 %t, 33
  %s2 = getelementptr float, ptr addrspace(3) @sm, i32 %x
  %w = load float, ptr addrspace(3) %s2
  %wi = bitcast float %w to i32
  %sh = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %wi, i32 1, i32 31)
  %shf = bitcast i32 %sh to float
  %e = call float @llvm.nvvm.ex2.approx.f(float %shf)
  %d = fdiv float %e, %w
  %hf = fptrunc float %d to half
  %v1 = insertelement <2 x half> poison, half %hf, i32 0
  %v2 = insertelement <2 x half> %v1, half %hf, i32 1
  %m = call <2 x half> @llvm.fma.v2f16(<2 x half> %v2, <2 x half> %v2, <2 x half> %v2)
  %cmp = fcmp olt <2 x half> %m, %v2
  %sel = select <2 x i1> %cmp, <2 x half> %m, <2 x half> %v2
  %m0 = extractelement <2 x half> %sel, i32 1
  %f = fpext half %m0 to float
  %bf = fptrunc float %f to bfloat
  %bf2 = fadd bfloat %bf, %bf
  %g = fpext bfloat %bf2 to float
  %z = icmp eq i32 %t, 3
  br i1 %z, label %pr, label %st
pr:
  %buf = alloca {i32, double}
  store i32 %t, ptr %buf
  %b1 = getelementptr {i32,double}, ptr %buf, i32 0, i32 1
  %gd = fpext float %g to double
  store double %gd, ptr %b1
  %r = call i32 @vprintf(ptr @fmt, ptr %buf)
  br label %st
st:
  %o = atomicrmw fadd ptr addrspace(1) %p, float 1.0 seq_cst
  %sw = urem i32 %t, 5
  switch i32 %sw, label %d0 [ i32 0, label %c0  i32 1, label %c1 i32 2, label %c2 i32 3, label %c3 ]
c0: br label %d0
c1: br label %d0
c2: br label %d0
c3: br label %d0
d0:
  %ph = phi float [ 1.0, %st ], [ 2.5, %c0 ], [ 3.0, %c1 ], [ -1.0, %c2 ], [7.0, %c3]
  %g2 = fadd float %g, %ph
  %q2 = getelementptr float, ptr addrspace(1) %q, i64 64
  store float %g2, ptr addrspace(1) %q2
  ret void
}
