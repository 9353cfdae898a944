"""Deletes statements of a kernel for as long as it fails in the same way."""
import re

from kernel import Statement, walk


def users(kernel, names):
    """Statements that have one of the names, in all bodies."""
    return [s for f in kernel.functions for body in walk(f.body)
            for s in body if s.words() & names]


def deletions(kernel):
    """(how many statements, what deletes them from a copy), larger first."""
    found = []
    for at, f in enumerate(kernel.functions):
        for where, body in enumerate(walk(f.body)):
            size = len(body)
            while size:
                for start in range(0, len(body), size):
                    found.append((size, at, where, start))
                size //= 2
    return sorted(found, reverse=True)


def without(kernel, at, where, start, size):
    """A copy without those statements; what they gave has plain values."""
    out = kernel.copy()
    function = out.functions[at]
    body = list(walk(function.body))[where]
    gone = body[start:start + size]
    if any(s.text.startswith('return') for s in gone):
        return None
    gives = {name: text for s in gone for name, text in s.gives.items()}
    rest = body[:start] + body[start + size:]
    words = set().union(*[s.words() for b in walk(function.body) if b is body
                          or not b for s in rest] or [set()])
    body[:] = rest
    words = set().union(*(s.words() for s in function.body), set())
    body[start:start] = [Statement(f'{name} = {text}') for name, text
                         in gives.items() if name in words
                         and gone[0].text != f'{name} = {text}']
    if body and body[start:start + 1] and body[start].text == 'else:':
        return None
    return out


def flattened(kernel, at, where, start):
    """A copy where the body of a statement stands in its place."""
    out = kernel.copy()
    body = list(walk(out.functions[at].body))[where]
    if body[start].body is None or body[start].text == 'else:':
        return None
    follows = body[start + 1:start + 2]
    drop = 2 if follows and follows[0].text == 'else:' else 1
    head = re.match(r'for (\w+) in', body[start].text)
    first = [Statement(f'{head[1]} = pid * 0 + 1')] if head else []
    body[start:start + drop] = first + body[start].body
    return out


def is_smaller(kernel, old):
    """By the lines, then by the letters."""
    a, b = (k.text() for k in (kernel, old))
    return (a.count('\n'), len(a)) < (b.count('\n'), len(b))


def without_unused(kernel):
    """A copy without helpers and arguments that nothing names."""
    out = kernel.copy()
    words = set().union(*(s.words() for f in out.functions for s in f.body))
    out.functions = [f for f in out.functions
                     if f.name in words or f is out.functions[-1]]
    words = set().union(*(s.words() for s in out.functions[-1].body), set())
    out.args = {n: a for n, a in out.args.items() if n in words}
    out.outputs = {n: a for n, a in out.outputs.items() if n in words}
    out.functions[-1].params = list(out.args)
    return out


def candidates(kernel):
    for size, at, where, start in deletions(kernel):
        yield lambda: without(kernel, at, where, start, size)
        if size == 1:
            yield lambda: flattened(kernel, at, where, start)


def shrink(kernel, fails):
    """The smallest kernel found for which fails(kernel) holds."""
    progress = True
    while progress:
        progress = False
        for make in candidates(kernel):
            smaller = make()
            if smaller is None or not is_smaller(smaller, kernel):
                continue
            if smaller.outputs and fails(smaller):
                kernel, progress = smaller, True
                break
    last = without_unused(kernel)
    return last if last.outputs and fails(last) else kernel
