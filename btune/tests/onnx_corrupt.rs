//! ONNX files that were cut off or changed: an error or a network, soon and in little memory.
#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use btune::onnx::{Activation, Layer, MAX_FILE_BYTES, Network, Scratch};

/// Changed files of each network.
const CHANGES: usize = 20_000;
/// Memory that any file may take: a few copies of the largest network.
const MOST: usize = 32 << 20;

struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static NOW: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        NOW.set(NOW.get() + layout.size());
        PEAK.set(PEAK.get().max(NOW.get()));
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // Memory may come from another thread.
        NOW.set(NOW.get().saturating_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory that reading a file took, in bytes.
fn peak(file: &[u8]) -> usize {
    let before = NOW.get();
    PEAK.set(before);
    if let Ok(network) = Network::from_onnx(file) {
        let (mut output, mut scratch) = (Vec::new(), Scratch::default());
        network.run(&vec![1.0; network.inputs()], &mut output, &mut scratch);
        assert_eq!(output.len(), network.outputs());
    }
    PEAK.get() - before
}

fn network(widths: &[usize], activation: Activation) -> Network {
    let layers = widths.windows(2).map(|pair| Layer {
        weights: vec![0.5; pair[0] * pair[1]],
        bias: vec![0.25; pair[1]],
        activation,
    });
    let metadata = BTreeMap::from([("key".to_owned(), "value".to_owned())]);
    Network::new(layers.collect(), metadata).unwrap()
}

fn change(random: &mut fastrand::Rng, file: &mut Vec<u8>) {
    for _ in 0..random.usize(1..4) {
        if file.is_empty() {
            return;
        }
        let at = random.usize(..file.len());
        match random.u8(..6) {
            0..2 => file[at] ^= 1 << random.u8(..8),
            2 => file[at] = *random.choice([0, 1, 127, 128, 255].iter()).unwrap(),
            3 => file.insert(at, random.u8(..)),
            4 => _ = file.remove(at),
            _ => file.truncate(at),
        }
    }
}

#[test]
fn files_that_were_changed_are_refused_or_read() {
    let mut random = fastrand::Rng::with_seed(5);
    for (widths, activation) in [
        (&[2, 3, 2][..], Activation::Relu),
        (&[1, 1], Activation::Softmax),
        (&[5, 4], Activation::Identity),
    ] {
        let file = network(widths, activation).to_onnx();
        assert!(Network::from_onnx(&file).is_ok());
        let start = Instant::now();
        for _ in 0..CHANGES {
            let mut changed = file.clone();
            change(&mut random, &mut changed);
            assert!(peak(&changed) < MOST);
        }
        assert!(start.elapsed() < Duration::from_mins(1));
    }
}

#[test]
fn files_that_were_cut_off_are_refused() {
    let file = network(&[3, 2], Activation::Tanh).to_onnx();
    let whole = (0..file.len()).filter(|&end| Network::from_onnx(&file[..end]).is_ok());
    // The metadata is at the end: without it the rest is a network.
    assert_eq!(whole.collect::<Vec<_>>(), [file.len() - 14]);
}

#[test]
fn the_largest_files_take_little_memory() {
    // Empty messages in each field of the file and of the graph, and lists of the shortest numbers.
    let field = |number: u8, bytes: &[u8]| {
        let length =
            [bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8 | 0x80, (bytes.len() >> 14) as u8];
        [&[number << 3 | 2], &length[..], bytes].concat()
    };
    let fill = |pattern: &[u8]| pattern.repeat((MAX_FILE_BYTES - 64) / pattern.len() / 3);
    for inner in [1, 5, 11, 12, 14, 15] {
        assert!(peak(&fill(&[inner << 3 | 2, 0])) < MOST);
        let graph = field(7, &fill(&[inner << 3 | 2, 0]));
        assert!(peak(&graph) < MOST);
        for list in [1, 2, 4, 5, 7, 8] {
            let message = field(inner, &fill(&[list << 3 | 2, 0]));
            assert!(peak(&field(7, &message)) < MOST);
            let message = field(inner, &field(list, &fill(&[1])));
            assert!(peak(&field(7, &message)) < MOST);
        }
    }
}

#[test]
fn a_run_that_is_warm_allocates_nothing() {
    for activation in [Activation::Relu, Activation::Sigmoid, Activation::Tanh, Activation::Softmax]
    {
        let network = network(&[40, 64, 64, 160], activation);
        let (row, mut output, mut scratch) = ([0.5; 40], Vec::new(), Scratch::default());
        network.run(&row, &mut output, &mut scratch);
        let before = CALLS.get();
        network.run(&row, &mut output, &mut scratch);
        assert_eq!(CALLS.get(), before);
    }
}
