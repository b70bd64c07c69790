//! Writes `core.js` and `core_bg.wasm` of a compiled `hauteur-page` into a folder: `hauteur-bindgen FILE.wasm FOLDER`.
//!
//! What the program `wasm-bindgen` does with `--target web`, by its library, so that the one `Cargo.lock` holds both halves
//! of wasm-bindgen at the same version and nothing need be installed.

use std::env::args;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

/// Name of the written files.
const NAME: &str = "core";

fn main() -> ExitCode {
    let words: Vec<String> = args().skip(1).collect();
    let [file, folder] = words.as_slice() else {
        eprintln!("hauteur-bindgen: give a file of WebAssembly and a folder, got {} words", words.len());
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(file).out_name(NAME).typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    let written = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hauteur-bindgen: {file}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
