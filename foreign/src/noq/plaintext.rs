//! A substitute for TLS: the messages of its handshake without certificates, and packets with their number in place of a tag.

use std::any::Any;

use bytes::BytesMut;
use noq_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys,
    PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError};

/// All keys, and the configuration of both sides.
#[derive(Clone, Copy)]
pub(super) struct Plaintext;

/// One end of a handshake. Each side sends its parameters in the Initial space and `FINISHED` in the Handshake space, the client last.
struct Handshake {
    side: Side,
    parameters: TransportParameters,
    received: Vec<u8>,
    theirs: Option<TransportParameters>,
    finished: bool,
    /// Calls of `write_handshake` that had something to say.
    written: u8,
}

impl Handshake {
    fn start(side: Side, parameters: &TransportParameters) -> Box<dyn Session> {
        let parameters = *parameters;
        Box::new(Self { side, parameters, received: Vec::new(), theirs: None, finished: false, written: 0 })
    }

    fn write_parameters(&self, buffer: &mut Vec<u8>) {
        let mut encoded = Vec::new();
        self.parameters.write(&mut encoded);
        let length = u16::try_from(encoded.len()).expect("a few hundred bytes");
        buffer.extend(length.to_be_bytes());
        buffer.extend(encoded);
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _dst_cid: ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.theirs.as_ref().map(|_| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        !self.finished
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received.extend(buf);
        let before = self.theirs.is_some();
        if !before && let Some((length, rest)) = self.received.split_at_checked(2) {
            let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
            if let Some((mut encoded, rest)) = rest.split_at_checked(length) {
                self.theirs = Some(TransportParameters::read(self.side, &mut encoded)?);
                self.received = rest.to_vec();
            }
        }
        self.finished |= self.theirs.is_some() && self.received.starts_with(FINISHED);
        Ok(!before && self.theirs.is_some())
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.theirs)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let known = self.theirs.is_some();
        let (say, keyed) = match (self.side, self.written) {
            (Side::Client, 0) => (true, false),
            (Side::Client, 1) => (known, true),
            (Side::Client, 2) => (self.finished, true),
            (Side::Server, 0 | 1) => (known, true),
            _ => (false, false),
        };
        if !say {
            return None;
        }
        match (self.side, self.written) {
            (Side::Client, 0) | (Side::Server, 0) => self.write_parameters(buf),
            (Side::Client, 2) | (Side::Server, 1) => buf.extend(FINISHED),
            _ => {}
        }
        self.written += 1;
        keyed.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _orig_dst_cid: ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Plaintext {
    fn start_session(
        &self,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::start(Side::Client, params))
    }
}

impl ServerConfig for Plaintext {
    fn initial_keys(&self, _version: u32, _dst_cid: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Handshake::start(Side::Server, params)
    }
}

impl PacketKey for Plaintext {
    fn encrypt(&self, _path_id: PathId, packet: u64, buf: &mut [u8], _header_len: usize) {
        let at = buf.len() - TAG;
        buf[at..].copy_from_slice(&tag(packet));
    }

    fn decrypt(
        &self,
        _path_id: PathId,
        packet: u64,
        _header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        if payload[length..] != tag(packet) {
            return Err(CryptoError);
        }
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plaintext {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

impl HmacKey for Plaintext {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        signature_out.fill(0);
        signature_out.iter_mut().zip(data).for_each(|(out, byte)| *out = *byte);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plaintext {
    fn seal(&self, _token_nonce: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, _token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&data[..length])
    }
}

fn keys() -> Keys {
    let pair = || KeyPair { local: Box::new(Plaintext) as Box<dyn PacketKey>, remote: Box::new(Plaintext) as _ };
    let header = KeyPair { local: Box::new(Plaintext) as Box<dyn HeaderKey>, remote: Box::new(Plaintext) as _ };
    Keys { header, packet: pair() }
}

/// A receiver that expands the number of a late packet wrongly refuses the packet, because AES-GCM takes the number into the nonce (RFC 9001,
/// section 5.3). The first byte is that of no connection id, so that a refused packet is no stateless reset.
fn tag(packet: u64) -> [u8; TAG] {
    let mut tag = [0xff; TAG];
    tag[TAG - 8..].copy_from_slice(&packet.to_be_bytes());
    tag
}

/// As long as that of AES-GCM and ChaCha20-Poly1305.
const TAG: usize = 16;
/// The last message of either side, as long as TLS's with SHA-256.
const FINISHED: &[u8] = &[1; 36];
