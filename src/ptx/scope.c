/* scope.c - names of PTX: registers, variables, functions, labels.
 *
 * One table of hashes; what is newer hides what is older, and a scope that
 * ends takes its names with it.
 */
#include <string.h>

#include "base/bits.h"
#include "ptx/read.h"

static bool is_name(const tkp_name *n, uint32_t h, const char *text,
                    size_t len) {
  return n->hash == h && n->len == len && !memcmp(n->text, text, len);
}

tkp_name *tkp_find(tkp_reader *r, const char *text, size_t len) {
  uint32_t h = tk_hash(text, len);
  tkp_name *n = r->buckets[h % TKP_BUCKETS];
  while (n && (n->kind == TKP_N_REGS || !is_name(n, h, text, len))) n = n->next;
  return n;
}

tkp_name *tkp_find_numbered(tkp_reader *r, const char *text, size_t len) {
  uint32_t h = tk_hash(text, len);
  tkp_name *n = r->buckets[h % TKP_BUCKETS];
  while (n && (n->kind != TKP_N_REGS || !is_name(n, h, text, len))) n = n->next;
  return n;
}

tkp_name *tkp_declare(tkp_reader *r, const char *text, size_t len,
                      tkp_name_kind kind) {
  tkp_name *old = kind == TKP_N_REGS ? tkp_find_numbered(r, text, len)
                                     : tkp_find(r, text, len);
  if (old && old->depth == r->depth)
    tkp_fail(r, text, text + len, NULL, "%.*s is declared twice", (int)len,
             text);
  tkp_name *n = TK_NEW(r->arena, tkp_name);
  n->text = text;
  n->len = len;
  n->kind = (uint8_t)kind;
  n->hash = tk_hash(text, len);
  n->depth = r->depth;
  n->next = r->buckets[n->hash % TKP_BUCKETS];
  r->buckets[n->hash % TKP_BUCKETS] = n;
  n->outer = r->names;
  r->names = n;
  return n;
}

/* ---- scopes ------------------------------------------------------------- */

enum { MAX_DEPTH = 200 };

void tkp_open_scope(tkp_reader *r) {
  if (++r->depth > MAX_DEPTH)
    tkp_fail(r, r->at, r->at + 1, NULL, "blocks are nested too deeply");
}

void tkp_no_label(tkp_reader *r, tk_span label) {
  const char *from = r->text + label.lo, *to = r->text + label.hi;
  tkp_fail(r, from, to, NULL, "there is no label %.*s here", (int)(to - from),
           from);
}

/* Branches out of the scope stay for the one around it. */
void tkp_close_scope(tkp_reader *r) {
  TK_ASSERT(r->depth);
  size_t kept = 0;
  for (size_t i = 0; i < r->fixups.n; i++) {
    tkp_fixup *f = &r->fixups.items[i];
    const char *text = r->text + f->label.lo;
    tkp_name *n = NULL;
    if (f->depth == r->depth) {
      n = tkp_find(r, text, f->label.hi - f->label.lo);
      if (n && (n->kind != TKP_N_LABEL || n->depth != r->depth)) n = NULL;
      if (!n) f->depth--;
    }
    if (!n)
      r->fixups.items[kept++] = *f;
    else if (f->index < 0)
      r->k->code.items[f->inst].target = (uint32_t)n->value;
    else
      f->targets[f->index] = (uint32_t)n->value;
  }
  r->fixups.n = kept;
  while (r->names && r->names->depth == r->depth) {
    r->buckets[r->names->hash % TKP_BUCKETS] = r->names->next;
    r->names = r->names->outer;
  }
  r->depth--;
}

/* ---- registers ---------------------------------------------------------- */

enum { MAX_FILE = 64 << 20 }; /* bytes of a warp's registers */

tkp_reg tkp_new_reg(tkp_reader *r, unsigned bits) {
  tkp_kernel *k = r->k;
  TK_ASSERT(k && bits && bits <= 64);
  uint32_t size = bits == 1 ? 4 : bits <= 32 ? 4 * TKP_WARP : 8 * TKP_WARP;
  if (bits > 1) k->file_bytes = (k->file_bytes + 31) & ~31u;
  tkp_reg reg = {.at = k->file_bytes, .id = k->nregs++, .bits = (uint8_t)bits};
  k->file_bytes += size;
  if (k->file_bytes > MAX_FILE)
    tkp_fail(r, r->at, r->at, NULL, "the kernel uses too many registers");
  return reg;
}

tkp_reg tkp_reg_named(tkp_reader *r, const char *text, size_t len) {
  tkp_name *n = tkp_find(r, text, len);
  if (n) return n->kind == TKP_N_REG ? n->reg : (tkp_reg){0};
  size_t stem = len;
  while (stem && text[stem - 1] >= '0' && text[stem - 1] <= '9') stem--;
  if (stem == len || len - stem > 9) return (tkp_reg){0};
  /* A stem may itself end in digits: the longest that was declared. */
  for (size_t at = len - 1; at >= stem && at > 0; at--) {
    uint32_t k = 0;
    n = tkp_find_numbered(r, text, at);
    if (!n) continue;
    for (size_t i = at; i < len; i++) k = k * 10 + (uint32_t)(text[i] - '0');
    if (k >= n->count) continue;
    if (!n->regs[k].bits) n->regs[k] = tkp_new_reg(r, n->bits);
    return n->regs[k];
  }
  return (tkp_reg){0};
}

tkp_reg tkp_constant_reg(tkp_reader *r, unsigned bits, uint64_t value) {
  tkp_kernel *k = r->k;
  uint32_t *first = &r->first_constant[(value * 31 + bits) % TKP_BUCKETS];
  for (uint32_t i = *first; i; i = r->next_constant.items[i - 1]) {
    TK_ASSERT(i <= k->constants.n);
    const tkp_constant *c = &k->constants.items[i - 1];
    if (c->value == value && c->reg.bits == bits) return c->reg;
  }
  tkp_constant c = {tkp_new_reg(r, bits), value};
  TK_PUSH(r->arena, &k->constants, c);
  TK_PUSH(r->arena, &r->next_constant, *first);
  *first = (uint32_t)k->constants.n;
  return c.reg;
}
