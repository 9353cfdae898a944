/* pids.c - which programs run, and in which order.
 *
 *   conditions = condition { ',' condition }        one an axis, at most three
 *   condition  = [ [ op ] INT | [ INT ] ':' [ INT ] ]
 *   op         = '=' | '==' | '!=' | '<' | '<=' | '>' | '>='
 *
 * A bare number means equality, a range lo:hi excludes hi, blanks mean
 * nothing.
 *
 * A shuffled order is a keyed permutation: four rounds of a Feistel network
 * permute the smallest even power of two that holds n, and an index that
 * falls outside is permuted again until it falls inside ("cycle walking",
 * Black and Rogaway 2002).  So any index's place is found with no memory.
 */
#include "internal.h"

#include <string.h>

enum { RANGE = 255, ROUNDS = 4 };

static const char cond_help[] =
    "per axis: 3, =3, !=3, <3, <=3, >3, >=3, 0:4, or nothing; axes are "
    "separated by commas: 0,>1";

/* ---- conditions -------------------------------------------------------- */

static const struct {
  const char *text;
  uint8_t op;
} operators[] = {
    {"==", TK_OP_EQ}, {"!=", TK_OP_NE}, {"<=", TK_OP_LE}, {">=", TK_OP_GE},
    {"=", TK_OP_EQ},  {"<", TK_OP_LT},  {">", TK_OP_GT},
};

static uint8_t operator_at(tkn_cursor *c) {
  tkn_skip(c);
  const char *s = c->src->text + c->at;
  for (size_t i = 0; i < TK_COUNT(operators); i++) {
    size_t n = strlen(operators[i].text);
    if (strncmp(s, operators[i].text, n) != 0) continue;
    c->at += (uint32_t)n;
    return operators[i].op;
  }
  return 0;
}

static int64_t pid_at(tkn_cursor *c) {
  char ch = tkn_peek(c);
  bool start = (ch >= '0' && ch <= '9') || ch == '-' || ch == '+';
  if (!start)
    tkn_fail(c, c->at, tkn_extent(c), cond_help, "expected a program id");
  return tkn_int(c, INT64_MIN, INT64_MAX, "a program id");
}

static bool at_separator(tkn_cursor *c) {
  char ch = tkn_peek(c);
  return ch == 0 || ch == ',';
}

/* After the ':' of lo:hi. */
static void range(tkn_cursor *c, uint32_t at, int64_t lo, tk_pid_cond *out) {
  int64_t hi = at_separator(c) ? INT64_MAX : pid_at(c);
  if (hi <= lo)
    tkn_fail(c, at, c->at, "a range lo:hi holds lo up to hi - 1",
             "no program id is in this range");
  *out = (tk_pid_cond){.op = RANGE, .lo = lo, .hi = hi};
}

static void condition(tkn_cursor *c, tk_pid_cond *out) {
  *out = (tk_pid_cond){0};
  if (at_separator(c)) return;
  uint32_t at = c->at;
  uint8_t op = operator_at(c);
  if (!op && tkn_accept(c, ':')) {
    range(c, at, 0, out);
  } else {
    out->lo = pid_at(c);
    out->op = op ? op : TK_OP_EQ;
    if (!op && tkn_accept(c, ':')) range(c, at, out->lo, out);
  }
  if (!at_separator(c))
    tkn_fail(c, c->at, tkn_extent(c), cond_help,
             "expected ',' or the end of the conditions");
}

static void conditions(tkn_cursor *c, tk_pids *out) {
  int axis = 0;
  memset(out, 0, sizeof *out);
  do {
    if (axis == 3)
      tkn_fail(c, c->at - 1, c->src->len, cond_help,
               "program ids have at most three axes");
    condition(c, &out->axis[axis++]);
  } while (tkn_accept(c, ','));
}

typedef struct parse_call {
  tkn_cursor c;
  tk_pids *out;
} parse_call;

static void parse_conditions(tk_env *e, void *ud) {
  (void)e;
  parse_call *call = ud;
  conditions(&call->c, call->out);
}

static bool protected_parse(tk_env *e, tkn_cursor c, tk_pids *out) {
  parse_call call = {c, out};
  tk_status st = tk_protect(e, parse_conditions, &call);
  if (st != TK_OK && st != TK_USAGE) tk_throw(e, st);
  return st == TK_OK;
}

typedef struct quoted_call {
  tk_arena arena;
  const char *text;
  size_t len;
  tk_pids *out;
} quoted_call;

static void parse_quoted(tk_env *e, void *ud) {
  quoted_call *q = ud;
  tkn_cursor c = {.env = e,
                  .src = tk_source_new(&q->arena, "--pid", q->text, q->len),
                  .id = TK_D_CONDITION,
                  .quotes = &q->arena};
  conditions(&c, q->out);
}

/* There is no place to keep a source that diagnostics could point into, so
 * they quote the text. */
bool tk_pids_parse(tk_env *e, const char *text, size_t len, tk_pids *out) {
  quoted_call q = {.text = text, .len = len, .out = out};
  tk_arena_init(&q.arena, e);
  tk_status st = tk_protect(e, parse_quoted, &q);
  tk_arena_free(&q.arena);
  if (st != TK_OK && st != TK_USAGE) tk_throw(e, st);
  return st == TK_OK;
}

bool tk_pids_parse_in(tk_env *e, tk_arena *a, const char *source,
                      const char *text, size_t len, tk_pids *out) {
  tk_source *src = tk_source_new(a, source, text, len);
  tkn_cursor c = {.env = e, .src = src, .id = TK_D_CONDITION};
  return protected_parse(e, c, out);
}

typedef struct check_call {
  tk_session *s;
  const char *text;
} check_call;

static void check_pids(tk_env *e, void *ud) {
  check_call *c = ud;
  tk_pids pids;
  size_t len = strlen(c->text);
  if (!tk_pids_parse_in(e, &c->s->arena, "--pid", c->text, len, &pids))
    tk_throw(e, TK_USAGE);
}

tk_status tk_pids_check(tk_session *s, const char *conds) {
  check_call c = {s, conds ? conds : ""};
  return tk_session_guard(s, check_pids, &c);
}

tk_pid_interval tk_pid_interval_of(const tk_pid_cond *c) {
  switch (c->op) {
  case TK_OP_EQ: return (tk_pid_interval){c->lo, c->lo, false};
  case TK_OP_NE: return (tk_pid_interval){c->lo, c->lo, true};
  case TK_OP_LT: return (tk_pid_interval){c->lo, INT64_MAX, true};
  case TK_OP_LE: return (tk_pid_interval){INT64_MIN, c->lo, false};
  case TK_OP_GT: return (tk_pid_interval){INT64_MIN, c->lo, true};
  case TK_OP_GE: return (tk_pid_interval){c->lo, INT64_MAX, false};
  case RANGE:
    if (c->lo < c->hi) return (tk_pid_interval){c->lo, c->hi - 1, false};
    return (tk_pid_interval){INT64_MIN, INT64_MAX, true};
  default: return (tk_pid_interval){INT64_MIN, INT64_MAX, false};
  }
}

static bool holds(const tk_pid_cond *c, int64_t pid) {
  tk_pid_interval i = tk_pid_interval_of(c);
  return (i.lo <= pid && pid <= i.hi) != i.outside;
}

bool tk_pids_match(const tk_pids *c, const int64_t pid[3]) {
  return holds(&c->axis[0], pid[0]) && holds(&c->axis[1], pid[1]) &&
         holds(&c->axis[2], pid[2]);
}

/* ---- order ------------------------------------------------------------- */

/* Decimal digits, at least one, to the end of s. */
static bool parse_seed(const char *s, uint64_t *out) {
  uint64_t v = 0;
  if (!*s) return false;
  for (; *s; s++) {
    if (*s < '0' || *s > '9') return false;
    uint64_t d = (uint64_t)(*s - '0');
    if (v > (UINT64_MAX - d) / 10) return false;
    v = v * 10 + d;
  }
  *out = v;
  return true;
}

static uint64_t even_bits(uint64_t n) {
  uint64_t bits = 2;
  while (bits < 64 && n >> bits) bits += 2;
  return bits;
}

bool tk_order_parse(tk_env *e, const char *text, uint64_t n, tk_order *out) {
  *out = (tk_order){.n = n, .bits = even_bits(n)};
  if (!text || !strcmp(text, "serial")) return true;
  if (!strcmp(text, "reverse")) {
    out->kind = 1;
    return true;
  }
  if (!strcmp(text, "shuffle") ||
      (!strncmp(text, "shuffle:", 8) && parse_seed(text + 8, &out->seed))) {
    out->kind = 2;
    return true;
  }
  tk_diag *d = tk_diag_add(e, TK_D_CONDITION, NULL, (tk_span){0, 0},
                           "unknown order '%s'", text);
  tk_diag_help(e, d,
               "orders: serial, reverse, shuffle:SEED (SEED is a number "
               "from 0 to 18446744073709551615)");
  return false;
}

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mix_bits(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static uint64_t feistel(const tk_order *o, uint64_t x) {
  uint64_t half = o->bits / 2, mask = ((uint64_t)1 << half) - 1;
  uint64_t left = x >> half, right = x & mask;
  TK_ASSERT(left <= mask); /* so that the result lies in the same range */
  for (uint64_t r = 1; r <= ROUNDS; r++) {
    uint64_t key = mix_bits(o->seed + r * 0x9e3779b97f4a7c15);
    uint64_t next = left ^ (mix_bits(key ^ right) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

uint64_t tk_order_at(const tk_order *o, uint64_t i) {
  TK_ASSERT(i < o->n); /* else walking the cycle may never end */
  if (o->kind == 0) return o->first + i;
  if (o->kind == 1) return o->first + o->n - 1 - i;
  do i = feistel(o, i);
  while (i >= o->n);
  return o->first + i;
}

/* ---- parts ------------------------------------------------------------- */

tk_part tk_part_parse(tk_env *e, const char *text) {
  unsigned long part, parts;
  int end = 0;
  if (sscanf(text, "%9lu/%9lu%n", &part, &parts, &end) == 2 && !text[end] &&
      part < parts)
    return (tk_part){part, parts};
  tk_diag *d = tk_diag_add(e, TK_D_CONDITION, NULL, (tk_span){0, 0},
                           "'%s' does not name a part of the programs", text);
  tk_diag_help(e, d,
               "write I/N for part I of N, counted from 0: 0/4 is the first of "
               "four, 3/4 the last");
  tk_throw(e, TK_USAGE);
}

uint64_t tk_part_first(uint64_t part, uint64_t parts, uint64_t n) {
  TK_ASSERT(parts && part <= parts);
  return n / parts * part + n % parts * part / parts;
}
