/* reg.h - typed registers of the code for one thread.
 *
 * A register is what an instruction takes and gives: the result of another
 * instruction, a variable's address, or a constant.  It knows its type, so that
 * whoever combines two of them need not say it again, and the printer (code.h)
 * can check it.  Registers are plain
 * values. */
#ifndef TK_NVPTX_REG_H
#define TK_NVPTX_REG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tkv_type_kind {
  TKV_VOID,
  TKV_INT,
  TKV_FLOAT,
  TKV_BFLOAT,
  TKV_POINTER, /* any address that the thread can use */
  TKV_SHARED   /* an address in shared memory */
} tkv_type_kind;

typedef struct tkv_type {
  uint8_t kind;  /* a tkv_type_kind */
  uint8_t bits;  /* of a number */
  uint8_t lanes; /* of a vector; 0: a scalar */
} tkv_type;

#define TKV_INT_OF(n) ((tkv_type){TKV_INT, (uint8_t)(n), 0})
#define TKV_FLOAT_OF(n) ((tkv_type){TKV_FLOAT, (uint8_t)(n), 0})
#define TKV_I1 TKV_INT_OF(1)
#define TKV_I8 TKV_INT_OF(8)
#define TKV_I16 TKV_INT_OF(16)
#define TKV_I32 TKV_INT_OF(32)
#define TKV_I64 TKV_INT_OF(64)
#define TKV_F16 TKV_FLOAT_OF(16)
#define TKV_F32 TKV_FLOAT_OF(32)
#define TKV_F64 TKV_FLOAT_OF(64)
#define TKV_BF16 ((tkv_type){TKV_BFLOAT, 16, 0})
#define TKV_NOTHING ((tkv_type){TKV_VOID, 0, 0})
#define TKV_PTR ((tkv_type){TKV_POINTER, 0, 0})
#define TKV_SHARED_PTR ((tkv_type){TKV_SHARED, 0, 0})

static inline bool tkv_same_type(tkv_type a, tkv_type b) {
  return a.kind == b.kind && a.bits == b.bits && a.lanes == b.lanes;
}

static inline bool tkv_is_float_type(tkv_type t) {
  return t.kind == TKV_FLOAT || t.kind == TKV_BFLOAT;
}

typedef enum tkv_reg_kind {
  /* "no register", which stands for a condition that always holds */
  TKV_NONE,
  TKV_RESULT,   /* of an instruction */
  TKV_VARIABLE, /* the address of a variable of the thread */
  TKV_COUNTER,  /* a loop's */
  TKV_PARAM,    /* a parameter of the kernel, by its number */
  TKV_STRING,   /* the address of a text in the module */
  TKV_NAMED,    /* a tkv_named */
  TKV_INTEGER,  /* constants: an integer, */
  TKV_BITS,     /* a float by its bits, */
  TKV_NUMBER,   /* a float by its value, */
  TKV_POISON    /* a vector of which nothing is known yet */
} tkv_reg_kind;

/* What every kernel has. */
typedef enum tkv_named {
  TKV_TID,     /* this thread's number in the program, */
  TKV_LANE,    /* in its warp, */
  TKV_WARP,    /* and its warp's: i32 */
  TKV_SCRATCH, /* where shared memory begins, */
  TKV_BESIDE,  /* and where it goes on after the buffers of copies */
  TKV_NAMED_COUNT
} tkv_named;

typedef struct tkv_reg {
  tkv_type type;
  uint8_t kind; /* a tkv_reg_kind */
  uint32_t id;
  union {
    int64_t integer; /* the value of an integer, or the bits of a float */
    double number;
  } value;
} tkv_reg;

#define TKV_NO_REG ((tkv_reg){.kind = TKV_NONE})

static inline bool tkv_exists(tkv_reg x) {
  return x.kind != TKV_NONE;
}

static inline bool tkv_same_reg(tkv_reg a, tkv_reg b) {
  return a.kind == b.kind && a.id == b.id && a.value.integer == b.value.integer;
}

/* ---- constants ----------------------------------------------------------- */

tkv_reg tkv_integer(tkv_type t, int64_t value);
static inline tkv_reg tkv_i32(int64_t value) {
  return tkv_integer(TKV_I32, value);
}
/* A float by its value, and by its bits. */
tkv_reg tkv_number_of(tkv_type t, double value);
tkv_reg tkv_float_of_bits(tkv_type t, int64_t bits);
/* Whether it is known to be that integer, or any. */
bool tkv_is_integer(tkv_reg x, int64_t value);
bool tkv_is_known_integer(tkv_reg x);

tkv_reg tkv_named_reg(tkv_named which);
static inline tkv_reg tkv_tid(void) {
  return tkv_named_reg(TKV_TID);
}
tkv_reg tkv_param(tkv_type t, size_t i);

#endif
