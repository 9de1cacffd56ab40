//! Network devices, and the route to another host.

use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::Command;

use super::diagnosis::Finding;
use nix::ifaddrs::getifaddrs;

use super::{DISCARD, PACKET, fix, verdict};

/// The devices that are up, or with a peer the one that leads to it, and the route.
pub(super) fn check(peer: Option<IpAddr>) -> Vec<Finding> {
    let Some(peer) = peer else { return up().iter().flat_map(|name| device(name)).collect() };
    let (route, local) = route(peer);
    let interface = local.and_then(interface_of);
    let route = Finding { interface: interface.clone(), ..route };
    interface.iter().flat_map(|name| device(name)).chain([route]).collect()
}

/// Devices that are up and lead out of this host.
fn up() -> Vec<String> {
    let entries = fs::read_dir(DEVICES).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // Drivers of devices without a carrier, such as tunnels, report "unknown".
    let leads_out =
        |name: &String| name != "lo" && matches!(attribute(name, "operstate").as_deref(), Some("up" | "unknown"));
    let mut names: Vec<String> = names.filter(leads_out).collect();
    names.sort();
    names
}

/// The findings about a device.
fn device(name: &str) -> Vec<Finding> {
    let Some(mtu) = attribute(name, "mtu").and_then(|mtu| mtu.parse::<u32>().ok()) else {
        return vec![Finding {
            interface: Some(name.to_owned()),
            ..Finding::unknown("mtu", "the system does not report it")
        }];
    };
    let mtu = Finding { interface: Some(name.to_owned()), fix: fix(mtu < PACKET, larger(name)), ..packets("mtu", mtu) };
    if name == "lo" { vec![mtu] } else { vec![mtu, offload(name)] }
}

/// The finding about an MTU of `mtu` bytes.
fn packets(check: &'static str, mtu: u32) -> Finding {
    let means = match mtu {
        short if short < PACKET => format!(
            "packets of {PACKET} bytes do not pass: `--mss {mtu}` at both ends; a larger MTU helps if all devices on the path have it"
        ),
        jumbo if (2 * PACKET..=JUMBO).contains(&jumbo) => {
            format!("where all devices on the path have as much, `--mss {jumbo}` at both ends costs less")
        }
        _ => format!("packets of {PACKET} bytes pass"),
    };
    Finding {
        measured: format!("packets of at most {mtu} bytes"),
        value: Some(f64::from(mtu)),
        unit: "bytes",
        verdict: verdict(mtu < PACKET),
        means,
        ..Finding::unknown(check, "")
    }
}

fn larger(name: &str) -> String {
    format!("ip link set dev {name} mtu {PACKET}")
}

/// Whether the device has segmentation and receive offload, according to `ethtool` if it is installed.
fn offload(name: &str) -> Finding {
    let asked = Command::new("ethtool").args(["-k", name]).output();
    let features = match asked {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Finding { interface: Some(name.to_owned()), ..Finding::unknown("device", why) };
        }
        Err(_) => {
            let finding =
                Finding::unknown("device", "`ethtool`, which shows the features of a device, is not installed");
            return Finding { interface: Some(name.to_owned()), ..finding };
        }
    };
    Finding { interface: Some(name.to_owned()), ..finding(name, &features) }
}

/// A finding from what `ethtool -k` prints.
fn finding(name: &str, features: &str) -> Finding {
    let state = |feature: &str| {
        let line = features.lines().find_map(|line| line.trim().strip_prefix(feature)?.strip_prefix(": "));
        line.unwrap_or("off [fixed]").to_owned()
    };
    let (cuts, glues) = (state("tx-udp-segmentation"), state("generic-receive-offload"));
    let off = |state: &str| state.starts_with("off");
    let limits = off(&cuts) || off(&glues);
    let can_change = |state: &str| off(state) && !state.contains("fixed");
    let commands = [("tx-udp-segmentation", &cuts), ("gro", &glues)]
        .into_iter()
        .filter(|(_, state)| can_change(state))
        .map(|(feature, _)| format!("ethtool -K {name} {feature} on"));
    Finding {
        measured: format!("tx-udp-segmentation {cuts}, generic-receive-offload {glues}"),
        value: Some(f64::from(u8::from(!off(&cuts)) + u8::from(!off(&glues)))),
        unit: "of 2",
        verdict: verdict(limits),
        means: match (off(&cuts), off(&glues)) {
            (false, false) => "the device splits and merges datagrams".to_owned(),
            (true, false) => "the processor splits sent data into datagrams".to_owned(),
            (_, true) => "each datagram that arrives passes the kernel alone".to_owned(),
        },
        fix: commands.collect(),
        ..Finding::unknown("device", "")
    }
}

/// The largest packet on the route to a host, as far as the kernel knows, and the local address of the route.
fn route(peer: IpAddr) -> (Finding, Option<IpAddr>) {
    let any: SocketAddr = if peer.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    // Connecting sends nothing.
    let opened = UdpSocket::bind(any).and_then(|socket| socket.connect((peer, DISCARD)).map(|()| socket));
    let socket = match opened {
        Ok(socket) => socket,
        Err(error) => return (Finding::unknown("route", error.to_string()), None),
    };
    let local = socket.local_addr().ok().map(|local| local.ip());
    let known = mtu(&socket, peer);
    (
        known.map_or_else(|| Finding::unknown("route", "the system does not report it"), |mtu| packets("route", mtu)),
        local,
    )
}

/// The largest packet that the kernel sends on the route of a connected socket, bytes. Only Linux tells, and only for IPv4.
#[cfg(target_os = "linux")]
fn mtu(socket: &UdpSocket, peer: IpAddr) -> Option<u32> {
    use nix::sys::socket::{getsockopt, sockopt};

    let known = if peer.is_ipv4() { getsockopt(socket, sockopt::IpMtu).ok() } else { None };
    known.and_then(|mtu| u32::try_from(mtu).ok())
}

#[cfg(not(target_os = "linux"))]
fn mtu(_socket: &UdpSocket, _peer: IpAddr) -> Option<u32> {
    None
}

fn interface_of(local: IpAddr) -> Option<String> {
    let has = |address: &nix::ifaddrs::InterfaceAddress| {
        let storage = address.address?;
        let ip = match (storage.as_sockaddr_in(), storage.as_sockaddr_in6()) {
            (Some(v4), _) => IpAddr::V4(v4.ip()),
            (_, Some(v6)) => IpAddr::V6(v6.ip()),
            _ => return None,
        };
        (ip == local).then(|| address.interface_name.clone())
    };
    getifaddrs().ok()?.find_map(|address| has(&address))
}

/// An attribute of a device from sysfs.
fn attribute(name: &str, what: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new(DEVICES).join(name).join(what)).ok()?;
    Some(text.trim().to_owned())
}

const DEVICES: &str = "/sys/class/net";

/// More than the MTU of any device but the loopback.
const JUMBO: u32 = 16_384;

#[cfg(test)]
mod tests {
    use crate::doctor::diagnosis::Verdict;

    use super::*;

    #[test]
    fn short_packets_limit_and_long_ones_are_a_hint() {
        let short = packets("mtu", 1400);
        assert_eq!((short.verdict, short.value), (Verdict::Limits, Some(1400.0)));
        assert!(short.means.contains("--mss 1400"));
        assert_eq!(packets("mtu", 1500).verdict, Verdict::Fine);
        assert!(packets("mtu", 9000).means.contains("--mss 9000"));
    }

    #[test]
    fn what_a_device_can_and_does_not_do_has_a_command() {
        let able = finding("eth0", "Features for eth0:\ntx-udp-segmentation: off\ngeneric-receive-offload: on\n");
        assert_eq!(
            (able.verdict, able.fix),
            (Verdict::Limits, vec!["ethtool -K eth0 tx-udp-segmentation on".to_owned()])
        );
        let unable = finding("eth0", "tx-udp-segmentation: off [fixed]\ngeneric-receive-offload: off\n");
        assert_eq!((unable.value, unable.fix), (Some(0.0), vec!["ethtool -K eth0 gro on".to_owned()]));
        assert_eq!(finding("eth0", "tx-udp-segmentation: on\n\tgeneric-receive-offload: on\n").verdict, Verdict::Fine);
    }

    #[test]
    fn the_loopback_leads_to_itself() {
        let (found, local) = route(IpAddr::from([127, 0, 0, 1]));
        assert_eq!(local, Some(IpAddr::from([127, 0, 0, 1])));
        assert!(found.value.is_none_or(|mtu| mtu >= 1500.0), "{found:?}");
        assert_eq!(local.and_then(interface_of).as_deref(), Some("lo"));
    }
}
