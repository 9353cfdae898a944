"""tkdbg, for a Python that has this folder on its path and not the package.

The package lies two folders up, among others that are none of that Python's
business: it alone is loaded, from where it is.
"""
import importlib.util
import os
import sys

_folder = os.path.abspath(__file__)
for _ in "__init__.py", "tkdbg", "path":
    _folder = os.path.dirname(_folder)
_spec = importlib.util.spec_from_file_location(
    "tkdbg", os.path.join(_folder, "__init__.py"),
    submodule_search_locations=[_folder])
sys.modules["tkdbg"] = _module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
