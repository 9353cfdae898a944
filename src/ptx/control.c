/* control.c - branches, ends, and what a kernel prints and asserts.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/bulk.h"

void tkp_run_bra(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TK_ASSERT(in->target < w->b->m->k->code.n); /* its label was found */
  if (lanes == w->active && w->rejoin == UINT32_MAX) {
    w->pc = in->target;
    return;
  }
  uint32_t stay = w->active & ~lanes;
  TKP_EACH(lane, lanes) w->pcs[lane] = in->target;
  w->active = stay;
  tkp_regroup(w);
}

void tkp_run_brx(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_need_set(w, in, in->s[0], lanes, "a branch");
  TKP_EACH(lane, lanes) {
    uint64_t i = tkp_get(w, in->s[0], (int)lane);
    if (i >= in->ntargets) {
      tkp_report(w, in, (int)lane, TK_D_VALUE,
                 "branch to label %llu of a list of %u", (unsigned long long)i,
                 in->ntargets);
      tkp_stop(w);
    }
    TK_ASSERT(in->targets[i] < w->b->m->k->code.n);
    w->pcs[lane] = in->targets[i];
  }
  w->active &= ~lanes;
  tkp_regroup(w);
}

void tkp_run_exit(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TK_ASSERT(!(lanes & w->parked)); /* who waits does not run */
  if (TK_UNLIKELY(w->b->nbulks)) tkp_bulk_end(w, in, lanes);
  w->alive &= ~lanes;
  w->active &= ~lanes;
  tkp_regroup(w);
}

void tkp_run_trap(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  tkp_report(w, in, __builtin_ctz(lanes), TK_D_ASSERT, "the kernel traps");
  tkp_stop(w);
}

/* ---- text ---------------------------------------------------------------- */

static uint64_t call_argument(tkp_warp *w, const tkp_inst *in, int lane,
                              int k) {
  uint64_t v;
  memcpy(&v, w->local + (size_t)lane * w->b->m->k->local + in->targets[k],
         sizeof v);
  return v;
}

/* Adds the text at an address, up to its zero; checked byte by byte. */
static void add_text_at(tkp_warp *w, const tkp_inst *in, int lane,
                        uint64_t addr, tk_buf *out) {
  for (;; addr++) {
    tkp_access a = {.in = in,
                    .lane = lane,
                    .verb = "read of a text",
                    .addr = addr,
                    .size = 1,
                    .align = 1};
    char c = (char)*tkp_reach(w, &a);
    if (!c) return;
    tk_buf_putc(out, c);
  }
}

static uint64_t value_at(tkp_warp *w, const tkp_inst *in, int lane,
                         uint64_t addr, uint32_t size) {
  uint64_t v = 0;
  tkp_access a = {.in = in,
                  .lane = lane,
                  .verb = "read of a value",
                  .addr = addr,
                  .size = size,
                  .align = 1};
  memcpy(&v, tkp_reach(w, &a), size);
  return v;
}

/* The flags, width and precision of a conversion: each flag once, and numbers
 * of at most three digits, so that a damaged text asks for nothing huge. */
static void add_flags(const char *spec, size_t n, char out[16]) {
  size_t to = 0, run = 0;
  for (size_t i = 0; i < n && to < 15; i++) {
    bool digit = spec[i] >= '0' && spec[i] <= '9';
    run = digit ? run + 1 : 0;
    bool again = !digit && to && memchr(out, spec[i], to);
    if (run <= 3 && !again) out[to++] = spec[i];
  }
  out[to] = '\0';
}

/* One conversion of a format, whose value lies at *at, aligned to its size. */
static void print_one(tkp_warp *w, const tkp_inst *in, int lane,
                      const char *spec, size_t n, uint64_t *at, tk_buf *out) {
  char format[32];
  TK_ASSERT(n > 1 && *spec == '%');
  char last = spec[n - 1];
  bool wide = memchr(spec, 'l', n) || strchr("feEgGaAps", last);
  uint32_t size = wide ? 8 : 4;
  *at = (*at + size - 1) & ~(uint64_t)(size - 1);
  uint64_t v = value_at(w, in, lane, *at, size);
  *at += size;
  size_t digits = 1;
  while (digits < n && strchr("-+ #0123456789.", spec[digits])) digits++;
  double real;
  memcpy(&real, &v, sizeof real);
  bool is_signed = last == 'd' || last == 'i';
  const char *kind = strchr("diuoxX", last) ? "ll" : "";
  add_flags(spec, digits, format);
  size_t end = strlen(format);
  snprintf(format + end, sizeof format - end, "%s%c", kind,
           last == 'p' ? 'x' : last);
  if (strchr("feEgGaA", last))
    tk_buf_printf(out, format, real);
  else if (last == 's')
    add_text_at(w, in, lane, v, out);
  else if (last == 'c')
    tk_buf_putc(out, (char)v);
  else if (last == 'p')
    tk_buf_printf(out, "0x%llx", (unsigned long long)v);
  else
    tk_buf_printf(out, format,
                  is_signed && !wide ? (long long)(int32_t)v : (long long)v);
}

static void print_format(tkp_warp *w, const tkp_inst *in, int lane,
                         const char *format, uint64_t values, tk_buf *out) {
  for (const char *p = format; *p;) {
    size_t n = strcspn(p, "%");
    tk_buf_add(out, p, n);
    p += n;
    if (!*p) return;
    if (p[1] == '%') {
      tk_buf_putc(out, '%');
      p += 2;
      continue;
    }
    n = 1 + strspn(p + 1, "-+ #0123456789.hljzt");
    if (!p[n] || !strchr("diuoxXfeEgGaAcsp", p[n])) return;
    print_one(w, in, lane, p, n + 1, &values, out);
    p += n + 1;
  }
}

typedef struct printing {
  tkp_warp *w;
  const tkp_inst *in;
  int lane;
  tk_buf format, out;
} printing;

static void print_lane(tk_env *e, void *ud) {
  printing *x = ud;
  const tkp_launch *l = x->w->b->m->launch;
  (void)e;
  add_text_at(x->w, x->in, x->lane, call_argument(x->w, x->in, x->lane, 0),
              &x->format);
  print_format(x->w, x->in, x->lane, tk_buf_str(&x->format),
               call_argument(x->w, x->in, x->lane, 1), &x->out);
  l->print(l->print_ud, tk_buf_str(&x->out), x->out.n);
}

static void fail_assert(tk_env *e, void *ud) {
  printing *x = ud;
  (void)e;
  add_text_at(x->w, x->in, x->lane, call_argument(x->w, x->in, x->lane, 0),
              &x->out);
  tkp_report(x->w, x->in, x->lane, TK_D_ASSERT, "assertion failed: %s",
             tk_buf_str(&x->out));
}

/* Texts may end by a throw: where memory cannot be read, say. */
static void with_texts(tkp_warp *w, const tkp_inst *in, int lane,
                       void (*fn)(tk_env *e, void *ud)) {
  tk_env *e = w->b->m->env;
  printing x = {.w = w, .in = in, .lane = lane};
  tk_buf_init(&x.format, e);
  tk_buf_init(&x.out, e);
  tk_status st = tk_protect(e, fn, &x);
  tk_buf_free(&x.format);
  tk_buf_free(&x.out);
  if (st != TK_OK) tk_throw(e, st);
}

void tkp_run_printf(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!w->b->m->launch->print) return;
  TKP_EACH(lane, lanes) with_texts(w, in, (int)lane, print_lane);
}

void tkp_run_assert(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  with_texts(w, in, __builtin_ctz(lanes), fail_assert);
  tkp_stop(w);
}
