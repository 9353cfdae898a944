# Help of every command, the manual page and the completion agree with each
# other and with the manual.
. "$ROOT/tests/support/check.sh"

status 'help' 0 tkdbg help
cp out overview
status '--help' 0 tkdbg --help
check '--help is help' cmp out overview
for c in $(sed -n 's/^COMMAND([A-Z]*, "\([a-z]*\)".*/\1/p' \
    "$ROOT/src/cli/command.def"); do
  says "overview lists $c" overview "  $c "
  status "help $c" 0 tkdbg help $c
  cp out "help-$c"
  says "help $c: usage" out "Usage: tkdbg $c"
  status "$c --help" 0 tkdbg $c --help
  check "$c --help is help $c" cmp out "help-$c"
  says "manual has $c" "$ROOT/docs/manual.md" "| \`tkdbg $c"
done
status 'run --check=help' 0 tkdbg run --check=help
cp out checks
says 'run --check=help: a detector' checks 'bounds '
for c in debug replay; do
  status "$c --check=help" 0 tkdbg $c --check=help
  check "$c --check=help is run --check=help" cmp out checks
done
status 'help of an unknown command' 2 tkdbg help frobnicate
status 'version' 0 tkdbg version
says 'version: number' out 'tkdbg 0.'
status '--version' 0 tkdbg --version
says 'help why: its own option' help-why '  --html FILE '
says 'help why: common options' help-why \
  "Options that 'tkdbg help run' explains:"
says 'help why: names of common options' help-why '--pid COND,'
hides() { ! grep -qF -e "$2" "$1"; }
check 'help why: what run explains is there only' \
  hides help-why 'run only the programs that match'
says 'help run: what is common' help-run 'run only the programs that match'
check 'help why: it fits a terminal' [ "$(wc -l <help-why)" -le 45 ]
check 'lines of help fit 80 columns' sh -c '! grep -E "^.{81}" help-* overview'

tkdbg help --man >tkdbg.1
tkdbg help --completion bash >tkdbg.bash
for o in $(sed -n 's/^OPTION([A-Z_]*, "\([a-z-]*\)".*/\1/p' \
    "$ROOT/include/tkdbg/option.def"); do
  says "manual has --$o" "$ROOT/docs/manual.md" "--$o"
  says "manual page has --$o" tkdbg.1 "\\-\\-$(echo "$o" | sed 's/-/\\-/g')"
  says "completion has --$o" tkdbg.bash "--$o"
done
for word in 130 TKDBG_OPTIONS NO_COLOR 'f32[98432]:rand(0)'; do
  says "manual has $word" "$ROOT/docs/manual.md" "$word"
done

if command -v man >/dev/null 2>&1 && man --version >/dev/null 2>&1; then
  LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
    man --warnings -E UTF-8 -l -Tutf8 -Z tkdbg.1 >page 2>warnings
  silent 'manual page has no warnings' warnings
else
  skip 'manual page has no warnings' 'man is not installed'
fi

if command -v bash >/dev/null 2>&1; then
  check 'completion script is valid' bash -n tkdbg.bash
  # complete WORDS...: what is offered for the last of them.
  cat >complete.bash <<'S'
. ./tkdbg.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tkdbg
printf '%s\n' "${COMPREPLY[@]}"
S
  status 'complete a command' 0 bash complete.bash tkdbg re
  says 'complete a command: replay' out replay
  status 'complete an option' 0 bash complete.bash tkdbg run --gr
  says 'complete an option: --grid' out --grid
  status 'complete a word' 0 bash complete.bash tkdbg run --dot e
  says 'complete a word: exact' out exact
  status 'complete after =' 0 bash complete.bash tkdbg run --dot = e
  says 'complete after =: exact' out exact
  status 'complete a kernel' 0 \
    bash complete.bash tkdbg run "$vector_add" --kernel a
  says 'complete a kernel: add_kernel' out add_kernel
else
  skip 'completion script' 'bash is not installed'
fi

for shell in zsh fish; do
  tkdbg help --completion $shell >tkdbg.$shell
  for o in $(sed -n 's/^OPTION([A-Z_]*, "\([a-z-]*\)".*/\1/p' \
      "$ROOT/include/tkdbg/option.def"); do
    case $shell in
      zsh) says "zsh completion has --$o" tkdbg.zsh "--$o" ;;
      fish) says "fish completion has --$o" tkdbg.fish " -l $o" ;;
    esac
  done
done
if command -v zsh >/dev/null 2>&1; then
  check 'zsh completion is valid' zsh -n tkdbg.zsh
else
  skip 'zsh completion is valid' 'zsh is not installed'
fi
if command -v fish >/dev/null 2>&1; then
  offers() { # NAME LINE WORD
    env HOME="$SCRATCH" fish -c "source tkdbg.fish; complete -C '$2'" >out
    says "fish: $1" out "$3"
  }
  offers 'a command' 'tkdbg re' replay
  offers 'an option' 'tkdbg run --gr' --grid
  offers 'a word' 'tkdbg run --dot ' exact
  offers 'a kernel' "tkdbg run $vector_add --kernel " add_kernel
else
  skip 'fish completion' 'fish is not installed'
fi
