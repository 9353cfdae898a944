#!/bin/sh
# Builds the fuzz targets given as arguments with clang's libFuzzer, in a
# build folder of their own, and runs each on RUNS inputs, or for TIME seconds
# if that is not 0 and comes first.
set -eu
san=fuzzer-no-link,address,undefined
out=build-fuzzer-no-link-address-undefined
runs=${RUNS:-1000000}

if ! command -v clang >/dev/null 2>&1; then
  echo "fuzz: skipped: clang is not installed"
  exit 0
fi
if [ $# = 0 ]; then
  echo "fuzz: no targets"
  exit 0
fi
make --no-print-directory CC=clang SANITIZE=$san fuzzers
for src in "$@"; do
  name=$(basename "$src" .c)
  seeds=tests/fuzz/seeds/${name#fuzz_}
  [ "$name" = fuzz_kernel ] && seeds="$seeds examples"
  found=$out/corpus/$name
  mkdir -p "$found"
  log=$out/$name.log
  "$out/tests/fuzz/$name" -runs="$runs" \
    -max_total_time="${TIME:-0}" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$out/" "$found" $seeds \
    >"$log" 2>&1 || {
    tail -50 "$log"
    echo "fuzz: $name: a finding; see $log"
    exit 1
  }
  echo "fuzz: $name: $(sed -n 's/^Done/done/p' "$log")"
done
