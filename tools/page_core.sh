#!/bin/bash
# Compile the core to WebAssembly for `make page`: page_core.sh FOLDER writes core.js and core_bg.wasm there.
#
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

# Every browser has had vectors of 128 bits since 2023.
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+simd128" \
    "$cargo" build --locked --quiet --profile page --target "$target" --package hauteur-page
built=${CARGO_TARGET_DIR:-target}/$target/page/hauteur_page.wasm
mkdir -p "$out"
"$cargo" run --locked --quiet --package hauteur-bindgen -- "$built" "$out"
