/* agent.c - a machine with a stack of 64-bit numbers. */
#include "gdbstub/gdb/agent.h"

enum { DEPTH = 100, PATIENCE = 100000 };

typedef enum opcode {
  ADD = 0x02,
  SUB,
  MUL,
  DIV_SIGNED,
  DIV_UNSIGNED,
  REM_SIGNED,
  REM_UNSIGNED,
  LSH,
  RSH_SIGNED,
  RSH_UNSIGNED,
  LOG_NOT = 0x0e,
  BIT_AND,
  BIT_OR,
  BIT_XOR,
  BIT_NOT,
  EQUAL,
  LESS_SIGNED,
  LESS_UNSIGNED,
  EXT,
  REF8,
  REF16,
  REF32,
  REF64,
  IF_GOTO = 0x20,
  GOTO,
  CONST8,
  CONST16,
  CONST32,
  CONST64,
  REG,
  END,
  DUP,
  POP,
  ZERO_EXT,
  SWAP,
  PICK = 0x32,
  ROT,
} opcode;

typedef struct machine {
  const gs_agent *agent;
  const unsigned char *code;
  size_t n, at;
  int64_t stack[DEPTH];
  int depth;
  bool ended;
} machine;

/* An operand in the code, most significant byte first. */
static bool fetch(machine *m, int bytes, uint64_t *value) {
  if (m->n - m->at < (size_t)bytes) return false;
  *value = 0;
  while (bytes--) *value = *value << 8 | m->code[m->at++];
  return true;
}

static bool push(machine *m, uint64_t value) {
  if (m->depth == DEPTH) return false;
  m->stack[m->depth++] = (int64_t)value;
  return true;
}

static uint64_t shifted(opcode op, int64_t a, uint64_t by) {
  if (op == RSH_SIGNED) return (uint64_t)(a >> (by > 63 ? 63 : by));
  if (by > 63) return 0;
  return op == LSH ? (uint64_t)a << by : (uint64_t)a >> by;
}

/* Computes a quotient or remainder; returns false for a division by zero or one
 * that overflows. */
static bool divide_exactly(opcode op, int64_t a, int64_t b, uint64_t *out) {
  if (!b || (a == INT64_MIN && b == -1)) return false;
  switch (op) {
  case DIV_SIGNED: *out = (uint64_t)(a / b); break;
  case REM_SIGNED: *out = (uint64_t)(a % b); break;
  case DIV_UNSIGNED: *out = (uint64_t)a / (uint64_t)b; break;
  default: *out = (uint64_t)a % (uint64_t)b; break;
  }
  return true;
}

static bool join_top_two(machine *m, opcode op) {
  if (m->depth < 2) return false;
  int64_t b = m->stack[--m->depth], a = m->stack[m->depth - 1];
  uint64_t x = (uint64_t)a, y = (uint64_t)b, result = 0;
  switch (op) {
  case ADD: result = x + y; break;
  case SUB: result = x - y; break;
  case MUL: result = x * y; break;
  case BIT_AND: result = x & y; break;
  case BIT_OR: result = x | y; break;
  case BIT_XOR: result = x ^ y; break;
  case EQUAL: result = a == b; break;
  case LESS_SIGNED: result = a < b; break;
  case LESS_UNSIGNED: result = x < y; break;
  case LSH:
  case RSH_SIGNED:
  case RSH_UNSIGNED: result = shifted(op, a, y); break;
  default:
    if (!divide_exactly(op, a, b, &result)) return false;
  }
  m->stack[m->depth - 1] = (int64_t)result;
  return true;
}

/* Opcodes that replace the number on top of the stack. */
static bool change_top(machine *m, opcode op) {
  if (!m->depth) return false;
  int64_t *top = &m->stack[m->depth - 1];
  uint64_t bits = 0;
  if (op == LOG_NOT) return *top = !*top, true;
  if (op == BIT_NOT) return *top = ~*top, true;
  if (op == EXT || op == ZERO_EXT) {
    if (!fetch(m, 1, &bits) || !bits) return false;
    if (bits >= 64) return true;
    uint64_t low = (uint64_t)*top << (64 - bits);
    *top =
        op == EXT ? (int64_t)low >> (64 - bits) : (int64_t)(low >> (64 - bits));
    return true;
  }
  size_t size = (size_t)1 << (op - REF8);
  unsigned char bytes[8];
  if (!m->agent->memory(m->agent->ud, (uint64_t)*top, bytes, size))
    return false;
  for (size_t i = size; i--;) bits = bits << 8 | bytes[i];
  return *top = (int64_t)bits, true;
}

static bool jump(machine *m, opcode op) {
  uint64_t to;
  if (!fetch(m, 2, &to) || to >= m->n) return false;
  if (op == IF_GOTO && !m->depth) return false;
  if (op == GOTO || m->stack[--m->depth]) m->at = to;
  return true;
}

/* Opcodes that push a number or rearrange the stack. */
static bool arrange(machine *m, opcode op) {
  uint64_t k = 0;
  int64_t *top = &m->stack[m->depth]; /* after it */
  switch (op) {
  case CONST8:
  case CONST16:
  case CONST32:
  case CONST64: return fetch(m, 1 << (op - CONST8), &k) && push(m, k);
  case REG:
    return fetch(m, 2, &k) && m->agent->reg(m->agent->ud, (int)k, &k) &&
           push(m, k);
  case DUP: return m->depth && push(m, (uint64_t)top[-1]);
  case POP: return m->depth && m->depth--;
  case PICK:
    return fetch(m, 1, &k) && k < (uint64_t)m->depth &&
           push(m, (uint64_t)m->stack[m->depth - 1 - (int)k]);
  case SWAP:
  case ROT: {
    int n = op == SWAP ? 2 : 3;
    if (m->depth < n) return false;
    int64_t last = top[-1];
    for (int i = 1; i < n; i++) top[-i] = top[-i - 1];
    return top[-n] = last, true;
  }
  default: return false;
  }
}

static bool run_one(machine *m) {
  opcode op = (opcode)m->code[m->at++];
  if (op == END) return m->ended = true;
  if ((op >= ADD && op <= RSH_UNSIGNED) || (op >= BIT_AND && op <= BIT_XOR) ||
      (op >= EQUAL && op <= LESS_UNSIGNED))
    return join_top_two(m, op);
  if (op == LOG_NOT || op == BIT_NOT || op == ZERO_EXT ||
      (op >= EXT && op <= REF64))
    return change_top(m, op);
  if (op == IF_GOTO || op == GOTO) return jump(m, op);
  return arrange(m, op);
}

bool gs_agent_run(const gs_agent *a, const unsigned char *code, size_t n,
                  int64_t *value) {
  machine m = {.agent = a, .code = code, .n = n};
  for (int i = 0; i < PATIENCE && m.at < n && !m.ended; i++)
    if (!run_one(&m)) return false;
  if (!m.ended || !m.depth) return false;
  *value = m.stack[m.depth - 1];
  return true;
}
