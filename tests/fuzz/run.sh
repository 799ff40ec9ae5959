#!/bin/sh
# Fuzzes a reader, starting from files that it reads: ./run.sh [seconds [stored | onnx]]
# "stored": chunks and frames, "onnx": networks.
# The Rust code guides libFuzzer; C-Blosc2 is checked for bad memory use. Needs gcc, g++ and cmake.
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
reader=${2:-stored}
corpus=$CARGO_TARGET_DIR/corpus-$reader
mkdir -p "$corpus"
case $reader in
stored) cp ../golden/*.b2frame ../golden/*.chunk "$corpus" ;;
onnx)
  env -u CARGO_TARGET_DIR cargo run --quiet --release --manifest-path ../../Cargo.toml \
    -p btune --example onnx -- random "$corpus" 20
  rm "$corpus"/*.row*
  ;;
*) echo "$0: $reader is not one of: stored, onnx" >&2 && exit 1 ;;
esac
export CC=gcc CXX=g++ CFLAGS="-fsanitize=address -g"
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on \
  -Clink-arg=-lasan"
cargo build --release --target "$(rustc -vV | sed -n 's/^host: //p')"
# The sanitizer has to be the first library of the process.
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
  exec "$CARGO_TARGET_DIR"/*/release/"$reader" "$corpus" -max_total_time="${1:-60}" -max_len=40000 \
  -rss_limit_mb=4000 -artifact_prefix="$CARGO_TARGET_DIR/"
