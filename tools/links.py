"""What the objects of a build take from each other, by their symbols.

    python3 tools/links.py BUILD

prints the symbols that a room takes from another and the knots: files that all
need each other, directly or by others.  An arrow goes from the file that uses
a symbol to the file that defines it.  tools/lint.py judges both.
"""
import collections
import glob
import os
import subprocess
import sys

TOPS = 'src', 'interp', 'gdbstub'
DEFINED = set('TDBRVWi')


def objects(build):
    """The C file of each object, with its path; one whose source is gone is
    left over from an earlier build."""
    for top in TOPS:
        for path in sorted(glob.glob(f'{build}/{top}/**/*.o',
                                     recursive=True)):
            source = os.path.relpath(path, build)[:-2] + '.c'
            if os.path.exists(source):
                yield source, path


def symbols(build):
    """{symbol: the file that defines it}, {file: the symbols that it uses}"""
    home, used = {}, {}
    paths = {path: source for source, path in objects(build)}
    if not paths:
        return home, used
    listing = subprocess.run(['nm', '-A', *paths], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for line in listing.split('\n'):
        path, _, rest = line.partition(':')
        kind, name = rest.split()[-2:] if rest else ('', '')
        if kind in DEFINED:
            home[name] = paths[path]
        elif kind == 'U':
            used.setdefault(paths[path], set()).add(name)
    return home, used


def arrows(build):
    """{(user, definer): symbols}"""
    home, used = symbols(build)
    found = collections.defaultdict(set)
    for source, names in used.items():
        for name in names:
            if home.get(name, source) != source:
                found[source, home[name]].add(name)
    return found


def knots(pairs):
    """Files that need each other, largest first: the strongly connected
    components of the graph (Tarjan's algorithm)."""
    graph = collections.defaultdict(set)
    for a, b in pairs:
        graph[a].add(b)
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(graph[file]):
            if other not in index:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == index[file]:
            at = stack.index(file)
            found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for file in sorted(graph):
        if file not in index:
            visit(file)
    return sorted((k for k in found if len(k) > 1), key=len, reverse=True)


def main():
    found = arrows(sys.argv[1])
    rooms = collections.defaultdict(set)
    for (a, b), names in found.items():
        if os.path.dirname(a) != os.path.dirname(b):
            rooms[os.path.dirname(a), os.path.dirname(b)] |= names
    for (a, b), names in sorted(rooms.items()):
        print(f'{a} -> {b}: {len(names)}')
    for knot in knots(found):
        print(f'{len(knot)} files need each other: {" ".join(knot)}')


if __name__ == '__main__':
    main()
