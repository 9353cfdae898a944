/* points.c - the client's breakpoints and watchpoints, as the engine's. */
#include <inttypes.h>
#include <string.h>

#include "gdbstub/gdb/agent.h"
#include "gdbstub/gdb/stub.h"

/* ---- conditions --------------------------------------------------------- */

static bool read_for_condition(void *ud, uint64_t address, void *bytes,
                               size_t n) {
  return gs_read_memory(ud, address, bytes, n) == n;
}

static bool register_for_condition(void *ud, int number, uint64_t *value) {
  gs_stub *g = ud;
  gs_place p = gs_place_of(g, g->here);
  const gs_machine *m = g->machine;
  *value = number == m->pc      ? p.pc
           : number == m->frame ? p.rbp
           : number == m->stack ? p.rsp
                                : 0;
  return number <= m->pc;
}

/* A condition that has no value counts as true, so that its user notices. */
static bool conditions_hold(gs_stub *g, const gs_point *p) {
  const gs_agent agent = {g, read_for_condition, register_for_condition};
  bool holds = !p->conditions.n;
  for (size_t at = 0; at < p->conditions.n && !holds;) {
    uint32_t n;
    int64_t value;
    memcpy(&n, p->conditions.s + at, sizeof n);
    at += sizeof n;
    holds = !gs_agent_run(&agent, (unsigned char *)p->conditions.s + at, n,
                          &value) ||
            value;
    at += n;
  }
  return holds;
}

gs_point *gs_point_numbered(const gs_stub *g, int number) {
  for (gs_point *p = g->points; p; p = p->next)
    if (p->number == number) return p;
  return NULL;
}

bool gs_point_holds(gs_stub *g, int number) {
  const gs_point *p = gs_point_numbered(g, number);
  return !p || conditions_hold(g, p);
}

bool gs_has_watchpoint(const gs_stub *g, const gs_hit *like) {
  for (const gs_point *p = g->points; p; p = p->next)
    if (p->type == like->type && p->address == like->address &&
        p->size == like->size)
      return true;
  return false;
}

bool gs_has_breakpoint(const gs_stub *g, uint64_t address) {
  for (const gs_point *p = g->points; p; p = p->next)
    if (p->type < 2 && p->address == address) return true;
  return false;
}

bool gs_hits_breakpoint(gs_stub *g, uint64_t address) {
  for (const gs_point *p = g->points; p; p = p->next)
    if (p->type < 2 && p->address == address && conditions_hold(g, p))
      return true;
  return false;
}

/* ---- setting and removing ----------------------------------------------- */

/* Where the program stops for a breakpoint at an address: before a statement,
 * when a call that the statement makes returns, when the kernel does. */
static bool describe_breakpoint(gs_stub *g, uint64_t address,
                                tk_point_spec *spec, size_t *statement) {
  const gs_code *c = gs_image_code(g->image, address);
  spec->kind = TK_POINT_BREAK;
  if (address == g->image->exit) {
    spec->kind = TK_POINT_CATCH;
    spec->where = "exit";
    return true;
  }
  if (!c || !c->stmt) return false;
  *statement = tk_ir_stmt_id(c->stmt);
  spec->statement = statement;
  if (address != c->begin) {
    spec->kind = TK_POINT_CATCH;
    spec->where = "return";
  }
  return true;
}

/* The element of a block, as the language names it. */
static const char *element_expression(gs_stub *g, const gs_slot *s,
                                      uint64_t lane) {
  const char *block = gs_slot_expression(g, s);
  uint64_t stride = s->lanes;
  tk_buf_clear(&g->text);
  tk_buf_printf(&g->text, "%s[", block);
  for (int i = 0; i < s->type.rank; i++) {
    stride /= (uint64_t)s->type.shape[i];
    tk_buf_printf(&g->text, "%s%" PRIu64, i ? ", " : "", lane / stride);
    lane %= stride;
  }
  tk_buf_putc(&g->text, ']');
  return tk_arena_strdup(&g->scratch, tk_buf_str(&g->text));
}

/* A watchpoint on a variable or one of its elements, or on memory. */
static bool describe_watchpoint(gs_stub *g, const gs_point *p,
                                tk_point_spec *spec) {
  uint64_t program, offset;
  size_t level;
  const gs_slot *s = gs_slot_at(g, p->address, &program, &level, &offset);
  spec->kind = TK_POINT_WATCH;
  spec->writes = p->type != 3;
  spec->reads = p->type != 2;
  if (!s) {
    spec->address = p->address;
    spec->size = p->size;
    return true;
  }
  bool element = s->lanes > 1 && p->size <= s->shown;
  spec->where = element ? element_expression(g, s, offset / s->shown)
                        : gs_slot_expression(g, s);
  tk_debug_select(g->d, program, level);
  return true;
}

static bool add_to_engine(gs_stub *g, gs_point *p) {
  tk_point_spec spec = {.asks = p->conditions.n > 0};
  size_t statement;
  p->number = 0;
  if (p->type >= 2 && !describe_watchpoint(g, p, &spec)) return false;
  if (p->type < 2 && !describe_breakpoint(g, p->address, &spec, &statement))
    return true;
  return tk_debug_add_point(g->d, &spec, &p->number) == TK_OK;
}

static void free_point(gs_stub *g, gs_point *p) {
  if (p->number) tk_debug_delete_point(g->d, p->number);
  tk_buf_free(&p->conditions);
  tk_free(g->env, p, sizeof *p);
}

static bool remove_point(gs_stub *g, const gs_point *like) {
  for (gs_point **at = &g->points; *at; at = &(*at)->next) {
    gs_point *p = *at;
    if (p->type != like->type || p->address != like->address ||
        p->size != like->size)
      continue;
    *at = p->next;
    free_point(g, p);
    return true;
  }
  return false;
}

void gs_forget_points(gs_stub *g) {
  while (g->points) {
    gs_point *p = g->points;
    g->points = p->next;
    free_point(g, p);
  }
}

/* TYPE,ADDRESS,KIND */
static bool take_point(const char **s, gs_point *p) {
  uint64_t type;
  if (!gs_take_hex(s, &type) || type > 4 || !gs_take(s, ",") ||
      !gs_take_hex(s, &p->address) || !gs_take(s, ",") ||
      !gs_take_hex(s, &p->size))
    return false;
  p->type = (int)type;
  return true;
}

/* Each condition is written as ;X LENGTH,BYTES. */
static bool take_conditions(const char **s, tk_buf *out) {
  while (gs_take(s, ";X") || gs_take(s, "X")) {
    uint64_t n;
    if (!gs_take_hex(s, &n) || n > UINT32_MAX || !gs_take(s, ",")) return false;
    uint32_t size = (uint32_t)n;
    tk_buf_add(out, (const char *)&size, sizeof size);
    size_t before = out->n;
    gs_take_text(s, out);
    if (out->n - before != n) return false;
  }
  return !**s || **s == ';';
}

void gs_on_insert(gs_stub *g, const char *rest) {
  gs_point *p = tk_calloc(g->env, 1, sizeof *p);
  tk_buf_init(&p->conditions, g->env);
  if (take_point(&rest, p) && take_conditions(&rest, &p->conditions)) {
    /* the client may send the same point again, with other conditions */
    remove_point(g, p);
    if (add_to_engine(g, p)) {
      p->next = g->points;
      g->points = p;
      tk_buf_puts(&g->reply, "OK");
      return;
    }
  }
  p->number = 0;
  free_point(g, p);
  gs_reply_error(g);
}

void gs_on_remove(gs_stub *g, const char *rest) {
  gs_point like = {0};
  if (!take_point(&rest, &like)) {
    gs_reply_error(g);
    return;
  }
  remove_point(g, &like);
  tk_buf_puts(&g->reply, "OK");
}
