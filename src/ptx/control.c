/* control.c - branches, ends, and what a kernel prints and asserts.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/exec.h"

void tkp_run_bra(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
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
                 "label %llu of a list of %u is branched to",
                 (unsigned long long)i, in->ntargets);
      tkp_stop(w);
    }
    w->pcs[lane] = in->targets[i];
  }
  w->active &= ~lanes;
  tkp_regroup(w);
}

void tkp_run_exit(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  (void)in;
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

/* The text at an address, up to its zero; checked byte by byte. */
static void text_at(tkp_warp *w, const tkp_inst *in, int lane, uint64_t addr,
                    char *out, size_t room) {
  size_t n = 0;
  for (; n + 1 < room; n++) {
    tkp_access a = {.in = in,
                    .lane = lane,
                    .verb = "read of a text",
                    .addr = addr + n,
                    .size = 1,
                    .align = 1};
    out[n] = (char)*tkp_reach(w, &a);
    if (!out[n]) return;
  }
  out[n] = '\0';
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

/* One conversion of a format, whose value lies at *at, aligned to its size. */
static void print_one(tkp_warp *w, const tkp_inst *in, int lane,
                      const char *spec, size_t n, uint64_t *at, tk_buf *out) {
  char format[32], text[512];
  char last = spec[n - 1];
  bool wide = memchr(spec, 'l', n) || strchr("feEgGaAps", last);
  uint32_t size = wide ? 8 : 4;
  *at = (*at + size - 1) & ~(uint64_t)(size - 1);
  uint64_t v = value_at(w, in, lane, *at, size);
  *at += size;
  size_t digits = 1;
  while (digits < n && strchr("-+ #0123456789.", spec[digits])) digits++;
  if (digits > 12) digits = 12;
  double real;
  memcpy(&real, &v, sizeof real);
  bool is_signed = last == 'd' || last == 'i';
  const char *kind = strchr("diuoxX", last) ? "ll" : "";
  snprintf(format, sizeof format, "%.*s%s%c", (int)digits, spec, kind,
           last == 'p' ? 'x' : last);
  if (strchr("feEgGaA", last))
    snprintf(text, sizeof text, format, real);
  else if (last == 's')
    text_at(w, in, lane, v, text, sizeof text);
  else if (last == 'c')
    snprintf(text, sizeof text, "%c", (int)v);
  else if (last == 'p')
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
  else
    snprintf(text, sizeof text, format,
             is_signed && !wide ? (long long)(int32_t)v : (long long)v);
  tk_buf_puts(out, text);
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

void tkp_run_printf(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  const tkp_launch *l = w->b->m->launch;
  if (!l->print) return;
  TKP_EACH(lane, lanes) {
    char format[4096];
    tk_buf out;
    text_at(w, in, (int)lane, call_argument(w, in, (int)lane, 0), format,
            sizeof format);
    tk_buf_init(&out, w->b->m->env);
    print_format(w, in, (int)lane, format, call_argument(w, in, (int)lane, 1),
                 &out);
    l->print(l->print_ud, tk_buf_str(&out), out.n);
    tk_buf_free(&out);
  }
}

void tkp_run_assert(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  char text[1024];
  int lane = __builtin_ctz(lanes);
  text_at(w, in, lane, call_argument(w, in, lane, 0), text, sizeof text);
  tkp_report(w, in, lane, TK_D_ASSERT, "assertion failed: %.400s", text);
  tkp_stop(w);
}
