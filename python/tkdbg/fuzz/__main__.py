"""``tkdbg fuzz [FILE.py]``: random kernels, or a script's launches with other
sizes, strides, types and options, by the interpreter and by a backend.

Exit status: 0 if all leave the same, 1 if something was found, now or before,
2 for bad usage, 130 after Ctrl-C.
"""
from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from .. import _capi, interrupt
from . import scripted, ways
from .corpus import Corpus, OtherSearch
from .hunt import Hunt
from .makers import Maker, Random
from .operation import ALL, FEATURES
from .ways import Way

FOLDER = "tkdbg-fuzz"  # where a search is kept if no other is named
COUNT = 1000           # kernels that are tried if nothing else is said


class BadUsage(Exception):
    """What cannot be done."""


def chosen(text: str | None) -> frozenset[str]:
    """Features by name, "dots,loops"; or all but those, "-dots,-loops"."""
    names = [n.strip() for n in (text or "").split(",") if n.strip()]
    for name in names:
        if name.lstrip("-") not in FEATURES:
            raise BadUsage(f"--features: there is no feature '{name}'; there "
                           f"are {', '.join(FEATURES)}")
    without = frozenset(n[1:] for n in names if n.startswith("-"))
    only = frozenset(n for n in names if not n.startswith("-"))
    if only and without:
        raise BadUsage("--features takes names alone, or names with a '-' "
                       "before each, not both")
    return only or ALL - without


def supported(features: frozenset[str], way: Way) -> frozenset[str]:
    """Those that the GPU has."""
    old = way.arch == "sm_80" and way.backend in ways.COMPILED
    return features - {"fp8e4nv"} if old else features


def seed_of(given: dict[str, Any]) -> int | None:
    text = given.get("fuzz_seed")
    if text is None:
        return None
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise BadUsage("--seed takes a whole number that is not negative, not "
                       f"'{text}'")
    return int(text)


def way_of(given: dict[str, Any], lib: Any) -> Way:
    backend = given.get("fuzz_backend", "triton-ptx")
    why = ways.missing(lib, backend)
    if why:
        raise BadUsage(f"the backend '{backend}' is not available: {why}")
    triton = backend in (*ways.COMPILED, "triton", "triton-interpret")
    return Way(backend, given.get("arch", "sm_80"),
               ways.triton_version() if triton else "")


def told(corpus: Corpus, way: Way, what: str) -> str:
    """The last line; what: was tried, of which there are some."""
    counts = corpus.counts
    parts = [f"{n} {ways.KINDS[k][0]}" for k, n in counts.items()
             if k != "same"]
    causes = len(corpus.causes)
    if causes:
        parts[-1] += f", of {causes} cause{'s' * (causes > 1)}: {corpus.path}"
    tried = sum(n for k, n in counts.items() if k != "script")
    words = what.removesuffix("es" if what.endswith("hes") else "s")
    return (f"{tried} {what if tried != 1 else words} by the interpreter and "
            f"'{way.backend}': {', '.join(parts) or 'all leave the same'}")


def say(text: str) -> None:
    print(text, flush=True)


def begun(given: dict[str, Any], script: list[str], way: Way,
          corpus: Corpus, seed: int | None,
          asked: frozenset[str]) -> Maker:
    """What makes the kernels of a search that begins or goes on."""
    settings: dict[str, Any] = {**way._asdict()}
    if script:
        for key in "fuzz_seed", "fuzz_features":
            if key in given:
                raise BadUsage(f"--{key[5:]} is for random kernels, not for "
                               "those of a script")
        if corpus.open(dict(settings, script=scripted.key(script)), None):
            say(f"goes on from launch {corpus.next} in {corpus.path}")
        return scripted.launches(script, corpus, say)
    features = supported(asked, way)
    if corpus.open(dict(settings, features=sorted(features)), seed):
        say(f"goes on from seed {corpus.next} in {corpus.path}")
    return Random(features)


def searched(given: dict[str, Any], script: list[str]) -> int:
    lib = ways.library()
    seed, asked = seed_of(given), chosen(given.get("fuzz_features"))
    way = way_of(given, lib)
    count, seconds = given.get("fuzz_count"), given.get("fuzz_time")
    corpus = Corpus(given.get("fuzz_corpus", FOLDER))
    maker = begun(given, script, way, corpus, seed, asked)
    if count is None and seconds is None and maker.end is None:
        count = COUNT
    hunt = Hunt(corpus, maker, way, given.get("fuzz_jobs", 1), count, seconds,
                say)
    what = "launches" if script else "kernels"
    try:
        hunt.run()
    except KeyboardInterrupt:
        print(f"\nends before {maker.title(corpus.next)}; the same command "
              "goes on from there", file=sys.stderr)
        say(told(corpus, way, what))
        return interrupt.STATUS
    say(told(corpus, way, what))
    return int(bool(corpus.causes))


def main() -> int:
    given = json.loads(os.environ.pop("TKDBG_OPTIONS", "{}"))
    os.environ.pop("TKDBG", None)  # 'import triton' is Triton itself
    interrupt.by_python()
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as cache:
        os.environ.setdefault("TRITON_CACHE_DIR", cache)
        try:
            return searched(given, sys.argv[1:])
        except (BadUsage, OtherSearch, scripted.Cannot, OSError) as e:
            print(f"tkdbg fuzz: {e}", file=sys.stderr)
            return _capi.USAGE
        except KeyboardInterrupt:  # before a search has begun
            return interrupt.STATUS


if __name__ == "__main__":
    sys.exit(main())
