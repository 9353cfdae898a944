/* smt.c - an item's question in SMT-LIB 2.
 *
 * The question is written as it is before relations are put in place of
 * quantities, and before anything is split, multiplied or put in other words,
 * so that what another solver answers does not rest on those steps. */
#include "prove/smt.h"

#include "base/cache_folder.h"
#include "base/digest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

typedef TK_VEC(const char *) smt_lines;

typedef struct smt_job {
  const tkq_numbers *n;
  tkq_terms *terms;
  const tkq_item *item;
  const tkq_form *goal;
  bool *declared;    /* by atom */
  bool *stated;      /* by quantity: what it is, by its relation */
  smt_lines symbols; /* their declarations and definitions, in order */
  smt_lines limits;  /* what is asserted of them */
  int unknowns;      /* conditions of which nothing is known */
  const char *goal_text, *relations;
} smt_job;

static void put_poly(tk_buf *out, smt_job *j, const tkq_poly *p);
static void put_form(tk_buf *out, smt_job *j, const tkq_form *f);

/* ---- names --------------------------------------------------------------- */

/* Between bars nearly all characters may stand. */
static void put_quoted(tk_buf *out, const char *name) {
  tk_buf_putc(out, '|');
  for (; *name; name++)
    tk_buf_putc(out, *name == '|' || *name == '\\' ? '_' : *name);
  tk_buf_putc(out, '|');
}

/* A scalar gets a word before it: it may be called "div", as an operation is.
 */
static void put_name(tk_buf *out, const smt_job *j, int atom) {
  static const char *const words[] = {
      [TKQ_LANE] = "lane",     [TKQ_TRIP] = "trip",    [TKQ_TILE] = "tile",
      [TKQ_DATA] = "value",    [TKQ_DIV] = "quotient", [TKQ_REM] = "remainder",
      [TKQ_MIN] = "minimum",   [TKQ_MAX] = "maximum",  [TKQ_POWER] = "power",
      [TKQ_SELECT] = "choice",
  };
  const tkq_atom *a = &j->terms->atoms.items[atom];
  const char *other = a->copy ? "other." : "";
  if (a->kind == TKQ_SIZE)
    put_quoted(out,
               strpbrk(a->name, ".[(")
                   ? a->name
                   : tk_arena_printf(j->terms->arena, "scalar.%s", a->name));
  else if (a->kind == TKQ_PID)
    tk_buf_printf(out, "%sprogram_id.%d", other, a->number);
  else
    tk_buf_printf(out, "%s%s.%d", other, words[a->kind], atom);
}

/* ---- atoms --------------------------------------------------------------- */

/* What a line is written of. */
typedef struct smt_line {
  smt_job *job;
  int atom;
  const char *order; /* between the atom and its bound; NULL: it has none */
  int64_t bound;
} smt_line;

static void push_line(smt_lines *to, void (*write)(tk_buf *out, void *ud),
                      smt_line l) {
  const char *text = tk_arena_text(l.job->terms->arena, write, &l, NULL);
  TK_PUSH(l.job->terms->arena, to, text);
}

static void put_integer(tk_buf *out, int64_t c) {
  if (c < 0)
    tk_buf_printf(out, "(- %" PRIu64 ")", 0 - (uint64_t)c);
  else
    tk_buf_printf(out, "%" PRId64, c);
}

static void put_bound(tk_buf *out, void *ud) {
  const smt_line *l = ud;
  tk_buf_printf(out, "(assert (%s ", l->order);
  put_name(out, l->job, l->atom);
  tk_buf_putc(out, ' ');
  put_integer(out, l->bound);
  tk_buf_puts(out, "))\n");
}

/* Of a program, and of a row or a column: it is below how many there are. */
static void put_below(tk_buf *out, void *ud) {
  const smt_line *l = ud;
  const tkq_numbers *n = l->job->n;
  const tkq_atom *a = &l->job->terms->atoms.items[l->atom];
  tk_buf_puts(out, "(assert (< ");
  put_name(out, l->job, l->atom);
  tk_buf_putc(out, ' ');
  put_poly(out, l->job,
           a->kind == TKQ_PID ? n->all.items[n->grid + a->number].p
                              : a->arg[0]);
  tk_buf_puts(out, "))\n");
}

/* The smallest power of two: it is told that it is less than twice as large. */
static void put_power(tk_buf *out, void *ud) {
  const smt_line *l = ud;
  const tkq_poly *p = l->job->terms->atoms.items[l->atom].arg[0];
  tk_buf_puts(out, "(assert (let ((least ");
  put_poly(out, l->job, p);
  tk_buf_puts(out, ") (power ");
  put_name(out, l->job, l->atom);
  tk_buf_puts(out, ")) (and (>= power least) (or (= power 1) (< power (* 2 "
                   "least))))))\n");
}

static void put_declaration(tk_buf *out, void *ud) {
  const smt_line *l = ud;
  const tkq_atom *a = &l->job->terms->atoms.items[l->atom];
  tk_buf_puts(out, "(declare-fun ");
  put_name(out, l->job, l->atom);
  tk_buf_puts(out, " () Int)");
  if (a->kind == TKQ_DATA && a->name) tk_buf_printf(out, " ; %s", a->name);
  tk_buf_putc(out, '\n');
}

/* (OPERATION A B), of an atom's arguments. */
static void put_pair(tk_buf *out, smt_job *j, const char *operation,
                     const tkq_poly *a, const tkq_poly *b) {
  tk_buf_printf(out, "(%s ", operation);
  put_poly(out, j, a);
  tk_buf_putc(out, ' ');
  put_poly(out, j, b);
  tk_buf_putc(out, ')');
}

static void put_meaning(tk_buf *out, smt_job *j, const tkq_atom *a) {
  const tkq_poly *l = a->arg[0], *r = a->arg[1];
  switch (a->kind) {
  case TKQ_MIN: put_pair(out, j, "minimum", l, r); return;
  case TKQ_MAX: put_pair(out, j, "maximum", l, r); return;
  case TKQ_REM: put_pair(out, j, "remainder", l, r); return;
  case TKQ_SELECT:
    tk_buf_puts(out, "(ite ");
    put_form(out, j, a->when);
    tk_buf_putc(out, ' ');
    put_poly(out, j, l);
    tk_buf_putc(out, ' ');
    put_poly(out, j, r);
    tk_buf_putc(out, ')');
    return;
  default: put_pair(out, j, "quotient", l, r); return;
  }
}

static void put_definition(tk_buf *out, void *ud) {
  const smt_line *l = ud;
  tkq_atom a = l->job->terms->atoms.items[l->atom];
  tk_buf_puts(out, "(define-fun ");
  put_name(out, l->job, l->atom);
  tk_buf_puts(out, " () Int ");
  put_meaning(out, l->job, &a);
  tk_buf_puts(out, ")\n");
}

/* An atom that is a symbol of its own, with what limits it. */
static void declare_free(smt_job *j, int atom) {
  tkq_atom a = j->terms->atoms.items[atom];
  bool ranged = a.kind == TKQ_SIZE || a.kind == TKQ_DATA;
  int64_t low = ranged ? a.lo : a.kind == TKQ_POWER ? 1 : 0;
  smt_line l = {.job = j, .atom = atom};
  push_line(&j->symbols, put_declaration, l);
  if (a.kind == TKQ_PID || a.kind == TKQ_TILE)
    push_line(&j->limits, put_below, l);
  if (a.kind == TKQ_POWER) push_line(&j->limits, put_power, l);
  l.order = ">=";
  l.bound = low;
  if (low != INT64_MIN) push_line(&j->limits, put_bound, l);
  l.order = "<=";
  l.bound = a.hi;
  if (ranged && a.hi != INT64_MAX) push_line(&j->limits, put_bound, l);
}

/* Declares an atom that is met for the first time, after those that its
 * definition has in it. */
static void declare(smt_job *j, int atom) {
  tkq_atom_kind kind = j->terms->atoms.items[atom].kind;
  if (j->declared[atom]) return;
  j->declared[atom] = true;
  if (kind < TKQ_DIV || kind == TKQ_POWER)
    declare_free(j, atom);
  else
    push_line(&j->symbols, put_definition, (smt_line){.job = j, .atom = atom});
}

/* ---- terms and formulas -------------------------------------------------- */

static void put_mono(tk_buf *out, smt_job *j, const tkq_mono *m) {
  bool product = m->deg > 1 || (m->deg && m->c != 1);
  if (product) tk_buf_puts(out, "(* ");
  if (!m->deg || m->c != 1) put_integer(out, m->c);
  for (int k = 0; k < m->deg; k++) {
    if (k || m->c != 1) tk_buf_putc(out, ' ');
    declare(j, m->atoms[k]);
    put_name(out, j, m->atoms[k]);
  }
  if (product) tk_buf_putc(out, ')');
}

static void put_poly(tk_buf *out, smt_job *j, const tkq_poly *p) {
  if (!p->n) tk_buf_putc(out, '0');
  if (p->n > 1) tk_buf_puts(out, "(+");
  for (size_t i = p->n; i-- > 0;) {
    if (p->n > 1) tk_buf_putc(out, ' ');
    put_mono(out, j, &p->m[i]);
  }
  if (p->n > 1) tk_buf_putc(out, ')');
}

/* A condition of which nothing is known is another symbol each time. */
static void put_unknown(tk_buf *out, smt_job *j) {
  const char *name =
      tk_arena_printf(j->terms->arena, "unknown.%d", ++j->unknowns);
  TK_PUSH(j->terms->arena, &j->symbols,
          tk_arena_printf(j->terms->arena, "(declare-fun %s () Bool)\n", name));
  tk_buf_puts(out, name);
}

static void put_form(tk_buf *out, smt_job *j, const tkq_form *f) {
  switch (f->kind) {
  case TKQ_TRUE: tk_buf_puts(out, "true"); return;
  case TKQ_FALSE: tk_buf_puts(out, "false"); return;
  case TKQ_MAYBE: put_unknown(out, j); return;
  case TKQ_GE:
  case TKQ_EQ:
    tk_buf_puts(out, f->kind == TKQ_GE ? "(>= " : "(= ");
    put_poly(out, j, f->p);
    tk_buf_puts(out, " 0)");
    return;
  case TKQ_AND:
  case TKQ_OR: break;
  }
  tk_buf_puts(out, f->kind == TKQ_AND ? "(and " : "(or ");
  put_form(out, j, f->a);
  tk_buf_putc(out, ' ');
  put_form(out, j, f->b);
  tk_buf_putc(out, ')');
}

static void put_goal(tk_buf *out, void *ud) {
  smt_job *j = ud;
  tk_buf_puts(out, "(assert ");
  put_form(out, j, j->goal);
  tk_buf_puts(out, ")\n");
}

/* ---- relations ----------------------------------------------------------- */

static void put_comment(tk_buf *out, const char *text) {
  tk_buf_puts(out, "; ");
  for (; *text; text++)
    tk_buf_putc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
  tk_buf_putc(out, '\n');
}

static void put_facts(tk_buf *out, smt_job *j) {
  for (size_t i = 0; i < j->n->relations.n; i++) {
    const tkq_relation *r = &j->n->relations.items[i];
    if (!r->on || !r->fact) continue;
    put_comment(out, r->text);
    tk_buf_puts(out, "(assert ");
    put_form(out, j, r->fact);
    tk_buf_puts(out, ")\n");
  }
}

/* What quantity i is, if something speaks of it; false: nothing new. */
static bool put_quantity(tk_buf *out, smt_job *j, size_t i) {
  const tkq_quantity *q = &j->n->all.items[i];
  bool related = q->relation >= 0 && j->n->is.items[i] &&
                 j->n->relations.items[q->relation].on;
  if (!related || j->stated[i] || !tkq_single(j->terms, q->p) ||
      !j->declared[q->p->m[0].atoms[0]])
    return false;
  j->stated[i] = true;
  put_comment(out, j->n->relations.items[q->relation].text);
  tk_buf_puts(out, "(assert (= ");
  put_poly(out, j, q->p);
  tk_buf_putc(out, ' ');
  put_poly(out, j, j->n->is.items[i]);
  tk_buf_puts(out, "))\n");
  return true;
}

/* Those of quantities that the question or other relations speak of. */
static void put_relations(tk_buf *out, void *ud) {
  smt_job *j = ud;
  bool more = true;
  put_facts(out, j);
  while (more) {
    more = false;
    for (size_t i = 0; i < j->n->all.n; i++) more |= put_quantity(out, j, i);
  }
}

/* ---- files --------------------------------------------------------------- */

static void put_head(tk_buf *out, const smt_job *j) {
  const tkq_item *x = j->item;
  tk_arena *arena = j->terms->arena;
  tk_place at = {0};
  if (x->func) at = tk_place_of(x->func->src, x->span);
  put_comment(out, tk_arena_printf(arena, "%s:%d: %s: %s", at.file, at.line,
                                   x->subject, tk_duty_name(x->duty)));
  put_comment(out,
              tk_arena_printf(arena, "%s: %s.", j->n->program->kernel->name,
                              tk_duty_doc(x->duty)));
  tk_buf_puts(
      out, "; unsat: proved, for all integers that the relations below allow.\n"
           "; sat: they allow a launch, lanes and values that contradict it, "
           "as far\n"
           "; as this file knows what the kernel does.\n"
           "; Whether arithmetic wraps is the question of the files for \"no "
           "wrap\".\n");
}

static void put_each_line(tk_buf *out, const smt_lines *lines) {
  for (size_t i = 0; i < lines->n; i++) tk_buf_puts(out, lines->items[i]);
}

static void put_file(tk_buf *out, void *ud) {
  const smt_job *j = ud;
  put_head(out, j);
  tk_buf_puts(out,
              "(set-logic QF_NIA)\n"
              "; Division rounds towards zero.\n"
              "(define-fun quotient ((a Int) (b Int)) Int\n"
              "  (ite (>= a 0) (div a b) (- (div (- a) b))))\n"
              "(define-fun remainder ((a Int) (b Int)) Int\n"
              "  (- a (* b (quotient a b))))\n"
              "(define-fun minimum ((a Int) (b Int)) Int (ite (<= a b) a b))\n"
              "(define-fun maximum ((a Int) (b Int)) Int (ite (>= a b) a b))\n"
              "\n; Numbers.\n");
  put_each_line(out, &j->symbols);
  put_each_line(out, &j->limits);
  tk_buf_puts(out, "\n; Relations.\n");
  tk_buf_puts(out, j->relations);
  tk_buf_puts(out, "\n; The opposite of what is to be proved.\n");
  tk_buf_puts(out, j->goal_text);
  tk_buf_puts(out, "(check-sat)\n");
}

/* "add-17-no-wrap" */
static char *stem_of(const smt_job *j) {
  const tkq_item *x = j->item;
  int line = x->func ? tk_place_of(x->func->src, x->span).line : 0;
  char *stem =
      tk_arena_printf(j->terms->arena, "%.100s-%d-%s",
                      j->n->program->kernel->name, line, tk_duty_name(x->duty));
  for (char *p = stem; *p; p++)
    if (!isalnum((unsigned char)*p) && *p != '_') *p = '-';
  return stem;
}

/* The name that a text gets, other than those of other texts; NULL: there is
 * such a file already. */
static const char *file_name_of(const smt_job *j, const char *text, size_t n) {
  tk_arena *arena = j->terms->arena;
  tk_buf *written = &j->n->launch->session->conditions;
  const char *stem = stem_of(j), *name = stem;
  for (int k = 2;; k++) {
    const char *start = tk_arena_printf(arena, "\n%s ", name);
    const char *line = tk_arena_printf(arena, "%s%016" PRIx64 "\n", start,
                                       tk_digest_of(text, n));
    if (strstr(tk_buf_str(written), line)) return NULL;
    if (!strstr(tk_buf_str(written), start)) {
      tk_buf_puts(written, line);
      return name;
    }
    name = tk_arena_printf(arena, "%s-%d", stem, k);
  }
}

/* With what relations say of the contents that the formulas are about. */
static const tkq_form *goal_of(const tkq_numbers *n, const tkq_walk *w,
                               const tkq_item *x) {
  const tkq_form *goal = tkq_false();
  for (size_t i = 0; i < x->bad.n; i++) {
    const tkq_form *f = x->bad.items[i];
    f = tkq_and(n->terms, f, tkq_contents_of(n, w, f));
    goal = tkq_or(n->terms, goal, f);
  }
  return goal;
}

void tkq_smt_write(tk_env *e, const char *folder, const tkq_numbers *n,
                   const tkq_walk *w, const tkq_item *x) {
  tk_arena *arena = n->terms->arena;
  tk_buf file = {0};
  smt_job j = {.n = n,
               .terms = n->terms,
               .item = x,
               .goal = goal_of(n, w, x),
               .stated = TK_NEWN(arena, bool, n->all.n + 1)};
  j.declared = TK_NEWN(arena, bool, n->terms->atoms.n + 1);
  j.goal_text = tk_arena_text(arena, put_goal, &j, NULL);
  j.relations = tk_arena_text(arena, put_relations, &j, NULL);
  file.s = tk_arena_text(arena, put_file, &j, &file.n);
  const char *name = file_name_of(&j, file.s, file.n);
  if (!name) return;
  tk_save_text(e, tk_arena_printf(arena, "%s/%s.smt2", folder, name), &file);
}

void tkq_smt_folder(tk_env *e, tk_arena *arena, const char *folder) {
  struct stat is;
  tk_make_folders(tk_arena_strdup(arena, folder));
  int error = stat(folder, &is) ? errno : S_ISDIR(is.st_mode) ? 0 : ENOTDIR;
  if (!error) return;
  tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0},
              "cannot make the folder %s: %s", folder, strerror(error));
  tk_throw(e, TK_USAGE);
}
