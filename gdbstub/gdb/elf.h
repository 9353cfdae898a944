/* elf.h - the file that a debugger loads symbols from: bytes, sections and
 * debugging information, written from nothing but calls.
 *
 * Sources: System V ABI, chapter 4 (ELF-64); DWARF 4, sections 6 and 7.  Of
 * the two byte orders only the little one is written.
 *
 * Ownership: a gs_elf belongs to whoever made it, as does the file that
 * gs_elf_file gives.  Errors: calls throw when memory is out.
 */
#ifndef GDBSTUB_GDB_ELF_H
#define GDBSTUB_GDB_ELF_H

#include "base/env.h"
#include "gdbstub/gdb/machine.h"

/* ---- debugging information ---------------------------------------------- */

/* How an attribute is written, of gs_attr. */
typedef enum gs_form {
  GS_STRING,    /* text */
  GS_NUMBER,    /* number, unsigned */
  GS_SIGNED,    /* number as int64_t */
  GS_BITS,      /* number, eight bytes: an address' worth, or a double's bits */
  GS_ADDRESS,   /* number */
  GS_REFERENCE, /* number: what gs_die gave */
  GS_SECTION,   /* number: an offset into another section */
  GS_FRAME,     /* number: an offset from the frame's base register */
  GS_FLAG,      /* it is there */
} gs_form;

typedef struct gs_attr {
  int name; /* DW_AT_... */
  gs_form form;
  uint64_t number;
  const char *text;
} gs_attr;

typedef struct gs_elf gs_elf;

gs_elf *gs_elf_new(tk_arena *a);
void gs_elf_free(gs_elf *w); /* NULL: nothing; the arena keeps the rest */
/* An entry, with entries below it until gs_die_end if it has children.  Gives
 * the offset by which others refer to it. */
uint32_t gs_die(gs_elf *w, int tag, bool children, const gs_attr *attrs,
                size_t n);
void gs_die_end(gs_elf *w);

/* A file of the line table, numbered from 1. */
int gs_line_file(gs_elf *w, const char *path);
/* The next row.  Addresses do not fall; of several rows with one address, the
 * last is the one that a debugger shows.  A breakpoint on a function is
 * set at the row that begins its body. */
typedef struct gs_row {
  uint64_t address;
  int file, line;
  bool begins;
} gs_row;
void gs_line_row(gs_elf *w, gs_row row);

void gs_symbol(gs_elf *w, const char *name, uint64_t address, uint64_t size);

/* What the unit of debugging information is about. */
typedef struct gs_unit {
  const char *producer, *name, *folder;
  const gs_machine *machine;
  uint64_t low, high; /* addresses of its code */
  uint64_t entry;     /* where the outermost function begins */
  const void *text;   /* the code, from low on ... */
  uint64_t text_end;  /* ... to here, also such as has no lines */
} gs_unit;

/* Begins the unit; everything of it comes after this. */
void gs_unit_begin(gs_elf *w, const gs_unit *u);
/* Completes the file; nothing may be added after this.  It lives as long as
 * the writer. */
const tk_buf *gs_elf_file(gs_elf *w);

#endif
