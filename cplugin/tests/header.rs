//! `include/btune.h` is what cbindgen makes of this crate.

use std::path::Path;
use std::{env, fs};

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include/btune.h");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/abi.rs"))
        .with_src(root.join("src/ffi.rs"))
        .generate()
        .unwrap()
        .write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if env::var_os("BTUNE_UPDATE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&path).unwrap(), "BTUNE_UPDATE=1 makes it anew");
}
