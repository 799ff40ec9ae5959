//! Compiles the C side of the callbacks.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    cc::Build::new().file("src/shim.c").warnings_into_errors(true).compile("h5btune_shim");
}
