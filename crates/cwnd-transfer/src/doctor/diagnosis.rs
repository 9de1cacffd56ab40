//! The diagnosis of a host.

use serde::Serialize;

/// The limits of this host for a fast transfer: `udt doctor --json`.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnosis {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub(crate) version: &'static str,
    /// The host to which the route was looked at; null if none was given.
    pub(crate) peer: Option<String>,
    /// The findings, in the order in which a packet passes the parts of the host.
    pub(crate) findings: Vec<Finding>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// The part that was checked: `receive_buffer`, `send_buffer`, `overruns`, `input_queue`, `segmentation`, `device`, `mtu`, `route`,
    /// `echo`, `processor`, `timer`, `clock`, `descriptors`, `disk` or `congestion_control`. `device` and `mtu` come once for each
    /// interface.
    pub(crate) check: &'static str,
    /// The interface, where it is about one.
    pub(crate) interface: Option<String>,
    /// The measured value as text.
    pub(crate) measured: String,
    /// The measured value as a number; null where it could not be measured.
    pub(crate) value: Option<f64>,
    /// The unit of that number; empty for a plain number.
    pub(crate) unit: &'static str,
    /// `limits` where it holds a fast transfer back, `fine` where it does not, `unknown` where it could not be measured.
    pub(crate) verdict: Verdict,
    /// Its cost, or the rate that it allows.
    pub(crate) means: String,
    /// Commands that fix it, those of the system to be run as root. None were run.
    pub(crate) fix: Vec<String>,
}

/// Whether something holds transfers back.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It does not.
    Fine,
    /// It does.
    Limits,
    /// It could not be measured.
    Unknown,
}

impl Finding {
    /// Something that could not be measured, and why.
    pub(crate) fn unknown(check: &'static str, why: impl Into<String>) -> Self {
        Self {
            check,
            interface: None,
            measured: "not measured".to_owned(),
            value: None,
            unit: "",
            verdict: Verdict::Unknown,
            means: why.into(),
            fix: Vec::new(),
        }
    }
}
