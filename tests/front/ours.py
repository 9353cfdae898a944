"""ours.py FILE OUT: what tkdbg says of the kernels of FILE, under `tkdbg run`.

Writes "NUMBER ok" or "NUMBER no REPORT" for each, as soon as it is known; one
that ends the process is left at "NUMBER began", and the next run goes on
behind it.
"""
import importlib.util
import os
import sys
import warnings


def kernels(path):
    """(name, function, arguments) of a file that kernels.module made; the
    function is an exception where its definition is refused."""
    spec = importlib.util.spec_from_file_location('front_kernels', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    for name in list(vars(module)):
        if name + '_args' in vars(module):
            yield name, getattr(module, name), getattr(module, name + '_args')


def begun(out):
    """The names that a file of answers has."""
    if not os.path.exists(out):
        return set()
    with open(out, encoding='utf-8') as f:
        return {line.split()[0] for line in f}


def source(fn, args):
    """What both compile: the types of the arguments and the constants."""
    from triton.compiler import ASTSource
    types, known = {}, {}
    for i, (name, arg) in enumerate(zip(fn.arg_names, args)):
        if callable(arg):
            types[name], known[(i,)] = 'constexpr', arg()
        else:
            types[name] = arg
    return ASTSource(fn=fn, signature=types, constexprs=known)


def answer(fn, args):
    """None, or what is wrong with the kernel."""
    import triton
    if isinstance(fn, Exception):
        return f'{type(fn).__name__}: {fn}'
    try:
        triton.compile(source(fn, args))
    except Exception as e:
        return f'{type(e).__name__}: {e}'.split(' help:')[0]
    return None


def main():
    warnings.simplefilter('ignore')
    path, out = sys.argv[1:3]
    done = begun(out)
    with open(out, 'a', encoding='utf-8', buffering=1) as f:
        for name, fn, args in kernels(path):
            if name in done:
                continue
            f.write(f'{name} began\n')
            wrong = answer(fn, args)
            said = 'ok' if wrong is None else 'no ' + ' '.join(wrong.split())
            f.write(f'{name} {said[:300]}\n')


if __name__ == '__main__':
    main()
