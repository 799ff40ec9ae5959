//! Names the library: C-Blosc2 finds it by this name once it is loaded.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libblosc2_btune.so");
        // What was learnt outlives the C-Blosc2 that loaded the library.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
