/* gen_warpgroup.c - products of matrices by warpgroups: wgmma.mma_async (PTX
 * ISA, "Asynchronous Warpgroup Level Matrix Instructions").
 *
 * A descriptor says where a tile lies and how far its parts are apart.  All
 * instructions of a product make up one group; its accumulators go through the
 * wait as operands, so that nothing reads them before it. */
#include "ir/numerics.h"
#include "nvptx/shared.h"
#include "nvptx/warpgroup.h"

enum {
  MOST_COLUMNS = 8, /* log2, of an instruction */
  STEP = 4          /* the same of k, on 16 bits */
};

/* ---- tiles --------------------------------------------------------------- */

/* A matrix of a product: one of its axes is k, the other the result's. */
typedef struct tile {
  tkv_value *from; /* what its lanes are moved from */
  tkv_placed placed;
  bool moves;          /* it must be written to shared memory */
  tkv_dist places;     /* by bit of a lane's number, but for the swizzle */
  bool turned;         /* the result's axis is the one of neighbours */
  uint64_t descriptor; /* but for the address */
} tile;

/* Whether the places of an axis's bits are each twice the one before. */
static bool doubles(const uint32_t *place, int n, uint32_t first) {
  for (int i = 0; i < n; i++)
    if (place[i] != first << i) return false;
  return true;
}

static uint64_t descriptor_field(uint32_t place, int size) {
  enum { UNIT = 4 }; /* 16 bytes */
  uint64_t units = (uint64_t)place << size >> UNIT;
  return units ? units : 1;
}

/* Finds what the descriptor says; false: wgmma reads no tile like that.  (PTX
 * ISA, "Matrix Descriptor Format"; the leading offset is from one row's end to
 * its continuation, the stride from eight rows to the next.)  An instruction
 * takes whole rows, or parts of rows along k; `extent` is what it takes along
 * the result's axis. */
static bool describe_tile(tile *x, const tk_type *t, int axis, int extent) {
  enum { EIGHT = 3 };
  int size = tkv_log2((int64_t)tk_lane_size(t)),
      fast = x->turned ? axis : !axis, n = tkv_axis_bits(t, fast),
      rows = tkv_axis_bits(t, !fast);
  const tkv_swizzle *s = &x->placed.places.swizzle;
  const uint32_t *along = x->places.reg + tkv_axis_low(t, fast),
                 *down = x->places.reg + tkv_axis_low(t, !fast);
  int width = 4 - size + s->n;
  if (n < width || rows < EIGHT || (x->turned && extent < width)) return false;
  uint32_t leading = n > width ? along[width] : 0,
           stride = rows > EIGHT ? down[EIGHT] : 0;
  if (!doubles(along, width, 1) ||
      !doubles(along + width, n - width, leading) ||
      !doubles(down, EIGHT, (uint32_t)1 << width) ||
      !doubles(down + EIGHT, rows - EIGHT, stride))
    return false;
  x->descriptor = (uint64_t)(4 - s->n) << 62 |
                  descriptor_field(stride, size) << 32 |
                  descriptor_field(leading, size) << 16;
  return true;
}

/* Along which axis a block's neighbours are written best. */
static int axis_of_neighbours(const tkv_value *v) {
  const tkv_dist *d = &v->home->dist;
  bool first = d->nreg && d->reg[0] == (uint32_t)1 << tkv_axis_low(&v->type, 0);
  return first ? 0 : 1;
}

/* axis: the result's; log2 of what an instruction takes along it. */
static bool find_tile(tkv_value *v, int axis, int extent, tile *x) {
  tkv_places plain;
  x->places = tkv_all_numbers(&v->type);
  x->from = tkv_origin(v, &x->places);
  const tkv_value *from = x->from;
  if (from->placed && from->placed->is_tile) {
    x->placed = *from->placed;
  } else if (!from->placed && from->home && from->type.rank == 2) {
    x->moves = true;
    x->placed = (tkv_placed){.type = from->type, .is_tile = true};
    if (!tkv_places_of_tile(&from->type, axis_of_neighbours(from),
                            &x->placed.places))
      return false;
  } else {
    return false;
  }
  plain = x->placed.places;
  plain.swizzle.n = 0;
  x->places = tkv_dist_map(&x->places, tkv_place, &plain);
  x->turned = x->places.reg[tkv_axis_low(&v->type, axis)] == 1;
  return describe_tile(x, &v->type, axis, extent);
}

/* Writes what is in registers to shared memory. */
static bool place_tiles(tkv_gen *g, tile x[2]) {
  size_t base[2] = {0}, end = 0;
  for (int i = 0; i < 2; i++) {
    size_t bytes = tkv_bytes_shared(&x[i].placed.type),
           unit = TKV_TILE_ALIGNMENT;
    base[i] = end;
    if (x[i].moves) end += (bytes + unit - 1) / unit * unit;
  }
  if (end > TKV_TILE_BYTES) return false;
  if (!end) return true;
  g->has_tiles = true;
  tkv_scratch(g, end);
  tkv_meet(g->code);
  for (int i = 0; i < 2; i++) {
    if (!x[i].moves) continue;
    x[i].placed.area = tkv_scratch_at(g, base[i]);
    tkv_write_tile(g, x[i].from->home, &x[i].placed);
  }
  tkv_fence_tiles(g->code);
  tkv_meet(g->code);
  return true;
}

/* ---- instructions -------------------------------------------------------- */

typedef struct product {
  const char *format;
  tkv_product_bits bits;
  int columns; /* log2, of an instruction */
  tile tile[2];
  const tkv_dist *dist;
  uint32_t nreg; /* in all, and of an instruction */
  uint32_t each;
} product;

/* The descriptor of what this warpgroup takes of a tile. */
static tkv_reg make_descriptor(tkv_code *c, const product *p, int which) {
  enum { UNIT = 4, ADDRESS = 0x3fff };
  const tile *x = &p->tile[which];
  tkv_dist of = tkv_dist_map(
      p->dist, which ? tkv_column_of_right : tkv_row_of_left, &p->bits);
  tkv_dist group = {.nwarp = of.nwarp};
  int size = tkv_log2((int64_t)tk_lane_size(&x->placed.type));
  for (int i = TKV_GROUP_WARPS; i < of.nwarp; i++)
    group.warp[i] = tkv_dist_reg(&x->places, of.warp[i]);
  tkv_reg bytes = tkv_shl_n(c, tkv_thread_number(c, &group), size),
          at = tkv_add(c, tkv_address(c, x->placed.area), bytes);
  at = tkv_and_n(c, tkv_lshr_n(c, at, UNIT), ADDRESS);
  return tkv_or_n(c, tkv_zext(c, at, TKV_I64), (int64_t)x->descriptor);
}

/* How many units of a descriptor a lane is away from the first. */
static uint32_t units_of(const tile *x, uint32_t number) {
  return tkv_dist_reg(&x->places, number) *
             (uint32_t)tk_lane_size(&x->placed.type) >>
         4;
}

static void put_accumulators(tk_buf *text, uint32_t first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    tk_buf_printf(text, "%s$%u", i ? ", " : "", first + i);
}

/* One instruction: registers from r on, a step of k. Each has descriptors of
 * its own, since it reads them whenever it begins. */
static void put_instruction(tk_buf *text, const product *p, uint32_t r,
                            uint32_t k, uint32_t i) {
  uint32_t number = tkv_dist_reg(p->dist, r);
  uint32_t a = tkv_row_of_left(number, &p->bits) | k,
           b = tkv_column_of_right(number, &p->bits) | k << p->bits.n;
  if (TKV_MUTANT(TILE_STEP)) b = tkv_column_of_right(number, &p->bits);
  tk_buf_printf(text, "add.s64 a%u, $%u, %u;\n\tadd.s64 b%u, $%u, %u;\n\t", i,
                p->nreg, units_of(&p->tile[0], a), i, p->nreg + 1,
                units_of(&p->tile[1], b));
  tk_buf_printf(text, "wgmma.mma_async.sync.aligned.m64n%uk16.f32.%s.%s\n\t\t{",
                1u << p->columns, p->format, p->format);
  put_accumulators(text, r, p->each);
  tk_buf_printf(text, "},\n\t\ta%u, b%u, adds, 1, 1, %d, %d;\n\t", i, i,
                p->tile[0].turned, p->tile[1].turned);
}

static void put_group(tk_buf *text, const product *p) {
  uint32_t step = (uint32_t)1 << STEP, end = (uint32_t)1 << p->bits.k, i = 0,
           n = p->nreg / p->each * (end / step);
  tk_buf_clear(text);
  tk_buf_printf(text,
                "{\n\t.reg .pred adds;\n\t.reg .b64 a<%u>, b<%u>;\n\t"
                "setp.eq.u32 adds, 0, 0;\n\twgmma.fence.sync.aligned;\n\t",
                n, n);
  for (uint32_t k = 0; k < end; k += step)
    for (uint32_t r = 0; r < p->nreg; r += p->each)
      put_instruction(text, p, r, k, i++);
  tk_buf_puts(text, "wgmma.commit_group.sync.aligned;\n\t}");
}

/* Waits for the product of the trip before this one, which must have been read
 * by all threads before copies overwrite it. */
static void wait_for_last_trip(tkv_code *c) {
  tkv_do_asm(c, "wgmma.wait_group.sync.aligned 1;");
  tkv_meet(c);
}

/* Copies may need the scratch area, so that what lies there must have been
 * read. */
static void multiply_tiles(tkv_gen *g, const product *p, const tk_inst *dot,
                           tkv_reg *c) {
  int n = (int)p->nreg;
  bool moves = p->tile[0].moves || p->tile[1].moves,
       early = !moves && tkv_is_before_copies(g, dot),
       runs_on = early && tkv_let_run_on(g);
  tkv_reg *in = TK_NEWN(g->arena, tkv_reg, p->nreg + 2);
  for (int i = 0; i < 2; i++) in[i] = make_descriptor(g->code, p, i);
  put_group(&g->message, p);
  tkv_change_accumulators(g, tk_buf_str(&g->message), in, 2, n, c);
  if (runs_on) wait_for_last_trip(g->code);
  if (early) tkv_begin_late_copies(g, dot);
  if (!runs_on)
    tkv_change_accumulators(g, tkv_wait_for_products(), in, 0, n, c);
}

static product describe_product(const tkv_gen *g, const tk_inst *in,
                                const tkv_dist *d) {
  const tk_slot *slots = g->frame->f->slots;
  const tk_type *a = &slots[in->args[0]].type, *b = &slots[in->args[1]].type;
  product p = {.format = tk_mma_of(g->frame->f, in).format,
               .bits = {.n = tkv_axis_bits(b, 1), .k = tkv_axis_bits(a, 1)},
               .dist = d,
               .nreg = (uint32_t)1 << d->nreg};
  p.columns = p.bits.n;
  for (int i = TKV_GROUP_WARPS; i < d->nwarp; i++)
    p.columns -= tkv_column_of_right(d->warp[i], &p.bits) != 0;
  if (p.columns > MOST_COLUMNS) p.columns = MOST_COLUMNS;
  /* 64 rows of them, by 128 threads. */
  p.each = (uint32_t)1 << (p.columns - 1);
  return p;
}

bool tkv_multiply_by_warpgroups(tkv_gen *g, const tk_inst *dot, tkv_value *left,
                                tkv_value *right, const tkv_dist *d,
                                tkv_reg *c) {
  if (!tkv_is_by_warpgroups(g, dot)) return false;
  product p = describe_product(g, dot, d);
  if (!find_tile(left, 0, TKV_GROUP_ROWS, &p.tile[0]) ||
      !find_tile(right, 1, p.columns, &p.tile[1]) || !place_tiles(g, p.tile))
    return false;
  multiply_tiles(g, &p, dot, c);
  return true;
}
