//! Bytes captured between two ends of libudt 4.11, and properties of all packets and of all bytes.

use proptest::prelude::*;

use super::*;
use crate::number::MessageNumber;

/// Bytes from hexadecimal words.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn id(value: u32) -> Option<SocketId> {
    SocketId::new(value)
}

fn number(value: u32) -> Seq {
    Seq::new(value).unwrap()
}

/// `text` reads as `control` to `to`, and is written the same.
fn control(text: &str, to: Option<SocketId>, control: Control<'_>) {
    let packet = Packet::Control { to, timestamp_us: 0, control };
    both_ways(&hex(text), &packet);
}

fn both_ways(bytes: &[u8], packet: &Packet<'_>) {
    assert_eq!(Packet::parse(bytes).as_ref(), Ok(packet));
    let mut out = Vec::new();
    packet.encode(&mut out);
    assert_eq!(out, bytes);
}

fn refused(text: &str) -> Malformed {
    Packet::parse(&hex(text)).unwrap_err()
}

#[test]
fn handshakes_captured_from_libudt() {
    let request = Handshake {
        version: 4,
        socket_type: 1,
        isn: number(1_177_521_689),
        mss: 1500,
        window: 8192,
        request: Request::Regular,
        id: id(0x2707_d0ed),
        cookie: 0,
        address: [1, 0, 0, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    let cookie = 0x77bc_3a08;
    control(
        "80000000 00000000 00000000 00000000 00000004 00000001 462f8e19 000005dc
         00002000 00000001 2707d0ed 00000000 0100007f 00000000 00000000 00000000",
        None,
        Control::Handshake(request),
    );
    control(
        "80000000 00000000 00000000 2707d0ed 00000004 00000001 462f8e19 000005dc
         00002000 00000001 2707d0ed 77bc3a08 0100007f 00000000 00000000 00000000",
        id(0x2707_d0ed),
        Control::Handshake(Handshake { cookie, ..request }),
    );
    control(
        "80000000 00000000 00000000 00000000 00000004 00000001 462f8e19 000005dc
         00002000 ffffffff 2707d0ed 77bc3a08 0100007f 00000000 00000000 00000000",
        None,
        Control::Handshake(Handshake { cookie, request: Request::Response, ..request }),
    );
    control(
        "80000000 00000000 00000000 2707d0ed 00000004 00000001 462f8e19 000005dc
         00002000 ffffffff 3fa16ae9 77bc3a08 0100007f 00000000 00000000 00000000",
        id(0x2707_d0ed),
        Control::Handshake(Handshake { cookie, request: Request::Response, id: id(0x3fa1_6ae9), ..request }),
    );
}

#[test]
fn reports_of_what_has_arrived_above_a_gap() {
    control("ffff6377 00000000 00000000 2707d0ed 00000000", id(0x2707_d0ed), Control::AskReports);
    let mut missing = Missing::empty();
    control(
        "ffff6378 462f8e40 00000000 2707d0ed 462f8e19",
        id(0x2707_d0ed),
        Control::Report(Report { from: number(0x462f_8e19), next: number(0x462f_8e40), missing }.reported()),
    );
    assert!(missing.push(LossRange::new(number(0x462f_8e19), number(0x462f_8e1b)).unwrap()));
    assert!(missing.push(LossRange::new(number(0x462f_8e21), number(0x462f_8e21)).unwrap()));
    control(
        "ffff6378 462f8e40 00000000 2707d0ed 462f8e19 c62f8e19 462f8e1b 462f8e21",
        id(0x2707_d0ed),
        Control::Report(Report { from: number(0x462f_8e19), next: number(0x462f_8e40), missing }.reported()),
    );
    assert_eq!(refused("ffff6378 462f8e40 00000000 2707d0ed"), Malformed::LossList);
    assert_eq!(refused("ffff6378 c62f8e40 00000000 2707d0ed 462f8e19"), Malformed::Number("end of a report"));
}

#[test]
fn data_captured_from_libudt() {
    let mut bytes = hex("1fd51f12 80000001 000011dc 31b379c6");
    let payload = [0x5a; 1456];
    bytes.extend(payload);
    let header = DataHeader {
        seq: number(534_060_818),
        position: Position::First,
        in_order: false,
        message: MessageNumber::FIRST,
        timestamp_us: 4572,
        to: SocketId::new(0x31b3_79c6).unwrap(),
    };
    both_ways(&bytes, &Packet::Data(header, &payload));
    let header = DataHeader {
        seq: number(0x5d79_ae17),
        position: Position::Only,
        in_order: false,
        message: MessageNumber::FIRST,
        timestamp_us: 0x53e,
        to: SocketId::new(0x0ae0_0724).unwrap(),
    };
    both_ways(&hex("5d79ae17 c0000001 0000053e 0ae00724 16000000"), &Packet::Data(header, &[0x16, 0, 0, 0]));
}

#[test]
fn acknowledgements_captured_from_libudt() {
    let ack = FullAck {
        number: AckNumber::FIRST,
        next: number(0x462f_8e29),
        rtt_us: 100_000,
        rtt_var_us: 50_000,
        window: 8191,
        rates: Some(Rates { arrival: 90_910, capacity: 1000 }),
    };
    control(
        "80020000 00000001 00000000 2707d0ed 462f8e29 000186a0 0000c350 00001fff 0001631e 000003e8",
        id(0x2707_d0ed),
        Control::Ack(ack),
    );
    let ack = FullAck {
        number: AckNumber::new(3).unwrap(),
        next: number(0x1fd5_1f57),
        rtt_us: 76_569,
        rtt_var_us: 68_739,
        window: 8191,
        rates: None,
    };
    control(
        "80020000 00000003 00000000 20de5213 1fd51f57 00012b19 00010c83 00001fff",
        id(0x20de_5213),
        Control::Ack(ack),
    );
    let light = Control::LightAck(number(0x1fd5_1f97));
    control("80020000 00000000 00000000 20de5213 1fd51f97", id(0x20de_5213), light);
    let ack2 = Control::Ack2(AckNumber::FIRST);
    control("80060000 00000001 00000000 3fa16ae9 00000000", id(0x3fa1_6ae9), ack2);
}

#[test]
fn other_packets_captured_from_libudt() {
    let range = |first, last| LossRange::new(number(first), number(last)).unwrap();
    let one = Losses::new(range(1_995_800_936, 1_995_800_936));
    control("80030000 00000000 00000000 0d26dac4 76f58168", id(0x0d26_dac4), Control::Nak(one.list()));
    let four = Losses::new(range(1_995_800_955, 1_995_800_958));
    control("80030000 00000000 00000000 0d26dac4 f6f5817b 76f5817e", id(0x0d26_dac4), Control::Nak(four.list()));
    control("80010000 00000000 00000000 1ff2c29e 00000000", id(0x1ff2_c29e), Control::KeepAlive);
    control("80050000 00000000 00000000 1ff2c29e 00000000", id(0x1ff2_c29e), Control::Shutdown);
    let message = MessageNumber::new(13).unwrap();
    let request = DropRequest { message, first: number(0x425e_ba05), last: number(0x425e_ba06) };
    let to = id(0x39b1_dcc3);
    control("80070000 0000000d 00000000 39b1dcc3 425eba05 425eba06", to, Control::DropRequest(request));
    control("80080000 00000fa0 00000000 26959d8a 00000000", id(0x2695_9d8a), Control::PeerError(4000));
}

#[test]
fn a_loss_list_of_singles_and_ranges() {
    let mut losses = Losses::new(LossRange::new(number(2), number(2)).unwrap());
    assert!(losses.push(LossRange::new(number(6), number(11)).unwrap()));
    assert!(losses.push(LossRange::new(number(14), number(14)).unwrap()));
    control(
        "80030000 00000000 00000000 00000001 00000002 80000006 0000000b 0000000e",
        id(1),
        Control::Nak(losses.list()),
    );
    assert!(losses.push(LossRange::new(Seq::MAX, number(0)).unwrap()));
    assert!(!losses.push(LossRange::new(number(20), number(20)).unwrap()), "four fit");
}

#[test]
fn empty_bodies_may_be_missing_and_reserved_bits_are_not_read() {
    let packet = |control| Ok(Packet::Control { to: id(9), timestamp_us: 7, control });
    let bytes = hex("80010000 00000000 00000007 00000009");
    assert_eq!(Packet::parse(&bytes), packet(Control::KeepAlive));
    assert_eq!(Packet::parse(&hex("8005abcd 00000000 00000007 00000009 0102")), packet(Control::Shutdown));
    assert_eq!(Packet::parse(&hex("80090000 00000000 00000007 00000009 00000000")), packet(Control::Unknown(9)));
    let user = Control::User { subtype: 0xabcd, info: 5, body: &[1, 2] };
    assert_eq!(Packet::parse(&hex("ffffabcd 00000005 00000007 00000009 0102")), packet(user));
}

// libudt reads all of these beyond their end, or loops over the packets that they name.
#[test]
fn short_bodies_are_refused() {
    assert_eq!(Packet::parse(&[0x80; 15]), Err(Malformed::Short(15)));
    assert_eq!(refused("00000000 00000000 00000000 00000001"), Malformed::Empty);
    for body in ["", "00000001 00000001", "00000001 00000001 00000001 0000"] {
        let text = format!("80020000 00000001 00000000 00000001 {body}");
        assert!(matches!(refused(&text), Malformed::Length("acknowledgement", _)), "{body}");
    }
    assert_eq!(refused("80070000 00000001 00000000 00000001 00000001"), Malformed::Length("drop request", 4));
    assert_eq!(refused("80000000 00000000 00000000 00000000 00000004"), Malformed::Length("handshake", 4));
    for body in ["", "80000001", "00000001 80000002", "000001", "00000001 000000"] {
        assert_eq!(refused(&format!("80030000 00000000 00000000 00000001 {body}")), Malformed::LossList, "{body}");
    }
}

#[test]
fn reversed_ranges_and_stray_bits_are_refused() {
    for body in ["80000002 00000001", "80000001 80000002", "80000001 7fffffff"] {
        assert_eq!(refused(&format!("80030000 00000000 00000000 00000001 {body}")), Malformed::LossList, "{body}");
    }
    let drop_request = |body| refused(&format!("80070000 00000001 00000000 00000001 {body}"));
    assert_eq!(drop_request("00000002 00000001"), Malformed::Number("last packet"));
    assert_eq!(drop_request("80000001 00000001"), Malformed::Number("first packet"));
    assert_eq!(refused("80070000 20000000 00000000 00000001 00000001 00000001"), Malformed::Number("message's number"));
    assert_eq!(refused("00000001 c0000001 00000000 00000000 01"), Malformed::Number("destination"));
    assert_eq!(refused("80010000 00000000 00000000 80000000"), Malformed::Number("destination"));
    assert_eq!(refused("80020000 00000000 00000000 00000001 80000000"), Malformed::Number("acknowledged packet"));
    let window = "80020000 00000001 00000000 00000001 00000001 00000001 00000001 ffffffff";
    assert_eq!(refused(window), Malformed::Number("window"));
}

#[test]
fn rates_that_libudt_computed_wrongly_are_unknown() {
    let bytes = hex("80020000 00000001 00000000 00000001 00000001 00000001 00000001 00000002 80000000 ffffffff");
    let Ok(Packet::Control { control: Control::Ack(ack), .. }) = Packet::parse(&bytes) else { panic!("an ACK") };
    assert_eq!(ack.rates, Some(Rates { arrival: 0, capacity: 0 }));
}

fn any_seq() -> impl Strategy<Value = Seq> {
    prop_oneof![Just(number(0)), Just(Seq::MAX), (0..=Seq::MAX.get()).prop_map(number)]
}

fn any_id() -> impl Strategy<Value = SocketId> {
    (1..=0x7fff_ffff_u32).prop_map(|value| SocketId::new(value).unwrap())
}

fn any_header() -> impl Strategy<Value = DataHeader> {
    let position =
        prop_oneof![Just(Position::Middle), Just(Position::Last), Just(Position::First), Just(Position::Only)];
    let message = (0..1_u32 << 29).prop_map(|value| MessageNumber::new(value).unwrap());
    (any_seq(), position, any::<bool>(), message, any::<u32>(), any_id()).prop_map(
        |(seq, position, in_order, message, timestamp_us, to)| DataHeader {
            seq,
            position,
            in_order,
            message,
            timestamp_us,
            to,
        },
    )
}

fn any_handshake() -> impl Strategy<Value = Handshake> {
    let request = prop_oneof![
        Just(Request::Rendezvous),
        Just(Request::Regular),
        Just(Request::Response),
        Just(Request::Agreement),
        Just(Request::Rejected),
        (2..1000).prop_map(Request::Other),
        (..-2).prop_map(Request::Other),
    ];
    let fields = (any::<[u32; 5]>(), any_seq(), request, prop::option::of(any_id()), any::<[u8; 16]>());
    fields.prop_map(|([version, socket_type, mss, window, cookie], isn, request, id, address)| Handshake {
        version,
        socket_type,
        isn,
        mss,
        window,
        request,
        id,
        cookie,
        address,
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let count = 0..1_u32 << 31;
    let ack_number = (0..1_u32 << 31).prop_map(|value| AckNumber::new(value).unwrap());
    let rates = prop::option::of((count.clone(), count.clone()));
    let ack = (ack_number.clone(), any_seq(), [count.clone(), count.clone(), count], rates);
    let range = (any_seq(), 0..1_u64 << 30).prop_map(|(first, more)| LossRange::new(first, first + more).unwrap());
    let drop_request = (0..1_u32 << 29, any_seq(), 0..1_u64 << 30);
    prop_oneof![
        Just(Message::KeepAlive),
        Just(Message::Shutdown),
        any_seq().prop_map(Message::LightAck),
        ack.prop_map(|(number, next, [rtt_us, rtt_var_us, window], rates)| {
            let rates = rates.map(|(arrival, capacity)| Rates { arrival, capacity });
            Message::Ack(FullAck { number, next, rtt_us, rtt_var_us, window, rates })
        }),
        prop::collection::vec(range, 1..=Losses::CAPACITY).prop_map(|ranges| {
            let mut losses = Losses::new(ranges[0]);
            assert!(ranges[1..].iter().all(|range| losses.push(*range)));
            Message::Nak(losses)
        }),
        ack_number.prop_map(Message::Ack2),
        drop_request.prop_map(|(message, first, more)| {
            let message = MessageNumber::new(message).unwrap();
            Message::DropRequest(DropRequest { message, first, last: first + more })
        }),
        any::<u32>().prop_map(Message::PeerError),
    ]
}

proptest! {
    #[test]
    fn data_comes_back(header in any_header(), payload in prop::collection::vec(any::<u8>(), 1..64)) {
        let mut bytes = Vec::new();
        Packet::Data(header, &payload).encode(&mut bytes);
        prop_assert_eq!(Packet::parse(&bytes), Ok(Packet::Data(header, &payload)));
    }

    #[test]
    fn messages_come_back(message in any_message(), to in prop::option::of(any_id()), timestamp_us in any::<u32>()) {
        let packet = Packet::Control { to, timestamp_us, control: message.control() };
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        prop_assert_eq!(Packet::parse(&bytes), Ok(packet));
    }

    #[test]
    fn handshakes_come_back(handshake in any_handshake(), to in prop::option::of(any_id())) {
        let packet = Packet::Control { to, timestamp_us: 0, control: Control::Handshake(handshake) };
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        prop_assert_eq!(bytes.len(), 64);
        prop_assert_eq!(Packet::parse(&bytes), Ok(packet));
    }

    #[test]
    fn any_bytes_are_read_or_refused(kind in 0..10_u8, mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        crate::testing::check_datagram(&bytes);
        if let Some(first) = bytes.first_chunk_mut() {
            *first = [0x80, kind];
        }
        crate::testing::check_datagram(&bytes);
    }
}
