"""hosts.py: what the modules of Triton that users import export, a line each:
"MODULE.NAME SIGNATURE", or the kind of what has none."""
import contextlib
import importlib
import inspect
import io
import warnings

MODULES = ['triton', 'triton.language', 'triton.language.math',
           'triton.language.extra.libdevice', 'triton.testing',
           'triton.runtime', 'triton.runtime.autotuner', 'triton.runtime.jit',
           'triton.compiler', 'triton.compiler.errors',
           'triton.tools.tensor_descriptor', 'triton.knobs', 'triton.errors',
           'triton.runtime.driver']


def is_ours(value):
    """Whether Triton defines it, or a number that it has by a name."""
    home = getattr(value, '__module__', None)
    return not isinstance(home, str) or home.startswith(('triton', 'tkdbg'))


def signature(value):
    """The names of the parameters, with a star before those that may only be
    named and a mark behind those that may be left out."""
    if inspect.ismodule(value):
        return None
    if not callable(value):
        return 'value'
    try:
        value = getattr(value, 'fn', value)
        parameters = inspect.signature(value).parameters.values()
    except Exception:
        return 'callable'
    words = [{p.VAR_POSITIONAL: '*', p.VAR_KEYWORD: '**',
              p.KEYWORD_ONLY: '*,'}.get(p.kind, '') + p.name
             + ('' if p.default is p.empty else '?') for p in parameters
             if not p.name.startswith('_')]
    return f'({" ".join(words)})'


def lines():
    for module in MODULES:
        try:
            found = importlib.import_module(module)
        except ImportError:
            yield f'{module} missing'
            continue
        for name in dir(found):
            try:
                value = getattr(found, name)
            except Exception:  # a driver that is made when it is asked for
                continue
            if name.startswith('_') or name == 'driver' or not is_ours(value):
                continue
            said = signature(value)
            if said:
                yield f'{module}.{name} {said}'


def main():
    warnings.simplefilter('ignore')
    with contextlib.redirect_stdout(io.StringIO()):
        found = list(lines())
    print('\n'.join(found))


if __name__ == '__main__':
    main()
