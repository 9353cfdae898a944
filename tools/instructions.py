"""Writes docs/instructions.md: the instructions of the typed form.

    python3 tools/instructions.py [--check] [--library build/libtkdbg.so]

Everything in it is asked of the library (tkdbg/ir.h, tkdbg/tkdbg.h).  --check
changes nothing and fails when the page differs.
"""
import ctypes
import itertools
import sys
import textwrap

from page import options, publish

HEAD = '''# Instructions

Every instruction of the [typed form](ir.md), written by
`tools/instructions.py`, which asks the library; `make docs` writes it again,
and a test fails when it is out of date.

An operand in brackets may be absent, and `...` stands for any number. The type
behind the colon is that of the first result, or of what is stored: "the
result" below. A flag that is false, and a word that says nothing beyond what
is usual, are left out of the text.
'''
EFFECTS = {'pure': 'No effect beside its results.', 'reads': 'Reads memory.',
           'writes': 'Writes memory.',
           'control': 'Control or output: neither dropped nor reordered.'}
REFERENCES = {'callee': '`@function`', 'combine': '`by @function, ...`',
              'format': 'what is printed: `[...]`',
              'code': '`code "..." constraints "..." pack N`'}
S, N, B = ctypes.c_char_p, ctypes.c_int64, ctypes.c_bool


class Opcode(ctypes.Structure):
    """tk_ir_opcode"""
    _fields_ = [('name', S), ('doc', S), ('effect', S), ('lanes', S),
                ('lanes_doc', S), ('results', ctypes.c_int), ('ref', S)]


class Operand(ctypes.Structure):
    """tk_ir_operand"""
    _fields_ = [('name', S), ('kind', S), ('must', S), ('optional', B),
                ('many', B)]


class LaunchOption(ctypes.Structure):
    """tk_launch_option_info"""
    _fields_ = [('name', S), ('usual', N), ('least', N), ('most', N),
                ('power', B), ('doc', S)]


class Library:
    """libtkdbg, asked for rows."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in 'tk_ir_opcode_attr', 'tk_ir_word', 'tk_ir_word_types':
            getattr(self.lib, name).restype = S
        for name in 'tk_ir_opcode_at', 'tk_ir_opcode_operand':
            getattr(self.lib, name).restype = B
        self.lib.tk_launch_option_at.restype = ctypes.POINTER(LaunchOption)

    def opcodes(self):
        for i in itertools.count():
            row = Opcode()
            if not self.lib.tk_ir_opcode_at(ctypes.c_size_t(i),
                                            ctypes.byref(row)):
                return
            yield i, row

    def operands(self, i):
        for k in itertools.count():
            row = Operand()
            if not self.lib.tk_ir_opcode_operand(
                    ctypes.c_size_t(i), ctypes.c_size_t(k), ctypes.byref(row)):
                return
            yield row

    def attributes(self, i):
        """(name, kind) of each."""
        for k in itertools.count():
            kind = S()
            name = self.lib.tk_ir_opcode_attr(
                ctypes.c_size_t(i), ctypes.c_size_t(k), ctypes.byref(kind))
            if not name:
                return
            yield name.decode(), kind.value.decode()

    def words(self, kind):
        """(word, the types that it is for) of each."""
        for i in itertools.count():
            at = kind.encode(), ctypes.c_size_t(i)
            word = self.lib.tk_ir_word(*at)
            if not word:
                return
            yield word.decode(), self.lib.tk_ir_word_types(*at).decode()

    def options(self):
        for i in itertools.count():
            row = self.lib.tk_launch_option_at(ctypes.c_size_t(i))
            if not row:
                return
            yield row[0]


def wrapped(text):
    return textwrap.wrap(text, 80, break_on_hyphens=False,
                         break_long_words=False)


def sentence(data):
    text = data.decode()
    return text[0].upper() + text[1:] + '.'


def form(lib, i, row):
    """One line that shows where everything stands."""
    parts = []
    for o in lib.operands(i):
        name = o.name.decode() + ('...' if o.many else '')
        parts.append(f'[{name}]' if o.optional and not o.many else name)
    attrs = ', '.join(name for name, _ in lib.attributes(i))
    results = {-1: 'results... = ', 0: ''}.get(row.results, ', '.join(
        ['result'] * row.results) + ' = ')
    line = results + ' '.join(filter(None, [
        row.name.decode(), ', '.join(parts), attrs and f'{{{attrs}}}']))
    return line + ' : type'


def entry(lib, i, row):
    out = ['', f'### `{row.name.decode()}`', '', '```text',
           *textwrap.wrap(form(lib, i, row), 80, subsequent_indent='    '),
           '```', '']
    text = [sentence(row.doc), EFFECTS[row.effect.decode()]]
    if row.results and row.lanes != b'none':
        text.append(f'Lanes: {row.lanes_doc.decode()}.')
    if row.ref:
        text.append(f'It refers to {REFERENCES[row.ref.decode()]}.')
    out += wrapped(' '.join(text))
    facts = [f'- `{o.name.decode()}`: {o.must.decode()}'
             for o in lib.operands(i)]
    for name, kind in lib.attributes(i):
        words = any(lib.words(kind))
        facts.append(f'- `{name}`: ' + (f'a word of [{kind}](#{kind})' if words
                                        else kind))
    return out + ([''] if facts else []) + [
        line for fact in facts
        for line in textwrap.wrap(fact, 80, subsequent_indent='  ',
                                  break_on_hyphens=False)]


def words_table(lib, kind):
    rows = list(lib.words(kind))
    types = any(t != 'anything' for _, t in rows)
    out = ['', f'### {kind}', '']
    if not types:
        return out + wrapped(', '.join(f'`{w}`' for w, _ in rows) + '.')
    out += ['| word | of |', '|---|---|']
    return out + [f'| `{w}` | {t} |' for w, t in rows]


def page(lib):
    out = HEAD.rstrip('\n').split('\n')
    kinds = []
    for i, row in lib.opcodes():
        if not row.doc:
            sys.exit(f'{row.name.decode()} has no line of documentation')
        out += entry(lib, i, row)
        kinds += [k for _, k in lib.attributes(i)
                  if any(lib.words(k)) and k not in kinds]
    out += ['', '## Words', '', *wrapped(
        'The words of attributes, and the types of the lanes that an operation '
        'is for; the verifier refuses others.')]
    for kind in kinds:
        out += words_table(lib, kind)
    out += ['', '## Launch options', '', *wrapped(
        'They stand at the head of a form, for a compiler: those of a launch '
        'from Python, of `--option NAME=N`, or of a launch file. The '
        'interpreter computes the same whatever they are.'), '',
        '| option | usual | values | |', '|---|---|---|---|']
    for o in lib.options():
        values = f'{o.least} to {o.most}' + (', a power of 2' if o.power
                                             else '')
        out.append(f'| `{o.name.decode()}` | {o.usual} | {values} | '
                   f'{o.doc.decode()} |')
    return '\n'.join(out) + '\n'


def main():
    o = options()
    return publish('instructions.md', page(Library(o.library)), o.check)


if __name__ == '__main__':
    sys.exit(main())
