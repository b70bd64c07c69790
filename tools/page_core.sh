#!/bin/bash
# Compile the core to WebAssembly for `make page`: page_core.sh FOLDER writes core.js and core_bg.wasm there.
#
# CARGO, RUSTC: programs of a toolchain that has the target; WASM_BINDGEN: the program of the locked version; without a
# linker in CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER the toolchain's own links.
set -euo pipefail

target=wasm32-unknown-unknown
cargo=${CARGO:-cargo} rustc=${RUSTC:-rustc} bindgen=${WASM_BINDGEN:-wasm-bindgen}
out=$1
version=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/"/, "", $3); print $3 }' Cargo.lock)

fail() {
    echo "make page: $1" >&2
    exit 1
}

command -v "$cargo" >/dev/null || fail "cargo not found: get Rust from https://rustup.rs"
found=$("$rustc" --print target-libdir --target "$target" 2>/dev/null) || fail "$rustc does not know the target $target"
compgen -G "$found/libstd-*" >/dev/null || fail "the target $target is missing: rustup target add $target (Debian: libstd-rust-dev-wasm32), or name a toolchain that has it by RUSTC="
command -v "$bindgen" >/dev/null || fail "wasm-bindgen not found: cargo install wasm-bindgen-cli --version $version"
given=$("$bindgen" --version 2>&1 | head -1)
[ "$given" = "wasm-bindgen $version" ] || fail "wasm-bindgen must be $version as in Cargo.lock, got $given"

# Every browser has had vectors of 128 bits since 2023.
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+simd128" \
    "$cargo" build --locked --quiet --profile page --target "$target" --package hauteur-page
built=${CARGO_TARGET_DIR:-target}/$target/page/hauteur_page.wasm
mkdir -p "$out"
"$bindgen" --target web --no-typescript --remove-name-section --remove-producers-section \
    --out-dir "$out" --out-name core "$built"
