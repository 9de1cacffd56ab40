//! Two ends that find each other at a meeting place.

use std::fs;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;

use serde_json::Value;

use super::started::Started;
use super::{CommandResult, Udt};

/// A directory with something to send, and an inbox.
fn place() -> Udt {
    let udt = Udt::new();
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    let large: Vec<u8> = (0..3_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(udt.path().join("large"), large).expect("room for it");
    udt
}

/// Sends a file by a meeting place. `at` makes a command one of the relay (0), the sender (1) or the receiver (2). Whether it went through
/// the relay.
fn transfer(udt: &Udt, listen: &str, at: impl Fn(usize, &[&str]) -> Command) -> bool {
    let relay = Started::of(at(0, &["meet", listen, "--json"]));
    let address = relay.says("address");
    let mut send = at(1, &["send", "large", "--meet", address, "--json"]);
    send.env_remove("CWND_CODE");
    let sender = Started::of(send);
    assert_eq!(sender.says("address"), address);
    let mut recv = at(2, &["recv", "--meet", address, "--dir", "inbox", "--json"]);
    let received = CommandResult::of(&recv.env("CWND_CODE", sender.says("code")).output().expect("it runs"));
    assert_eq!(received.code, Some(0), "{} {}", received.out, received.err);
    let (code, sent) = sender.ends();
    assert_eq!(code, Some(0), "{sent}");
    let file = |name| fs::read(udt.path().join(name)).expect("it is there");
    assert!(file("large") == file("inbox/large"));
    let relayed = [sent, received.out].map(|lines| {
        let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
        let met = lines.find(|line| line["event"] == "met").expect("they have met");
        met["relayed"].as_bool().expect("yes or no")
    });
    assert_eq!(relayed[0], relayed[1]);
    relayed[0]
}

#[test]
fn two_ends_that_have_the_code_find_each_other() {
    let udt = place();
    assert!(!transfer(&udt, "127.0.0.1:0", |_, arguments| udt.command(arguments)));
}

#[test]
fn a_meeting_place_that_is_not_there_is_an_error() {
    let udt = place();
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("it has one").to_string();
    let send = format!("--meet={address}");
    thread::scope(|threads| {
        for arguments in [["recv", "--meet", &address], ["send", "large", &send]] {
            let (udt, address) = (&udt, &address);
            threads.spawn(move || {
                let CommandResult { code, err, .. } = udt.run(&arguments);
                assert_eq!(code, Some(6), "{err}");
                assert!(err.contains(&format!("{address}: no `udt meet` answers there")), "{err}");
            });
        }
    });
    for arguments in [
        ["recv", "--meet", &address, "--plain"].as_slice(),
        &["send", "large", "--plain", "--meet", &address],
        &["send", "large", "--at", "9001", "--meet", &address],
    ] {
        let CommandResult { code, err, .. } = udt.run(arguments);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("cannot be used with"), "{err}");
    }
}

/// Separate networks: a relay, and two hosts, each behind NAT.
struct Translators(String);

impl Translators {
    /// `masquerade` is the address translation, as rules of nftables.
    fn new(masquerade: &str) -> Self {
        let tag = format!("cwnd-{}", std::process::id());
        let networks = Self(tag.clone());
        let mut script = format!("set -e\nip netns add {tag}-0\n");
        for end in 1..=2 {
            let (host, nat) = (format!("{tag}-{end}"), format!("{tag}-nat{end}"));
            script += &format!(
                "ip netns add {host}; ip netns add {nat}
                 ip -n {host} link add lan type veth peer name lan netns {nat}
                 ip -n {nat} link add wan type veth peer name far{end} netns {tag}-0
                 ip -n {host} address add 10.0.{end}.2/24 dev lan; ip -n {host} link set dev lan up
                 ip -n {nat} address add 10.0.{end}.1/24 dev lan; ip -n {nat} link set dev lan up
                 ip -n {nat} address add 198.51.{end}.2/24 dev wan; ip -n {nat} link set dev wan up
                 ip -n {tag}-0 address add 198.51.{end}.1/24 dev far{end}; ip -n {tag}-0 link set dev far{end} up
                 ip -n {host} route add default via 10.0.{end}.1; ip -n {nat} route add default via 198.51.{end}.1
                 ip netns exec {nat} sysctl -qw net.ipv4.ip_forward=1
                 ip netns exec {nat} nft 'table ip nat {{
                   chain out {{ type nat hook postrouting priority 100; oifname \"wan\" {masquerade}; }}
                 }}
                 table ip filter {{
                   chain in {{ type filter hook input priority 0; iifname \"wan\" ct state new drop; }}
                   chain through {{ type filter hook forward priority 0; iifname \"wan\" ct state new drop; }}
                 }}'\n"
            );
        }
        script += &format!("ip netns exec {tag}-0 sysctl -qw net.ipv4.ip_forward=1\n");
        let made = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert!(made.status.success(), "root, iproute2 and nftables: {}", String::from_utf8_lossy(&made.stderr));
        networks
    }

    /// Runs `command` in network `network`.
    fn command(&self, network: usize, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &format!("{}-{network}", self.0)]).arg(command.get_program());
        inside.args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            inside.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }
}

impl Drop for Translators {
    fn drop(&mut self) {
        for end in ["0", "1", "2", "nat1", "nat2"] {
            let _ = Command::new("ip").args(["netns", "delete", &format!("{}-{end}", self.0)]).output();
        }
    }
}

#[test]
#[ignore = "needs root, iproute2 and nftables; `cargo xtask test --long translators`"]
fn translators_that_keep_ports_let_two_ends_meet_and_others_relay() {
    for (masquerade, relayed) in [("masquerade", false), ("masquerade fully-random", true)] {
        let networks = Translators::new(masquerade);
        let udt = place();
        let at = |network, arguments: &[&str]| networks.command(network, &udt.command(arguments));
        let through = transfer(&udt, "198.51.1.1:9002", at);
        assert_eq!(through, relayed, "{masquerade}");
    }
}
