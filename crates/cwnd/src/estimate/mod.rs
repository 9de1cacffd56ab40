//! Measurement that hosts share: round-trip time, arrival rate, capacity by packet pairs, delivery rate.

mod arrival_rate;
mod delivery_rate;
mod gaps;
mod packet_pair;
mod rtt;

pub use arrival_rate::ArrivalRate;
pub use delivery_rate::{DeliveryRate, Departure};
pub use packet_pair::{NS2_PAIRS, PacketPairs, UDT4_PAIRS};
pub use rtt::RttEstimator;
