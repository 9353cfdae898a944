"""install() and uninstall(): finders, hooks on torch and triton."""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import (comparisons, excepthook, helion, hostsizes, inductor, jaxtriton,
               runners, session as session_, source, takeover, tensors, vcuda)
from .modules import finder
from .patches import Patches

if TYPE_CHECKING:
    import types


class State:
    """What install() did, so that it can be undone."""

    def __init__(self) -> None:
        self.finder: Any = None     # finder.Finder
        self.watcher: Any = None    # Watcher
        self.cuda = None       # vcuda.VirtualCuda
        self.patches = None    # takeover.Patches
        self.cutile: Any = None  # cutile.takeover.Patches
        self.compilers = Patches()  # that write kernels
        self.runners = Patches()  # of tests
        self.comparisons = None  # comparisons.Comparisons
        self.compared = Patches()  # the functions that it has wrapped
        self.interpret: Any = None  # TRITON_INTERPRET, which was taken away


class Watcher(importlib.abc.MetaPathFinder):
    """Calls a function right after a module was imported first."""

    def __init__(self) -> None:
        self.calls: dict[str, Callable[[], None]] = {}  # of a module's name
        self._busy: set[Any] = set()

    def add(self, calls: dict[str, Callable[[], None]]) -> None:
        """Further functions; at once for modules that are there."""
        self.calls.update(calls)
        for name, call in calls.items():
            if name in sys.modules:
                call()

    def find_spec(self, name: str, path: Any = None,
                  target: types.ModuleType | None = None) -> Any:
        call = self.calls.get(name)
        if call is None or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _After(spec.loader, call)
        return spec


class _After(importlib.abc.Loader):
    """A loader that calls a function when another loader is done."""

    def __init__(self, loader, call):
        self.loader = loader
        self.call = call

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.call()

    def __getattr__(self, name):
        return getattr(self.loader, name)


def _use_ours(mode):
    """Whether our modules answer to ``import triton``.  "auto": only where
    no Triton is installed."""
    if mode == "auto":
        return finder.loaded() != "installed" and not _is_installed()
    return mode == "ours"


def _is_installed():
    """Whether ``import triton`` finds Triton itself."""
    try:
        spec = importlib.machinery.PathFinder.find_spec(finder.ROOT)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def install(values: dict[str, Any]) -> None:
    """See tkdbg.install."""
    session = session_.current()
    session.options.update(values)
    session.fresh.keep_maps(session.options.check is not None)
    ours = _use_ours(session.options.triton)
    kept = _leave(unload=not ours)
    state = State()
    session.set_up(state)
    calls = {"torch": _after_torch, "cuda.tile": _after_cutile}
    if ours:
        if finder.loaded() == "installed":
            raise ImportError("tkdbg: Triton was imported before install(); "
                              "install first, or use triton='installed'")
        state.finder = kept or finder.Finder()
        sys.meta_path.insert(0, state.finder)
    else:
        # Triton's own interpreter would stand in tkdbg's place
        state.interpret = os.environ.pop("TRITON_INTERPRET", None)
        calls["triton"] = _after_triton
    calls.update(inductor.hooks(state.compilers))
    calls.update(helion.hooks(state.compilers))
    calls.update(jaxtriton.hooks(state.compilers))
    calls.update(runners.hooks(state.runners, session.options))
    if session.options.why or session.options.check is not None:
        _watch_comparisons(state, calls)
    if session.options.prove:
        _follow_sizes(session, calls)
    state.watcher = Watcher()
    sys.meta_path.insert(0, state.watcher)
    state.watcher.add(calls)
    source.texts.follow()
    excepthook.install()


def _watch_comparisons(state, calls):
    """Wraps functions that compare as soon as their module is imported."""
    watched = state.comparisons = comparisons.Comparisons()
    for module, functions in comparisons.FUNCTIONS.items():
        def wrap(module=module, functions=functions, before=calls.get(module)):
            if before is not None:
                before()
            watched.install(state.compared, sys.modules[module], functions)
        calls[module] = wrap


def _follow_sizes(session, calls):
    """Where sizes come from is followed from the imports on."""
    follower = hostsizes.HostSizes()
    session.follow(follower)
    for module, begin in (("torch", follower.install),
                          ("triton", follower.follow)):
        def call(begin=begin, before=calls.get(module)):
            if before is not None:
                before()
            begin()
        calls[module] = call


def _after_torch():
    session = session_.current()
    tensors.watch_addresses(session.addresses, session.fresh)
    wanted = session.options.virtual_cuda
    if wanted or (wanted is None and not vcuda.has_cuda()):
        session.requests.note("device")
        cuda = session.setup.cuda = vcuda.VirtualCuda(session)
        cuda.install()
        if cuda.compiles == "inductor":
            session.setup.watcher.add(
                vcuda.hooks(cuda, session.setup.compilers))


def _after_triton():
    session = session_.current()
    session.setup.patches = takeover.Patches(session)
    session.setup.patches.install()


def _after_cutile():
    from .cutile import takeover as cutile
    setup = session_.current().setup
    setup.cutile = cutile.Patches()
    setup.cutile.install()


def uninstall() -> None:
    """See tkdbg.uninstall."""
    _leave(unload=True)


def _leave(unload):
    """Undoes install(); returns the finder of our modules, which the program
    has imported and set knobs of: they stay unless ``unload`` is true."""
    state = session_.current().set_up(None)
    if state is None:
        return None
    for hook in (state.watcher, state.finder):
        if hook in sys.meta_path:
            sys.meta_path.remove(hook)
    if state.finder is not None and unload:
        finder.unload()
    if state.interpret is not None:
        os.environ["TRITON_INTERPRET"] = state.interpret
    follower = session_.current().follow(None)
    if follower is not None:
        follower.uninstall()
    state.compilers.undo()
    state.runners.undo()
    state.compared.undo()
    for part in (state.cuda, state.patches, state.cutile):
        if part is not None:
            part.uninstall()
    tensors.unwatch_addresses()
    excepthook.uninstall()
    return state.finder
