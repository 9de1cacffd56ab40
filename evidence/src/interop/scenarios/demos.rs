//! The demos of libudt as partners of the command `cwnd`.

use std::fs;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use crate::interop::programs::{Demo, Running};
use crate::interop::{Error, expect};

use crate::interop::bench::Side::Ours;
use crate::interop::bench::{Bench, retry};
use crate::ports::free;

/// `udt recv` fetches from the demo server.
pub(crate) fn fetch(bench: &Bench) -> Result<String, Error> {
    let content = content();
    let (there, here) = (bench.file("there"), bench.file("here"));
    fs::write(&there, &content)?;
    let at = free()?;
    let _server = bench.demo(Demo::SendFile, &at.port().to_string())?;
    let name = there.to_string_lossy().into_owned();
    let out = here.to_string_lossy().into_owned();
    let server = at.to_string();
    let recv = |arguments: &[&str]| {
        let mut command = Running::launch(&bench.udt(), ["recv", "--libudt", &server].iter().chain(arguments))?;
        Ok::<_, Error>(command.wait(TIMEOUT)?.success())
    };
    retry(|| expect(recv(&[&name, "-o", &out])?, || "nothing came".to_owned()))?;
    expect(fs::read(&here)? == content, || "the file is another".to_owned())?;
    expect(!recv(&[&name, "-o", &out])?, || "the file was overwritten".to_owned())?;
    expect(recv(&[&name, "-o", &out, "--force"])?, || "the file was not replaced".to_owned())?;
    expect(!recv(&["/none", "-o", &out, "--force"])?, || "a file came that is not there".to_owned())?;
    expect(fs::read(&here)? == content, || "a failed transfer left its mark".to_owned())?;
    Ok(format!("{} bytes", content.len()))
}

/// The demo client fetches from `udt serve`.
pub(crate) fn serve(bench: &Bench) -> Result<String, Error> {
    let content = content();
    let directory = bench.file("public");
    fs::create_dir_all(directory.join("deeper"))?;
    fs::write(directory.join("deeper/file"), &content)?;
    fs::write(bench.file("secret"), b"secret")?;
    let at = free()?;
    let directory = directory.to_string_lossy().into_owned();
    let _server = Running::launch(&bench.udt(), ["serve", &directory, "--libudt", "--at", &at.to_string()])?;
    let fetched = bench.file("fetched");
    let recvfile = |at: SocketAddr, name: &str| {
        let arguments = format!("127.0.0.1 {} {name} {}", at.port(), fetched.display());
        Ok::<_, Error>(bench.demo(Demo::RecvFile, &arguments)?.wait(TIMEOUT)?.success())
    };
    retry(|| {
        recvfile(at, "deeper/file")?;
        expect(fs::read(&fetched).is_ok_and(|bytes| bytes == content), || "the file is another, or none".to_owned())
    })?;
    expect(!recvfile(at, "../secret")?, || "a file outside was given away".to_owned())?;
    Ok(format!("{} bytes", content.len()))
}

/// The demo client that sends without end, and the demo server that discards.
pub(crate) fn without_end(bench: &Bench) -> Result<String, Error> {
    let at = free()?;
    let here = bench.start(Ours, &format!("idle-timeout-ms=3000 server {at} receive-all"))?;
    let mut client = bench.demo(Demo::AppClient, &format!("127.0.0.1 {}", at.port()))?;
    sleep(Duration::from_secs(2));
    client.kill();
    let report = here.finish(TIMEOUT)?;
    expect(report.received > 1_000_000, || format!("{report:?}"))?;
    let received = report.received_each_second.first().map_or(0.0, |bytes| *bytes as f64 * 8e-6);

    let at = free()?;
    let _server = bench.demo(Demo::AppServer, &at.port().to_string())?;
    let report = retry(|| bench.start(Ours, &format!("client {at} send-for:2"))?.finish(TIMEOUT)?.succeeded())?;
    let sent = report.sent as f64 * 8e-6 / report.transfer_s;
    Ok(format!("{received:.0} Mbit/s from `appclient`, {sent:.0} Mbit/s to `appserver`"))
}

/// Some megabytes without a period of a packet.
fn content() -> Vec<u8> {
    (0_u64..3_000_001).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

const TIMEOUT: Duration = Duration::from_secs(30);
