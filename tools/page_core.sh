#!/bin/bash
# Compile the core to WebAssembly for `make page`: page_core.sh FOLDER writes core.js, core_bg.wasm and core_relaxed_bg.wasm there.
#
# The first works in every browser with vectors, the second where relaxed SIMD is, which has a fused multiply-add; core.js is for both.
# CARGO, RUSTC: programs of a toolchain that has the target; without a linker in
# CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER the toolchain's own links. The JavaScript beside it is written by
# crates/bindgen, with wasm-bindgen as a library of the version in Cargo.lock.
set -euo pipefail

target=wasm32-unknown-unknown
cargo=${CARGO:-cargo} rustc=${RUSTC:-rustc}
out=$1

fail() {
    echo "make page: $1" >&2
    exit 1
}

command -v "$cargo" >/dev/null || fail "cargo not found: get Rust from https://rustup.rs"
found=$("$rustc" --print target-libdir --target "$target" 2>/dev/null) || fail "$rustc does not know the target $target"
compgen -G "$found/libstd-*" >/dev/null || fail "the target $target is missing: rustup target add $target (Debian: libstd-rust-dev-wasm32), or name a toolchain that has it by RUSTC="

# compile FEATURES FOLDER: the core for these features of the target.
compile() {
    RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=$1" \
        "$cargo" build --locked --quiet --profile page --target "$target" --package hauteur-page
    "$cargo" run --locked --quiet --package hauteur-bindgen -- "${CARGO_TARGET_DIR:-target}/$target/page/hauteur_page.wasm" "$2"
}

mkdir -p "$out/relaxed"
compile +simd128 "$out" # every browser has had vectors of 128 bits since 2023
compile +simd128,+relaxed-simd "$out/relaxed"
cmp -s "$out/core.js" "$out/relaxed/core.js" || fail "core.js is not the same for both builds"
mv "$out/relaxed/core_bg.wasm" "$out/core_relaxed_bg.wasm"
rm -r "$out/relaxed"
