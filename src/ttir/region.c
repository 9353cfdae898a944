/* region.c - what holds other operations: the module, functions and their
 * blocks, loops, ifs, and functions that combine lanes. */
#include <ctype.h>

#include "ttir/read.h"
#include "ttir/ttir.h"

/* ---- operations one after the other ---------------------------------------
 */

/* The line that an operation begins on, without its location. */
static void begin_operation(tkx_reader *r) {
  tkx_blanks(r);
  const char *line = r->text->text + r->at;
  size_t n = strcspn(line, "\n");
  for (size_t i = 1; i + 5 < n; i++)
    if (!strncmp(line + i, " loc(", 5)) n = i;
  r->span = (tk_span){r->at, r->at + (uint32_t)n};
  r->stmt = NULL;
  tk_check_interrupt(r->env);
}

static bool ends_block(const tkx_op *op) {
  static const char *const words[] = {
      "scf.yield",        "scf.condition",  "tt.return", "cf.br",
      "tt.reduce.return", "tt.scan.return", "cf.cond_br"};
  for (size_t i = 0; i < TK_COUNT(words); i++)
    if (!strcmp(op->name, words[i])) return true;
  return false;
}

/* Up to the operation that ends a block; NULL: a brace does. */
static tkx_op *read_operations(tkx_reader *r) {
  while (!tkx_peek(r, "}")) {
    begin_operation(r);
    tkx_op *op = tkx_read_op(r);
    if (ends_block(op)) return op;
    tkx_operation(r, op);
  }
  return NULL;
}

static tkx_op *need_end(tkx_reader *r, const char *name) {
  tkx_op *op = read_operations(r);
  if (!op || strcmp(op->name, name) != 0)
    tkx_fail(r, op ? op->at : tkx_here(r), NULL, "expected '%s' here", name);
  return op;
}

/* { ... }: what the region yields goes to these slots. */
static void read_yielding(tkx_reader *r, tk_body *body, const int *to,
                          size_t n) {
  tk_body *outer = r->body;
  tkx_enter(r);
  tkx_need(r, "{", "the head of a region");
  r->body = body;
  tkx_op *end = read_operations(r);
  if (end && strcmp(end->name, "scf.yield") != 0)
    tkx_fail(r, end->at, NULL, "expected 'scf.yield' here");
  if ((end ? end->uses.n : 0) != n)
    tkx_fail(r, end ? end->at : tkx_here(r), NULL,
             "this region must yield %zu values", n);
  if (n) tkx_assign_all(r, to, end->uses.items, n);
  tkx_need(r, "}", "a region");
  r->body = outer;
  r->stmt = NULL;
  r->depth--;
}

static void end_compound(tkx_reader *r) {
  if (tkx_take(r, "attributes") || tkx_peek(r, "{")) {
    tkx_blanks(r);
    tkx_skip_group(r);
  }
  tkx_skip_loc(r);
}

/* (%a = %x, %b = %y): variables that begin with these values. */
typedef struct carried {
  TK_VEC(int) slots;
  TK_VEC(const char *) names;
} carried;

static void read_carried(tkx_reader *r, carried *c) {
  TK_VEC(tkx_use) from = {0};
  tkx_need(r, "(", "the head of a loop");
  while (!tkx_take(r, ")")) {
    const char *name = tkx_value_name(r);
    tkx_need(r, "=", "the name of a value");
    TK_PUSH(r->arena, &c->names, name);
    TK_PUSH(r->arena, &from, tkx_need_use(r));
    if (!tkx_take(r, ",") && !tkx_peek(r, ")"))
      tkx_fail(r, tkx_here(r), NULL, "expected ',' or ')'");
  }
  for (size_t i = 0; i < from.n; i++) {
    int slot = from.items[i].slot;
    TK_PUSH(r->arena, &c->slots,
            tkx_define(r, c->names.items[i], r->f->slots[slot].type, true));
    tkx_assign(r, c->slots.items[i], slot);
  }
  r->stmt = NULL;
}

/* (T, U) or T; no value is made of them. */
static size_t read_type_list(tkx_reader *r, tk_type *out, size_t most) {
  size_t n = 0;
  bool group = tkx_take(r, "(");
  while (!group || !tkx_peek(r, ")")) {
    tk_type t = tkx_type(r);
    if (n < most) out[n] = t;
    n++;
    if (!tkx_take(r, ",")) break;
  }
  if (group) tkx_need(r, ")", "the types");
  return n;
}

/* ---- loops and ifs --------------------------------------------------------
 */

void tkx_read_for(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  carried c = {0};
  tk_span head = r->span;
  if (tkx_peek(r, "unsigned"))
    tkx_fail(r, tkx_here(r), NULL, "loops over natural numbers are not read");
  const char *name = tkx_value_name(r);
  tkx_need(r, "=", "the variable of a loop");
  int lb = tkx_need_use(r).slot;
  tkx_need(r, "to", "the lower bound");
  int ub = tkx_need_use(r).slot;
  tkx_need(r, "step", "the upper bound");
  int step = tkx_need_use(r).slot;
  if (tkx_take(r, "iter_args")) {
    read_carried(r, &c);
    tkx_need(r, "->", "what a loop carries");
    read_type_list(r, NULL, 0);
  }
  if (tkx_take(r, ":")) tkx_type(r);
  tk_stmt *st = tkx_statement(r, TK_S_FOR);
  st->iv = tkx_define(r, name, r->f->slots[lb].type, true);
  st->lb = lb;
  st->ub = ub;
  st->step = step;
  read_yielding(r, &st->body, c.slots.items, c.slots.n);
  end_compound(r);
  r->span = head;
  tkx_name_results(r, op, c.slots.items, c.slots.n);
}

void tkx_read_if(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  enum { MOST = 256 };
  tk_type types[MOST];
  int slots[MOST];
  size_t n = 0;
  int cond = tkx_need_use(r).slot;
  if (tkx_take(r, "->")) n = read_type_list(r, types, MOST);
  if (n > MOST)
    tkx_fail(r, op->at, NULL, "an if has at most %d results here", MOST);
  const char *name = op->results.n ? op->results.items[0].name : "if";
  for (size_t i = 0; i < n; i++) {
    slots[i] = tkx_define(r, NULL, types[i], false);
    tk_slot *x = &r->f->slots[slots[i]];
    x->name = tk_arena_printf(r->arena, "v_%s", name);
    tk_lookup_add(r->arena, &r->f->named, x->name, slots[i]);
  }
  tk_stmt *st = tkx_statement(r, TK_S_IF);
  st->cond = cond;
  read_yielding(r, &st->body, slots, n);
  if (tkx_take(r, "else")) read_yielding(r, &st->orelse, slots, n);
  end_compound(r);
  tkx_name_results(r, op, slots, n);
}

/* ^bb0(%a: T loc(...), ...): variables of these types, or none. */
static void read_block_params(tkx_reader *r, tkx_block *b, bool variable) {
  if (tkx_take(r, "(")) {
    while (!tkx_take(r, ")")) {
      const char *name = tkx_value_name(r);
      tkx_need(r, ":", "the name of a value");
      tk_type t = tkx_lifted(r, tkx_type(r));
      tkx_skip_loc(r);
      TK_PUSH(r->arena, &b->params, tkx_define(r, name, t, variable));
      if (!tkx_take(r, ",") && !tkx_peek(r, ")"))
        tkx_fail(r, tkx_here(r), NULL, "expected ',' or ')'");
    }
  }
  tkx_need(r, ":", "the name of a block");
  b->at = r->at;
}

void tkx_read_while(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  carried c = {0};
  tkx_block b = {.name = NULL};
  if (tkx_peek(r, "(")) read_carried(r, &c);
  tkx_need(r, ":", "what a loop carries");
  read_type_list(r, NULL, 0);
  tkx_need(r, "->", "the types that a loop carries");
  read_type_list(r, NULL, 0);
  tkx_need(r, "{", "the head of a loop");
  tk_stmt *st = tkx_statement(r, TK_S_WHILE);
  tk_insts *outer = r->into;
  r->into = &st->insts;
  tkx_op *test = need_end(r, "scf.condition");
  if (!test->uses.n) tkx_fail(r, test->at, NULL, "this must have a condition");
  st->cond = test->uses.items[0].slot;
  size_t n = test->uses.n - 1;
  const tkx_use *from = test->uses.items + 1;
  tkx_need(r, "}", "the condition of a loop");
  tkx_need(r, "do", "the condition of a loop");
  /* the variables of the second region, which are the results too */
  tkx_need(r, "{", "'do'");
  if (tkx_take(r, "^")) {
    tkx_name(r, "the name of a block");
    read_block_params(r, &b, true);
  }
  if (!b.params.n)
    for (size_t i = 0; i < n; i++)
      TK_PUSH(r->arena, &b.params,
              tkx_define(r, "0", r->f->slots[from[i].slot].type, true));
  if (b.params.n != n)
    tkx_fail(r, test->at, NULL, "the loop's body takes %zu values", b.params.n);
  if (n) tkx_assign_all(r, b.params.items, from, n);
  r->into = outer;
  tk_body *around = r->body;
  tkx_enter(r);
  r->body = &st->body;
  tkx_op *end = read_operations(r);
  if ((end && strcmp(end->name, "scf.yield") != 0) ||
      (end ? end->uses.n : 0) != c.slots.n)
    tkx_fail(r, end ? end->at : tkx_here(r), NULL,
             "the loop's body must yield %zu values", c.slots.n);
  if (c.slots.n) tkx_assign_all(r, c.slots.items, end->uses.items, c.slots.n);
  tkx_need(r, "}", "the body of a loop");
  r->body = around;
  r->depth--;
  end_compound(r);
  tkx_name_results(r, op, b.params.items, n);
}

/* ---- blocks ---------------------------------------------------------------
 */

/* Reads what ends a block of a function, and what that leads to. */
static void end_block(tkx_reader *r, tkx_op *op) {
  if (!op) tkx_fail(r, tkx_here(r), NULL, "expected 'tt.return' before this");
  if (!strncmp(op->name, "cf.", 3)) {
    tkx_read_branch(r, op, 0);
    return;
  }
  if (strcmp(op->name, "tt.return") != 0)
    tkx_fail(r, op->at, NULL, "expected 'tt.return' here");
  tk_stmt *st = tkx_statement(r, TK_S_RETURN);
  st->results = TK_NEWN(r->arena, int, op->uses.n + 1);
  for (size_t i = 0; i < op->uses.n; i++)
    st->results[i] = op->uses.items[i].slot;
  st->nresults = op->uses.n;
}

static void enter_block(tkx_reader *r, tkx_block *b) {
  if (b->entered)
    tkx_fail(r, r->span, NULL, "branches back to a block are not read");
  tkx_enter(r);
  b->entered = true;
  r->at = b->at;
  end_block(r, read_operations(r));
  b->entered = false;
  r->depth--;
}

/* ^bb1(%a, %b : T, U): the block that it leads to; its variables are set. */
static tkx_block *read_target(tkx_reader *r, tk_body *body) {
  TK_VEC(tkx_use) from = {0};
  tkx_need(r, "^", "a branch");
  tk_span at = tkx_here(r);
  const char *name = tkx_name(r, "the name of a block");
  if (tkx_take(r, "(")) {
    do TK_PUSH(r->arena, &from, tkx_need_use(r));
    while (tkx_take(r, ","));
    tkx_need(r, ":", "the values of a branch");
    read_type_list(r, NULL, 0);
    tkx_need(r, ")", "the values of a branch");
  }
  for (size_t i = 0; i < r->blocks.n; i++) {
    tkx_block *b = &r->blocks.items[i];
    if (strcmp(b->name, name) != 0) continue;
    if (b->params.n != from.n)
      tkx_fail(r, at, NULL, "^%s takes %zu values", name, b->params.n);
    tk_body *outer = r->body;
    r->body = body;
    r->stmt = NULL;
    if (from.n) tkx_assign_all(r, b->params.items, from.items, from.n);
    r->body = outer;
    return b;
  }
  tkx_fail(r, at, NULL, "there is no block ^%s", name);
}

/* Blocks that several branches lead to are read once for each of them; so many
 * in all. */
enum { MOST_BLOCKS = 512 };

void tkx_read_branch(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  if (r->into || !r->blocks.n)
    tkx_fail(r, op->at, NULL, "'%s' is not read here", op->name);
  if (r->nentered++ > MOST_BLOCKS)
    tkx_fail(r, op->at, NULL,
             "there are more ways through this function than "
             "are read");
  if (!strcmp(op->name, "cf.br")) {
    enter_block(r, read_target(r, r->body));
    return;
  }
  int cond = tkx_need_use(r).slot;
  tk_stmt *st = tkx_statement(r, TK_S_IF);
  st->cond = cond;
  tkx_need(r, ",", "the condition of a branch");
  tkx_block *yes = read_target(r, &st->body);
  tkx_need(r, ",", "the first block of a branch");
  tkx_block *no = read_target(r, &st->orelse);
  tk_body *outer = r->body;
  r->body = &st->body;
  enter_block(r, yes);
  r->body = &st->orelse;
  enter_block(r, no);
  r->body = outer;
}

/* The blocks of a body that begins here, up to its closing brace. */
static void find_blocks(tkx_reader *r) {
  uint32_t begin = r->at;
  r->blocks.n = 0;
  for (;;) {
    tkx_blanks(r);
    char c = r->text->text[r->at];
    if (!c)
      tkx_fail(r, (tk_span){begin - 1, begin}, NULL,
               "this brace is never closed");
    if (c == '}') break;
    if (c == '"' || strchr("([{", c)) {
      uint32_t before = r->at;
      if (c == '"') { /* a group of one */
        r->at++;
        while (r->text->text[r->at] && r->text->text[r->at] != '"') r->at++;
        if (!r->text->text[r->at])
          tkx_fail(r, (tk_span){before, before + 1}, NULL,
                   "this \" is never closed");
        r->at++;
      } else {
        tkx_skip_group(r);
      }
      continue;
    }
    bool first = r->at > begin && c == '^';
    for (uint32_t i = r->at; first && r->text->text[i - 1] != '\n'; i--)
      first = r->text->text[i - 1] == ' ';
    r->at++;
    if (!first) continue;
    tkx_block b = {.name = tkx_name(r, "the name of a block")};
    read_block_params(r, &b, true);
    TK_PUSH(r->arena, &r->blocks, b);
  }
}

/* ---- functions ------------------------------------------------------------
 */

/* The name of a parameter in the kernel: loc("x_ptr"(#loc)), or that of a
 * location which is named elsewhere. */
static const char *param_name(tkx_reader *r, const char *otherwise) {
  uint32_t back = r->at;
  if (!tkx_take(r, "loc") || !tkx_take(r, "(")) return otherwise;
  if (tkx_peek(r, "#")) {
    tk_span at = tkx_here(r);
    const char *alias =
        tk_arena_strndup(r->arena, r->text->text + at.lo, at.hi - at.lo);
    int found = tk_lookup_find(&r->aliases, alias);
    if (found >= 0) r->at = (uint32_t)r->aliases.list.items[found].number;
    if (found >= 0 && (!tkx_take(r, "loc") || !tkx_take(r, "("))) r->at = back;
  }
  const char *name = otherwise;
  if (tkx_peek(r, "\"")) {
    const char *text = r->text->text + r->at + 1;
    size_t n = strcspn(text, "\"\n");
    if (text[n] == '"' && text[n + 1] == '(')
      name = tk_arena_strndup(r->arena, text, n);
  }
  r->at = back;
  return name;
}

/* As Python would spell it, since a kernel's header is one of Python's. */
static const char *identifier(tkx_reader *r, const char *name) {
  bool digit = !*name || isdigit((unsigned char)*name);
  char *made = tk_arena_printf(r->arena, "%s%s", digit ? "v" : "", name);
  for (char *p = made; *p; p++)
    if (!isalnum((unsigned char)*p)) *p = '_';
  return made;
}

typedef struct header {
  tk_func *func;
  uint32_t body;
  TK_VEC(const char *) names;
} header;

typedef TK_VEC(header) headers;

static int divisor_of(const char *text, size_t n) {
  static const char word[] = "tt.divisibility = 16";
  for (size_t i = 0; i + sizeof word - 1 <= n; i++)
    if (!strncmp(text + i, word, sizeof word - 1)) return 16;
  return 1;
}

static void read_func_params(tkx_reader *r, header *h, bool kernel) {
  TK_VEC(int) slots = {0};
  TK_VEC(tk_param) params = {0};
  TK_VEC(tk_program_arg) args = {0};
  tkx_need(r, "(", "the name of a function");
  while (!tkx_take(r, ")")) {
    tk_span at = tkx_here(r);
    const char *name = tkx_value_name(r);
    tkx_need(r, ":", "the name of a parameter");
    if (tkx_peek(r, "!tt.tensordesc"))
      tkx_fail(r, at, "compile for sm_80, where Triton takes them apart",
               "descriptors as parameters are not read");
    tk_param p = {.arg = args.n, .type = tkx_type(r), .divisor = 1};
    if (tkx_peek(r, "{")) {
      uint32_t lo = r->at;
      tkx_skip_group(r);
      p.divisor = divisor_of(r->text->text + lo, r->at - lo);
    }
    tkx_blanks(r);
    tk_program_arg a = {identifier(r, param_name(r, name)), NULL};
    tkx_skip_loc(r);
    p.slot = tk_slot_new(r->p, h->func, p.type, a.name);
    TK_PUSH(r->arena, &slots, p.slot);
    TK_PUSH(r->arena, &params, p);
    TK_PUSH(r->arena, &args, a);
    TK_PUSH(r->arena, &h->names, name);
    if (!tkx_take(r, ",") && !tkx_peek(r, ")"))
      tkx_fail(r, tkx_here(r), NULL, "expected ',' or ')'");
  }
  h->func->params = slots.items;
  h->func->nparams = slots.n;
  if (!kernel) return;
  r->p->params = params.items;
  r->p->nparams = params.n;
  r->p->args = args.items;
  r->p->nargs = args.n;
}

static void read_result_types(tkx_reader *r, tk_func *f) {
  enum { MOST = 256 };
  tk_type types[MOST];
  if (!tkx_take(r, "->")) return;
  tk_span at = tkx_here(r);
  size_t n = read_type_list(r, types, MOST);
  if (n > MOST)
    tkx_fail(r, at, NULL, "a function has at most %d results", MOST);
  f->result_types = TK_NEWN(r->arena, tk_type, n + 1);
  memcpy(f->result_types, types, n * sizeof *types);
  f->nresults = n;
}

static void read_func_head(tkx_reader *r, headers *all) {
  header h = {.func = NULL};
  bool kernel = !tkx_take(r, "private");
  if (kernel) tkx_take(r, "public");
  tkx_need(r, "@", "tt.func");
  tk_span at = tkx_here(r);
  const char *name = tkx_symbol(r, "the name of a function");
  if (kernel && r->p->kernel)
    tkx_fail(r, at, NULL, "a module with two kernels is not read");
  if (tk_lookup_find(&r->funcs, name) >= 0)
    tkx_fail(r, at, NULL, "there are two functions @%s", name);
  h.func = tk_func_new(r->p, identifier(r, name), r->text);
  h.func->span = at;
  tk_lookup_add(r->arena, &r->funcs, name, (int)h.func->id);
  if (kernel) r->p->kernel = h.func;
  read_func_params(r, &h, kernel);
  read_result_types(r, h.func);
  if (tkx_take(r, "attributes")) {
    tkx_blanks(r);
    tkx_skip_group(r);
  }
  tkx_need(r, "{", "the head of a function");
  h.body = r->at--;
  tkx_skip_group(r);
  tkx_skip_loc(r);
  TK_PUSH(r->arena, all, h);
}

static void read_func_body(tkx_reader *r, header *h) {
  r->f = h->func;
  r->body = &h->func->body;
  r->constants.n = 0;
  r->nentered = 0;
  tk_lookup_clear(&r->names);
  for (size_t i = 0; i < h->names.n; i++)
    tk_lookup_add(r->arena, &r->names, h->names.items[i], (int)i);
  r->at = h->body;
  find_blocks(r);
  r->at = h->body;
  end_block(r, read_operations(r));
  tk_func_last_uses(r->p, h->func);
}

/* ---- functions that combine -----------------------------------------------
 */

/* What a region with a single operation repeats; -1: it has others. */
static int64_t repeated(tkx_reader *r, const tkx_op *op) {
  static const struct {
    const char *name;
    tk_reduction op;
  } known[] = {
      {"arith.addf", TK_R_SUM},         {"arith.addi", TK_R_SUM},
      {"arith.mulf", TK_R_PROD},        {"arith.muli", TK_R_PROD},
      {"arith.maxnumf", TK_R_MAX},      {"arith.maxsi", TK_R_MAX},
      {"arith.minnumf", TK_R_MIN},      {"arith.minsi", TK_R_MIN},
      {"arith.maximumf", TK_R_MAX_NAN}, {"arith.minimumf", TK_R_MIN_NAN},
      {"arith.andi", TK_R_AND},         {"arith.ori", TK_R_OR},
      {"arith.xori", TK_R_XOR},
  };
  if (op->uses.n != 1) return -1;
  const char *text = r->text->text + op->region;
  const char *name = strstr(text, " = "), *end = strstr(text, ".return");
  if (!name || !end || name > end) return -1;
  name += 3;
  const char *second = strstr(name, " = ");
  if (second && second < end) return -1;
  size_t n = strcspn(name, " ");
  const char *line = name + n;
  const char *one = strchr(line, '%'), *two = one ? strchr(one + 1, '%') : NULL;
  if (!two || two > end || !strncmp(one, two, 1 + strcspn(one + 1, ", :")))
    return -1; /* a value with itself */
  for (size_t i = 0; i < TK_COUNT(known); i++)
    if (strlen(known[i].name) == n && !strncmp(known[i].name, name, n))
      return known[i].op;
  return -1;
}

/* The region as a function of blocks. */
static tk_func *combining(tkx_reader *r, const tkx_op *op,
                          const tk_type *shape) {
  tkx_reader outer = *r;
  tkx_block b = {.name = NULL};
  if (outer.lift)
    tkx_fail(r, op->at, NULL, "a reduction inside another is not read");
  r->f = tk_func_new(r->p, "combine", r->text);
  r->f->span = op->at;
  r->names = (tk_lookup){.lent = false};
  r->body = &r->f->body;
  r->into = NULL;
  r->stmt = NULL;
  r->lift = shape;
  r->at = op->region;
  tkx_need(r, "^", "a region: its block");
  tkx_name(r, "the name of a block");
  read_block_params(r, &b, false);
  r->f->params = b.params.items;
  r->f->nparams = b.params.n;
  tkx_op *end = read_operations(r);
  if (!end || !strstr(end->name, ".return"))
    tkx_fail(r, op->at, NULL, "the region of '%s' must return", op->name);
  r->stmt = NULL;
  tk_stmt *st = tkx_statement(r, TK_S_RETURN);
  st->nresults = r->f->nresults = end->uses.n;
  st->results = TK_NEWN(r->arena, int, end->uses.n + 1);
  r->f->result_types = TK_NEWN(r->arena, tk_type, end->uses.n + 1);
  for (size_t i = 0; i < end->uses.n; i++) {
    st->results[i] = end->uses.items[i].slot;
    r->f->result_types[i] = r->f->slots[st->results[i]].type;
  }
  tk_func_last_uses(r->p, r->f);
  tk_func *made = r->f;
  *r = outer;
  return made;
}

static const tk_combine *combine_of(tkx_reader *r, const tkx_op *op, bool scan,
                                    int64_t axis) {
  tk_combine *c = TK_NEW(r->arena, tk_combine);
  TK_VEC(tk_func *) levels = {0};
  tk_type shape = r->f->slots[op->uses.items[0].slot].type;
  if (scan) {
    TK_PUSH(r->arena, &levels, combining(r, op, &shape));
  } else {
    for (int32_t n = shape.shape[axis]; n > 1; n /= 2) {
      shape.shape[axis] = n / 2;
      TK_PUSH(r->arena, &levels, combining(r, op, &shape));
    }
  }
  c->levels = levels.items;
  c->nlevels = (int)levels.n;
  return c;
}

void tkx_read_combined(tkx_reader *r, tkx_op *op, int to) {
  bool scan = to == TK_I_SCAN_FN;
  int64_t axis = tkx_number_of(r, op, "axis");
  size_t n = op->uses.n;
  const tkx_word *reverse = tkx_word_of(op, "reverse");
  if (!op->region || !n || n > TK_COMBINED || op->out.n != n)
    tkx_fail(r, op->at, NULL,
             "'%s' must have a region and as many results as "
             "operands",
             op->name);
  if (axis < 0 || axis >= r->f->slots[op->uses.items[0].slot].type.rank)
    tkx_fail(r, op->at, NULL, "the block has no axis %lld", (long long)axis);
  int64_t word = repeated(r, op);
  const tk_combine *c = word < 0 ? combine_of(r, op, scan, axis) : NULL;
  int *args = TK_NEWN(r->arena, int, n), *res = TK_NEWN(r->arena, int, n);
  for (size_t i = 0; i < n; i++) args[i] = op->uses.items[i].slot;
  tk_opcode code = word < 0 ? (tk_opcode)to : scan ? TK_I_SCAN : TK_I_REDUCE;
  for (size_t i = 0; i < n; i++)
    res[i] = tkx_define(r, NULL, op->out.items[i], false);
  tk_inst *in = tkx_emit_all(r, code, (int)n, args, (int)n, res);
  in->mode = word < 0 ? 0 : (uint8_t)word;
  in->attr[0] = axis;
  if (scan) in->attr[1] = reverse && reverse->value && *reverse->value == 't';
  if (c) in->ref.combine = c;
  tkx_name_results(r, op, res, n);
}

/* ---- the module -----------------------------------------------------------
 */

static void skip_lines_of_aliases(tkx_reader *r) {
  while (tkx_peek(r, "#"))
    r->at += (uint32_t)strcspn(r->text->text + r->at, "\n");
}

static void read_headers(tkx_reader *r, headers *all) {
  skip_lines_of_aliases(r);
  bool module = tkx_take(r, "module");
  if (module) {
    if (tkx_take(r, "@")) tkx_name(r, "the name of a module");
    if (tkx_take(r, "attributes")) {
      tkx_blanks(r);
      tkx_skip_group(r);
    }
    tkx_need(r, "{", "'module'");
  }
  while (tkx_take(r, "tt.func")) read_func_head(r, all);
  if (module) {
    tk_span at = tkx_here(r);
    if (!tkx_take(r, "}"))
      tkx_fail(r, at, NULL, "expected 'tt.func' or '}' here");
    tkx_skip_loc(r);
  }
  skip_lines_of_aliases(r);
  tkx_blanks(r);
  if (r->text->text[r->at] || !r->p->kernel)
    tkx_fail(r, tkx_here(r), NULL,
             r->p->kernel ? "nothing is expected behind the module"
                          : "the module has no kernel: expected 'tt.func'");
}

void tkx_read_module(tkx_reader *r) {
  headers all = {0};
  tk_flaw flaw;
  tkx_read_aliases(r);
  read_headers(r, &all);
  for (size_t i = 0; i < all.n; i++) read_func_body(r, &all.items[i]);
  if (tk_program_verify(r->p, r->arena, &flaw)) return;
  tk_span at = flaw.inst   ? flaw.inst->span
               : flaw.stmt ? flaw.stmt->span
               : flaw.func ? flaw.func->span
                           : (tk_span){0, 1};
  tkx_fail(r, at, NULL, "%s", flaw.text);
}

bool tkx_is_ttir(const tk_source *src) {
  tkx_reader r = {.text = (tk_source *)src};
  tkx_blanks(&r);
  return tkx_peek(&r, "#") || tkx_peek(&r, "module") ||
         tkx_peek(&r, "tt.func") || tkx_peek(&r, "\"builtin.module\"");
}

static void parse_module(tk_env *e, void *ud) {
  tkx_reader *r = ud;
  (void)e;
  const char *zero = memchr(r->text->text, 0, r->text->len);
  if (zero) {
    uint32_t at = (uint32_t)(zero - r->text->text);
    tkx_fail(r, (tk_span){at, at + 1}, NULL, "the text has a byte 0");
  }
  tkx_read_module(r);
}

tk_program *tkx_parse(tk_env *e, tk_arena *keep, tk_source *src) {
  tk_program *p = tk_calloc(e, 1, sizeof *p);
  tk_program_init(p, e);
  p->language = TK_LANGUAGE_TTIR;
  tkx_reader r = {
      .env = e, .keep = keep, .arena = &p->arena, .p = p, .text = src};
  tk_status st = tk_protect(e, parse_module, &r);
  if (st == TK_OK) return p;
  tk_program_free(p);
  tk_throw(e, st);
}
