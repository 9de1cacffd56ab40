//! What lies between the endpoints: packets, links with their queues, routes.

pub(crate) mod link;
pub(crate) mod packet;
pub(crate) mod red;
pub(crate) mod route;
