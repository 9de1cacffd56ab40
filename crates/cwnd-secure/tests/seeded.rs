//! Transfers of files through a path that an attacker has, what is done to each drawn from its seed: no wrong byte, and no hang.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cwnd_files::{Folder, Outcome, ReceiveOptions, ServeOptions, Source, TransferError, send, serve};
use cwnd_secure::{Access, Code, Proof, SecureError, accept, connect};

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// What is done to one piece of what passes in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Nothing,
    /// A bit is another, as after an error that UDP's checksum does not find.
    Flip,
    Drop,
    Repeat,
    /// It comes after the next piece.
    Delay,
    /// Bytes of the attacker's come before it.
    Insert,
    /// The connection ends in it.
    Cut,
}

/// Passes pieces on, of which one is treated so.
fn relay(mut from: UnixStream, mut to: UnixStream, deed: Deed, at: u64, mut draw: Draw) {
    let mut buffer = vec![0; 1 << 15];
    let mut delayed = Vec::new();
    for number in 0.. {
        let room = 1 + draw.below(buffer.len() as u64) as usize;
        let Ok(length @ 1..) = from.read(&mut buffer[..room]) else { break };
        let piece = &mut buffer[..length];
        let mut out = Vec::new();
        match if number == at { deed } else { Deed::Nothing } {
            Deed::Nothing => out.extend_from_slice(piece),
            Deed::Flip => {
                piece[draw.below(length as u64) as usize] ^= 1 << draw.below(8);
                out.extend_from_slice(piece);
            }
            Deed::Drop => {}
            Deed::Repeat => out.extend_from_slice(&piece.repeat(2)),
            Deed::Delay => delayed = piece.to_vec(),
            Deed::Insert => {
                out.extend((0..1 + draw.below(99)).map(|_| draw.next() as u8));
                out.extend_from_slice(piece);
            }
            Deed::Cut => out.extend_from_slice(&piece[..length / 2]),
        }
        if number > at {
            out.append(&mut delayed);
        }
        if to.write_all(&out).is_err() || (number == at && deed == Deed::Cut) {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// One connection through the path; what the client and the server say.
fn transfer(
    from: &Path,
    to: &Path,
    deeds: [(Deed, u64); 2],
    seed: u64,
) -> (Result<Outcome, TransferError>, Result<Outcome, TransferError>) {
    let ((client, near), (far, server)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    // What is missing is never sent again here, unlike over UDT: only an attacked connection has reason to wait for it.
    let honest = deeds.iter().all(|(deed, _)| *deed == Deed::Nothing);
    let patience = if honest { Duration::from_secs(60) } else { Duration::from_millis(400) };
    for stream in [&client, &server] {
        stream.set_read_timeout(Some(patience)).unwrap();
        stream.set_write_timeout(Some(patience)).unwrap();
    }
    let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
    let [up, down] = deeds;
    let relays = [
        thread::spawn(move || relay(near, far, up.0, up.1, Draw(seed))),
        thread::spawn(move || relay(back.0, back.1, down.0, down.1, Draw(!seed))),
    ];
    let (code, inbox) = (Code::from_bits([seed as u8; 16]), Folder::open(to).unwrap());
    let access = Access::by_codes(vec![code.clone()]);
    let failed = |error: SecureError| TransferError::Io(error.into());
    let serving = thread::spawn(move || {
        let (stream, _) = accept(server, &access, || true).map_err(failed)?;
        serve(stream, &inbox, &ServeOptions::writable(ReceiveOptions::new()), &mut |_| true)
    });
    let sent = connect(client, &Proof::Code(code))
        .map_err(failed)
        .and_then(|stream| send(stream, &[Source::at(from).unwrap()], &mut |_| true));
    let served = serving.join().unwrap();
    relays.into_iter().for_each(|relay| relay.join().unwrap());
    (sent, served)
}

/// Files that have their names; what is unfinished has another.
fn finished(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with(".cwnd-"));
    named.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

/// An attacked transfer, and one over a connection that is left alone; whether the first was complete.
fn survives(seed: u64) -> bool {
    let mut draw = Draw(seed);
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("out"), place.path().join("in"));
    fs::create_dir(&from).unwrap();
    fs::create_dir(&to).unwrap();
    for number in 0..1 + draw.below(4) {
        let size = [draw.below(300), draw.below(200_000), (1 << 20) + draw.below(1 << 20)][draw.below(3) as usize];
        let bytes: Vec<u8> = (0..size.div_ceil(8)).flat_map(|_| draw.next().to_le_bytes()).collect();
        fs::write(from.join(format!("file {number}")), bytes).unwrap();
    }
    let mut deed = || match draw.below(7) {
        0 => (Deed::Nothing, 0),
        1 => (Deed::Flip, draw.below(40)),
        2 => (Deed::Drop, draw.below(40)),
        3 => (Deed::Repeat, draw.below(40)),
        4 => (Deed::Delay, draw.below(40)),
        5 => (Deed::Insert, draw.below(40)),
        _ => (Deed::Cut, draw.below(40)),
    };
    let deeds = [deed(), deed()];
    let expected = finished(&from);
    let (sent, served) = transfer(&from, &to, deeds, seed);
    let arrived = finished(&to.join("out"));
    for (name, bytes) in &arrived {
        assert!(expected.get(name) == Some(bytes), "seed {seed}, {deeds:?}: {name} is wrong");
    }
    if let (Ok(sent), Ok(served)) = (&sent, &served) {
        assert_eq!((sent.failed, served.failed), (0, 0), "seed {seed}, {deeds:?}");
        assert!(arrived == expected, "seed {seed}, {deeds:?}: files are missing");
    }
    if deeds.iter().all(|(deed, _)| *deed == Deed::Nothing) {
        assert!(sent.is_ok() && served.is_ok(), "seed {seed}: {sent:?} {served:?}");
    }
    let complete = sent.is_ok() && served.is_ok();
    let (sent, served) = transfer(&from, &to, [(Deed::Nothing, 0); 2], seed);
    assert!(sent.is_ok() && served.is_ok(), "seed {seed}, after {deeds:?}: {sent:?} {served:?}");
    assert!(finished(&to.join("out")) == expected, "seed {seed}, after {deeds:?}: files are missing or wrong");
    complete
}

/// Carries so many seeds out, eight at a time.
fn run(seeds: std::ops::Range<u64>) {
    let (done, outcomes) = mpsc::channel();
    for lane in 0..8 {
        let (seeds, done) = (seeds.clone(), done.clone());
        thread::spawn(move || {
            seeds.filter(|seed| seed % 8 == lane).for_each(|seed| done.send(survives(seed)).unwrap());
        });
    }
    drop(done);
    let (mut complete, mut interrupted) = (0, 0);
    for _ in seeds {
        // A panic of a lane closes the channel.
        let outcome = outcomes.recv_timeout(Duration::from_secs(120)).expect("a transfer has failed, or hangs");
        if outcome { complete += 1 } else { interrupted += 1 }
    }
    println!("{complete} complete at once, {interrupted} only over a second connection, 0 wrong bytes");
    assert!(complete > 0 && interrupted > 0);
}

#[test]
fn no_byte_is_wrong_and_nothing_hangs_whatever_is_done_on_the_path() {
    run(0..200);
}

#[test]
#[ignore = "takes minutes; `cargo xtask test --long attacked`"]
fn ten_thousand_attacked_transfers() {
    run(1_000..11_000);
}
