"""A page of docs/ that a tool makes: it is written, or, with --check, compared
with what stands there.

    python3 tools/TOOL.py [--check] [--library build/libtkdbg.so]
"""
import argparse
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(*path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def rows(text, macro):
    """The strings of each row of a table (*.def)."""
    for found in re.finditer(r'^%s\((.*?)\)$' % macro, text, re.M | re.S):
        yield re.findall(r'"([^"]*)"', found.group(1))


def options():
    """The command line, the same for every tool: some ask the library."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--library', type=os.path.abspath,
                        default=os.path.join(ROOT, 'build', 'libtkdbg.so'))
    return parser.parse_args()


def between(page, begin, end, made):
    """A page with what is made in place of what stands between two lines."""
    head, rest = page.split(begin)
    return f'{head}{begin}\n{made}\n{end}{rest.split(end)[1]}'


def write_between(path, begin, end, lines):
    """Puts lines in place of what stands between two lines of a file."""
    with open(path, encoding='utf-8') as f:
        text = between(f.read(), begin, end, '\n'.join(lines))
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def publish(name, text, check):
    """Writes docs/NAME, or checks that it is this text; an exit status."""
    path = os.path.join(ROOT, 'docs', name)
    if not check:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return 0
    if os.path.exists(path) and read('docs', name) == text:
        return 0
    print(f'docs/{name} is out of date: run "make docs" and look at the '
          'change')
    return 1
