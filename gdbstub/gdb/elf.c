/* elf.c - writes bytes, debugging information, and the file around them. */
#include "gdbstub/gdb/elf.h"

#include <elf.h>
#include <string.h>

#include "gdbstub/gdb/dwarf_names.h"

/* ---- bytes -------------------------------------------------------------- */

/* Appends a number of `size` bytes. */
static void elf_number(tk_buf *b, uint64_t value, int size) {
  char bytes[8];
  TK_ASSERT(size >= 1 && size <= 8);
  for (int i = 0; i < size; i++) bytes[i] = (char)(value >> (8 * i));
  tk_buf_add(b, bytes, (size_t)size);
}

static void elf_uleb(tk_buf *b, uint64_t value) {
  for (; value >= 0x80; value >>= 7) tk_buf_putc(b, (char)(value | 0x80));
  tk_buf_putc(b, (char)value);
}

static void elf_sleb(tk_buf *b, int64_t value) {
  for (; value < -0x40 || value >= 0x40; value >>= 7)
    tk_buf_putc(b, (char)(value | 0x80));
  tk_buf_putc(b, (char)(value & 0x7f));
}

/* Appends a string with its NUL. */
static void elf_text(tk_buf *b, const char *s) {
  tk_buf_add(b, s, strlen(s) + 1);
}

/* Overwrites what is at an offset. */
static void elf_patch(tk_buf *b, size_t at, uint64_t value, int size) {
  TK_ASSERT(at + (size_t)size <= b->n);
  for (int i = 0; i < size; i++) b->s[at + (size_t)i] = (char)(value >> 8 * i);
}

/* ---- sections ----------------------------------------------------------- */

/* Every section of the file, in its order; the first one is empty. */
enum {
  NONE,
  TEXT,
  ABBREV,
  INFO,
  LINE,
  FRAME,
  ARANGES,
  SYMTAB,
  STRTAB,
  SHSTRTAB,
  SECTIONS,
};

typedef struct section {
  const char *name;
  uint32_t type;
  uint64_t flags, address, align, entry_size;
  uint32_t link, info;
} section;

static const section layout[SECTIONS] = {
    [NONE] = {.name = ""},
    [TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 32, 0, 0, 0},
    [ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0, 0, 1, 0, 0, 0},
    [INFO] = {".debug_info", SHT_PROGBITS, 0, 0, 1, 0, 0, 0},
    [LINE] = {".debug_line", SHT_PROGBITS, 0, 0, 1, 0, 0, 0},
    [FRAME] = {".debug_frame", SHT_PROGBITS, 0, 0, 8, 0, 0, 0},
    [ARANGES] = {".debug_aranges", SHT_PROGBITS, 0, 0, 1, 0, 0, 0},
    [SYMTAB] = {".symtab", SHT_SYMTAB, 0, 0, 8, sizeof(Elf64_Sym), STRTAB, 1},
    [STRTAB] = {".strtab", SHT_STRTAB, 0, 0, 1, 0, 0, 0},
    [SHSTRTAB] = {".shstrtab", SHT_STRTAB, 0, 0, 1, 0, 0, 0},
};

/* An abbreviation: the tag and the attributes' names and forms, as bytes. */
typedef struct abbreviation {
  const char *bytes;
  size_t n;
} abbreviation;

struct gs_elf {
  tk_arena *arena;
  gs_unit unit;
  tk_buf sections[SECTIONS];
  tk_buf file;
  tk_buf spec; /* the abbreviation that is being looked up */
  TK_VEC(abbreviation) abbreviations;
  TK_VEC(const char *) files;
  tk_buf rows; /* of the line table, without its header */
  gs_row row;  /* the last one */
};

gs_elf *gs_elf_new(tk_arena *a) {
  gs_elf *w = TK_NEW(a, gs_elf);
  w->arena = a;
  for (int i = 0; i < SECTIONS; i++) tk_buf_init(&w->sections[i], a->env);
  tk_buf_init(&w->file, a->env);
  tk_buf_init(&w->spec, a->env);
  tk_buf_init(&w->rows, a->env);
  return w;
}

void gs_elf_free(gs_elf *w) {
  if (!w) return;
  for (int i = 0; i < SECTIONS; i++) tk_buf_free(&w->sections[i]);
  tk_buf_free(&w->file);
  tk_buf_free(&w->spec);
  tk_buf_free(&w->rows);
}

/* ---- entries ------------------------------------------------------------ */

static int form_code(gs_form f) {
  switch (f) {
  case GS_STRING: return DW_FORM_string;
  case GS_NUMBER: return DW_FORM_udata;
  case GS_SIGNED: return DW_FORM_sdata;
  case GS_BITS: return DW_FORM_data8;
  case GS_ADDRESS: return DW_FORM_addr;
  case GS_REFERENCE: return DW_FORM_ref4;
  case GS_SECTION: return DW_FORM_sec_offset;
  case GS_FRAME: return DW_FORM_exprloc;
  case GS_FLAG: return DW_FORM_flag_present;
  }
  return 0;
}

/* A value on the stack as an expression, with its length.  The register is
 * named, not the frame's base: a debugger that knows that an address is of
 * the stack reads it in lines of its cache, by hundreds of small packets. */
static void write_frame_offset(tk_buf *b, int frame, int64_t offset) {
  char bytes[16];
  size_t n = 0;
  bytes[n++] = (char)(DW_OP_breg0 + frame);
  for (; offset < -0x40 || offset >= 0x40; offset >>= 7)
    bytes[n++] = (char)(offset | 0x80);
  bytes[n++] = (char)(offset & 0x7f);
  elf_uleb(b, n);
  tk_buf_add(b, bytes, n);
}

static void write_attribute(const gs_elf *w, tk_buf *b, const gs_attr *a) {
  switch (a->form) {
  case GS_STRING: elf_text(b, a->text); break;
  case GS_NUMBER: elf_uleb(b, a->number); break;
  case GS_SIGNED: elf_sleb(b, (int64_t)a->number); break;
  case GS_BITS:
  case GS_ADDRESS: elf_number(b, a->number, 8); break;
  case GS_REFERENCE:
  case GS_SECTION: elf_number(b, a->number, 4); break;
  case GS_FRAME:
    write_frame_offset(b, w->unit.machine->frame, (int64_t)a->number);
    break;
  case GS_FLAG: break;
  }
}

/* The number of the abbreviation in w->spec, from 1. */
static size_t abbreviation_number(gs_elf *w) {
  for (size_t i = 0; i < w->abbreviations.n; i++) {
    const abbreviation *a = &w->abbreviations.items[i];
    if (a->n == w->spec.n && !memcmp(a->bytes, w->spec.s, a->n)) return i + 1;
  }
  abbreviation own = {tk_arena_strndup(w->arena, w->spec.s, w->spec.n),
                      w->spec.n};
  TK_PUSH(w->arena, &w->abbreviations, own);
  elf_uleb(&w->sections[ABBREV], w->abbreviations.n);
  tk_buf_add(&w->sections[ABBREV], own.bytes, own.n);
  return w->abbreviations.n;
}

uint32_t gs_die(gs_elf *w, int tag, bool children, const gs_attr *attrs,
                size_t n) {
  tk_buf *info = &w->sections[INFO];
  uint32_t at = (uint32_t)info->n;
  tk_buf_clear(&w->spec);
  elf_uleb(&w->spec, (uint64_t)tag);
  tk_buf_putc(&w->spec, children);
  for (size_t i = 0; i < n; i++) {
    elf_uleb(&w->spec, (uint64_t)attrs[i].name);
    elf_uleb(&w->spec, (uint64_t)form_code(attrs[i].form));
  }
  elf_number(&w->spec, 0, 2);
  elf_uleb(info, abbreviation_number(w));
  for (size_t i = 0; i < n; i++) write_attribute(w, info, &attrs[i]);
  return at;
}

void gs_die_end(gs_elf *w) {
  elf_number(&w->sections[INFO], 0, 1);
}

void gs_unit_begin(gs_elf *w, const gs_unit *u) {
  tk_buf *info = &w->sections[INFO];
  w->unit = *u;
  elf_number(info, 0, 4); /* the length, later */
  elf_number(info, 4, 2);
  elf_number(info, 0, 4);
  elf_number(info, 8, 1);
  gs_attr attrs[] = {
      {DW_AT_producer, GS_STRING, 0, u->producer},
      {DW_AT_language, GS_NUMBER, DW_LANG_C99, NULL},
      {DW_AT_name, GS_STRING, 0, u->name},
      {DW_AT_comp_dir, GS_STRING, 0, u->folder},
      {DW_AT_low_pc, GS_ADDRESS, u->low, NULL},
      {DW_AT_high_pc, GS_NUMBER, u->high - u->low, NULL},
      {DW_AT_stmt_list, GS_SECTION, 0, NULL},
  };
  gs_die(w, DW_TAG_compile_unit, true, attrs, TK_COUNT(attrs));
  w->row = (gs_row){.address = u->low, .file = 1, .line = 1};
}

/* ---- lines -------------------------------------------------------------- */

int gs_line_file(gs_elf *w, const char *path) {
  for (size_t i = 0; i < w->files.n; i++)
    if (!strcmp(w->files.items[i], path)) return (int)i + 1;
  TK_PUSH(w->arena, &w->files, tk_arena_strdup(w->arena, path));
  return (int)w->files.n;
}

void gs_line_row(gs_elf *w, gs_row row) {
  tk_buf *b = &w->rows;
  TK_ASSERT(row.address >= w->row.address);
  if (!b->n) {
    elf_number(b, 0, 1);
    elf_uleb(b, 9);
    elf_number(b, DW_LNE_set_address, 1);
    elf_number(b, row.address, 8);
  } else if (row.address > w->row.address) {
    elf_number(b, DW_LNS_advance_pc, 1);
    elf_uleb(b, row.address - w->row.address);
  }
  if (row.file != w->row.file) {
    elf_number(b, DW_LNS_set_file, 1);
    elf_uleb(b, (uint64_t)row.file);
  }
  elf_number(b, DW_LNS_advance_line, 1);
  elf_sleb(b, row.line - w->row.line);
  if (row.begins) elf_number(b, DW_LNS_set_prologue_end, 1);
  elf_number(b, DW_LNS_copy, 1);
  w->row = row;
}

/* The lengths of the standard opcodes' operands, which a reader may skip. */
static const unsigned char opcode_lengths[] = {0, 1, 1, 1, 1, 0,
                                               0, 0, 1, 0, 0, 1};

static void write_lines(gs_elf *w) {
  tk_buf *b = &w->sections[LINE];
  elf_number(b, 0, 4); /* the length, and that of the header, later */
  elf_number(b, 4, 2);
  elf_number(b, 0, 4);
  elf_number(b, 1, 1); /* bytes of the shortest instruction */
  elf_number(b, 1, 1); /* operations in one */
  elf_number(b, 1, 1); /* every row is a statement */
  elf_number(b, (uint8_t)-5, 1);
  elf_number(b, 14, 1);
  elf_number(b, sizeof opcode_lengths + 1, 1);
  tk_buf_add(b, (const char *)opcode_lengths, sizeof opcode_lengths);
  elf_number(b, 0, 1); /* no folders: paths are absolute */
  for (size_t i = 0; i < w->files.n; i++) {
    elf_text(b, w->files.items[i]);
    elf_number(b, 0, 3); /* folder, time, size */
  }
  elf_number(b, 0, 1);
  elf_patch(b, 6, b->n - 10, 4);
  if (w->rows.n) {
    tk_buf_add(b, w->rows.s, w->rows.n);
    elf_number(b, DW_LNS_advance_pc, 1);
    elf_uleb(b, w->unit.high - w->row.address);
    elf_number(b, 0, 1);
    elf_uleb(b, 1);
    elf_number(b, DW_LNE_end_sequence, 1);
  }
  elf_patch(b, 0, b->n - 4, 4);
}

/* ---- frames, ranges, symbols -------------------------------------------- */

/* How to find the caller, everywhere in the same way: the frame's address is
 * the frame register + 16, the return address lies 16 below it and the
 * caller's frame register 8 below.
 * The usual order is the other one; with it, lldb believes the instructions,
 * which are nops, rather than this. */
static void write_frames(gs_elf *w) {
  const gs_machine *m = w->unit.machine;
  tk_buf *b = &w->sections[FRAME];
  elf_number(b, 0, 4); /* the length, later */
  elf_number(b, 0xffffffff, 4);
  elf_number(b, 4, 1);
  elf_text(b, "");
  elf_number(b, 8, 1); /* bytes of an address */
  elf_number(b, 0, 1);
  elf_uleb(b, 1);  /* bytes of the shortest instruction */
  elf_sleb(b, -8); /* the unit of offsets below */
  elf_uleb(b, (uint64_t)m->return_address);
  elf_number(b, DW_CFA_def_cfa, 1);
  elf_uleb(b, (uint64_t)m->frame);
  elf_uleb(b, 16);
  elf_number(b, DW_CFA_offset | (uint64_t)m->return_address, 1);
  elf_uleb(b, 2);
  elf_number(b, DW_CFA_offset | (uint64_t)m->frame, 1);
  elf_uleb(b, 1);
  elf_number(b, DW_CFA_val_offset, 1);
  elf_uleb(b, (uint64_t)m->stack);
  elf_uleb(b, 0);
  while (b->n % 8) tk_buf_putc(b, '\0');
  elf_patch(b, 0, b->n - 4, 4);
  elf_number(b, 4 + 8 + 8, 4);
  elf_number(b, 0, 4);
  elf_number(b, w->unit.low, 8);
  elf_number(b, w->unit.high - w->unit.low, 8);
}

static void write_ranges(gs_elf *w) {
  tk_buf *b = &w->sections[ARANGES];
  elf_number(b, 12 + 4 * 8, 4);
  elf_number(b, 2, 2);
  elf_number(b, 0, 4);
  elf_number(b, 8, 1);
  elf_number(b, 0, 1);
  elf_number(b, 0, 4); /* pairs are aligned to their size */
  elf_number(b, w->unit.low, 8);
  elf_number(b, w->unit.high - w->unit.low, 8);
  elf_number(b, 0, 8);
  elf_number(b, 0, 8);
}

void gs_symbol(gs_elf *w, const char *name, uint64_t address, uint64_t size) {
  tk_buf *b = &w->sections[SYMTAB], *names = &w->sections[STRTAB];
  if (!b->n) tk_buf_pad(b, '\0', sizeof(Elf64_Sym));
  if (!names->n) elf_text(names, "");
  elf_number(b, names->n, 4);
  elf_number(b, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1);
  elf_number(b, STV_DEFAULT, 1);
  elf_number(b, TEXT, 2);
  elf_number(b, address, 8);
  elf_number(b, size, 8);
  elf_text(names, name);
}

/* ---- the file ----------------------------------------------------------- */

/* The code lies in the file as it does in memory. */
enum { PAGE = 0x1000, HEADERS = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) };

static void write_headers(tk_buf *b, const gs_elf *w, uint64_t sections_at) {
  uint64_t size = w->unit.text_end - w->unit.low;
  Elf64_Ehdr head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                                 ELFDATA2LSB, EV_CURRENT},
                     .e_type = ET_EXEC,
                     .e_machine = (Elf64_Half)w->unit.machine->elf,
                     .e_version = EV_CURRENT,
                     .e_entry = w->unit.entry,
                     .e_phoff = sizeof(Elf64_Ehdr),
                     .e_shoff = sections_at,
                     .e_ehsize = sizeof(Elf64_Ehdr),
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 1,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = SECTIONS,
                     .e_shstrndx = SHSTRTAB};
  Elf64_Phdr load = {.p_type = PT_LOAD,
                     .p_flags = PF_R | PF_X,
                     .p_offset = PAGE,
                     .p_vaddr = w->unit.low,
                     .p_paddr = w->unit.low,
                     .p_filesz = size,
                     .p_memsz = size,
                     .p_align = PAGE};
  TK_ASSERT(w->unit.low % PAGE == 0);
  memcpy(b->s, &head, sizeof head);
  memcpy(b->s + sizeof head, &load, sizeof load);
}

static void write_sections(gs_elf *w, const uint64_t *offsets,
                           const uint32_t *names) {
  for (int i = 0; i < SECTIONS; i++) {
    const section *s = &layout[i];
    Elf64_Shdr head = {.sh_name = names[i],
                       .sh_type = s->type,
                       .sh_flags = s->flags,
                       .sh_addr = i == TEXT ? w->unit.low : 0,
                       .sh_offset = offsets[i],
                       .sh_size = w->sections[i].n,
                       .sh_link = s->link,
                       .sh_info = s->info,
                       .sh_addralign = s->align,
                       .sh_entsize = s->entry_size};
    tk_buf_add(&w->file, (const char *)&head, sizeof head);
  }
}

const tk_buf *gs_elf_file(gs_elf *w) {
  tk_buf *b = &w->file, *info = &w->sections[INFO];
  uint64_t offsets[SECTIONS] = {0};
  uint32_t names[SECTIONS] = {0};
  gs_die_end(w);
  elf_patch(info, 0, info->n - 4, 4);
  elf_number(&w->sections[ABBREV], 0, 1);
  write_lines(w);
  write_frames(w);
  write_ranges(w);
  tk_buf_add(&w->sections[TEXT], w->unit.text, w->unit.text_end - w->unit.low);
  for (int i = 0; i < SECTIONS; i++) {
    names[i] = (uint32_t)w->sections[SHSTRTAB].n;
    elf_text(&w->sections[SHSTRTAB], layout[i].name);
  }
  tk_buf_pad(b, '\0', PAGE);
  for (int i = TEXT; i < SECTIONS; i++) {
    while (b->n % layout[i].align) tk_buf_putc(b, '\0');
    offsets[i] = b->n;
    tk_buf_add(b, w->sections[i].s, w->sections[i].n);
  }
  while (b->n % 8) tk_buf_putc(b, '\0');
  write_headers(b, w, b->n);
  write_sections(w, offsets, names);
  return b;
}
