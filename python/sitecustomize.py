"""Takes over Triton kernels in any Python that starts with TKDBG=1.

    TKDBG=1 PYTHONPATH=$(tkdbg --python-path) python3 script.py

Without TKDBG=1 it does nothing.  A sitecustomize that comes later on the
path runs as if this one were not there.
"""
import os
import sys


def _next():
    """Runs the sitecustomize that this one hides."""
    import importlib.machinery
    import importlib.util
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("TKDBG") == "1":
    import tkdbg
    tkdbg.install()
    tkdbg.keep_stdin()
_next()
