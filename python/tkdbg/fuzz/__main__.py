"""``tkdbg fuzz``: random kernels, by the interpreter and by a backend.

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
from . import ways
from .corpus import Corpus, OtherSearch
from .hunt import Hunt
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


def told(corpus: Corpus, way: Way) -> str:
    """The last line."""
    counts = corpus.counts
    parts = [f"{n} {ways.KINDS[k][0]}" for k, n in counts.items()
             if k != "same"]
    causes = len(corpus.causes)
    if causes:
        parts[-1] += f", of {causes} cause{'s' * (causes > 1)}: {corpus.path}"
    tried = sum(counts.values())
    return (f"{tried} kernel{'s' * (tried != 1)} by the interpreter and "
            f"'{way.backend}': {', '.join(parts) or 'all leave the same'}")


def searched(given: dict[str, Any]) -> int:
    seed, asked = seed_of(given), chosen(given.get("fuzz_features"))
    lib = ways.library()
    way = way_of(given, lib)
    features = supported(asked, way)
    count, seconds = given.get("fuzz_count"), given.get("fuzz_time")
    jobs = given.get("fuzz_jobs", 1)
    corpus = Corpus(given.get("fuzz_corpus", FOLDER))
    settings = {**way._asdict(), "features": sorted(features)}
    if corpus.open(settings, seed):
        print(f"goes on from seed {corpus.next} in {corpus.path}", flush=True)
    if count is None and seconds is None:
        count = COUNT
    hunt = Hunt(corpus, features, way, jobs, count, seconds,
                lambda text: print(text, flush=True))
    try:
        hunt.run()
    except KeyboardInterrupt:
        print(f"\nends before seed {corpus.next}; the same command goes on "
              "from there", file=sys.stderr)
        print(told(corpus, way), flush=True)
        return interrupt.STATUS
    print(told(corpus, way), flush=True)
    return int(bool(corpus.causes))


def main() -> int:
    given = json.loads(os.environ.pop("TKDBG_OPTIONS", "{}"))
    os.environ.pop("TKDBG", None)  # 'import triton' is Triton itself
    interrupt.by_python()
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as cache:
        os.environ.setdefault("TRITON_CACHE_DIR", cache)
        try:
            return searched(given)
        except (BadUsage, OtherSearch, OSError) as e:
            print(f"tkdbg fuzz: {e}", file=sys.stderr)
            return _capi.USAGE


if __name__ == "__main__":
    sys.exit(main())
