/* bind_async.c - decodes what runs beside the threads: wgmma, bulk copies, and
 * the fences and barriers of both.
 */
#include <string.h>

#include "ptx/bulk.h"
#include "ptx/mma.h"
#include "ptx/read.h"
#include "ptx/wgmma.h"

/* ---- wgmma --------------------------------------------------------------- */

static const tkp_wgmma_type *wgmma_type_of(const tkp_line *x, int *mode) {
  tkp_pair small = tkp_small_floats(x);
  uint8_t a = small.n == 2 ? TKP_E4M3 : x->types[1];
  bool flags[2] = {small.e5m2[0], small.e5m2[1]};
  if (small.n != 2 && (x->ntypes != 3 || small.n)) return NULL;
  if (a == TK_AT_s8 || a == TK_AT_u8) {
    flags[0] = a == TK_AT_s8;
    flags[1] = x->types[2] == TK_AT_s8;
    if (!flags[1] && x->types[2] != TK_AT_u8) return NULL;
    a = TK_AT_s8;
  } else if (small.n != 2 && x->types[2] != a) {
    return NULL;
  }
  *mode = flags[0] * TKP_WG_A_FLAG | flags[1] * TKP_WG_B_FLAG;
  for (int i = 0; i < tkp_wgmma_ntypes; i++) {
    const tkp_wgmma_type *t = &tkp_wgmma_types[i];
    if (t->type == a && t->accumulator == x->types[0] &&
        t->k == tkp_shape_number(x, 'k'))
      return t;
  }
  return NULL;
}

/* An immediate of the two that are allowed: whether it is the second. */
static bool is_second(tkp_line *x, const tkp_operand *o, uint64_t first,
                      uint64_t second, const char *wanted) {
  if (o->kind != TKP_O_NUMBER || (o->value != first && o->value != second))
    tkp_wrong(x, o, wanted);
  return o->value == second;
}

/* imm-scale-a, imm-scale-b, and of numbers of 16 bits imm-trans-a (if A is in
 * memory) and imm-trans-b. */
static int wgmma_mode(tkp_line *x, const tkp_wgmma_type *t, bool regs) {
  static const char scale[] = "1 or -1", trans[] = "0 or 1";
  size_t n = t->accumulator == TK_AT_s32 ? 0 : t->bits != 16 ? 2 : 4 - regs;
  const tkp_operand *o = &x->ops[4];
  int mode = 0;
  if (x->nops != 4 + n)
    tkp_fail(x->r, x->from, x->to, NULL, "%.*s takes %zu operands here",
             (int)(x->to - x->from), x->from, 4 + n);
  if (n && is_second(x, &o[0], 1, UINT64_MAX, scale)) mode |= TKP_WG_A_NEGATIVE;
  if (n && is_second(x, &o[1], 1, UINT64_MAX, scale)) mode |= TKP_WG_B_NEGATIVE;
  if (n == 4 && is_second(x, &o[2], 0, 1, trans)) mode |= TKP_WG_A_MN;
  if (n > 2 && is_second(x, &o[n - 1], 0, 1, trans)) mode |= TKP_WG_B_MN;
  return mode | regs * TKP_WG_A_REGS;
}

void tkp_read_WGMMA(tkp_line *x) {
  int flags = 0, n = tkp_shape_number(x, 'n');
  const tkp_wgmma_type *t = wgmma_type_of(x, &flags);
  if (!t || tkp_shape_number(x, 'm') != 64 || n < 8 || n > 256 || n % 8)
    tkp_refuse(x->r, x->from, x->to, "%.*s is not run by the PTX interpreter",
               (int)(x->to - x->from), x->from);
  bool regs = x->ops[1].kind == TKP_O_VECTOR;
  flags |= wgmma_mode(x, t, regs);
  if (tkp_has(x, "satfinite")) flags |= TKP_WG_SATURATES;
  x->in.mode = (uint8_t)flags;
  x->in.target = (uint32_t)(t - tkp_wgmma_types);
  x->in.parts = (uint8_t)(n / 8);
  unsigned count = (unsigned)n / (t->accumulator == TK_AT_f16 ? 4 : 2);
  tkp_fragment(x, &x->ops[0], count, 32, true);
  if (regs)
    tkp_fragment(x, &x->ops[1], TKP_A_REGS, 32, false);
  else
    tkp_add_source(x, tkp_source(x, &x->ops[1], 64, 'b'));
  tkp_add_source(x, tkp_source(x, &x->ops[2], 64, 'b'));
  tkp_add_source(x, tkp_source(x, &x->ops[3], 1, 'p'));
  tkp_fragment(x, &x->ops[0], count, 32, false);
  x->in.run = tkp_run_wgmma;
  x->r->k->wgmma = true;
  tkp_emit(x);
}

static void read_beside(tkp_line *x, tkp_run_fn *run) {
  x->in.run = run;
  x->r->k->wgmma = true;
  tkp_emit(x);
}

void tkp_read_WGMMA_FENCE(tkp_line *x) {
  read_beside(x, tkp_run_wgmma_fence);
}

void tkp_read_WGMMA_COMMIT(tkp_line *x) {
  read_beside(x, tkp_run_wgmma_commit);
}

void tkp_read_WGMMA_WAIT(tkp_line *x) {
  tkp_read_groups(x);
  read_beside(x, tkp_run_wgmma_wait);
}

void tkp_read_FENCE_ASYNC(tkp_line *x) {
  x->in.run = tkp_run_proxy_fence;
  tkp_emit(x);
}

/* ---- barriers in memory -------------------------------------------------- */

/* Of an mbarrier: its address, and perhaps a number or a state. */
static void read_mbarrier(tkp_line *x, size_t address, unsigned bits, int mode,
                          tkp_run_fn *run) {
  if (x->types[0] != TK_AT_b64)
    tkp_fail(x->r, x->from, x->to, NULL, "only .b64 is known");
  tkp_address(x, &x->ops[address]);
  x->in.space = tkp_space_of(x, &x->ops[address]);
  if (x->nops > address + 1)
    tkp_add_source(x, tkp_source(x, &x->ops[address + 1], bits, 'u'));
  x->in.mode = (uint8_t)mode;
  x->in.run = run;
  tkp_emit(x);
}

void tkp_read_MBAR_INIT(tkp_line *x) {
  read_mbarrier(x, 0, 32, 0, tkp_run_mbarrier_init);
}

void tkp_read_MBAR_INVAL(tkp_line *x) {
  read_mbarrier(x, 0, 32, 0, tkp_run_mbarrier_inval);
}

void tkp_read_MBAR_ARRIVE(tkp_line *x) {
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 64));
  read_mbarrier(x, 1, 32, TKP_MB_ARRIVES, tkp_run_mbarrier_arrive);
}

void tkp_read_MBAR_ARRIVE_TX(tkp_line *x) {
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 64));
  read_mbarrier(x, 1, 32, TKP_MB_ARRIVES | TKP_MB_BYTES,
                tkp_run_mbarrier_arrive);
}

void tkp_read_MBAR_EXPECT(tkp_line *x) {
  read_mbarrier(x, 0, 32, TKP_MB_BYTES, tkp_run_mbarrier_arrive);
}

void tkp_read_MBAR_COMPLETE(tkp_line *x) {
  read_mbarrier(x, 0, 32, TKP_MB_BYTES | TKP_MB_COMPLETES,
                tkp_run_mbarrier_arrive);
}

/* A hint for how long to try is left out. */
void tkp_read_MBAR_TEST(tkp_line *x) {
  bool parity = tkp_has(x, "parity");
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 1));
  x->nops = 3;
  read_mbarrier(x, 1, parity ? 32 : 64, parity ? TKP_MB_PARITY : 0,
                tkp_run_mbarrier_wait);
}

void tkp_read_MBAR_TRY(tkp_line *x) {
  tkp_read_MBAR_TEST(x);
}

/* ---- bulk copies --------------------------------------------------------- */

/* The address of a tensor map becomes s[0], and where in it from_offset. */
static void read_map(tkp_line *x, const tkp_operand *o) {
  unsigned axes = 0;
  for (unsigned i = 1; i <= TKP_MAP_RANK; i++)
    if (tkp_has(x, tk_arena_printf(x->r->arena, "%ud", i))) axes = i;
  if (!axes || o->nparts != axes)
    tkp_wrong(x, o, tk_arena_printf(x->r->arena, "%u coordinates", axes));
  tkp_address(x, o);
  tkp_add_source(x,
                 x->in.base.bits ? x->in.base : tkp_constant_reg(x->r, 64, 0));
  x->in.from_offset = x->in.offset;
  x->in.parts = (uint8_t)axes;
}

static void read_coordinates(tkp_line *x, const tkp_operand *o) {
  for (size_t i = 0; i < o->nparts; i++)
    tkp_add_source(x, tkp_source(x, &o->parts[i], 32, 's'));
}

/* Load: [to], [map, {at}], [mbarrier]; s[1] and target are the mbarrier.
 * Store: [map, {at}], [from]; mode 1.  base and offset are shared memory's. */
void tkp_read_BULK_TENSOR(tkp_line *x) {
  bool store = tkp_has(x, "bulk_group");
  size_t n = x->nops - tkp_has(x, "L2::cache_hint");
  if (n != (store ? 2 : 3))
    tkp_fail(x->r, x->from, x->to, NULL, "expected %d operands", 3 - store);
  x->coordinates = true;
  read_map(x, &x->ops[!store]);
  if (!store) {
    tkp_address(x, &x->ops[2]);
    tkp_add_source(x, x->in.base.bits ? x->in.base
                                      : tkp_constant_reg(x->r, 32, 0));
    x->in.target = (uint32_t)x->in.offset;
  }
  read_coordinates(x, &x->ops[!store]);
  tkp_address(x, &x->ops[store]);
  x->in.space = TKP_SHARED;
  x->in.mode = store;
  x->in.run = tkp_run_bulk;
  tkp_emit(x);
}

void tkp_read_BULK_COMMIT(tkp_line *x) {
  x->in.run = tkp_run_bulk_commit;
  tkp_emit(x);
}

void tkp_read_BULK_WAIT(tkp_line *x) {
  tkp_read_groups(x);
  x->in.run = tkp_run_bulk_wait;
  tkp_emit(x);
}

/* ---- tensor maps --------------------------------------------------------- */

void tkp_read_MAP_REPLACE(tkp_line *x) {
  static const char *const fields[] = {
      "global_address", "rank",           "box_dim",  "global_dim",
      "global_stride",  "element_stride", "elemtype", "interleave_layout",
      "swizzle_mode",   "fill_mode"};
  size_t field = 0, last = x->nops - 1;
  while (field < TK_COUNT(fields) && !tkp_has(x, fields[field])) field++;
  bool axis = field >= TKP_MF_BOX && field <= TKP_MF_STEP;
  uint64_t most = TKP_MAP_RANK - (field == TKP_MF_STRIDE);
  if (field == TK_COUNT(fields) || x->nops != (axis ? 3 : 2))
    tkp_fail(x->r, x->from, x->to, NULL, "expected a field, and its operands");
  if (axis && (x->ops[1].kind != TKP_O_NUMBER || x->ops[1].value >= most))
    tkp_wrong(x, &x->ops[1], "the number of an axis");
  tkp_address(x, &x->ops[0]);
  x->in.space = tkp_space_of(x, &x->ops[0]);
  x->in.mode = (uint8_t)field;
  x->in.target = axis ? (uint32_t)x->ops[1].value : 0;
  tkp_add_source(
      x, tkp_source(x, &x->ops[last], tk_asm_types[x->types[0]].bits, 'u'));
  x->in.run = tkp_run_map_replace;
  tkp_emit(x);
}

/* [to], [from], 128 */
void tkp_read_MAP_COPY(tkp_line *x) {
  if (x->ops[2].kind != TKP_O_NUMBER || x->ops[2].value != 128)
    tkp_wrong(x, &x->ops[2], "128");
  tkp_address(x, &x->ops[1]);
  tkp_add_source(x,
                 x->in.base.bits ? x->in.base : tkp_constant_reg(x->r, 64, 0));
  x->in.from_offset = x->in.offset;
  tkp_address(x, &x->ops[0]);
  x->in.run = tkp_run_map_copy;
  tkp_emit(x);
}
