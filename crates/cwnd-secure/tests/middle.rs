//! A man in the middle: sees, keeps, changes, repeats, reorders and drops whatever passes, and has neither code nor key.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cwnd_secure::{
    Access, CONTENT, Code, Denial, PrivateKey, Proof, Proven, REKEY, SecureError, SecureStream, accept, connect,
    record_length,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Client,
    Server,
}

/// Called with every message (the handshake's is number 0) and what to send instead; `false` ends both connections.
type Attack = Box<dyn FnMut(From, usize, &[u8], &mut Vec<u8>) -> bool + Send>;

/// The results of both ends: the client's error, and the data that the server has read, with its error.
struct Ends {
    client: Option<SecureError>,
    read: Vec<u8>,
    server: Option<SecureError>,
}

fn code(bits: u8) -> Code {
    Code::from_bits([bits; 16])
}

/// The error inside an error of a stream.
fn secure(error: io::Error) -> SecureError {
    match error.downcast::<SecureError>() {
        Ok(error) => error,
        Err(error) => SecureError::Io(error),
    }
}

/// Passes on what comes from one side, message by message.
fn relay(side: From, mut from: UnixStream, mut to: UnixStream, attack: &Mutex<Attack>) {
    for number in 0.. {
        let beginning = if number == 0 { 9 } else { 2 };
        let mut message = vec![0; beginning];
        if from.read_exact(&mut message).is_err() {
            break;
        }
        // A refusal has nothing after its beginning.
        let refused = number == 0 && side == From::Server && message[8] != 0;
        let length = match number {
            0 => {
                if refused {
                    beginning
                } else {
                    9 + 48
                }
            }
            _ => record_length(&message).unwrap().unwrap(),
        };
        message.resize(length, 0);
        if from.read_exact(&mut message[beginning..]).is_err() {
            break;
        }
        let mut instead = Vec::new();
        let goes_on = attack.lock().unwrap()(side, number, &message, &mut instead);
        if to.write_all(&instead).is_err() || !goes_on {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// A client sends ten records of 1000 bytes and the final one, and waits for the server's final record.
fn conversation(proofs: (Proof, Access), attack: Attack) -> Ends {
    let ((client, near), (far, server)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    for stream in [&client, &server] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    let attack = Arc::new(Mutex::new(attack));
    let (upward, other) = (Arc::clone(&attack), (near.try_clone().unwrap(), far.try_clone().unwrap()));
    let relays = [
        thread::spawn(move || relay(From::Client, near, far, &upward)),
        thread::spawn(move || relay(From::Server, other.1, other.0, &attack)),
    ];
    let serving = thread::spawn(move || {
        let mut read = Vec::new();
        let serve = |read: &mut Vec<u8>| -> Result<(), SecureError> {
            let (mut stream, _) = accept(server, &proofs.1, || true)?;
            stream.read_to_end(read).map_err(secure)?;
            stream.finish().map_err(secure)
        };
        let error = serve(&mut read).err();
        (read, error)
    });
    let talk = || -> Result<(), SecureError> {
        let mut stream = connect(client, &proofs.0)?;
        for number in 0..10 {
            stream.write_all(&[number; 1000]).map_err(secure)?;
        }
        stream.finish().map_err(secure)?;
        assert_eq!(stream.read(&mut [0; 10]).map_err(secure)?, 0);
        Ok(())
    };
    let client = talk().err();
    let (read, server) = serving.join().unwrap();
    relays.into_iter().for_each(|relay| relay.join().unwrap());
    Ends { client, read, server }
}

/// The data of the client.
fn truth() -> Vec<u8> {
    (0..10).flat_map(|number| [number; 1000]).collect()
}

fn same_code() -> (Proof, Access) {
    (Proof::Code(code(1)), Access::by_codes(vec![code(2), code(1)]))
}

#[test]
fn who_only_listens_and_passes_on_sees_no_plaintext() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    let ends = conversation(
        same_code(),
        Box::new(move |_, _, message, instead| {
            all.lock().unwrap().extend_from_slice(message);
            instead.extend_from_slice(message);
            true
        }),
    );
    assert!(ends.client.is_none() && ends.server.is_none(), "{:?} {:?}", ends.client, ends.server);
    assert_eq!(ends.read, truth());
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 10_000 + 2 * 57);
    for number in 0..10_u8 {
        assert!(!seen.windows(8).any(|window| window == [number; 8]), "{number}");
    }
}

#[test]
fn whatever_is_done_to_a_record_is_noticed_before_a_byte_of_it_is_read() {
    let passes_on = |instead: &mut Vec<u8>, message: &[u8]| instead.extend_from_slice(message);
    let mut held = Vec::new();
    let mut earlier = Vec::new();
    // Of the client's messages the first is its hello and the second its confirmation: the fifth carries the numbers 3.
    let attacks: Vec<(&str, Attack)> = vec![
        (
            "a bit of its content",
            Box::new(move |from, number, message, instead| {
                passes_on(instead, message);
                if (from, number) == (From::Client, 5) {
                    instead[500] ^= 0x10;
                }
                true
            }),
        ),
        (
            "a bit of its length",
            Box::new(move |from, number, message, instead| {
                passes_on(instead, message);
                if (from, number) == (From::Client, 5) {
                    instead[1] ^= 0x01;
                }
                true
            }),
        ),
        (
            "a bit of what authenticates it",
            Box::new(move |from, number, message, instead| {
                passes_on(instead, message);
                if (from, number) == (From::Client, 5) {
                    *instead.last_mut().unwrap() ^= 0x80;
                }
                true
            }),
        ),
        (
            "sent twice",
            Box::new(move |from, number, message, instead| {
                if (from, number) == (From::Client, 4) {
                    passes_on(instead, message);
                }
                passes_on(instead, message);
                true
            }),
        ),
        (
            "left out",
            Box::new(move |from, number, message, instead| {
                if (from, number) != (From::Client, 5) {
                    passes_on(instead, message);
                }
                true
            }),
        ),
        (
            "after the next",
            Box::new(move |from, number, message, instead| {
                match (from, number) {
                    (From::Client, 5) => held = message.to_vec(),
                    (From::Client, 6) => {
                        passes_on(instead, message);
                        passes_on(instead, &held);
                    }
                    _ => passes_on(instead, message),
                }
                true
            }),
        ),
        (
            "an earlier one instead",
            Box::new(move |from, number, message, instead| {
                match (from, number) {
                    (From::Client, 3) => {
                        earlier = message.to_vec();
                        passes_on(instead, message);
                    }
                    (From::Client, 5) => passes_on(instead, &earlier),
                    _ => passes_on(instead, message),
                }
                true
            }),
        ),
        (
            "cut in two",
            Box::new(move |from, number, message, instead| {
                if (from, number) == (From::Client, 5) {
                    instead.extend_from_slice(&258_u16.to_be_bytes());
                    instead.extend_from_slice(&message[2..260]);
                    instead.extend_from_slice(&(message.len() as u16 - 260).to_be_bytes());
                    instead.extend_from_slice(&message[260..]);
                } else {
                    passes_on(instead, message);
                }
                true
            }),
        ),
        (
            "a final record of no key",
            Box::new(move |from, number, message, instead| {
                if (from, number) == (From::Client, 5) {
                    instead.extend_from_slice(&16_u16.to_be_bytes());
                    instead.extend_from_slice(&[0; 16]);
                }
                passes_on(instead, message);
                true
            }),
        ),
    ];
    for (what, attack) in attacks {
        let ends = conversation(same_code(), attack);
        assert!(matches!(ends.server, Some(SecureError::Altered)), "{what}: {:?}", ends.server);
        // The data before is true, and nothing else was handed out.
        assert!(truth().starts_with(&ends.read) && ends.read.len() <= 4000, "{what}: {} bytes", ends.read.len());
        assert!(ends.client.is_some(), "{what}: no final record came");
    }
}

#[test]
fn a_record_that_is_sent_back_is_not_taken_for_the_others() {
    let mut own = Vec::new();
    let ends = conversation(
        same_code(),
        Box::new(move |from, number, message, instead| {
            match (from, number) {
                (From::Client, 1) => own = message.to_vec(),
                (From::Server, 1) => {
                    instead.extend_from_slice(&own);
                    return true;
                }
                _ => {}
            }
            instead.extend_from_slice(message);
            true
        }),
    );
    assert!(matches!(ends.client, Some(SecureError::Altered)), "{:?}", ends.client);
    assert_eq!(ends.read, truth());
}

#[test]
fn an_end_without_the_final_record_is_an_error() {
    for last in 1..=11 {
        let ends = conversation(
            same_code(),
            Box::new(move |from, number, message, instead| {
                instead.extend_from_slice(message);
                (from, number) != (From::Client, last)
            }),
        );
        assert!(matches!(ends.server, Some(SecureError::Truncated)), "after {last}: {:?}", ends.server);
        assert_eq!(ends.read, truth()[..(last - 1) * 1000], "after {last}");
    }
    // In the midst of a record.
    let ends = conversation(
        same_code(),
        Box::new(|from, number, message, instead| {
            let cut = (from, number) == (From::Client, 7);
            instead.extend_from_slice(if cut { &message[..600] } else { message });
            !cut
        }),
    );
    assert!(matches!(ends.server, Some(SecureError::Truncated)), "{:?}", ends.server);
    assert_eq!(ends.read.len(), 5000);
}

#[test]
fn a_handshake_that_was_touched_lets_nobody_in() {
    for side in [From::Client, From::Server] {
        for at in 0..57 {
            let ends = conversation(
                same_code(),
                Box::new(move |from, number, message, instead| {
                    instead.extend_from_slice(message);
                    if (from, number) == (side, 0) {
                        instead[at] ^= 0x04;
                    }
                    true
                }),
            );
            assert!(ends.read.is_empty() && ends.client.is_some() && ends.server.is_some(), "{side:?}, byte {at}");
            match (side, at) {
                (_, 7) => assert!(
                    matches!(
                        (ends.client, ends.server),
                        (Some(SecureError::Version(5)), _) | (_, Some(SecureError::Version(5)))
                    ),
                    "byte {at}"
                ),
                (From::Client, 9..) => {
                    assert!(matches!(ends.client, Some(SecureError::Refused(Denial::WrongCode))), "{:?}", ends.client);
                    assert!(matches!(ends.server, Some(SecureError::Refused(Denial::WrongCode))), "{:?}", ends.server);
                }
                (From::Server, 9..) => {
                    assert!(matches!(ends.client, Some(SecureError::Unproven)), "{:?}", ends.client);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_hello_that_is_repeated_gets_an_answer_and_nothing_else() {
    let (access, hello) = (Access::by_codes(vec![code(1)]), Arc::new(Mutex::new(Vec::new())));
    let keeps = Arc::clone(&hello);
    conversation(
        same_code(),
        Box::new(move |from, number, message, instead| {
            if (from, number) == (From::Client, 0) {
                *keeps.lock().unwrap() = message.to_vec();
            }
            instead.extend_from_slice(message);
            true
        }),
    );
    let (mut attacker, server) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || accept(server, &access, || true).map(drop));
    attacker.write_all(&hello.lock().unwrap()).unwrap();
    attacker.read_exact(&mut [0; 57]).unwrap();
    // A confirmation of a client, but its key results from a secret that the attacker does not have.
    attacker.write_all(&[&[0, 20][..], &[0x55; 20]].concat()).unwrap();
    assert!(matches!(serving.join().unwrap(), Err(SecureError::Altered)));
}

/// One end of a connection and what the other says.
fn against(says: &[u8], own: impl FnOnce(UnixStream) -> Option<SecureError> + Send + 'static) -> SecureError {
    let (mut other, end) = UnixStream::pair().unwrap();
    let end = thread::spawn(move || own(end));
    other.write_all(says).unwrap();
    other.shutdown(Shutdown::Write).unwrap();
    end.join().unwrap().expect("it lets somebody in")
}

#[test]
fn a_side_that_does_not_encrypt_is_named_as_such() {
    let hello = b"c\x0a\0\0\0wndfiles\x01\x00";
    let welcome = b"\x01\0\0\0\0";
    let refusal = b"\x02\x20\0\0\0this server does not receive files";
    for says in [&hello[..], welcome, refusal] {
        let client = against(says, |stream| connect(stream, &Proof::Code(code(1))).err());
        assert!(matches!(client, SecureError::Plain), "{client:?}");
        let server = against(says, |stream| accept(stream, &Access::by_codes(vec![code(1)]), || true).err());
        assert!(matches!(server, SecureError::Plain), "{server:?}");
    }
    // A demo of libudt asks for a file of a name of 4 bytes.
    let server = against(b"\x04\0\0\0/tmp", |stream| accept(stream, &Access::default(), || true).err());
    assert!(matches!(server, SecureError::Foreign), "{server:?}");
    let server = against(b"cwnd", |stream| accept(stream, &Access::default(), || true).err());
    assert!(matches!(server, SecureError::Truncated), "{server:?}");
}

/// A connection whose server has this access.
fn meet(
    proof: &Proof,
    access: Access,
    may_guess: bool,
) -> (Result<SecureStream<UnixStream>, SecureError>, Result<Proven, SecureError>) {
    let (near, far) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || accept(far, &access, || may_guess).map(|(_, proven)| proven));
    let mut client = connect(near, proof);
    if let Ok(stream) = &mut client {
        let _ = stream.finish();
    }
    (client, server.join().unwrap())
}

#[test]
fn only_who_has_the_code_or_a_known_key_comes_in() {
    let [server, member, other] = [(); 3].map(|()| PrivateKey::generate().unwrap());
    let keys = |own: &PrivateKey, server: &PrivateKey| Proof::Keys { own: own.clone(), server: server.public() };
    let codes = || Access::by_codes(vec![code(1), code(2)]);
    let known = || Access::by_keys(server.clone(), vec![other.public(), member.public()]);

    let (client, proven) = meet(&Proof::Code(code(2)), codes(), true);
    assert_eq!((client.is_ok(), proven.unwrap()), (true, Proven::Code(1)));
    let (client, proven) = meet(&keys(&member, &server), known(), true);
    assert_eq!((client.is_ok(), proven.unwrap()), (true, Proven::Key(1)));

    let only_friend = Access::by_keys(server.clone(), vec![member.public()]);
    for (proof, access, may_guess, why) in [
        (Proof::Code(code(3)), codes(), true, Denial::WrongCode),
        (Proof::Code(code(1)), codes(), false, Denial::Limited),
        (Proof::Code(code(1)), known(), true, Denial::Proof),
        (keys(&member, &server), codes(), true, Denial::Proof),
        (keys(&other, &server), only_friend, true, Denial::UnknownKey),
        // The client expects another server than this one.
        (keys(&member, &other), known(), true, Denial::UnknownKey),
    ] {
        let (client, proven) = meet(&proof, access, may_guess);
        assert!(matches!(client, Err(SecureError::Refused(said)) if said == why), "{why:?}: {:?}", client.err());
        assert!(matches!(proven, Err(SecureError::Refused(said)) if said == why), "{why:?}");
    }
}

#[test]
fn records_go_on_through_many_keys_and_of_every_size() {
    let (near, far) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = accept(far, &Access::by_codes(vec![code(1)]), || true).unwrap();
        let (mut read, mut sum, mut buffer) = (0_u64, 0_u64, vec![0; 100_000]);
        loop {
            // Buffers shorter than a record, and longer.
            let room = if read % 3 == 0 { 1 + (read % 977) as usize } else { buffer.len() };
            let length = stream.read(&mut buffer[..room]).unwrap();
            if length == 0 {
                break;
            }
            read += length as u64;
            sum += buffer[..length].iter().map(|byte| u64::from(*byte)).sum::<u64>();
        }
        stream.write_all(b"all").unwrap();
        stream.finish().unwrap();
        (read, sum)
    });
    let mut stream = connect(near, &Proof::Code(code(1))).unwrap();
    let (mut written, mut sum) = (0, 0);
    for number in 0..2 * u64::from(REKEY) + 7 {
        let length = if number % 4096 == 0 { CONTENT as u64 + 11 } else { number % 7 + 1 };
        stream.write_all(&vec![number as u8; length as usize]).unwrap();
        written += length;
        sum += length * u64::from(number as u8);
    }
    stream.finish().unwrap();
    assert!(stream.write_all(b"more").is_err());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!((answer.as_str(), server.join().unwrap()), ("all", (written, sum)));
}
