"""Transcripts: commands with the output that they must give.

A transcript is text in which a line '$ COMMAND' (going on while lines end in
a backslash) is followed by what it prints, standard error included, and by
'[N]' if its exit status is N, not 0.  Within the expected text '...' stands
for any characters of the line; alone on a line it stands for any lines.  In
a .txt file, text before the first command is a comment; in Markdown, only
blocks fenced as ```console are read.

A session with the debugger that has no -ex gets the lines that follow its
prompt as its input, and goes on in each next block that begins with one: so
that a page can say something in between.

The commands of one transcript share a scratch folder in which examples, docs
and tests are links to ours.
"""
import glob
import os
import re
import tempfile

LINKED = 'examples', 'docs', 'tests'
PROMPT = '(tkdbg) '


def plain(text):
    """text without what a sanitizer says of fibers."""
    return re.sub(r"==\d+==WARNING: ASan doesn't fully support makecontext"
                  r"[^\n]*\n", "", text)


def files(root):
    found = [os.path.join(root, 'README.md')]
    found += sorted(glob.glob(os.path.join(root, 'docs/*.md')))
    found += sorted(glob.glob(os.path.join(root, 'tests/cli/*.txt')))
    return [f for f in found if os.path.exists(f)]


def console_lines(path):
    """(line number, text) of what is to be read; None ends a block."""
    inside = not path.endswith('.md')
    with open(path, encoding='utf-8') as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip('\n')
            if path.endswith('.md') and line.startswith('```'):
                inside = line == '```console'
                yield number, None
            elif inside:
                yield number, line


def commands(path):
    """(line number, command, expected lines) of each command."""
    current, between = None, False
    for number, line in console_lines(path):
        if line is None:
            between = True
            continue
        ends = line.startswith('$ ') or (
            between and not line.startswith(PROMPT))
        if ends and current:
            yield current
        if ends:
            current = ((number, line[2:], []) if line.startswith('$ ')
                       else None)
        elif current and current[1].endswith('\\'):
            joined = current[1][:-1] + re.sub(r'^> ', '', line).lstrip()
            current = (current[0], joined, [])
        elif current:
            current[2].append(line)
        between = False
    if current:
        yield current


def with_input(command, expected):
    """The command, with what is typed at the debugger's prompt."""
    typed = [line[len(PROMPT):] for line in expected
             if line.startswith(PROMPT)]
    if not typed or '-ex' in command.split():
        return command
    return '\n'.join([command + " <<'END OF INPUT'", *typed, 'END OF INPUT'])


def pattern(expected):
    """The regular expression that a list of expected lines stands for."""
    lines = list(expected)
    while lines and not lines[-1]:
        lines.pop()
    parts = []
    for line in lines:
        if line.strip() == '...':
            parts.append(r'(?:.*\n)*?')
        else:
            text = r'[^\n]*'.join(re.escape(p) for p in line.split('...'))
            parts.append(text + r'[ \t]*\n')
    return ''.join(parts)


def compare(expected, status, output):
    """None if the output is as expected, else what to show."""
    want_status = 0
    lines = [e for e in expected if not re.fullmatch(r'\[\d+\]', e)]
    for e in expected:
        if re.fullmatch(r'\[\d+\]', e):
            want_status = int(e[1:-1])
    if output and not output.endswith('\n'):
        output += '\n'
    if status == want_status and re.fullmatch(pattern(lines), output):
        return None
    return 'expected:\n' + '\n'.join(expected) + f'\ngot:\n{output}[{status}]'


def check(path, root, shell):
    """Runs a transcript; yields (line, passed, text) for each command.
    shell(command, folder) gives exit status and output."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in LINKED:
            os.symlink(os.path.join(root, name), os.path.join(scratch, name))
        for number, command, expected in commands(path):
            ran = shell(with_input(command, expected), scratch)
            wrong = compare(expected, *ran)
            yield number, wrong is None, f'$ {command}\n{wrong or ""}'
