"""Rules of the modules of python/tkdbg that no other tool knows.

  annotations  every public function has a type for each of its arguments and
               for its result, and every structure of the C API names the
               types of its members
  writes       an attribute is written by the module of the class that has it:
               what others want changed they ask for by a method

Public is what has no underscore in its name, nor in that of its class; what a
function has inside is its own, and the types of a kernel are the language's.
Which class an object is of is not known here: an attribute counts as a module's
own if one of its classes sets it, and as another's if only classes of other
modules do.  Of an object that is called session every attribute is the
session's.  Records are there to be filled in: structures of C and dataclasses.

    python3 tools/pyrules.py    print what is wrong
"""
import ast
import os
import sys

import pyknots

FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
RECORDS = 'Structure', 'dataclass'
SESSION = 'session'


def trees(package=pyknots.PACKAGE):
    """{path: tree} of the modules."""
    found = {}
    for path in sorted(pyknots.modules(package).values()):
        with open(path, encoding='utf-8') as f:
            found[path] = ast.parse(f.read(), path)
    return found


# ---- annotations ------------------------------------------------------------


def is_public(name):
    return not name.startswith('_') or name.endswith('__')


def public_functions(node, inside=''):
    """(name, function, whether it is a method) of what is public in a module
    or class."""
    for child in ast.iter_child_nodes(node):
        name = getattr(child, 'name', '')
        if isinstance(child, FUNCTIONS) and is_public(name) and (
                'jit' not in decorators(child)):
            yield inside + name, child, bool(inside)
        elif isinstance(child, ast.ClassDef) and is_public(name):
            yield from public_functions(child, f'{inside}{name}.')
        elif isinstance(child, (ast.If, ast.Try, ast.With)):
            yield from public_functions(child, inside)


def decorators(node):
    return {ast.unparse(each).partition('(')[0].rpartition('.')[2]
            for each in node.decorator_list}


def without_type(function, is_method):
    """What of a function has none: names of arguments, 'the result'."""
    a = function.args
    given = [*a.posonlyargs, *a.args]
    if is_method and 'staticmethod' not in decorators(function):
        given = given[1:]
    given += [*a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    found = [each.arg for each in given if each.annotation is None]
    return found + ['the result'] * (function.returns is None)


def field_names(node):
    """The names in what is assigned to _fields_: those that a tuple begins
    with."""
    return [n.elts[0].value for n in ast.walk(node)
            if isinstance(n, ast.Tuple) and n.elts and
            isinstance(n.elts[0], ast.Constant)]


def structures(tree):
    """(class, names of its fields) of a module's structures of C."""
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Assign)):
        name = ast.unparse(node.targets[0])
        if name.endswith('._fields_'):
            yield classes[name.partition('.')[0]], field_names(node.value)
    for cls in classes.values():
        for node in cls.body:
            if isinstance(node, ast.Assign) and (
                    ast.unparse(node.targets[0]) == '_fields_'):
                yield cls, field_names(node.value)


def annotations(package=pyknots.PACKAGE):
    for path, tree in trees(package).items():
        for name, function, is_method in public_functions(tree):
            lacking = without_type(function, is_method)
            if lacking:
                yield (f'{path}:{function.lineno}: {name}: no type for '
                       + ', '.join(lacking))
        for cls, fields in structures(tree):
            typed = {n.target.id for n in cls.body
                     if isinstance(n, ast.AnnAssign)}
            lacking = [name for name in fields if name not in typed]
            if lacking:
                yield (f'{path}:{cls.lineno}: {cls.name}: no type for '
                       + ', '.join(lacking))


# ---- writes -----------------------------------------------------------------


def parts(target):
    """The targets in one of an assignment."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from parts(each)
    elif isinstance(target, ast.Starred):
        yield from parts(target.value)
    elif target is not None:
        yield target


def written(node):
    """What a statement assigns to or deletes."""
    targets = getattr(node, 'targets', None) or [
        getattr(node, 'target', None)]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in node.items]
    if not isinstance(node, (ast.stmt, ast.comprehension)):
        return
    for target in targets:
        yield from parts(target)


def is_record(cls):
    return bool(decorators(cls) & set(RECORDS)) or any(
        ast.unparse(base) in RECORDS for base in cls.bases)


def record_fields(tree):
    """The members of a module's records."""
    found = {name for _, fields in structures(tree) for name in fields}
    for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        if is_record(cls):
            found.update(t.id for node in cls.body for t in written(node)
                         if isinstance(t, ast.Name))
    return found


def own(tree):
    """(attributes that the classes of a module have, names of their first
    arguments)"""
    found, selves = set(), {'self'}
    for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        if is_record(cls):
            continue
        for node in cls.body:
            found.update(t.id for t in written(node)
                         if isinstance(t, ast.Name))
            if isinstance(node, FUNCTIONS) and node.args.args and (
                    'staticmethod' not in decorators(node)):
                selves.add(node.args.args[0].arg)
    found.update(t.attr for node in ast.walk(tree) for t in written(node)
                 if is_of(t, selves))
    return found, selves


def is_of(target, names):
    """Whether a target is an attribute of one of these variables."""
    return (isinstance(target, ast.Attribute) and
            isinstance(target.value, ast.Name) and target.value.id in names)


def is_session(node):
    """Whether an expression is the session, by its name."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ('session_.current', 'session.current',
                                          'session_.existing')
    name = getattr(node, 'attr', getattr(node, 'id', ''))
    return name in (SESSION, f'_{SESSION}')


def writes(package=pyknots.PACKAGE):
    """(path, line, attribute) of what is another module's."""
    known = {path: (tree, *own(tree)) for path, tree in
             trees(package).items()}
    records = set().union(*(record_fields(tree) for tree, _, _
                            in known.values()))
    core = known.get(os.path.join(package, f'{SESSION}.py'), (None, set()))[1]
    for path, (tree, mine, selves) in known.items():
        others = set().union(*(attributes for p, (_, attributes, _)
                               in known.items() if p != path))
        for node in ast.walk(tree):
            for target in written(node):
                if not isinstance(target, ast.Attribute) or (
                        target.attr.startswith('__') or
                        is_of(target, selves)):
                    continue
                if target.attr in others - mine - records or (
                        target.attr in core and is_session(target.value)):
                    yield path, target.lineno, ast.unparse(target)


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = list(annotations())
    found += [f'{path}:{line}: {what} is written by another module'
              for path, line, what in writes()]
    print('\n'.join(found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
