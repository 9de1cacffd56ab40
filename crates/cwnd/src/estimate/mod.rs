//! Measurement that hosts share: round-trip time, arrival rate, capacity by packet pairs, delivery rate, what holds the sender back.

mod arrival_rate;
mod delivery_rate;
mod gaps;
mod limits;
mod packet_pair;
mod rtt;

pub use arrival_rate::ArrivalRate;
pub use delivery_rate::{DeliveryRate, Departure};
pub use limits::{Limits, Spent};
pub use packet_pair::{NS2_PAIRS, PacketPairs, UDT4_PAIRS};
pub use rtt::RttEstimator;
