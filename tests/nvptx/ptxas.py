"""What ptxas gets wrong, by its machine code:

    python3 tests/nvptx/ptxas.py --cuobjdump CUOBJDUMP PTXAS ...

For each small kernel in PTX below, each architecture and each ptxas, a line
says whether the machine code has what makes it wrong.  tkdbg's code is written
around these (src/nvptx/llvm/llvm.c, src/nvptx/arithmetic.c); where no version
that is in use has one any more, its way around can go.
"""
import argparse
import os
import re
import subprocess
import tempfile

HEAD = '''.version %s
.target %s
.address_size 64
.visible .entry k(.param .u64 y, .param .u64 x)
{
.reg .pred %%p<9>; .reg .b16 %%s<30>; .reg .b32 %%r<30>;
.reg .f32 %%f<9>; .reg .b64 %%d<9>;
ld.param.u64 %%d1, [y]; ld.param.u64 %%d2, [x]; mov.u32 %%r0, %%tid.x;
mad.wide.u32 %%d3, %%r0, 32, %%d1; mad.wide.u32 %%d4, %%r0, 32, %%d2;
ld.volatile.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%d4];
cvt.u16.u32 %%s1, %%r1; cvt.u16.u32 %%s2, %%r2; cvt.u16.u32 %%s3, %%r3;
%s
st.global.b32 [%%d3], %%r9;
DONE:
ret;
}
'''
# Both halves of %r1 are chosen, by a 16-bit number and by one that is
# converted; nearby, two sums of fp16 lie in the halves of one register.
HALVES = '''
ld.volatile.global.f32 %f1, [%d4+16];
ld.volatile.global.b16 %s5, [%d4+20]; ld.volatile.global.b16 %s6, [%d4+22];
ld.volatile.global.b16 %s7, [%d4+24]; ld.volatile.global.b16 %s8, [%d4+26];
setp.ne.s32 %p1, %r2, 0; setp.ne.s32 %p2, %r3, 0; setp.ne.s32 %p3, %r4, 0;
cvt.u32.u16 %r10, %s5; shfl.sync.bfly.b32 %r11, %r10, 8, 31, -1;
cvt.u16.u32 %s9, %r11; add.rn.f16 %s10, %s5, %s9; cvt.f32.f16 %f2, %s10;
cvt.rn.bf16.f32 %s11, %f2; add.rn.f16 %s12, %s6, %s7; cvt.f32.f16 %f3, %s12;
cvt.rn.bf16.f32 %s13, %f3; cvt.u32.u16 %r12, %s13; cvt.u32.u16 %r13, %s11;
shl.b32 %r14, %r13, 16; or.b32 %r15, %r14, %r12;
st.global.v2.u32 [%d3+8], {%r2, %r15};
@%p3 bra DONE;
cvt.rn.bf16.f32 %s14, %f1;
{ .reg .b16 tmp; mov.b32 {tmp, %s15}, %r1; } selp.b16 %s16, %s15, %s8, %p1;
cvt.u16.u32 %s17, %r1; selp.b16 %s18, %s17, %s14, %p2;
st.global.b16 [%d3+2], %s18; st.global.b16 [%d3], %s16; bra DONE;
'''
# what it is, PTX, architectures, what machine code has that is right
CASES = [
    ('max(max(a, -b), c) of 32 bits',
     'neg.s32 %r5, %r2; max.s32 %r6, %r1, %r5; max.s32 %r9, %r6, %r3;',
     ('sm_80', 'sm_90'), r'IMAD\.MOV \w+, RZ, RZ, -'),
    ('the same of min, the minus by 0 - b',
     'sub.s32 %r5, 0, %r2; min.s32 %r6, %r1, %r5; min.s32 %r9, %r6, %r3;',
     ('sm_80', 'sm_90'), r'IMAD\.MOV \w+, RZ, RZ, -'),
    ('max(max(a, b), -c), unlike the first',
     'neg.s32 %r5, %r3; max.s32 %r6, %r1, %r2; max.s32 %r9, %r6, %r5;',
     ('sm_80', 'sm_90'), r'IMAD\.MOV \w+, RZ, RZ, -'),
    ('max(max(a, -b), c) of 16 bits',
     'neg.s16 %s4, %s2; max.s16 %s5, %s1, %s4; max.s16 %s6, %s5, %s3; '
     'cvt.s32.s16 %r9, %s6;',
     ('sm_80', 'sm_90'), r'IMAD\.MOV \w+, RZ, RZ, -'),
    ('neg.s16 of -32768, extended', 'neg.s16 %s4, %s1; cvt.s32.s16 %r9, %s4;',
     ('sm_80', 'sm_90'), r'-R\d+ ;(.|\n)*PRMT \w+, \w+, 0x9910'),
    ('abs.s16 of -32768, extended', 'abs.s16 %s4, %s1; cvt.s32.s16 %r9, %s4;',
     ('sm_80', 'sm_90'), r'IABS(.|\n)*PRMT \w+, \w+, 0x9910'),
    ('the remainder of abs.s32 of the least number',
     'abs.s32 %r5, %r1; or.b32 %r6, %r2, 1; rem.s32 %r9, %r5, %r6;',
     ('sm_80', 'sm_90', 'sm_100'),
     r'@!P\d (IMAD\.MOV \w+, RZ, RZ, -|IADD3 \w+, -)'),
    ('the same by the sign, as tkdbg writes it',
     'shr.s32 %r4, %r1, 31; add.s32 %r5, %r1, %r4; xor.b32 %r5, %r5, %r4; '
     'or.b32 %r6, %r2, 1; rem.s32 %r9, %r5, %r6;',
     ('sm_80', 'sm_90', 'sm_100'),
     r'@!P\d (IMAD\.MOV \w+, RZ, RZ, -|IADD3 \w+, -)'),
    ('a byte by bfe.s32, to fp32 as an unsigned number',
     'bfe.s32 %r5, %r1, 8, 8; cvt.rn.f32.u32 %f1, %r5; mov.b32 %r9, %f1;',
     ('sm_80', 'sm_90', 'sm_100'), r'I2FP?(\.F32)?\.U32'),
    ('the same by shifts, as tkdbg writes it',
     'bfe.u32 %r4, %r1, 8, 8; shl.b32 %r4, %r4, 24; shr.s32 %r5, %r4, 24; '
     'cvt.rn.f32.u32 %f1, %r5; mov.b32 %r9, %f1;',
     ('sm_80', 'sm_90', 'sm_100'), r'I2FP?(\.F32)?\.U32'),
    ('two numbers to fp8e5, twice in a register',
     'cvt.rn.f32.s32 %f1, %r1; cvt.rn.f32.s32 %f2, %r2; '
     'cvt.rn.satfinite.e5m2x2.f32 %s4, %f1, %f2; mov.b32 %r9, {%s4, %s4};',
     ('sm_90', 'sm_100'), r'MERGE_C \w+, \w+, \w+, RZ'),
    ('one half of add.s16x2 of a constant',
     'mul.lo.s16 %s4, %s1, 171; mov.b32 %r5, {%s4, %s4}; '
     'mov.b32 %r8, 983231; add.s16x2 %r6, %r5, %r8; mov.b32 {%s5, %s6}, %r6; '
     'cvt.u32.u16 %r9, %s5;',
     ('sm_90',), r'VIADD\.16x2 \w+, \w+, 0x[1-9a-f]'),
    ('both halves, unlike the last',
     'mul.lo.s16 %s4, %s1, 171; mov.b32 %r5, {%s4, %s4}; '
     'mov.b32 %r8, 983231; add.s16x2 %r9, %r5, %r8;',
     ('sm_90',), r'VIADD\.16x2 \w+, \w+, 0x[1-9a-f]'),
    ('the upper half by mov.b32 {tmp, s}, r, chosen by selp', HALVES,
     ('sm_80', 'sm_90', 'sm_100'),
     r'BRA(.|\n)*@P\d PRMT \w+, \w+, 0x7632|'
     r'EXIT(.|\n)*@P\d PRMT \w+, \w+, 0x7632'),
    ('the same by shr.u32, as tkdbg writes it', HALVES.replace(
        '{ .reg .b16 tmp; mov.b32 {tmp, %s15}, %r1; }',
        'shr.u32 %r16, %r1, 16; cvt.u16.u32 %s15, %r16;'),
     ('sm_80', 'sm_90', 'sm_100'), r'SHF\.R\.U32\.HI'),
]


def version(ptxas):
    text = subprocess.run([ptxas, '--version'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return re.search(r'V([0-9.]+)', text)[1]


def machine_code(options, ptxas, arch, body, folder):
    """As text without addresses, or None: it knows no such GPU."""
    ptx, cubin = (os.path.join(folder, name) for name in ('k.ptx', 'k.cubin'))
    new = 's16x2' in body or 'e5m2x2' in body
    form = ('8.0', 'sm_90') if new else ('7.8', 'sm_80')
    with open(ptx, 'w') as f:
        f.write(HEAD % (*form, body))
    made = subprocess.run([ptxas, '-arch=' + arch, ptx, '-o', cubin],
                          text=True, capture_output=True)
    if 'not defined for option' in made.stderr:
        return None
    if made.returncode:
        raise SystemExit(made.stderr)
    text = subprocess.run([options.cuobjdump, '-sass', cubin], check=True,
                          text=True, capture_output=True).stdout
    return re.sub(r'/\*.*?\*/', '', text)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--cuobjdump', default='cuobjdump')
    p.add_argument('--show', action='store_true', help='the machine code, too')
    p.add_argument('ptxas', nargs='+')
    options = p.parse_args()
    versions = {version(path): path for path in options.ptxas}
    print('| PTX |', ' | '.join(versions), '|')
    print('|---|' + '---|' * len(versions))
    with tempfile.TemporaryDirectory() as folder:
        for name, body, archs, right in CASES:
            for arch in archs:
                row = []
                for path in versions.values():
                    code = machine_code(options, path, arch, body, folder)
                    row.append('–' if code is None else
                               'right' if re.search(right, code) else 'wrong')
                    if options.show:
                        print(code)
                print(f'| {name}, {arch} |', ' | '.join(row), '|', flush=True)


if __name__ == '__main__':
    main()
