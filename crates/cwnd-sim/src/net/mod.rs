//! What lies between the endpoints: packets, links with their queues, routes.

pub(crate) mod bucket;
pub(crate) mod channel;
pub(crate) mod delivery;
pub(crate) mod far_end;
pub(crate) mod light;
pub(crate) mod line;
pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod noise;
pub(crate) mod packet;
pub(crate) mod phases;
pub(crate) mod queue;
pub(crate) mod route;
pub(crate) mod setup;
pub(crate) mod steps;
pub(crate) mod tap;
