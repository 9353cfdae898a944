/* emit.c - a launch compiled, stage by stage: the public edge. */
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "nvptx/axis.h"
#include "nvptx/cubin.h"
#include "nvptx/nvptx.h"
#include "typing/origin.h"

typedef struct compiling {
  tk_launch *launch; /* NULL: there is none, only a program */
  const tk_emit_options *o;
  const char *arch;
  tk_program *p; /* that is made, to be freed */
  tk_buf *out;
  tk_buf beside;
} compiling;

typedef void print_stage(compiling *c);
typedef struct stage {
  const char *name;
  print_stage *print;
  const char *doc;
} stage;

static void print_ttir(compiling *c) {
  tk_program_print(c->out, c->p);
}

static void print_facts(compiling *c) {
  tkv_print_facts(c->out, c->p);
}

static void print_layouts(compiling *c) {
  tkv_print_layouts(c->out, c->p, c->arch);
}

static void print_llir(compiling *c) {
  size_t shared;
  tkv_print_llir(c->out, c->p, c->arch, &shared);
}

static size_t print_code(compiling *c) {
  size_t shared;
  tkv_print_ptx(c->out, c->p, c->arch, &shared);
  return shared;
}

/* If there is a ptxas to ask, the last line says what a thread takes. */
static void print_ptx(compiling *c) {
  size_t begin = c->out->n, shared = print_code(c);
  const char *name = c->p->kernel->name;
  if (tkv_can_assemble() &&
      tkv_assemble(&c->beside, name, tk_buf_str(c->out) + begin, c->arch, NULL,
                   shared))
    tk_buf_printf(c->out, "// %s: %s", name, tk_buf_str(&c->beside));
}

static void print_cubin(compiling *c) {
  size_t shared;
  const char *name = c->p->kernel->name;
  if (!c->o->output) {
    tk_diag_add(c->out->env, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "a cubin is not text: name a file for it with -o FILE");
    tk_throw(c->out->env, TK_USAGE);
  }
  tkv_print_ptx(&c->beside, c->p, c->arch, &shared);
  tk_buf_printf(c->out, "%s: ", name);
  tkv_assemble(c->out, name, tk_buf_str(&c->beside), c->arch, c->o->output,
               shared);
}

static const stage stages[] = {
#define STAGE(name, print, doc) {name, print, doc},
#include "nvptx/stage.def"
#undef STAGE
};

const char *tk_stage_name(size_t i) {
  return i < TK_COUNT(stages) ? stages[i].name : NULL;
}

const char *tk_stage_doc(size_t i) {
  return i < TK_COUNT(stages) ? stages[i].doc : NULL;
}

const char *tk_arch_name(size_t i) {
  static const char *const names[] = {
#define ARCH(name, shared, isa, wgmma) name,
#include "nvptx/arch.def"
#undef ARCH
  };
  return i < TK_COUNT(names) ? names[i] : NULL;
}

const char *tk_pass_name(size_t i) {
  const tkv_pass *p = tkv_pass_at(i);
  return p ? p->name : NULL;
}

const char *tk_pass_doc(size_t i) {
  const tkv_pass *p = tkv_pass_at(i);
  return p ? p->doc : NULL;
}

/* ---- what was asked for -------------------------------------------------- */

void tkv_unknown_name(tk_env *e, const char *what, const char *name, size_t len,
                      const char *(*at)(size_t i)) {
  char word[64];
  tk_buf all;
  size_t n = len < sizeof word - 1 ? len : sizeof word - 1;
  memcpy(word, name, n);
  word[n] = 0;
  tk_buf_init(&all, e);
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "there is no %s called '%s'", what, word);
  const char *best = tk_nearest_of(word, at, &all);
  if (best)
    tk_diag_help(e, d, "did you mean '%s'? There is: %s", best,
                 tk_buf_str(&all));
  else
    tk_diag_help(e, d, "there is: %s", tk_buf_str(&all));
  tk_buf_free(&all);
  tk_throw(e, TK_USAGE);
}

static bool is_word(const char *name, const char *s, size_t len) {
  return name && strlen(name) == len && !memcmp(name, s, len);
}

/* NULL: the first. */
static const stage *stage_named(tk_env *e, const char *name) {
  if (!name) return &stages[0];
  for (size_t i = 0; i < TK_COUNT(stages); i++)
    if (!strcmp(stages[i].name, name)) return &stages[i];
  tkv_unknown_name(e, "stage", name, strlen(name), tk_stage_name);
}

const char *tkv_arch_named(tk_env *e, const char *name) {
  if (!name) return tk_arch_name(0);
  for (size_t i = 0; tk_arch_name(i); i++)
    if (!strcmp(tk_arch_name(i), name)) return tk_arch_name(i);
  tkv_unknown_name(e, "architecture", name, strlen(name), tk_arch_name);
}

/* The passes that a list such as "a,b" names, a bit each. */
static uint64_t passes_named(tk_env *e, const char *list) {
  uint64_t found = 0;
  for (const char *s = list; s && *s;) {
    size_t len = strcspn(s, ","), i = 0;
    while (tkv_pass_at(i) && !is_word(tk_pass_name(i), s, len)) i++;
    if (!tkv_pass_at(i)) tkv_unknown_name(e, "pass", s, len, tk_pass_name);
    found |= (uint64_t)1 << i;
    s += len + (s[len] != 0);
  }
  return found;
}

/* ---- compiling ----------------------------------------------------------- */

/* A pass whose result breaks a rule of the form has a bug. */
static void check_form(const tk_program *p, const char *pass) {
#ifdef TK_ASSERTS
  tk_arena keep;
  tk_flaw flaw;
  tk_arena_init(&keep, p->arena.env);
  bool holds = tk_program_verify(p, &keep, &flaw);
  if (!holds) fprintf(stderr, "after %s: %s\n", pass, flaw.text);
  TK_ASSERT(holds);
  tk_arena_free(&keep);
#else
  (void)p;
  (void)pass;
#endif
}

static void after_pass(void *ud, const tk_program *p, const char *pass) {
  compiling *c = ud;
  check_form(p, pass);
  if (!c->o->after_all) return;
  tk_buf_printf(c->out, "// after %s\n", pass);
  tk_program_print(c->out, p);
  tk_buf_puts(c->out, "\n");
}

void tkv_save_text(tk_env *e, tk_buf *text, const char *path) {
  int error = tk_outfile_save(path, tk_buf_str(text), text->n);
  tk_buf_clear(text);
  if (error) tkv_file_fails(e, path, error);
}

static void compile_launch(tk_env *e, void *ud) {
  compiling *c = ud;
  tk_launch *l = c->launch;
  const stage *wanted = stage_named(e, c->o->emit);
  c->arch = tkv_arch_named(e, c->o->arch);
  uint64_t skipped = passes_named(e, c->o->skip);
  tk_unit *u = l->unit = tk_specialise(e, l);
  tk_buf_clear(&l->text);
  c->p = tkv_single_assignment(e, &u->program);
  after_pass(c, c->p, "single-assignment");
  tkv_run_passes(c->p, skipped, after_pass, c);
  bool printed = c->o->after_all && wanted == stages;
  if (c->o->after_all && !printed)
    tk_buf_printf(&l->text, "// %s\n", wanted->name);
  if (!printed) wanted->print(c);
  if (c->o->output && wanted->print != print_cubin)
    tkv_save_text(e, &l->text, c->o->output);
}

tk_status tkv_launch_emit(tk_launch *l, const tk_emit_options *o,
                          const char **out) {
  compiling c = {.launch = l, .o = o, .out = &l->text};
  tk_buf_init(&c.beside, l->text.env);
  tk_status st = tk_session_guard(l->session, compile_launch, &c);
  tk_buf_free(&c.beside);
  tk_program_free(c.p);
  *out = st == TK_OK ? tk_buf_str(&l->text) : NULL;
  return st;
}

/* ---- a program's stages, to be shown ------------------------------------- */

/* As they are made of each other, without what takes a program beside this one:
 * ptxas would make a page take seconds. */
static void print_only_ptx(compiling *c) {
  print_code(c);
}

static const struct {
  const char *name;
  print_stage *print;
} shown[] = {{"ttir", print_ttir},
             {"layouts", print_layouts},
             {"llir", print_llir},
             {"ptx", print_only_ptx}};

typedef struct showing {
  compiling c;
  const tk_program *from;
  print_stage *print; /* NULL: the passes are to run first */
  tkv_take_stage *take;
  void *ud;
} showing;

static void make_stage(tk_env *e, void *ud) {
  showing *s = ud;
  if (s->print) {
    s->print(&s->c);
    return;
  }
  s->c.p = tkv_single_assignment(e, s->from);
  tkv_run_passes(s->c.p, 0, NULL, NULL);
}

/* What is wrong with the kernel is no finding of a launch that only wants to
 * show its code; anything else ends it. */
static bool can_make(tk_env *e, showing *s, print_stage *print) {
  s->print = print;
  tk_status st = tk_protect(e, make_stage, s);
  if (st != TK_OK && st != TK_FINDING && st != TK_USAGE) tk_throw(e, st);
  return st == TK_OK;
}

static void take_stages(tk_env *e, void *ud) {
  showing *s = ud;
  bool made = can_make(e, s, NULL);
  for (size_t i = 0; i < TK_COUNT(shown); i++) {
    tk_buf_clear(s->c.out);
    bool can = made && can_make(e, s, shown[i].print);
    const char *why = !can && e->diags ? e->diags->f.message : NULL;
    s->take(s->ud, shown[i].name, can ? s->c.out : NULL, why);
    if (made) tk_diag_clear(e);
  }
}

void tkv_take_stages(tk_env *e, const tk_program *p, tkv_take_stage *take,
                     void *ud) {
  tk_buf text;
  tk_diag *before = tk_diag_take(e, 0);
  tk_buf_init(&text, e);
  showing s = {.from = p,
               .c = {.arch = tk_arch_name(0), .out = &text},
               .take = take,
               .ud = ud};
  tk_status st = tk_protect(e, take_stages, &s);
  tk_buf_free(&text);
  tk_program_free(s.c.p);
  tk_diag_clear(e);
  tk_diag_put_back(e, before);
  if (st != TK_OK) tk_throw(e, st);
}
