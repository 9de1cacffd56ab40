//! Properties that hold for any bytes, for tests and fuzzing.

use std::io::{self, Cursor, Read, Write};

use crate::code::Code;
use crate::handshake::{Access, Hello, Initiator, Proof};
use crate::key::PrivateKey;
use crate::record::record_length;
use crate::stream::{accept, connect};

/// A connection whose input is known beforehand, and whose output nobody reads.
struct Said<'a>(Cursor<&'a [u8]>);

impl Read for Said<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl Write for Said<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends `bytes` to a server, to a client, and to an established connection behind a valid record; the number of records that were
/// accepted.
///
/// # Panics
/// If a peer without the secret completes a handshake, or bytes that were never sealed are delivered.
pub fn conversation(bytes: &[u8]) -> usize {
    let code = Code::from_bits([7; 16]);
    let keys = PrivateKey::generate().and_then(|own| Ok((own, PrivateKey::generate()?)));
    let (own, other) = keys.expect("the system has random numbers");
    let said = || Said(Cursor::new(bytes));
    for access in
        [Access::by_codes(vec![code.clone()]), Access::by_keys(own.clone(), vec![other.public()]), Access::default()]
    {
        assert!(accept(said(), &access, || true).is_err(), "a peer without the secret is admitted");
    }
    for proof in [Proof::Code(code.clone()), Proof::Keys { own, server: other.public() }] {
        assert!(connect(said(), &proof).is_err(), "a server without the secret is accepted");
    }

    let (initiator, hello) = Initiator::new(&Proof::Code(code.clone())).expect("the system has random numbers");
    let hello = Hello::read(&mut &hello[..]).expect("it is one");
    let (mut server, _, answer) = hello.answer(&Access::by_codes(vec![code])).expect("the code is right");
    let mut client = initiator.finish(&mut &answer[..]).expect("the server is right");
    let mut wire = Vec::new();
    client.seal(b"true", &mut wire).expect("it is short");
    wire.extend_from_slice(bytes);
    let (mut taken, mut rest) = (0, &wire[..]);
    let mut content = vec![0; 1 << 16];
    while let Ok(Some(length)) = record_length(rest) {
        let Some((record, after)) = rest.split_at_checked(length) else { break };
        let Ok(length) = server.open(record, &mut content) else { break };
        assert!(taken == 0 && &content[..length] == b"true", "a record that nobody has sealed");
        taken += 1;
        rest = after;
    }
    taken
}
