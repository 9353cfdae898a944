"""The import graph of python/tkdbg: its knots and its layers.

A knot is a set of modules that need each other: a strongly connected
component with more than one module.  Imports inside functions count like
those at the top of a file, so that a knot cannot be hidden in one; those under
``if TYPE_CHECKING:`` bring names for annotations alone, and do not count.

The layers are those of the table in the package's docstring: no module
imports from a layer above its own.  A package below that says in __all__ what
it is for has such a table of its own, and nothing else imports its modules.

    python3 tools/pyknots.py            print what is wrong
    python3 tools/pyknots.py --edges    print what each module imports
"""
import ast
import os
import re
import sys

import links

PACKAGE = os.path.join('python', 'tkdbg')


def modules(package=PACKAGE):
    """{dotted name below the package: path}; '' is the package itself."""
    found = {}
    for at, _, names in os.walk(package):
        for name in names:
            if not name.endswith('.py'):
                continue
            path = os.path.join(at, name)
            parts = os.path.relpath(path, package)[:-3].split(os.sep)
            if parts[-1] == '__init__':
                parts.pop()
            found['.'.join(parts)] = path
    return found


def imported(node, module, is_package):
    """The dotted names, below the package, that an import may mean."""
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names]
        return [n[len('tkdbg'):].lstrip('.') for n in names
                if n == 'tkdbg' or n.startswith('tkdbg.')]
    if not isinstance(node, ast.ImportFrom):
        return []
    if node.level:
        parts = module.split('.') if module else []
        up = node.level - is_package
        base = parts[:len(parts) - up] if up else parts
    elif node.module and node.module.split('.')[0] == 'tkdbg':
        base, node.module = [], node.module.partition('.')[2]
    else:
        return []
    base = base + (node.module.split('.') if node.module else [])
    return ['.'.join(base + [a.name]) for a in node.names] + ['.'.join(base)]


def walk(tree):
    """The nodes that may run: not those under ``if TYPE_CHECKING:``."""
    if not (isinstance(tree, ast.If) and isinstance(tree.test, ast.Name)
            and tree.test.id == 'TYPE_CHECKING'):
        yield tree
        for node in ast.iter_child_nodes(tree):
            yield from walk(node)


def edges(package=PACKAGE):
    """{module: the modules that it imports, anywhere in its text}.

    ``from . import x`` is an import of x where x is a module; where it is
    not, of the package that has the name."""
    known = modules(package)
    graph = {}
    for module, path in known.items():
        with open(path, encoding='utf-8') as f:
            tree = ast.parse(f.read(), path)
        is_package = os.path.basename(path) == '__init__.py'
        uses = graph[module] = set()
        for node in walk(tree):
            names = imported(node, module, is_package)
            if not names:
                continue
            base = names[-1] if isinstance(node, ast.ImportFrom) else None
            for name in names[:-1] if base is not None else names:
                uses.add(name if name in known else base)
        uses -= {module, None}
        uses &= set(known)
    return graph


def knots(graph):
    """The modules that need each other, a list for each knot."""
    return links.knots((a, b) for a, uses in graph.items() for b in uses)


def layers(package=PACKAGE):
    """{module: (number of its layer, 0 on top; the layer's name)}, from the
    table in the package's docstring; a module of a package below counts as
    that package."""
    with open(os.path.join(package, '__init__.py'), encoding='utf-8') as f:
        text = ast.get_docstring(ast.parse(f.read()))
    found, names = {}, []
    for line in text.split('\n'):
        row = re.match(r'(\w*) {2,}(\w+) +\S', line)
        if row:
            names += [row.group(1)] if row.group(1) else []
            module = '' if row.group(2) == '__init__' else row.group(2)
            found[module] = len(names) - 1, names[-1]
    return found


def inner(package=PACKAGE):
    """The names of the packages below that have a door: their __init__.py
    imports what is in its __all__, and nothing else of them is for others."""
    for name, path in sorted(modules(package).items()):
        if os.path.basename(path) != '__init__.py' or '.' in name or not name:
            continue
        with open(path, encoding='utf-8') as f:
            body = ast.parse(f.read()).body
        imported_ = {a.name for node in body if isinstance(node, ast.ImportFrom)
                     and node.level for a in node.names}
        if imported_:
            yield name


def part_of(graph, name):
    """The part of a graph that is about a package below, by the names that
    its modules have in it; '' is the package itself."""
    start = name + '.'

    def short(module):
        return module[len(start):]
    return {short(module): {short(u) for u in uses if u.startswith(start)}
            for module, uses in graph.items()
            if module.startswith(start)} | {'': {
                short(u) for u in graph[name] if u.startswith(start)}}


def intruders(graph, name):
    """Who imports modules of a package below without asking at its door."""
    for module in sorted(graph):
        if module == name or module.startswith(name + '.'):
            continue
        for used in sorted(graph[module]):
            if used.startswith(name + '.'):
                yield f'{module} may import {name} alone, not {used}'


def upward(graph, known):
    """What the table of layers does not allow, or does not know."""
    for module in sorted(graph):
        top = module.partition('.')[0]
        if top not in known:
            yield f'{module}: stands in no layer of the package\'s docstring'
            continue
        for used in sorted(graph[module]):
            below = used.partition('.')[0]
            if below in known and known[below][0] < known[top][0]:
                yield (f'{module} ({known[top][1]}) may not import {used} '
                       f'({known[below][1]})')
    for module in sorted(known.keys() - {m.partition('.')[0] for m in graph}):
        yield f'{module}: stands in the table of layers and does not exist'


def faults():
    """Everything that is wrong, a line each; for lint.py."""
    graph = edges()
    for knot in knots(graph):
        yield f'{PACKAGE}: these modules need each other: ' + ' '.join(knot)
    for fault in upward(graph, layers()):
        yield f'{PACKAGE}: {fault}'
    for name in inner():
        folder = os.path.join(PACKAGE, name)
        for fault in intruders(graph, name):
            yield f'{PACKAGE}: {fault}'
        for fault in upward(part_of(graph, name), layers(folder)):
            yield f'{folder}: {fault}'


def main(argv):
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    graph = edges()
    if '--edges' in argv:
        for module in sorted(graph):
            print(f'{module or "tkdbg"}: '
                  + ' '.join(sorted(m or 'tkdbg' for m in graph[module])))
    found = list(faults())
    for fault in found:
        print(fault)
    print(f'{len(graph)} modules, {sum(map(len, graph.values()))} imports, '
          f'{len(knots(graph))} knots')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
