#!/bin/sh
# Fuzzes the reading of stored chunks, starting from the golden files: ./run.sh [seconds]
# Needs clang, its sanitizer runtime and cmake. C-Blosc2 is instrumented too, and checked for bad memory use.
set -eu
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-target}
corpus=$target/corpus
mkdir -p "$corpus"
cp ../golden/*.b2frame ../golden/*.chunk "$corpus"
export CC=clang CXX=clang++
export CFLAGS="-fsanitize=fuzzer-no-link,address -g" CXXFLAGS="-fsanitize=address"
# Coverage of the Rust code for libFuzzer; the last two link the sanitizer's runtime.
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Ccodegen-units=1 -Cdebug-assertions=on -Clinker=clang -Clink-arg=-fsanitize=address"
cargo build --release --target "$(rustc -vV | sed -n 's/^host: //p')"
"$target"/*/release/stored "$corpus" -max_total_time="${1:-60}" -max_len=40000 -rss_limit_mb=4000
