//! Whatever is sent to a relay, and from wherever.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use cwnd_meet::{Cookie, Handled, Limits, Message, Role, Room, Rooms};
use proptest::prelude::*;

/// A datagram from one of eight addresses.
#[derive(Clone, Debug)]
enum Sent {
    Bytes(Vec<u8>),
    /// With the last cookie that this address was sent, if it saw it, or with one of another address.
    Join {
        room: u8,
        host: bool,
        cookie_of: usize,
    },
    Data(usize),
}

fn sent() -> impl Strategy<Value = Sent> {
    let join = |cookie_of: BoxedStrategy<usize>| {
        (0_u8..4, any::<bool>(), cookie_of).prop_map(|(room, host, cookie_of)| Sent::Join { room, host, cookie_of })
    };
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100).prop_map(Sent::Bytes),
        join(Just(usize::MAX).boxed()),
        join((0_usize..8).boxed()),
        (0_usize..1500).prop_map(Sent::Data),
    ]
}

proptest! {
    #[test]
    fn nobody_is_sent_more_than_was_sent_unless_it_has_proven_its_address(
        sent in prop::collection::vec((0_usize..8, 0_u64..20_000, sent()), 1..200)
    ) {
        let limits = Limits { rooms: 3, per_address: 4, bytes: 20_000, lifetime: Duration::from_secs(300) };
        let mut rooms = Rooms::new([3; 32], limits);
        let addresses: [SocketAddr; 8] =
            std::array::from_fn(|at| SocketAddr::from(([192, 0, 2, at as u8 / 5], 5000 + at as u16)));
        let mut cookies = [Cookie::default(); 8];
        let (mut proven, mut now) = (BTreeSet::new(), Duration::ZERO);
        for (who, pause, what) in sent {
            now += Duration::from_millis(pause);
            let bytes = match &what {
                Sent::Bytes(bytes) => bytes.clone(),
                Sent::Data(length) => vec![0; *length],
                Sent::Join { room, host, cookie_of } => {
                    let role = if *host { Role::Host } else { Role::Guest };
                    let cookie = *cookies.get(*cookie_of).unwrap_or(&cookies[who]);
                    Message::Join { room: Room([*room; 16]), role, cookie }.to_bytes().to_vec()
                }
            };
            match rooms.handle(now, addresses[who], &bytes) {
                Handled::Answer(answer) => {
                    prop_assert!(answer.len() <= bytes.len());
                    match Message::read(&answer) {
                        Some(Message::Challenge { cookie, .. }) => cookies[who] = cookie,
                        Some(_) => {
                            proven.insert(addresses[who]);
                            let own = matches!(what, Sent::Join { cookie_of, .. } if cookie_of == who || cookie_of > 7);
                            prop_assert!(own, "the cookie of another address was taken");
                        }
                        None => prop_assert!(false, "no message"),
                    }
                }
                Handled::Forward(to) => {
                    prop_assert!(proven.contains(&to) && proven.contains(&addresses[who]) && to != addresses[who]);
                }
                Handled::Dropped => {}
            }
            let (count, members) = rooms.len();
            prop_assert!(count <= 3 && members <= 6 && members >= count);
        }
    }
}
