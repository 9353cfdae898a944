# Makefile of tkdbg, for GNU make 4.3 or newer.
#
#   make            the library, the command, its man page and completion
#   make demo       a first look; installs what is missing, on Debian
#   make test       every test, one closing line; the same
#   make bare-check  README's commands in roots of a bare Debian, as root: see
#                   tools/bare.sh, which .ci/run runs
#   make check-fast builds, then lint and the tests that take under a second
#   make setup      installs the Debian packages that are missing
#   make install    PREFIX=/usr/local DESTDIR=   (and uninstall)
#   make wheel      dist/*.whl, for pip; DIST=FOLDER
#   make wheels     wheels for any Linux, x86-64 and aarch64 (ARCHES=NAME);
#                   docs/install.md says how
#   make wheels-check  one of them in the systems of tests/wheel/roots.txt, as
#                   debootstrap makes them (ONLY=TEXT: with TEXT in their name)
#   make wheel-check  the same, and tried in a fresh virtual environment of
#                   each Python of PYTHONS (python3.9 to python3.14) that runs
#   make spec       the specification suite; PEER=interpret|gpu by a peer,
#                   ENGINE=ptx by code for a GPU
#   make docs       pages that are written by asking the library
#   make lint       layout, line width, sizes; what may use what, and knots
#   make gate       every operation has a specification, example, error test
#   make spec-files  writes the specifications that scripts of tests/language
#                   work out, into the build; tests do that themselves
#   make generated  writes those that are checked in, again, and
#                   make generated-check says which are stale (needs mpmath)
#   make format     clang-format in place
#   make bench      kernels beside Triton's interpreter and PyTorch;
#                   BENCH='--document docs/performance.md' writes that page
#   make bench-counts  instructions of small kernels, beside those checked in;
#                   RECORD=1 checks them in anew
#   make bench-check  what --check costs on those kernels, large ones too; at
#                   most 3 plain runs
#   make bench-compile  how long kernels take from source to PTX
#   make bench-scale  whether what large launches and many cost is linear, and
#                   what parts of one bring (tests/bench/scale.py);
#                   DOCUMENT=docs/performance.md writes the table there
#   make bench-debug  what the debugger costs, beside the plain run
#   make bench-gpu  code for a GPU beside Triton's, on a GPU
#   make bench-gdb  how fast gdb is over the server
#   make accuracy   measures every function beside MPFR, into docs/accuracy.md
#   make mutants    puts bugs into the examples' kernels, counts the caught
#   make compiled-models  models under torch.compile on the virtual device,
#                   against eager PyTorch (tests/compiled/models.py), by PYTHON
#                   with PyTorch 2.13 or newer
#   make compiled-speed  launches a second of what PyTorch's compiler writes,
#                   and a block of GPT-2's size (tests/compiled/speed.py);
#                   DOCUMENT=docs/performance.md writes the table there
#   make compiled-faults  faults in what PyTorch's compiler writes: `tkdbg why`
#                   names kernel and node (tests/compiled/faults.py)
#   make why-corpus  whether `tkdbg why` names the line of each bug of
#                   tests/why, in realistic programs; ONLY=TEXT chooses some,
#                   JOBS=N run at a time
#   make assemble   whether ptxas takes all PTX of examples (SCRIPTS=...) and
#                   tests/language, for sm_80 and sm_90
#   make code-mutants  puts bugs into code for a GPU: tkdbg diff --explain must
#                   name the line of each
#   make random     COUNT=10000 random kernels from SEED=0 on: interpreter,
#                   every pass, code for a GPU (WAYS=text,passes,ptx);
#                   PEER=triton-X.Y packs them with that Triton into the folder
#                   CARRY=build/carried, for a machine with a GPU and Python
#                   THERE=3.12: python3 carried/carried.py compares there
#   make sweep-bits  whoever watches a launch, it leaves the same bits: every
#                   example, the bench's kernels, COUNT=10000 random ones from
#                   SEED=0 on
#   make front      21,000 kernels, taken or refused as Triton does; PYTHON has
#                   Triton 3.6 and PyTorch.  RECORD=1: the gate's part anew
#   make versions   which kernels are taken, the types and values of expressions
#                   and what modules export, beside each Triton of
#                   tests/front/versions.txt: in environments of
#                   VENVS=build/venvs, which it makes; ONLY=X.Y chooses one,
#                   PART=kernels, values or hosts a comparison, STEP=N takes
#                   each Nth kernel; RECORD=1 writes the gate's answers
#   make bridge-matrix  the bridge beside each pair of PyTorch and Triton of
#                   tests/matrix/pairs.txt, into docs/compatibility.md: in
#                   environments of VENVS=build/venvs, which it makes (up to
#                   6 GB each); ACCEPTANCE=FOLDER has more scripts to run,
#                   ONLY=NAME chooses a row
#   make ptx-coverage  of which kernels the PTX interpreter runs what Triton
#                   prints: examples, scripts of ACCEPTANCE=FOLDER, launch files
#                   of LAUNCHES='NAME=FOLDER ...'; environments as for make
#                   versions
#   make miscompiles  which kernels that Triton gets wrong (docs/validation.md)
#                   are found without a GPU, with the same environments
#   make ptx-mutants   puts faults into Triton's PTX, in PLACES=4 places each:
#                   which are found, and at which line; PYTHON has Triton
#   make prove-mutants  kernels of tests/prove, changed in one place each: no
#                   verdict of `tkdbg prove` may be wrong.  KERNELS=... chooses
#   make prove-corpus  what is proved of the examples and of the puzzles'
#                   solutions: shares and times.  SCRIPTS="'NAME=FOLDER' ..."
#                   adds scripts, files of tests, or tables that prove --table
#                   has written; KEEP=FOLDER keeps what is proved, so that long
#                   work can be done in parts
#   make prove-launches  what is proved, in RUNS=1000 launches at random sizes
#   make sizes-table  what `tkdbg run --sizes` says of the examples, or of
#                   FILES=..., counted; fails if it finds anything
#   make fuzz       RUNS=1000000 inputs for each fuzz target (needs clang), or
#                   TIME seconds, if not 0
#   make fuzz-forms RUNS=1000000 typed forms, changed at random, from FIRST on;
#                   SANITIZE=address,undefined makes it see more
#   make fuzz-ptx   the same of one target: PTX, read and run
#   make fuzz-dap   RUNS=1000000 random messages of editors, from seed FIRST
#   make fuzz-lines RUNS=1000000 random lines for the debugger, from seed FIRST;
#                   as fuzz-forms
#   make large      COUNT=100000 large inputs from SEED=0 on, made by
#                   tests/support/large.py: long names and texts, deep nests,
#                   many of something; as fuzz-forms
#   make aarch64-check  builds for aarch64 and tests by qemu in a Debian that
#                   debootstrap makes, as root: tools/aarch64.sh; PARTS=LIST
#   make compilers  builds with gcc 11 to 14 and clang 14 to 19, those that are
#                   installed (COMPILERS=LIST), and counts warnings
#   make cross-check  compiles every file for aarch64, by gcc-aarch64-linux-gnu
#   make thread-check  --jobs under ThreadSanitizer
#   make sanitize-check  the tests of C, of the debugger, the command line and
#                   the bridge under AddressSanitizer and UBSan; .ci/run leaves
#                   out what takes long
#   make clean
#
# `make` builds into build/ what is installed.  Tests run with assertions that
# are checked, on a build of its own, build-asserts/: test, check-fast and
# test-programs make that one, unless ASSERTS=0 asks for what is installed.
#
# Variables: CC, CFLAGS, V=1 (show commands), WERROR=1, SANITIZE=LIST (its own
# build folder, with assertions), ASSERTS=1 or 0, PYTHON (the one with NumPy
# that tests and bench use), SUITES (of `make test`: c python cli debug dap
# gdb docs), ONLY=TEXT (of `make test`: programs, scripts and files with TEXT in
# the name), FAST=1 (of `make test`: without what takes long), ROWS=all (of
# `make test`: all rows of tables that are tried in part), DONE=FILE (of
# `make test`: without the files of tests that it names, as
# build-asserts/test-passed of another machine does).

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

comma := ,
PREFIX ?= /usr/local
DESTDIR ?=
CC := $(if $(filter default undefined,$(origin CC)),cc,$(CC))
AR := $(if $(filter default undefined,$(origin AR)),ar,$(AR))
CFLAGS ?= -O2 -g
PYTHON ?=
RUNS ?= 1000000
FIRST ?= 0
TIME ?= 0
SUITES ?=
SANITIZE ?=
V ?=

# Sanitizer builds check assertions; other builds do with ASSERTS=1.
ASSERTS ?= $(if $(SANITIZE),1)
checked := $(filter-out 0,$(ASSERTS))
B := build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)),$(if \
  $(checked),-asserts))$(if $(MUTANTS),-mutants)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

# ---- flags ---------------------------------------------------------------

# Results are defined bit for bit, so the compiler may not fuse a*b+c.
# Objects serve the shared and the static library alike, hence -fPIC; nobody
# interposes our functions, so calls inside the library stay direct.
# A table may declare a function once for each of its rows, hence no warning
# about that.
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
  -Wwrite-strings -Wpointer-arith -Wvla -Wundef
TK_CPPFLAGS := -D_GNU_SOURCE -Iinclude -Isrc -I. -I$(B)/gen \
  $(if $(checked),-DTK_ASSERTS)
$(B)/src/nvptx/%.o: TK_CPPFLAGS += $(if $(MUTANTS),-DTKV_MUTANTS)
TK_CFLAGS := -std=c11 $(WARNINGS) -fPIC -fno-semantic-interposition \
  -ffp-contract=off
# Nobody looks at errno or the exception flags, so that loops with choices in
# them become vector loops.
KERNEL_CFLAGS := -O3 -fno-math-errno -fno-trapping-math
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
  -fno-sanitize-recover=all -fno-omit-frame-pointer)
WERROR_FLAG := $(if $(filter-out 0,$(WERROR)),-Werror)

pkg = $(or $(shell pkg-config $(1) 2>/dev/null),$(2))
TK_CPPFLAGS += $(call pkg,--cflags libffi jansson zlib)

# Only what is used is linked (--as-needed); OpenBLAS and readline are opened
# at run time.
LIBS := -Wl,--as-needed $(call pkg,--libs jansson,-ljansson) \
  $(call pkg,--libs libffi,-lffi) $(call pkg,--libs zlib,-lz) -lm -ldl -lpthread
# Proofs need isl, where it is installed.
ISL_LIBS := $(shell pkg-config --libs isl 2>/dev/null)
TK_CPPFLAGS += $(if $(ISL_LIBS),-DHAVE_ISL $(call pkg,--cflags isl))
LIBS += $(ISL_LIBS)
# Tests of accuracy compare with MPFR where it is installed.
MPFR_LIBS := $(shell pkg-config --libs mpfr 2>/dev/null)
CHECK_LIBS = $(call pkg,--libs check,-lcheck -lsubunit -lrt)
TEST_LIBS = $(CHECK_LIBS)

COMPILE = $(CC) $(TK_CPPFLAGS) $(CPPFLAGS) $(TK_CFLAGS) $(CFLAGS) $(SAN_FLAGS)
LINKER ?= $(CC)
LINK = $(LINKER) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS)

# ---- sources -------------------------------------------------------------

# A room is a folder: a new one needs no word here.
CLI_SRC := $(sort $(wildcard src/cli/*.c))
CUDA_SRC := $(sort $(wildcard src/cuda/*.c))
LIB_SRC := $(filter-out $(CLI_SRC) $(CUDA_SRC),$(sort $(wildcard \
  src/*/*.c interp/*.c interp/*/*.c gdbstub/*/*.c)))
TEST_SRC := $(sort $(wildcard tests/*/test_*.c))
SUPPORT_SRC := $(sort $(wildcard tests/support/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
EXAMPLE_SRC := $(sort $(wildcard examples/*.c))
HEADERS := $(sort $(wildcard include/tkdbg/*))
PY_FILES := $(sort $(shell find python -type f ! -name '*.pyc' 2>/dev/null))
PUZZLES := $(sort $(shell find puzzles -type f ! -name '*.pyc'))
EXAMPLES := $(sort $(filter-out examples/cutile,$(wildcard examples/*)))
TILE_EXAMPLES := $(sort $(wildcard examples/cutile/*.py))
DOCS := $(sort $(wildcard README.md LICENSE CHANGELOG.md docs/*.md))

TEST_OBJ = $(TESTS:=.o) $(SUPPORT_OBJ) $(EXTRA_TEST_OBJ)
TYPING_PY := $(wildcard src/typing/*.py)
# The modules of the page, each below those that it imports.
PAGE_JS := $(addprefix src/page/,data.js draw.js source.js \
  why.js grid.js values.js tensors.js timeline.js profile.js puzzle.js \
  stages.js layouts.js page.js)
GENERATED := $(TYPING_PY:src/typing/%.py=$(B)/gen/%.inc) \
  $(TYPING_PY:src/typing/%.py=$(B)/gen/%.def) \
  $(B)/gen/page.css.inc $(B)/gen/page.js.inc
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
CUDA_OBJ := $(CUDA_SRC:%.c=$(B)/%.o)
TESTS := $(TEST_SRC:%.c=$(B)/%)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/%.o)
EXAMPLE_BIN := $(EXAMPLE_SRC:%.c=$(B)/%)
FUZZERS := $(FUZZ_SRC:%.c=$(B)/%)
PLUGIN := $(B)/tests/ir/plugin.so
LLVM_CONFIG := $(shell command -v llvm-config-19)
NVPTX := $(if $(LLVM_CONFIG),$(B)/libtkdbg-nvptx.so)
# Specifications that scripts work out are written beside the program that runs
# them.
SPECS := $(B)/tests/language/written
SPEC_FROM := $(wildcard tests/language/*.py) tools/generated.py \
  src/typing/op.def src/typing/prelude.py src/ir/libdevice.def
SHELLS := $(addprefix $(B)/tkdbg.,bash zsh fish)
MADE := $(B)/libtkdbg.a $(B)/libtkdbg.so $(B)/tkdbg $(B)/tkdbg.1 \
  $(SHELLS) $(B)/tkdbg-cuda $(NVPTX)

PEER ?=
PART ?=
OUT ?=
DONE ?=
.PHONY: ttir-coverage bridge-matrix bridge-matrixed \
  all bare-check spec spec-files docs gate generated generated-check front \
  versions \
  prove-mutants prove-launches prove-corpus sizes-table ptx-coverage \
  ptx-mutants \
  miscompiles random sweep-bits demo \
  sanitize-check thread-check thread-checked \
  fuzz-forms fuzzed-forms fuzz-ptx \
  fuzz-dap fuzzed-dap fuzz-lines fuzzed-lines large large-tried \
  test tested check-fast \
  checked-fast setup \
  install uninstall wheel wheels wheels-check \
  wheel-check wheel-files lint format bench \
  bench-check bench-compile bench-counts bench-debug bench-gdb bench-gpu \
  bench-scale \
  accuracy compiled-models compiled-speed compiled-faults fuzz \
  mutants assemble code-mutants planted view-pages view-times why-corpus clean \
  cross-check cross-objects test-programs \
  fuzzers FORCE
all: $(MADE)
	@:

# ---- building ------------------------------------------------------------

# Rewritten when the compiler or its flags change, so that objects follow.
# Whoever compiles otherwise than before is asked for which processor that is.
$(B)/flags: FORCE
	@mkdir -p $(B); echo '$(COMPILE) $(KERNEL_CFLAGS) $(LOOPS)' >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; exit; fi; \
	found=$$($(CC) $(CFLAGS) -dM -E -x c /dev/null) || exit 1; \
	case $$found in *'__BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__'*) ;; \
	*) echo 'tkdbg runs on little-endian processors only, and $(CC)' \
	  'compiles for another one' >&2; exit 1 ;; esac; \
	case $$found in *'__SIZEOF_POINTER__ 8'*) ;; \
	*) echo 'tkdbg runs on 64-bit processors only, and $(CC)' \
	  'compiles for another one' >&2; exit 1 ;; esac; \
	mv $@.new $@

# Rewritten when a file of the library comes or goes.
$(B)/members: FORCE
	@mkdir -p $(B); echo '$(LIB_OBJ)' >$@.new; \
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(B)/tests/%.o: EXTRA_CFLAGS = -Itests
# Loops over lanes: at -O2 GCC does not make vector loops of most of them.
LOOPS := $(shell grep -lE 'TKI_CLONES|interp/lanes.h' $(LIB_SRC))
$(LOOPS:%.c=$(B)/%.o): EXTRA_CFLAGS += $(KERNEL_CFLAGS)
# A switch over instructions, or over their kinds, names every one, so that
# none is forgotten when inst.def gets another; lint allows no default there.
SWITCHES := $(shell grep -lE 'case TK_(I|LANES|EFFECT)_' $(LIB_SRC))
$(SWITCHES:%.c=$(B)/%.o): EXTRA_CFLAGS += -Wswitch-enum

$(B)/%.o: %.c $(B)/flags | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(EXTRA_CFLAGS) $(WERROR_FLAG) -MMD -MP -c -o $@ $<

# Lines of a text as strings of C.
as_strings = sed 's/[\\"]/\\&/g; s/.*/"&\\n"/'

# The part of the language that is written in itself, as a C string.
$(B)/gen/%.inc: src/typing/%.py
	@mkdir -p $(@D)
	$(Q)$(as_strings) $< >$@

# ... and the style and script of the page: its modules become one.
$(B)/gen/page.css.inc: src/page/page.css
	@mkdir -p $(@D)
	$(Q)$(as_strings) $< >$@
$(B)/gen/page.js.inc: $(PAGE_JS)
	@mkdir -p $(@D)
	$(Q)cat $(PAGE_JS) | sed -e '/^import .*;$$/d' \
	  -e '/^import /,/;$$/d' -e 's/^export //' | $(as_strings) >$@

# ... and the list of what the language's part defines.
$(B)/gen/%.def: src/typing/%.py
	@mkdir -p $(@D)
	$(Q)sed -n -e 's/^def \([a-z_0-9]*\)_since_\([0-9]*\)(.*/VARIANT("\1", \2)/p' \
	  -e t -e 's/^def \([a-z_][a-z0-9_]*\)(.*/PRELUDE("\1")/p' $< >$@

$(B)/libtkdbg.a: $(LIB_OBJ) $(B)/members
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $(LIB_OBJ)

# The shared library exports the functions that the public headers declare.
$(B)/tkdbg.map: $(HEADERS) $(B)/flags
	@{ echo '{ global:'; grep -ohE '\btk_[a-z0-9_]+\(' $(HEADERS) | \
	  sort -u | tr '(' ';'; echo 'local: *; };'; } >$@

$(B)/libtkdbg.so: $(LIB_OBJ) $(B)/members $(B)/tkdbg.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libtkdbg.so \
	  -Wl,--version-script=$(B)/tkdbg.map -o $@ $(LIB_OBJ) $(LIBS)

# LLVM's back end for NVIDIA's GPUs, where LLVM 19 is installed.
$(B)/libtkdbg-nvptx.so: src/nvptx/llvm/llvm.c src/nvptx/llvm.h $(B)/flags
	$(call say,LINK,$@)
	$(Q)$(CC) -std=c11 $(WARNINGS) -D_GNU_SOURCE -Isrc $(CFLAGS) \
	  -isystem $(shell $(LLVM_CONFIG) --includedir) $(WERROR_FLAG) -fPIC \
	  -fvisibility=hidden -shared -o $@ $< $(LDFLAGS) \
	  $(shell $(LLVM_CONFIG) --ldflags --libs)

# One launch on a GPU, in a process of its own.
$(B)/tkdbg-cuda: $(CUDA_OBJ) $(B)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(CUDA_OBJ) -ldl

$(B)/tkdbg: $(CLI_OBJ) $(B)/libtkdbg.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(B)/tkdbg.1: $(B)/tkdbg
	$(Q)$< help --man >$@

$(SHELLS): $(B)/tkdbg.%: $(B)/tkdbg
	$(Q)$< help --completion $* >$@

$(TESTS): %: %.o $(SUPPORT_OBJ) $(B)/libtkdbg.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(B)/libtkdbg.a $(TEST_LIBS) $(LIBS)

# A plug-in as others write them: the public headers, and the shared library.
$(PLUGIN): tests/ir/plugin.c tests/ir/plugin.h $(B)/libtkdbg.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(WARNINGS) -D_GNU_SOURCE -Iinclude $(CFLAGS) \
	  $(SAN_FLAGS) $(WERROR_FLAG) -fPIC -shared -o $@ $< $(LDFLAGS) \
	  -L$(B) -ltkdbg -Wl,-rpath,'$$ORIGIN/../..'
$(B)/tests/ir/test_view: | $(PLUGIN)

$(B)/examples/%: examples/%.c $(B)/libtkdbg.a $(B)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(WERROR_FLAG) -MMD -MP -MF $@.d -o $@ $< \
	  $(B)/libtkdbg.a $(LDFLAGS) $(LIBS)

# A fuzz target's main comes from libFuzzer.
$(FUZZERS): %: %.o $(SUPPORT_OBJ) $(B)/libtkdbg.a
	$(call say,FUZZ,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(B)/libtkdbg.a \
	  $(TEST_LIBS) $(LIBS)

# MPFR is wanted by one test alone.
$(B)/tests/accuracy/test_accuracy: private TEST_LIBS = $(MPFR_LIBS) \
  $(CHECK_LIBS)
ifneq ($(MPFR_LIBS),)
EXTRA_TEST_OBJ := $(B)/tests/accuracy/reference.o
$(B)/tests/accuracy/%.o: EXTRA_CFLAGS = -Itests -DHAVE_MPFR
$(B)/tests/accuracy/test_accuracy: $(EXTRA_TEST_OBJ)
endif

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(CUDA_OBJ:.o=.d) \
  $(TEST_OBJ:.o=.d)
-include $(FUZZERS:=.d) $(EXAMPLE_BIN:=.d)

# ---- running -------------------------------------------------------------

# These may be the first thing that somebody types, on a machine where not
# even a compiler is installed: hence a second make, which sees the packages.
setup:
	@sh tools/setup.sh

demo:
	@sh tools/setup.sh --if-missing
	@$(MAKE) --no-print-directory all
	@$(B)/tkdbg demo

# Tests run on the build with assertions: a second make, with all processors
# unless -j says how many, and ASSERTS=1 for what the tests make themselves.
with_asserts = $(MAKE) --no-print-directory ASSERTS=$(or $(ASSERTS),1) \
  $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

ifeq ($(ASSERTS),)
test-programs:
	+@$(with_asserts) test-programs
else
test-programs: $(TESTS) $(EXAMPLE_BIN) $(PLUGIN) $(SPECS)
	@:
endif

spec-files: $(SPECS)
$(SPECS): $(SPEC_FROM)
	$(call say,SPEC,$(@D))
	$(Q)python3 tools/generated.py $(@D) && touch $@

run_tests = PYTHON='$(PYTHON)' python3 tests/run.py --build $(B) \
  $(if $(ONLY),--only '$(ONLY)') $(if $(FAST),--fast) \
  $(if $(filter all,$(ROWS)),--all-rows) \
  $(if $(DONE),--done '$(DONE)')

test:
	@sh tools/setup.sh --if-missing
	+@$(with_asserts) tested
tested: all $(SPECS) $(if $(SUITES),$(if $(filter c,$(SUITES)),test-programs), \
  test-programs)
	@$(run_tests) $(SUITES)

bare-check:
	@bash tools/bare.sh

check-fast:
	+@$(with_asserts) checked-fast
checked-fast: all test-programs lint
	@$(run_tests) --fast

# The specification suite: by tkdbg, or by a peer (interpret, gpu).
spec:
ifeq ($(PEER),)
	@$(MAKE) --no-print-directory $(B)/tests/language/test_spec spec-files
	@ln -sf ../../tkdbg-cuda $(B)/tests/language/tkdbg-cuda
	@LD_LIBRARY_PATH=$(B) $(B)/tests/language/test_spec \
	  $(if $(ENGINE),--engine $(ENGINE)) $(PART)
else
	@$(MAKE) --no-print-directory spec-files
	@$(or $(PYTHON),python3) tests/language/peer.py --peer $(PEER) \
	  --made $(B)/tests/language $(if $(OUT),--out $(OUT)) $(PART)
endif

# Pages that are written by asking the library.
docs:
	@$(MAKE) --no-print-directory all
	@python3 tools/promotion.py --library $(B)/libtkdbg.so
	@python3 tools/operations.py --library $(B)/libtkdbg.so
	@python3 tools/instructions.py --library $(B)/libtkdbg.so
	@python3 tools/ptx.py
	@python3 tools/ttir.py
	@python3 tools/refusals.py
	@python3 tools/knobs.py
	@python3 tools/semantics.py

bench:
	@$(MAKE) --no-print-directory all
	@PYTHON='$(PYTHON)' python3 tests/bench/bench.py --build $(B) $(BENCH)

# Everything compiles for another processor; nothing is linked or run.  Headers
# of libraries are this machine's, which say the same in C.
CROSS := aarch64-linux-gnu-gcc
cross-check:
	@if ! command -v $(CROSS) >/dev/null; then \
	  echo 'skipped: cross-check: $(CROSS) is not installed'; exit; fi; \
	mkdir -p build-aarch64/include; \
	for h in jansson.h jansson_config.h ffi.h ffitarget.h zlib.h zconf.h; do \
	  found=$$(ls /usr/include/$$h /usr/include/*/$$h 2>/dev/null | head -1); \
	  if [ -z "$$found" ]; then \
	    echo "skipped: cross-check: $$h is not installed"; exit; fi; \
	  cmp -s $$found build-aarch64/include/$$h || \
	    cp $$found build-aarch64/include; \
	done; \
	$(MAKE) B=build-aarch64 CC=$(CROSS) WERROR=1 \
	  CPPFLAGS='$(CPPFLAGS) -Ibuild-aarch64/include' cross-objects
cross-objects: $(LIB_OBJ) $(CLI_OBJ) $(CUDA_OBJ)
	@echo 'cross-check: $(words $^) files compile by $(CROSS)'

# aarch64 by qemu, in a root of its own; PARTS='c bits' does a part.
PARTS ?=
aarch64-check:
	@bash tools/aarch64.sh $(PARTS)

# Every compiler of COMPILERS that is installed: which warns?
COMPILERS ?=
compilers:
	@COMPILERS='$(COMPILERS)' sh tools/compilers.sh

# What runs more than 5 % more instructions than tests/bench/counts.txt says.
bench-counts:
	@$(MAKE) --no-print-directory all
	@python3 tests/bench/counts.py --build $(B) $(if $(RECORD),--record)

# The table of docs/findings.md: in how many scripts with a planted bug the line
# at fault is named.
planted: all
	@$(or $(PYTHON),python3) tests/python/planted.py --table

compiled-models: all
	@$(B)/tkdbg run $(if $(PYTHON),--python '$(PYTHON)') \
	  --torch-compile inductor tests/compiled/models.py

compiled-speed: all
	@OMP_NUM_THREADS=1 $(B)/tkdbg run -q \
	  $(if $(PYTHON),--python '$(PYTHON)') --torch-compile inductor \
	  tests/compiled/speed.py $(if $(DOCUMENT),--document '$(DOCUMENT)')

compiled-faults: all
	@python3 tests/compiled/faults.py --tkdbg $(B)/tkdbg \
	  $(if $(PYTHON),--python '$(PYTHON)')

# Pages of ten scripts, in build/view-pages; PICTURES=1: drawn, too.
view-pages: all
	@$(or $(PYTHON),python3) tests/view/pages.py --build $(B) \
	  --out $(B)/view-pages $(if $(PICTURES),--pictures)

# How long a large page takes to open and to react.
view-times: all
	@$(or $(PYTHON),python3) tests/view/times.py --build $(B)

why-corpus: all
	@$(or $(PYTHON),python3) tests/why/corpus.py --build $(B) \
	  --only '$(ONLY)' $(if $(JOBS),--jobs $(JOBS))

# What --check costs, which is at most 3 plain runs; BENCH=--each shows every
# detector.
bench-check:
	@$(MAKE) --no-print-directory all
	@PYTHON='$(PYTHON)' python3 tests/bench/check.py --build $(B) $(BENCH)

# Needs LLVM, ptxas and a GPU, and a PYTHON with PyTorch and Triton.
bench-gpu: all
	@$(B)/tkdbg run -q --triton ours tests/bench/gpu.py compile \
	  $(B)/bench-gpu $(BENCH)
	@$(or $(PYTHON),python3) tests/bench/gpu.py run $(B)/bench-gpu $(BENCH)

bench-scale:
	@$(MAKE) --no-print-directory all
	@PYTHON='$(PYTHON)' python3 tests/bench/scale.py --build $(B) $(BENCH) \
	  $(if $(DOCUMENT),--document '$(DOCUMENT)')

# How long kernels take from source to PTX; BENCH may name files.
bench-compile:
	@$(MAKE) --no-print-directory all
	@PYTHON='$(PYTHON)' python3 tests/bench/compile.py --build $(B) $(BENCH)

bench-debug: all
	@python3 tests/bench/debug.py --build $(B) $(BENCH)

bench-gdb: all
	@python3 tests/bench/gdb.py --build $(B) $(BENCH)

# Half an hour.
SAMPLES ?= 65536
accuracy: $(B)/tests/accuracy/test_accuracy
	$< --document $(SAMPLES) >$(B)/accuracy.md
	mv $(B)/accuracy.md docs/accuracy.md

# Some minutes; VIRTUAL_ENV or PYTHON names a Python with NumPy.
mutants: all
	@python3 tests/mutants/mutate.py --tkdbg $(B)/tkdbg \
	  $(if $(PYTHON),--python '$(PYTHON)')

KERNELS ?=
prove-mutants: all
	@python3 tests/prove/mutants.py --tkdbg $(B)/tkdbg $(KERNELS)
prove-launches: RUNS = 1000
prove-launches: all
	@python3 tests/prove/mutants.py --tkdbg $(B)/tkdbg --right --runs $(RUNS) \
	  $(KERNELS)
FILES ?=
sizes-table: all
	@python3 tests/sizes/table.py --tkdbg $(B)/tkdbg \
	  $(if $(PYTHON),--python '$(PYTHON)') $(or $(FILES),examples/*.py)

# SCRIPTS names more: "acceptance scripts=FOLDER" "a library=FOLDER".
prove-corpus: all
	@python3 tests/prove/corpus.py --tkdbg $(B)/tkdbg \
	  $(if $(KEEP),--keep '$(KEEP)') $(SCRIPTS)

# Bugs of src/nvptx/mutant.def in code for a GPU: each must be found, at its
# line.
assemble:
	@$(MAKE) --no-print-directory all spec-files \
	  $(B)/tests/language/test_spec
	@PYTHON='$(PYTHON)' python3 tests/nvptx/assemble.py --build $(B) --spec \
	  $(SCRIPTS)

code-mutants:
	@$(MAKE) --no-print-directory MUTANTS=1 all
	@$(or $(PYTHON),python3) tests/nvptx/mutants.py --build $(B)-mutants

fuzzers: $(FUZZERS)
fuzz:
	@RUNS=$(RUNS) TIME=$(TIME) sh tools/fuzz.sh $(FUZZ_SRC)
fuzz-ptx:
	@RUNS=$(RUNS) TIME=$(TIME) sh tools/fuzz.sh tests/fuzz/fuzz_ptx.c

fuzz-forms:
	@$(MAKE) --no-print-directory ASSERTS=1 fuzzed-forms
fuzzed-forms: $(B)/tests/ir/test_mutated_forms
	@$< $(RUNS) $(FIRST)

# The examples as Triton's IR: a minute, with a Python that has Triton.
ttir-coverage: all
	@python3 tools/ttir_coverage.py --tkdbg $(B)/tkdbg \
	  $(if $(PYTHON),--python '$(PYTHON)') $(wildcard examples/*.py)

# What Triton's compiler takes and refuses, and tkdbg: minutes, without a GPU.
RECORD ?=
front: all
	@$(PYTHON) tests/front/front.py --tkdbg $(B)/tkdbg --python '$(PYTHON)' \
	  $(if $(RECORD),--record) $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(STEP),--step $(STEP))

# Each version of Triton of tests/front/versions.txt beside its own front end.
versions: all
	@python3 tests/front/versions.py --tkdbg $(B)/tkdbg --venvs '$(VENVS)' \
	  $(if $(RECORD),--record) $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(STEP),--step $(STEP)) $(if $(PART),--part '$(PART)')

# The bridge beside each PyTorch and Triton: half an hour a row.
VENVS ?= build/venvs
ACCEPTANCE ?=
bridge-matrix:
	+@$(with_asserts) bridge-matrixed
bridge-matrixed: all test-programs
	@python3 tools/matrix.py --build $(B) --venvs '$(VENVS)' --write \
	  $(if $(ACCEPTANCE),--acceptance '$(ACCEPTANCE)') \
	  $(if $(ONLY),--only '$(ONLY)')

# The PTX of Triton's compiler: a few seconds a kernel.
LAUNCHES ?=
ptx-coverage: all
	@python3 tools/ptx_coverage.py --tkdbg $(B)/tkdbg --venvs '$(VENVS)' \
	  --write $(if $(ACCEPTANCE),--acceptance '$(ACCEPTANCE)') \
	  $(foreach l,$(LAUNCHES),--launches '$(l)') $(if $(ONLY),--only '$(ONLY)')

# Faults put into that PTX: which are found, and at which line.  Minutes, with a
# Python that has Triton.
PLACES ?= 4
ptx-mutants: all
	@$(or $(PYTHON),python3) tests/ptx/mutants.py --build $(B) \
	  --places $(PLACES) $(if $(ONLY),--only '$(ONLY)')

miscompiles: all
	@python3 tools/miscompiles.py --build $(B) --venvs '$(VENVS)' --write

# Random kernels, which must leave the same in every way to run them.
COUNT ?= 10000
SEED ?= 0
WAYS ?= text,passes,ptx
sweep-bits: all
	@$(or $(PYTHON),python3) tests/bits/sweep.py --build $(B) \
	  --random $(COUNT) --seed $(SEED) $(if $(ONLY),--only '$(ONLY)')
ifeq ($(PEER),)
random: all
	@$(or $(PYTHON),python3) tests/random/run.py --build $(B) \
	  --count $(COUNT) --seed $(SEED) --ways $(WAYS)
else
CARRY ?= build/carried
random: all
	@$(or $(PYTHON),python3) tests/random/carry.py '$(CARRY)' --build $(B) \
	  --peer $(PEER:triton-%=%) --count $(COUNT) --seed $(SEED) \
	  $(if $(SEEDS),--seeds '$(SEEDS)') \
	  --written tests/random/validation.md \
	  $(if $(WHEEL),--wheel '$(WHEEL)',--python $(or $(THERE),3.12))
endif

sanitize-check:
	@$(MAKE) SANITIZE=address,undefined CFLAGS='-O1 -g' all test-programs
	@ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(MAKE) SANITIZE=address,undefined CFLAGS='-O1 -g' \
	  test SUITES='c debug cli python'
# Threads share nothing but tensors: the tests of --jobs, watched.
thread-check:
	@$(MAKE) --no-print-directory SANITIZE=thread CFLAGS='-O1 -g' \
	  thread-checked
thread-checked: $(B)/tkdbg
	@PYTHON='$(PYTHON)' python3 tests/run.py --build $(B) --only jobs.sh cli

fuzz-dap:
	@$(MAKE) --no-print-directory ASSERTS=1 fuzzed-dap
fuzzed-dap: $(B)/tests/dap/test_messages
	@MESSAGES=$(RUNS) SEED=$(FIRST) $<

fuzz-lines:
	@$(MAKE) --no-print-directory ASSERTS=1 fuzzed-lines
fuzzed-lines: $(B)/tests/fuzz/test_debugger_lines
	@LINES=$(RUNS) SEED=$(FIRST) $<

# In as many processes as there are processors.
large:
	@$(MAKE) --no-print-directory ASSERTS=1 large-tried
large-tried: $(B)/tests/fuzz/test_large
	@n=$$(nproc); each=$$((($(COUNT) + n - 1) / n)); \
	seq 0 $$((n - 1)) | xargs -P $$n -I{} sh -c \
	  'CASES=$$1 SEED=$$(($(SEED) + $$1 * {})) $<' large $$each

# Every operation has a specification, an example and an error test.
gate: spec-files
	@python3 tools/gate.py --build $(B)

generated:
	@$(or $(PYTHON),python3) tools/generated.py --keep
generated-check:
	@$(or $(PYTHON),python3) tools/generated.py --check

lint: $(LIB_OBJ) $(CLI_OBJ) $(CUDA_OBJ)
	@python3 tools/lint.py --build $(B)
	@python3 tools/refusals.py --check
	@python3 tools/ttir.py --check

format:
	find src include interp gdbstub tests examples -name '*.[ch]' | \
	  xargs clang-format -i

clean:
	rm -rf build build-* dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- installing ----------------------------------------------------------

D := $(DESTDIR)$(PREFIX)
COMPLETIONS := $(D)/share/bash-completion/completions
ZSH_FUNCTIONS := $(D)/share/zsh/site-functions
FISH_COMPLETIONS := $(D)/share/fish/vendor_completions.d
put = install -d '$(3)' && install -m $(1) $(2) '$(3)'

install: all
	$(call put,755,$(B)/tkdbg,$(D)/bin)
	$(call put,644,$(B)/libtkdbg.so $(B)/libtkdbg.a,$(D)/lib)
	$(call put,755,$(B)/tkdbg-cuda $(NVPTX),$(D)/lib/tkdbg)
	$(call put,644,$(HEADERS),$(D)/include/tkdbg)
	$(call put,644,$(B)/tkdbg.1,$(D)/share/man/man1)
	$(call put,644,gdbstub/tkdbg-gdb.py,$(D)/share/tkdbg)
	$(call put,644,$(DOCS),$(D)/share/doc/tkdbg)
	$(call put,644,$(EXAMPLES),$(D)/share/doc/tkdbg/examples)
	$(call put,644,$(TILE_EXAMPLES),$(D)/share/doc/tkdbg/examples/cutile)
	install -d '$(COMPLETIONS)'
	install -m 644 $(B)/tkdbg.bash '$(COMPLETIONS)/tkdbg'
	install -d '$(ZSH_FUNCTIONS)' '$(FISH_COMPLETIONS)'
	install -m 644 $(B)/tkdbg.zsh '$(ZSH_FUNCTIONS)/_tkdbg'
	install -m 644 $(B)/tkdbg.fish '$(FISH_COMPLETIONS)/tkdbg.fish'
	@$(MAKE) --no-print-directory demo-files INTO='$(D)/lib/tkdbg'
	for f in $(PY_FILES) $(PUZZLES); do \
	  install -D -m 644 $$f "$(D)/lib/tkdbg/$$f" || exit 1; done

# What `tkdbg demo` needs, in a folder of its own.
DEMO_FILES := examples/vector_add.py docs/findings/undef.py
demo-files:
	$(call put,644,tools/demo.sh,$(INTO)/demo)
	for f in $(DEMO_FILES); do \
	  install -D -m 644 $$f "$(INTO)/demo/$$f" || exit 1; done

# A wheel holds the library and the command, which look for libraries that are
# not part of glibc beside themselves, and those libraries.
WHEEL_LDFLAGS := -s -Wl,-rpath,'$$ORIGIN'
not_glibc := sed -nE '/lib(c|m|dl|pthread|rt)\.so/d; s/.*=> (\/.*) \(.*/\1/p'

$(B)/wheel/libtkdbg.so: $(LIB_OBJ) $(B)/members $(B)/tkdbg.map
	$(call say,LINK,$@)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,libtkdbg.so \
	  -Wl,--version-script=$(B)/tkdbg.map $(WHEEL_LDFLAGS) -o $@ \
	  $(LIB_OBJ) $(LIBS)
	$(Q)libs=$$(ldd $@ | $(not_glibc)); [ -z "$$libs" ] || \
	  cp -L $$libs $(@D)

$(B)/wheel/tkdbg-cuda: $(CUDA_OBJ) $(B)/wheel/libtkdbg.so
	$(call say,LINK,$@)
	$(Q)$(LINK) -s -o $@ $(CUDA_OBJ) -ldl

$(B)/wheel/tkdbg: $(CLI_OBJ) $(B)/libtkdbg.a $(B)/wheel/libtkdbg.so
	$(call say,LINK,$@)
	$(Q)$(LINK) $(WHEEL_LDFLAGS) -o $@ $(filter-out %.so,$^) $(LIBS)

INTO ?=
wheel-files: $(B)/wheel/libtkdbg.so $(B)/wheel/tkdbg $(B)/wheel/tkdbg-cuda
	$(if $(INTO),@cp $(B)/wheel/* '$(INTO)')

DIST ?= dist
wheel:
	@PYTHON='$(PYTHON)' DIST='$(DIST)' sh tools/wheel.sh

ARCHES ?=
wheels:
	@python3 tools/wheels.py --into '$(DIST)' $(ARCHES)

wheels-check:
	@sh tools/wheel-audit.sh '$(DIST)'
	@DIST='$(DIST)' bash tools/wheel-roots.sh '$(ONLY)'

PYTHONS ?=
wheel-check:
	@PYTHON='$(PYTHON)' DIST='$(DIST)' PYTHONS='$(PYTHONS)' \
	  sh tools/wheel-check.sh

# The four folders named tkdbg are ours alone.
uninstall:
	rm -f '$(D)/bin/tkdbg' '$(D)/lib/libtkdbg.so' '$(D)/lib/libtkdbg.a' \
	  '$(D)/share/man/man1/tkdbg.1' '$(COMPLETIONS)/tkdbg' \
	  '$(ZSH_FUNCTIONS)/_tkdbg' '$(FISH_COMPLETIONS)/tkdbg.fish'
	rm -rf '$(D)/lib/tkdbg' '$(D)/include/tkdbg' '$(D)/share/doc/tkdbg' \
	  '$(D)/share/tkdbg'
