//! Stored chunks that were cut off or changed: an error or data of the right length, never a crash.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::process::Command;

use btune::blosc::{Backend, Stored};
use support::golden;

/// Changes made to each stored chunk.
const CHANGES: usize = 5000;
/// Data larger than this is not asked for: a length that was changed may be honest.
const LARGEST: usize = 64 << 20;

fn read(backend: &mut Backend, stored: &[u8]) -> bool {
    let Ok(parsed) = Stored::parse(stored) else { return false };
    if parsed.nbytes() > LARGEST {
        return false;
    }
    let mut dest = vec![0; parsed.nbytes()];
    let read = backend.decode(&parsed, &mut dest).is_ok();
    // A checker of memory notices here what was never written.
    let sum: u64 = dest.iter().map(|&byte| u64::from(byte)).sum();
    assert!(sum <= 255 * dest.len() as u64);
    read
}

/// A place to change: any, or one in the headers of frame and chunk, where it matters most.
fn place(random: &mut fastrand::Rng, length: usize) -> usize {
    let end = if random.bool() { length } else { length.min(300) };
    random.usize(..end)
}

fn change(random: &mut fastrand::Rng, stored: &mut [u8]) {
    for _ in 0..random.usize(1..4) {
        let at = place(random, stored.len());
        match random.u8(..6) {
            0..3 => stored[at] ^= 1 << random.u8(..8),
            3 => stored[at] = random.u8(..),
            4 => stored[at] = *random.choice([0, 1, 127, 128, 254, 255].iter()).unwrap(),
            _ => {
                let end = (at + 4).min(stored.len());
                let value = random.i32(-300..70_000);
                stored[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
        }
    }
}

/// Runs one of the tests below in a process of its own, which may crash.
fn in_child(name: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", name])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn cut_off_anywhere() {
    in_child("child_cut_off");
}

#[test]
fn changed_anywhere() {
    in_child("child_changed");
}

#[test]
#[ignore = "run by `cut_off_anywhere`"]
fn child_cut_off() {
    for file in golden() {
        for length in 0..file.stored.len() {
            // In memory of that length, so that a checker of memory sees what is read beyond.
            let cut = file.stored[..length].to_vec().into_boxed_slice();
            assert!(Stored::parse(&cut).is_err(), "{} at {length}", file.name);
        }
        let longer = [&file.stored[..], &[0]].concat();
        assert!(Stored::parse(&longer).is_err(), "{} with a byte more", file.name);
    }
}

#[test]
#[ignore = "run by `changed_anywhere`"]
fn child_changed() {
    let mut backend = Backend::new();
    let changes = std::env::var("BTUNE_TEST_CHANGES").map_or(CHANGES, |n| n.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(1);
    let (mut read_anyway, mut all) = (0, 0);
    for file in golden() {
        for _ in 0..changes {
            let mut stored = file.stored.clone().into_boxed_slice();
            change(&mut random, &mut stored);
            read_anyway += usize::from(read(&mut backend, &stored));
            all += 1;
        }
    }
    // Else the test would not reach the decoders.
    assert!(read_anyway * 20 > all, "{read_anyway} of {all}");
    assert!(read_anyway < all, "no change was noticed");
}
