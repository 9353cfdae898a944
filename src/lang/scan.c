/* scan.c - what a file holds, without understanding it.
 *
 * The tokens are walked once, a logical line at a time.  Only the first words
 * of a line are looked at: functions at any depth, imports, assignments and
 * classes become items, everything else is passed over.  A function's tokens
 * end where indentation returns to its own level, so no body is read until
 * somebody asks for it.
 *
 * Imports count wherever they bind a name of the file: at its own level, and
 * in the bodies of "try" and "if" there.  `clear` is the depth down to which
 * only such blocks are open.
 *
 * PyTorch's compiler writes kernels as text into its files:
 *
 *   name = async_compile.triton('name', '''source''', device_str='cuda')
 *
 * The items of such a source are items of the file too, of a text of their
 * own (tk_item.text), with places in the file: it is read as it stands there.
 */
#include "file.h"
#include "parser.h"

#include <string.h>

typedef struct scanner {
  tk_env *env;
  tk_file *file;
  uint32_t at; /* the next token */
  int depth;
  int clear;
  bool transparent; /* the block that opens next keeps imports */
  TK_VEC(tk_item) items;
  TK_VEC(uint32_t) open;  /* functions whose end has not been seen */
  bool decorated, jit;    /* by the lines just above */
  uint32_t first;         /* token of the first decorator */
  int text;               /* which source in the file is scanned; 0: itself */
  TK_VEC(uint32_t) texts; /* tokens of the sources in the file */
} scanner;

/* ---- tokens ------------------------------------------------------------ */

static const tk_token *tok(const scanner *s) {
  return &s->file->toks[s->at];
}

static int kind(const scanner *s) {
  return tok(s)->kind;
}

static bool at_line_end(const scanner *s) {
  return kind(s) == TKL_NEWLINE || kind(s) == TKL_EOF;
}

static bool accept(scanner *s, tkl_tok k) {
  if (kind(s) != (int)k || k == TKL_EOF) return false;
  s->at++;
  return true;
}

static char *text(scanner *s, uint32_t lo, uint32_t hi) {
  return tk_arena_strndup(&s->file->arena, s->file->src->text + lo, hi - lo);
}

static char *name_text(scanner *s) {
  return text(s, tok(s)->lo, tok(s)->hi);
}

static int line_of(const scanner *s, uint32_t token) {
  return tk_source_line(s->file->src, s->file->toks[token].lo);
}

static void add(scanner *s, tk_item item) {
  item.depth = s->depth;
  item.text = s->text;
  TK_PUSH(&s->file->arena, &s->items, item);
}

/* ---- functions and classes --------------------------------------------- */

/* decorator = "@" NAME ("." NAME)* ... */
static void decorator(scanner *s) {
  if (!s->decorated) s->first = s->at, s->jit = false;
  s->decorated = true;
  s->at++;
  const tk_token *last = NULL;
  do {
    last = tok(s);
    if (!accept(s, TKL_NAME)) return;
  } while (accept(s, TKL_DOT));
  bool whole = at_line_end(s) || kind(s) == TKL_LPAREN;
  if (whole && last->hi - last->lo == 3 &&
      memcmp(s->file->src->text + last->lo, "jit", 3) == 0)
    s->jit = true;
}

/* function = "def" NAME ... ; `lo` is its first token after decorators. */
static void function(scanner *s, uint32_t lo) {
  tk_item item = {.kind = TK_ITEM_FUNC, .line = line_of(s, s->at)};
  s->at++;
  if (kind(s) != TKL_NAME) return;
  item.name = name_text(s);
  item.tok_lo = s->decorated ? s->first : lo;
  item.first_line = line_of(s, item.tok_lo);
  item.jit = s->decorated && s->jit;
  TK_PUSH(&s->file->arena, &s->open, (uint32_t)s->items.n);
  add(s, item);
}

/* class = "class" NAME ... */
static void class(scanner *s) {
  uint32_t lo = s->decorated ? s->first : s->at;
  tk_item item = {.kind = TK_ITEM_CLASS, .line = line_of(s, s->at)};
  s->at++;
  if (s->depth || kind(s) != TKL_NAME) return;
  item.name = name_text(s);
  item.tok_lo = lo;
  item.tok_hi = s->at + 1;
  item.first_line = line_of(s, lo);
  add(s, item);
}

/* Functions of this depth and deeper end before the next token. */
static void close_functions(scanner *s) {
  while (s->open.n) {
    tk_item *item = &s->items.items[s->open.items[s->open.n - 1]];
    if (item->depth < s->depth) return;
    item->tok_hi = s->at;
    s->open.n--;
  }
}

/* ---- imports ----------------------------------------------------------- */

/* dotted = ("." | "...")* NAME? ("." NAME)*; its text without spaces. */
static char *dotted(scanner *s) {
  const tk_token *from = tok(s), *to;
  size_t n = 0;
  while (kind(s) == TKL_DOT || kind(s) == TKL_ELLIPSIS || kind(s) == TKL_NAME) {
    bool name = kind(s) == TKL_NAME;
    s->at++;
    if (name && kind(s) != TKL_DOT) break;
  }
  to = tok(s);
  for (const tk_token *t = from; t < to; t++) n += t->hi - t->lo;
  char *out = tk_arena_alloc(&s->file->arena, n + 1), *q = out;
  for (const tk_token *t = from; t < to; t++) {
    memcpy(q, s->file->src->text + t->lo, t->hi - t->lo);
    q += t->hi - t->lo;
  }
  return out;
}

static void bind(scanner *s, uint32_t lo, const char *name,
                 const char *target) {
  tk_item item = {.kind = TK_ITEM_IMPORT, .name = name, .target = target};
  item.line = item.first_line = line_of(s, lo);
  item.tok_lo = lo;
  item.tok_hi = s->at;
  add(s, item);
}

/* import = "import" dotted ("as" NAME)? ("," ...)* */
static void import(scanner *s) {
  uint32_t lo = s->at++;
  do {
    char *target = dotted(s);
    if (!*target) return;
    const char *name = target;
    if (accept(s, TKL_KW_AS)) {
      if (kind(s) != TKL_NAME) return;
      name = name_text(s);
      s->at++;
    } else {
      target[strcspn(target, ".")] = 0;
    }
    bind(s, lo, name, target);
  } while (accept(s, TKL_COMMA));
}

static char *join(scanner *s, const char *module, const char *name) {
  size_t n = strlen(module);
  const char *dot = n && module[n - 1] == '.' ? "" : ".";
  return tk_arena_printf(&s->file->arena, "%s%s%s", module, dot, name);
}

/* from = "from" dotted "import" ("*" | "("? NAME ("as" NAME)? "," ... ")"?) */
static void from(scanner *s) {
  uint32_t lo = s->at++;
  char *module = dotted(s);
  if (!*module || !accept(s, TKL_KW_IMPORT)) return;
  if (accept(s, TKL_MUL)) {
    bind(s, lo, "*", join(s, module, "*"));
    return;
  }
  accept(s, TKL_LPAREN);
  while (kind(s) == TKL_NAME) {
    char *name = name_text(s);
    char *target = join(s, module, name);
    s->at++;
    if (accept(s, TKL_KW_AS)) {
      if (kind(s) != TKL_NAME) return;
      name = name_text(s);
      s->at++;
    }
    bind(s, lo, name, target);
    if (!accept(s, TKL_COMMA)) return;
  }
}

/* ---- assignments ------------------------------------------------------- */

typedef struct value_job {
  tkl_parser p;
  bool one; /* an annotation: no tuples */
  tk_ast *result;
} value_job;

static void parse_value(tk_env *e, void *ud) {
  (void)e;
  value_job *j = ud;
  tk_ast *n = j->one ? tkl_expression(&j->p) : tkl_star_expressions(&j->p);
  int k = j->p.tok->kind;
  bool ends = k == TKL_NEWLINE || k == TKL_SEMI || k == TKL_EOF;
  if (ends || (j->one && k == TKL_ASSIGN)) j->result = n;
}

/* The expression at the next token; NULL if it is not in the subset. */
static tk_ast *value(scanner *s, bool one) {
  value_job j = {.p = {.env = s->env, .quiet = true}, .one = one};
  j.p.arena = &s->file->arena;
  j.p.src = s->file->src;
  j.p.tok = tok(s);
  tk_status st = tk_protect(s->env, parse_value, &j);
  if (st != TK_OK && st != TK_FINDING) tk_throw(s->env, st);
  return j.result;
}

/* source = "." "triton" "(" STRING "," triple-quoted STRING; notes it. */
static void note_source(scanner *s) {
  static const uint8_t form[] = {TKL_DOT,    TKL_NAME,  TKL_LPAREN,
                                 TKL_STRING, TKL_COMMA, TKL_STRING};
  const tk_token *t = tok(s);
  if (s->text || t->kind != TKL_DOT) return;
  for (size_t i = 0; i < TK_COUNT(form); i++)
    if (t[i].kind != form[i]) return; /* the last token is EOF */
  bool named = t[1].hi - t[1].lo == 6 &&
               memcmp(s->file->src->text + t[1].lo, "triton", 6) == 0;
  int plain = t[5].sub & ~TKL_RAW;
  if (named && plain == TKL_TRIPLE_QUOTED)
    TK_PUSH(&s->file->arena, &s->texts, s->at + 5);
}

static void to_statement_end(scanner *s) {
  for (; !at_line_end(s) && kind(s) != TKL_SEMI; s->at++) note_source(s);
}

static void add_assign(scanner *s, tk_item item, uint32_t token) {
  item.kind = TK_ITEM_ASSIGN;
  item.line = item.first_line = line_of(s, token);
  item.name = text(s, s->file->toks[token].lo, s->file->toks[token].hi);
  item.tok_lo = token;
  item.tok_hi = s->at;
  add(s, item);
}

/* annotated = NAME ":" expression ("=" value)? */
static void annotated(scanner *s, uint32_t lo) {
  tk_item item = {0};
  s->at = lo + 2;
  item.annotation = value(s, true);
  while (!at_line_end(s) && kind(s) != TKL_ASSIGN) s->at++;
  if (!accept(s, TKL_ASSIGN)) return;
  item.value = value(s, false);
  to_statement_end(s);
  add_assign(s, item, lo);
}

/* assignment = (NAME "=")+ value */
static void assignment(scanner *s, uint32_t lo) {
  tk_item item = {0};
  uint32_t n = 0;
  while (kind(s) == TKL_NAME && tok(s)[1].kind == TKL_ASSIGN) {
    s->at += 2;
    n++;
  }
  item.value = value(s, false);
  to_statement_end(s);
  for (uint32_t i = 0; i < n; i++) add_assign(s, item, lo + 2 * i);
}

/* ---- lines ------------------------------------------------------------- */

static bool opens_transparent(int k) {
  switch (k) {
  case TKL_KW_IF:
  case TKL_KW_ELIF:
  case TKL_KW_ELSE:
  case TKL_KW_TRY:
  case TKL_KW_EXCEPT:
  case TKL_KW_FINALLY: return true;
  default: return false;
  }
}

/* simple = import | from | assignment | annotated | anything */
static void simple(scanner *s) {
  int next = at_line_end(s) ? TKL_EOF : tok(s)[1].kind;
  bool visible = s->depth == s->clear;
  if (visible && kind(s) == TKL_KW_IMPORT)
    import(s);
  else if (visible && kind(s) == TKL_KW_FROM)
    from(s);
  else if (!s->depth && kind(s) == TKL_NAME && next == TKL_ASSIGN)
    assignment(s, s->at);
  else if (!s->depth && kind(s) == TKL_NAME && next == TKL_COLON)
    annotated(s, s->at);
  to_statement_end(s);
}

/* To just after the ":" of a header, where a body may follow on the line. */
static void skip_header(scanner *s) {
  for (int brackets = 0; !at_line_end(s); s->at++) {
    int k = kind(s);
    bool opens = k == TKL_LPAREN || k == TKL_LBRACKET || k == TKL_LBRACE;
    bool shuts = k == TKL_RPAREN || k == TKL_RBRACKET || k == TKL_RBRACE;
    brackets += opens - shuts;
    if (k == TKL_COLON && brackets <= 0) break;
  }
  accept(s, TKL_COLON);
}

/* The body of "try: import x": no assignment counts there. */
static void inline_body(scanner *s) {
  bool visible = s->depth == s->clear;
  skip_header(s);
  for (; !at_line_end(s); accept(s, TKL_SEMI)) {
    if (visible && kind(s) == TKL_KW_IMPORT)
      import(s);
    else if (visible && kind(s) == TKL_KW_FROM)
      from(s);
    to_statement_end(s);
  }
}

/* line = decorator | "async"? function | class | header | simple (";" ...)* */
static void line(scanner *s) {
  uint32_t lo = s->at;
  bool deco = kind(s) == TKL_AT;
  s->transparent = opens_transparent(kind(s));
  if (kind(s) == TKL_KW_ASYNC) s->at++;
  if (deco)
    decorator(s);
  else if (kind(s) == TKL_KW_DEF)
    function(s, lo);
  else if (kind(s) == TKL_KW_CLASS)
    class(s);
  else if (s->transparent)
    inline_body(s);
  else
    do simple(s);
    while (accept(s, TKL_SEMI));
  if (!deco) s->decorated = false;
  while (!at_line_end(s)) s->at++;
  accept(s, TKL_NEWLINE);
  if (kind(s) != TKL_INDENT && !deco) close_functions(s);
}

static void indent(scanner *s) {
  s->at++;
  if (s->clear == s->depth && s->transparent) s->clear++;
  s->depth++;
}

static void dedent(scanner *s) {
  s->at++;
  s->depth--;
  if (s->clear > s->depth) s->clear = s->depth;
  close_functions(s);
}

static void scan_items(scanner *s) {
  while (kind(s) != TKL_EOF) {
    if (kind(s) == TKL_INDENT)
      indent(s);
    else if (kind(s) == TKL_DEDENT)
      dedent(s);
    else
      line(s);
  }
  close_functions(s);
}

/* ---- sources in the file ----------------------------------------------- */

/* What stands between the quotes of a triple-quoted string. */
static tk_span inside(const scanner *s, const tk_token *t) {
  const char *text = s->file->src->text;
  uint32_t lo = t->lo;
  while (text[lo] != '"' && text[lo] != '\'') lo++;
  return (tk_span){lo + 3, t->hi - 3};
}

typedef struct tokens {
  const tk_token *items;
  size_t n;
} tokens;

/* Puts the tokens of all sources after those of the file. */
static void join_tokens(tk_file *f, const tokens *more, size_t n) {
  size_t total = f->ntoks;
  for (size_t i = 0; i < n; i++) total += more[i].n;
  tk_token *all = TK_NEWN(&f->arena, tk_token, total), *to = all;
  memcpy(to, f->toks, f->ntoks * sizeof *to);
  to += f->ntoks;
  for (size_t i = 0; i < n; to += more[i++].n)
    memcpy(to, more[i].items, more[i].n * sizeof *to);
  f->toks = all;
  f->ntoks = total;
}

static void scan_sources(scanner *s) {
  tk_file *f = s->file;
  size_t n = s->texts.n;
  if (!n) return;
  tokens *more = TK_NEWN(&f->arena, tokens, n);
  for (size_t i = 0; i < n; i++) {
    tk_span where = inside(s, &f->toks[s->texts.items[i]]);
    more[i].items = tkl_lex(&f->arena, f->src, where, TKL_LEX_FILE, &more[i].n);
  }
  s->at = (uint32_t)f->ntoks;
  join_tokens(f, more, n);
  for (size_t i = 0; i < n; i++) {
    s->text = (int)i + 1;
    s->depth = s->clear = 0;
    s->decorated = false;
    scan_items(s);
    s->at++; /* past its EOF */
  }
}

/* ---- ways in ----------------------------------------------------------- */

typedef struct scan_job {
  tk_file *file;
  const char *name, *text;
  size_t len;
} scan_job;

static void scan(tk_env *e, void *ud) {
  scan_job *j = ud;
  tk_file *f = j->file;
  scanner s = {.env = e, .file = f};
  f->src = tk_source_new(&f->arena, j->name, j->text, j->len);
  tk_span all = {0, f->src->len};
  f->toks = tkl_lex(&f->arena, f->src, all, TKL_LEX_FILE, &f->ntoks);
  scan_items(&s);
  scan_sources(&s);
  f->items = s.items.items;
  f->nitems = s.items.n;
}

tk_file *tk_file_scan(tk_env *e, const char *name, const char *text,
                      size_t len) {
  tk_file *f = tk_calloc(e, 1, sizeof *f);
  scan_job j = {f, name, text, len};
  tk_arena_init(&f->arena, e);
  if (len >= UINT32_MAX / 2) { /* places in a source have 32 bits */
    tk_diag *d = tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0},
                             "%s: this file is too large", name);
    tk_diag_help(e, d, "a source file may have 2 GiB at most");
    j.len = 0;
  }
  tk_status st = tk_protect(e, scan, &j);
  if (st == TK_OK) return f;
  tk_file_free(e, f);
  tk_throw(e, st);
}

void tk_file_free(tk_env *e, tk_file *f) {
  if (!f) return;
  tk_arena_free(&f->arena);
  tk_free(e, f, sizeof *f);
}
