/* gen.c - text, values and control flow of the code for a thread. */
#include "nvptx/gen.h"
#include "nvptx/nvptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text -----------------------------------------------------------------
 */

const char *tkv_new_name(tkv_gen *g, const char *what) {
  return tk_arena_printf(g->arena, "%s%u", what, g->names++);
}

const char *tkv_text(tkv_gen *g, const char *fmt, ...) {
  char s[512];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(s, sizeof s, fmt, ap);
  va_end(ap);
  TK_ASSERT(n >= 0 && (size_t)n < sizeof s);
  return tk_arena_strndup(g->arena, s, (size_t)n);
}

static void add_line(tkv_gen *g, const char *result, const char *fmt,
                     va_list ap) {
  char s[2048];
  int n = vsnprintf(s, sizeof s, fmt, ap);
  TK_ASSERT(n >= 0 && (size_t)n < sizeof s);
  tk_buf_puts(&g->body, "  ");
  if (result) tk_buf_printf(&g->body, "%s = ", result);
  tk_buf_add(&g->body, s, (size_t)n);
  if (g->location) tk_buf_printf(&g->body, ", !dbg !%u", g->location);
  tk_buf_putc(&g->body, '\n');
}

const char *tkv_emit(tkv_gen *g, const char *fmt, ...) {
  const char *name = tkv_new_name(g, "%v");
  va_list ap;
  va_start(ap, fmt);
  add_line(g, name, fmt, ap);
  va_end(ap);
  return name;
}

void tkv_do(tkv_gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add_line(g, NULL, fmt, ap);
  va_end(ap);
}

void tkv_declare(tkv_gen *g, const char *fmt, ...) {
  char s[256];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(s, sizeof s, fmt, ap);
  va_end(ap);
  TK_ASSERT(n >= 0 && (size_t)n < sizeof s);
  if (strstr(tk_buf_str(&g->declared), s)) return;
  tk_buf_printf(&g->declared, "declare %s\n", s);
}

void tkv_label(tkv_gen *g, const char *label) {
  tk_buf_printf(&g->body, "%s:\n", label);
}

const char *tkv_escaped(tkv_gen *g, const char *s) {
  char *out = tk_arena_alloc(g->arena, 3 * strlen(s) + 1), *to = out;
  for (; *s; s++) {
    bool plain = *s >= ' ' && *s != '"' && *s != '\\';
    to += sprintf(to, plain ? "%c" : "\\%02X", (unsigned char)*s);
  }
  return out;
}

void tkv_refuse(tkv_gen *g, const char *fmt, ...) {
  char why[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  tk_diag *d = tk_diag_add(g->env, TK_D_UNSUPPORTED, g->file, g->inst->span,
                           "'%s' is not compiled for the GPU here: %s",
                           tk_inst_name((tk_opcode)g->inst->op), why);
  tk_diag_help(g->env, d,
               "the interpreter runs it; docs/compile.md lists what is "
               "compiled");
  tk_throw(g->env, TK_FINDING);
}

/* ---- places in the source ---------------------------------------------------
 */

enum { FIRST_FREE_METADATA = 16 };

/* Locations are scopes of the one subprogram, !5; a file of its own has one of
 * its own. */
static void set_location(tkv_gen *g, const tk_source *src, tk_span span) {
  int line = tk_source_line(src, span.lo);
  if (g->location && g->file == src && g->line == line) return;
  unsigned scope = 5;
  if (src != g->p->kernel->src) {
    unsigned file = FIRST_FREE_METADATA + g->locations++;
    scope = FIRST_FREE_METADATA + g->locations++;
    tk_buf_printf(&g->debug, "!%u = !DIFile(filename: \"", file);
    tk_buf_puts(&g->debug, src->name);
    tk_buf_printf(&g->debug,
                  "\", directory: \"\")\n!%u = !DILexicalBlockFile(scope: !5, "
                  "file: !%u, discriminator: 0)\n",
                  scope, file);
  }
  g->location = FIRST_FREE_METADATA + g->locations++;
  g->file = src;
  g->line = line;
  tk_buf_printf(&g->debug,
                "!%u = !DILocation(line: %d, column: %d, scope: !%u)\n",
                g->location, line, tk_source_col(src, span.lo), scope);
}

/* ---- values -----------------------------------------------------------------
 */

static tkv_value *new_value(tkv_gen *g, tk_type t) {
  tkv_value *v = TK_NEW(g->arena, tkv_value);
  v->type = t;
  v->frame = g->frame;
  return v;
}

tkv_value *tkv_scalar(tkv_gen *g, tk_type t, const char *name) {
  tkv_value *v = new_value(g, t);
  v->one = name;
  return v;
}

static tkv_version *new_version(tkv_gen *g, const tkv_dist *d) {
  tkv_version *x = TK_NEW(g->arena, tkv_version);
  x->dist = *d;
  x->reg = TK_NEWN(g->arena, const char *, (size_t)1 << d->nreg);
  return x;
}

tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d) {
  tkv_value *v = new_value(g, t);
  v->home = new_version(g, d);
  return v;
}

tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v) {
  return v->home ? v->home->dist : tkv_dist_usual(&v->type, g->warps);
}

static const char **all_one(tkv_gen *g, const char *one, int nreg) {
  const char **reg = TK_NEWN(g->arena, const char *, (size_t)1 << nreg);
  for (size_t i = 0; i < (size_t)1 << nreg; i++) reg[i] = one;
  return reg;
}

const char **tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  if (v->one) return all_one(g, v->one, d->nreg);
  if (v->home && tkv_dist_same(&v->home->dist, d)) return v->home->reg;
  for (tkv_version *x = v->versions; x; x = x->next)
    if (tkv_dist_same(&x->dist, d)) return x->reg;
  tkv_version *made = TK_NEW(g->arena, tkv_version);
  made->dist = *d;
  made->reg =
      v->home ? tkv_convert(g, &v->type, v->home, d) : tkv_compute(g, v, d);
  made->next = v->versions;
  v->versions = made;
  TK_PUSH(g->arena, &g->scoped, v);
  return made->reg;
}

/* What is computed in a body that may not run is not there after it. */
static void leave_scope(tkv_gen *g, size_t outside) {
  while (g->scoped.n > outside) {
    tkv_value *v = g->scoped.items[--g->scoped.n];
    v->versions = v->versions->next;
  }
}

/* ---- merges -----------------------------------------------------------------
 */

const char *tkv_variable(tkv_gen *g, const tk_type *t) {
  const char *name = tkv_new_name(g, "%m");
  tk_buf_printf(&g->entry, "  %s = alloca %s\n", name, tkv_lane_type(t));
  return name;
}

typedef struct search {
  tkv_gen *g;
  int slot, depth;
  bool found;
  tkv_dist dist;
} search;

static bool wish_of_slot(search *s, int slot);

static bool look_at_maker(void *ud, const tk_at *at, const tk_inst *in) {
  search *s = ud;
  (void)at;
  bool makes = false;
  for (int k = 0; k < in->nres; k++) makes |= in->res[k] == s->slot;
  if (!makes || in->op == TK_I_COND) return true;
  const tk_func *f = s->g->frame->f;
  tk_type type = f->slots[s->slot].type;
  if (in->op == TK_I_DOT) {
    s->dist = tkv_dist_product(s->g, in);
    s->found = true;
  } else if (in->op == TK_I_LOAD) {
    int slot = in->args[0];
    const tkv_fact *x = &s->g->facts.of[f->id][slot];
    s->dist = tkv_dist_access(s->g, &f->slots[slot].type, x);
    s->found = true;
  } else if (tk_inst_lanes(in) == TK_LANES_SAME || in->op == TK_I_COPY) {
    for (int k = 0; k < in->nargs && !s->found; k++)
      if (tk_same_shape(&f->slots[in->args[k]].type, &type))
        wish_of_slot(s, in->args[k]);
  }
  return !s->found;
}

/* In which layout the instructions that make a slot would have it. */
static bool wish_of_slot(search *s, int slot) {
  enum { DEEPEST = 12 };
  int around = s->slot;
  if (s->depth == DEEPEST) return false;
  s->depth++;
  s->slot = slot;
  tk_walk_func(s->g->frame->f, &(tk_walk){.ud = s, .inst = look_at_maker});
  s->depth--;
  s->slot = around;
  return s->found;
}

static tkv_dist dist_of_merge(tkv_gen *g, int slot, const tkv_value *v) {
  const tk_func *f = g->frame->f;
  const tk_type *t = &f->slots[slot].type;
  if (t->ptr) return tkv_dist_access(g, t, &g->facts.of[f->id][slot]);
  search s = {.g = g, .slot = -1};
  return wish_of_slot(&s, slot) ? s.dist : tkv_home_of(g, v);
}

static void begin_merge(tkv_gen *g, tkv_merge *m, tk_type t, tkv_dist dist) {
  m->type = t;
  m->dist = dist;
  m->at = TK_NEWN(g->arena, const char *, (size_t)1 << dist.nreg);
  for (uint32_t r = 0; r < (uint32_t)1 << dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&dist, r);
    m->at[r] = first < r ? m->at[first] : tkv_variable(g, &t);
  }
}

static void store_merge(tkv_gen *g, tkv_merge *m, tkv_value *v) {
  const char **reg = tkv_at(g, v, &m->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++)
    if (tkv_dist_canonical(&m->dist, r) == r)
      tkv_do(g, "store %s %s, ptr %s", tkv_lane_type(&m->type), reg[r],
             m->at[r]);
}

static tkv_value *load_merge(tkv_gen *g, const tkv_merge *m) {
  const char *type = tkv_lane_type(&m->type);
  if (!m->type.rank || g->frame->lanes)
    return tkv_scalar(g, m->type,
                      tkv_emit(g, "load %s, ptr %s", type, m->at[0]));
  tkv_value *v = tkv_block(g, m->type, &m->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&m->dist, r);
    v->home->reg[r] = first < r
                          ? v->home->reg[first]
                          : tkv_emit(g, "load %s, ptr %s", type, m->at[r]);
  }
  return v;
}

static bool is_merge(const tkv_gen *g, int slot) {
  return g->frame->makers[slot] > 1;
}

tkv_value *tkv_get(tkv_gen *g, int slot) {
  tkv_frame *fr = g->frame;
  if (is_merge(g, slot)) return load_merge(g, &fr->merge[slot]);
  TK_ASSERT(fr->value[slot]);
  return fr->value[slot];
}

void tkv_set(tkv_gen *g, int slot, tkv_value *v) {
  tkv_frame *fr = g->frame;
  tkv_merge *m = &fr->merge[slot];
  if (!is_merge(g, slot)) {
    fr->value[slot] = v;
    return;
  }
  tkv_dist none = {0};
  tk_type t = fr->f->slots[slot].type;
  if (!m->at)
    begin_merge(g, m, t,
                t.rank && !fr->lanes ? dist_of_merge(g, slot, v) : none);
  store_merge(g, m, v);
}

/* ---- instructions
 * ------------------------------------------------------------ */

static tkv_lower *const rules[TK_INST_COUNT] = {
#define LOWER(id, fn) [TK_I_##id] = fn,
#define REFUSE(id, why)
#include "nvptx/lower.def"
#undef LOWER
#undef REFUSE
};

static const char *const refused[TK_INST_COUNT] = {
#define LOWER(id, fn)
#define REFUSE(id, why) [TK_I_##id] = why,
#include "nvptx/lower.def"
#undef LOWER
#undef REFUSE
};

static void note_home(tkv_gen *g, const tk_inst *in) {
  tkv_frame *fr = g->frame;
  if (!in->nres || fr->lanes) return;
  int slot = in->res[0];
  if (is_merge(g, slot) && fr->merge[slot].type.rank)
    g->homes[in->id] = &fr->merge[slot].dist;
  else if (!is_merge(g, slot) && fr->value[slot]->home)
    g->homes[in->id] = &fr->value[slot]->home->dist;
}

void tkv_gen_insts(tkv_gen *g, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    set_location(g, g->frame->f->src, in->span);
    g->inst = in;
    if (!rules[in->op]) tkv_refuse(g, "%s", refused[in->op]);
    rules[in->op](g, in);
    note_home(g, in);
  }
}

void tkv_gen_nothing(tkv_gen *g, const tk_inst *in) {
  (void)g;
  (void)in;
}

void tkv_gen_pid(tkv_gen *g, const tk_inst *in) {
  bool pid = in->op == TK_I_PID;
  int axis = (int)(pid ? tk_program_id_axis(in) : tk_num_programs_axis(in));
  const char *name = tkv_emit(g, "call i32 @llvm.nvvm.read.ptx.sreg.%s.%c()",
                              pid ? "ctaid" : "nctaid", "xyz"[axis]);
  tkv_set(g, in->res[0], tkv_scalar(g, in->type, name));
}

void tkv_gen_hint(tkv_gen *g, const tk_inst *in) {
  tkv_set(g, in->res[0], tkv_arg(g, in, 0));
}

void tkv_gen_clock(tkv_gen *g, const tk_inst *in) {
  tkv_set(
      g, in->res[0],
      tkv_scalar(g, in->type,
                 tkv_emit(g, "call i64 @llvm.nvvm.read.ptx.sreg.clock64()")));
}

void tkv_gen_barrier(tkv_gen *g, const tk_inst *in) {
  (void)in;
  tkv_barrier(g);
}

/* It is computed when somebody says where; a scalar is at once. */
void tkv_gen_lazy(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = new_value(g, in->type);
  v->in = in;
  v->args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) v->args[k] = tkv_arg(g, in, k);
  bool moves = in->nargs && tkv_same_lanes(v);
  tkv_dist one = {.nwarp = tkv_log2(g->warps)};
  if (moves && (g->frame->lanes || tk_same_shape(&in->type, &in->from)) &&
      in->op != TK_I_PERMUTE) {
    *v = *v->args[0];
    v->type = in->type;
  } else if (!in->type.rank || g->frame->lanes) {
    v->one = tkv_compute(g, v, &one)[0];
  }
  tkv_set(g, in->res[0], v);
}

/* It is computed at the home of an operand, or when somebody says where. */
void tkv_gen_lane_wise(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = new_value(g, in->type);
  tkv_dist one = {.nwarp = tkv_log2(g->warps)};
  v->in = in;
  v->args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  const tkv_dist *home = !in->type.rank || g->frame->lanes ? &one : NULL;
  for (int k = 0; k < in->nargs; k++) {
    v->args[k] = tkv_arg(g, in, k);
    if (!home && v->args[k]->home) home = &v->args[k]->home->dist;
  }
  if (home == &one) {
    v->one = tkv_compute(g, v, home)[0];
  } else if (home) {
    v->home = new_version(g, home);
    v->home->reg = tkv_compute(g, v, home);
  }
  tkv_set(g, in->res[0], v);
}

/* ---- control flow
 * ------------------------------------------------------------ */

static void gen_body(tkv_gen *g, const tk_body *b);

static const char *flag_of(tkv_gen *g, int slot) {
  return tkv_get(g, slot)->one;
}

static void go_to(tkv_gen *g, const char *label) {
  tkv_do(g, "br label %%%s", label);
}

static void branch(tkv_gen *g, const char *flag, const char *yes,
                   const char *no) {
  tkv_do(g, "br i1 %s, label %%%s, label %%%s", flag, yes, no);
}

static void gen_if(tkv_gen *g, const tk_stmt *st) {
  const char *yes = tkv_new_name(g, "then"), *no = tkv_new_name(g, "else"),
             *end = tkv_new_name(g, "end");
  size_t outside = g->scoped.n;
  branch(g, flag_of(g, st->cond), yes, no);
  tkv_label(g, yes);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  go_to(g, end);
  tkv_label(g, no);
  gen_body(g, &st->orelse);
  leave_scope(g, outside);
  go_to(g, end);
  tkv_label(g, end);
}

void tkv_gen_cond(tkv_gen *g, const tk_inst *in) {
  const char *label[] = {tkv_new_name(g, "then"), tkv_new_name(g, "else")},
             *end = tkv_new_name(g, "end");
  size_t outside = g->scoped.n;
  branch(g, tkv_arg(g, in, 0)->one, label[0], label[1]);
  for (int k = 0; k < 2; k++) {
    tkv_label(g, label[k]);
    tkv_gen_insts(g, &in->body[k]);
    leave_scope(g, outside);
    go_to(g, end);
  }
  tkv_label(g, end);
}

static void gen_for(tkv_gen *g, const tk_stmt *st) {
  const char *before = tkv_new_name(g, "before"),
             *head = tkv_new_name(g, "for"), *body = tkv_new_name(g, "body"),
             *next = tkv_new_name(g, "next"), *end = tkv_new_name(g, "end"),
             *iv = tkv_new_name(g, "%i"), *more = tkv_new_name(g, "%i");
  tk_type t = g->frame->f->slots[st->iv].type;
  const char *type = tkv_lane_type(&t), *lb = flag_of(g, st->lb),
             *ub = flag_of(g, st->ub), *step = flag_of(g, st->step);
  size_t outside = g->scoped.n;
  go_to(g, before);
  tkv_label(g, before);
  go_to(g, head);
  tkv_label(g, head);
  tkv_do(g, "%s = phi %s [ %s, %%%s ], [ %s, %%%s ]", iv, type, lb, before,
         more, next);
  branch(g, tkv_compare(g, st->down ? TK_C_GT : TK_C_LT, &t, iv, ub), body,
         end);
  tkv_label(g, body);
  tkv_set(g, st->iv, tkv_scalar(g, t, iv));
  gen_body(g, &st->body);
  leave_scope(g, outside);
  go_to(g, next);
  tkv_label(g, next);
  tkv_do(g, "%s = add %s %s, %s", more, type, iv, step);
  go_to(g, head);
  tkv_label(g, end);
}

tkv_loop tkv_begin_loop(tkv_gen *g, const char *from, const char *n) {
  const char *before = tkv_new_name(g, "before"),
             *body = tkv_new_name(g, "body");
  tkv_loop l = {tkv_new_name(g, "%i"), tkv_new_name(g, "%i"),
                tkv_new_name(g, "next"), tkv_new_name(g, "loop"),
                tkv_new_name(g, "end")};
  go_to(g, before);
  tkv_label(g, before);
  go_to(g, l.head);
  tkv_label(g, l.head);
  tkv_do(g, "%s = phi i32 [ %s, %%%s ], [ %s, %%%s ]", l.i, from, before,
         l.more, l.next);
  branch(g, tkv_emit(g, "icmp slt i32 %s, %s", l.i, n), body, l.end);
  tkv_label(g, body);
  return l;
}

void tkv_end_loop(tkv_gen *g, const tkv_loop *l, int step) {
  go_to(g, l->next);
  tkv_label(g, l->next);
  tkv_do(g, "%s = add i32 %s, %d", l->more, l->i, step);
  go_to(g, l->head);
  tkv_label(g, l->end);
}

static void gen_while(tkv_gen *g, const tk_stmt *st) {
  const char *head = tkv_new_name(g, "while"), *body = tkv_new_name(g, "body"),
             *end = tkv_new_name(g, "end");
  go_to(g, head);
  tkv_label(g, head);
  tkv_gen_insts(g, &st->insts);
  size_t outside = g->scoped.n;
  branch(g, flag_of(g, st->cond), body, end);
  tkv_label(g, body);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  go_to(g, head);
  tkv_label(g, end);
}

/* The results of one return are values; those of several are merges. */
static void gen_return(tkv_gen *g, const tk_stmt *st) {
  tkv_frame *fr = g->frame;
  for (size_t i = 0; i < st->nresults; i++) {
    tkv_value *v = tkv_get(g, st->results[i]);
    if (!fr->results) {
      fr->result[i] = v;
      continue;
    }
    tkv_dist none = {0};
    tkv_merge *m = &fr->results[i];
    if (!m->at)
      begin_merge(g, m, v->type, v->type.rank ? tkv_home_of(g, v) : none);
    store_merge(g, m, v);
  }
  go_to(g, fr->exit);
  tkv_label(g, tkv_new_name(g, "dead"));
}

static void gen_stmt(tkv_gen *g, const tk_stmt *st) {
  if (st->kind != TK_S_WHILE) tkv_gen_insts(g, &st->insts);
  set_location(g, g->frame->f->src, st->span);
  switch (st->kind) {
  case TK_S_RUN: return;
  case TK_S_IF: gen_if(g, st); return;
  case TK_S_FOR: gen_for(g, st); return;
  case TK_S_WHILE: gen_while(g, st); return;
  case TK_S_RETURN: gen_return(g, st); return;
  }
}

static void gen_body(tkv_gen *g, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) gen_stmt(g, b->items[i]);
}

/* ---- functions
 * ----------------------------------------------------------------- */

static bool count_makers(void *ud, const tk_at *at, const tk_inst *in) {
  tkv_frame *fr = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) {
    uint8_t *n = &fr->makers[in->res[k]];
    *n = in->op == TK_I_COND || *n ? 2 : 1;
  }
  return true;
}

static bool count_returns(void *ud, const tk_at *at) {
  if (at->stmt->kind == TK_S_RETURN) ++*(int *)ud;
  return true;
}

static tkv_frame *new_frame(tkv_gen *g, const tk_func *f) {
  int returns = 0;
  tkv_frame *fr = TK_NEW(g->arena, tkv_frame);
  *fr = (tkv_frame){.f = f,
                    .value = TK_NEWN(g->arena, tkv_value *, f->nslots + 1),
                    .merge = TK_NEWN(g->arena, tkv_merge, f->nslots + 1),
                    .makers = TK_NEWN(g->arena, uint8_t, f->nslots + 1),
                    .result = TK_NEWN(g->arena, tkv_value *, f->nresults + 1),
                    .exit = tkv_new_name(g, "exit")};
  tk_walk_func(f, &(tk_walk){.ud = fr, .inst = count_makers});
  tk_walk_func(f, &(tk_walk){.ud = &returns, .stmt = count_returns});
  if (returns > 1) fr->results = TK_NEWN(g->arena, tkv_merge, f->nresults + 1);
  return fr;
}

/* Leaves the results in the frame. */
static void inline_function(tkv_gen *g, tkv_frame *fr, tkv_value **args) {
  tkv_frame *around = g->frame;
  size_t outside = g->scoped.n;
  g->frame = fr;
  for (size_t i = 0; i < fr->f->nparams; i++)
    fr->value[fr->f->params[i]] = args[i];
  gen_body(g, &fr->f->body);
  if (fr->results) leave_scope(g, outside);
  go_to(g, fr->exit);
  tkv_label(g, fr->exit);
  for (size_t i = 0; fr->results && i < fr->f->nresults; i++)
    fr->result[i] = load_merge(g, &fr->results[i]);
  g->frame = around;
}

void tkv_gen_call(tkv_gen *g, const tk_inst *in) {
  tkv_value **args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) args[k] = tkv_arg(g, in, k);
  tkv_frame *fr = new_frame(g, tk_call_callee(in));
  fr->lanes = g->frame->lanes;
  inline_function(g, fr, args);
  for (int k = 0; k < in->nres; k++) tkv_set(g, in->res[k], fr->result[k]);
}

void tkv_call_lanes(tkv_gen *g, const tk_func *f, tkv_value **args,
                    tkv_value **results) {
  tkv_frame *fr = new_frame(g, f);
  fr->lanes = true;
  inline_function(g, fr, args);
  for (size_t i = 0; i < f->nresults; i++) results[i] = fr->result[i];
}

/* ---- the module
 * ------------------------------------------------------------------ */

/* What an argument of the kernel is passed as: an address, a number of the
 * host's. */
static const char *param_type(const tk_type *t) {
  if (t->ptr) return "i64";
  if (t->elem == TK_INT1) return "i8";
  return tkv_lane_type(t);
}

static void print_params(tkv_gen *g, tk_buf *out) {
  for (size_t i = 0; i < g->p->nparams; i++)
    tk_buf_printf(out, "%s%s %%p%zu", i ? ", " : "",
                  param_type(&g->p->params[i].type), i);
}

static void take_params(tkv_gen *g, tkv_value **args) {
  for (size_t i = 0; i < g->p->nparams; i++) {
    const tk_param *x = &g->p->params[i];
    const char *name = tkv_text(g, "%%p%zu", i);
    if (!x->type.ptr && x->type.elem == TK_INT1)
      name = tkv_emit(g, "trunc i8 %s to i1", name);
    for (size_t k = 0; k < g->p->kernel->nparams; k++)
      if (g->p->kernel->params[k] == x->slot)
        args[k] = tkv_scalar(g, x->type, name);
  }
}

static void begin_kernel(tkv_gen *g) {
  tk_buf_puts(&g->entry,
              "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n");
  g->lane = "%lane";
  g->warp = "%warp";
  tk_buf_puts(&g->entry, "  %lane = and i32 %tid, 31\n"
                         "  %warp = lshr i32 %tid, 5\n");
}

/* The subprogram stands in the kernel's file; places of other files are blocks
 * in it. */
static void print_debug(tkv_gen *g, tk_buf *out) {
  const tk_func *f = g->p->kernel;
  tk_buf_printf(out,
                "!llvm.module.flags = !{!1, !2}\n!llvm.dbg.cu = !{!4}\n"
                "!1 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
                "!2 = !{i32 2, !\"Dwarf Version\", i32 2}\n"
                "!3 = !DIFile(filename: \"%s\", directory: \"\")\n"
                "!4 = distinct !DICompileUnit(language: DW_LANG_Python, file: "
                "!3, producer: \"tkdbg\", isOptimized: true, runtimeVersion: "
                "0, emissionKind: DebugDirectivesOnly)\n"
                "!5 = distinct !DISubprogram(name: \"%s\", file: !3, line: %d, "
                "type: !6, spFlags: DISPFlagDefinition | DISPFlagOptimized, "
                "unit: !4)\n"
                "!6 = !DISubroutineType(types: !{})\n",
                f->src->name, f->name, tk_source_line(f->src, f->span.lo));
  tk_buf_puts(out, tk_buf_str(&g->debug));
}

static void print_module(tkv_gen *g, tk_buf *out) {
  const char *name = g->p->kernel->name;
  tk_buf_printf(out, "; %d warps, %zu bytes of shared memory\n", g->warps,
                g->scratch);
  for (size_t i = 0; i < g->p->nparams; i++)
    tk_buf_printf(out, "; parameter %zu: %s, item %zu\n", i,
                  g->p->args[g->p->params[i].arg].name, g->p->params[i].item);
  tk_buf_puts(out, "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-"
                   "n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n"
                   "@scratch = external addrspace(3) global [0 x i8], align "
                   "16\n\n");
  tk_buf_printf(out, "define ptx_kernel void @%s(", name);
  print_params(g, out);
  tk_buf_puts(out, ") !dbg !5 {\nentry:\n");
  tk_buf_puts(out, tk_buf_str(&g->entry));
  tk_buf_puts(out, "  br label %start\nstart:\n");
  tk_buf_puts(out, tk_buf_str(&g->body));
  tk_buf_puts(out, "  ret void\n}\n\n");
  tkv_print_prelude(out);
  tk_buf_puts(out, tk_buf_str(&g->declared));
  tk_buf_printf(out,
                "!nvvm.annotations = !{!7, !8}\n"
                "!7 = !{ptr @%s, !\"kernel\", i32 1}\n"
                "!8 = !{ptr @%s, !\"reqntidx\", i32 %d}\n",
                name, name, 32 * g->warps);
  print_debug(g, out);
}

typedef struct generating {
  tk_buf *out;
  void (*print)(tkv_gen *g, tk_buf *out);
  tk_arena arena;
  tkv_gen gen;
  size_t shared;
} generating;

static void generate(tk_env *e, void *ud) {
  generating *x = ud;
  tkv_gen *g = &x->gen;
  (void)e;
  g->facts = tkv_find_facts(g->arena, g->p);
  g->homes = TK_NEWN(g->arena, const tkv_dist *, g->p->ninsts + 1);
  tkv_value **args = TK_NEWN(g->arena, tkv_value *, g->p->kernel->nparams + 1);
  tkv_frame *fr = new_frame(g, g->p->kernel);
  begin_kernel(g);
  take_params(g, args);
  inline_function(g, fr, args);
  x->print(g, x->out);
  x->shared = g->scratch;
}

/* Generates code, of which `print` prints something; how much shared memory
 * it needs. */
static size_t generate_and_print(tk_buf *out, const tk_program *p,
                                 void (*print)(tkv_gen *g, tk_buf *out)) {
  tk_env *e = out->env;
  generating x = {.out = out, .print = print};
  tk_arena_init(&x.arena, e);
  x.gen = (tkv_gen){.env = e,
                    .arena = &x.arena,
                    .p = p,
                    .warps = (int)p->options[TK_LAUNCH_NUM_WARPS]};
  tk_buf *const texts[] = {&x.gen.entry, &x.gen.body, &x.gen.declared,
                           &x.gen.debug};
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_init(texts[i], e);
  tk_status st = tk_protect(e, generate, &x);
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_free(texts[i]);
  tk_arena_free(&x.arena);
  if (st != TK_OK) tk_throw(e, st);
  return x.shared;
}

void tkv_print_llir(tk_buf *out, const tk_program *p, size_t *shared) {
  *shared = generate_and_print(out, p, print_module);
}

/* ---- layouts ------------------------------------------------------------- */

static void put_bases(tk_buf *out, const tk_type *t, const char *name,
                      const uint32_t *basis, int n) {
  tk_buf_printf(out, "%s = [", name);
  for (int i = 0; i < n; i++) {
    tk_buf_printf(out, "%s[", i ? ", " : "");
    for (int axis = 0; axis < t->rank; axis++)
      tk_buf_printf(out, "%s%u", axis ? ", " : "",
                    basis[i] >> tkv_axis_low(t, axis) &
                        (uint32_t)(t->shape[axis] - 1));
    tk_buf_puts(out, "]");
  }
  tk_buf_puts(out, "]");
}

static void put_layout(void *ud, tk_buf *out, const tk_func *f,
                       const tk_inst *in) {
  const tkv_gen *g = ud;
  const tkv_dist *d = g->homes[in->id];
  if (!in->nres) return;
  const tk_type *t = &f->slots[in->res[0]].type;
  if (!t->rank) return;
  if (!d) {
    tk_buf_puts(out, " // made where it is needed");
    return;
  }
  tk_buf_puts(out, " // #linear<{");
  put_bases(out, t, "register", d->reg, d->nreg);
  put_bases(out, t, ", lane", d->lane, TKV_LANE_BITS);
  put_bases(out, t, ", warp", d->warp, d->nwarp);
  tk_buf_puts(out, ", block = []}>");
}

static void print_layouts_of(tkv_gen *g, tk_buf *out) {
  tk_program_print_with(out, g->p, &(tk_remark){g, put_layout});
}

void tkv_print_layouts(tk_buf *out, const tk_program *p) {
  generate_and_print(out, p, print_layouts_of);
}
