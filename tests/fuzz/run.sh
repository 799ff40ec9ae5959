#!/bin/sh
# Fuzzes the reading of stored chunks, starting from the golden files: ./run.sh [seconds]
# The Rust code guides libFuzzer; C-Blosc2 is checked for bad memory use. Needs gcc, g++ and cmake.
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
corpus=$CARGO_TARGET_DIR/corpus
mkdir -p "$corpus"
cp ../golden/*.b2frame ../golden/*.chunk "$corpus"
export CC=gcc CXX=g++ CFLAGS="-fsanitize=address -g"
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on \
  -Clink-arg=-lasan"
cargo build --release --target "$(rustc -vV | sed -n 's/^host: //p')"
# The sanitizer has to be the first library of the process.
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
  exec "$CARGO_TARGET_DIR"/*/release/stored "$corpus" -max_total_time="${1:-60}" -max_len=40000 \
  -rss_limit_mb=4000 -artifact_prefix="$CARGO_TARGET_DIR/"
