//! Echoes what clients send, all on one thread: `echo_async serve ADDRESS:PORT`; or is a client of it:
//! `echo_async ADDRESS:PORT TEXT`.

use std::error::Error;
use std::net::SocketAddr;

use cwnd_net::{AsyncUdtListener, AsyncUdtStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, split};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", address] => runtime.block_on(serve(address.parse()?)),
        [address, text] => runtime.block_on(talk(address.parse()?, text)),
        _ => Err("usage: echo_async serve ADDRESS:PORT | echo_async ADDRESS:PORT TEXT".into()),
    }
}

async fn serve(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let mut listener = AsyncUdtListener::bind(address)?;
    println!("listening at {}", listener.local_addr());
    loop {
        let (stream, from) = listener.accept().await?;
        tokio::spawn(async move {
            let (mut reader, mut writer) = split(stream);
            match copy(&mut reader, &mut writer).await {
                Ok(bytes) => println!("{from}: {bytes} bytes"),
                Err(error) => println!("{from}: {error}"),
            }
        });
    }
}

async fn talk(address: SocketAddr, text: &str) -> Result<(), Box<dyn Error>> {
    let mut stream = AsyncUdtStream::connect(address).await?;
    stream.write_all(text.as_bytes()).await?;
    // UDT closes both directions at once: a client that waits for an answer must know its length, or let the server close first.
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer).await?;
    println!("{}", String::from_utf8_lossy(&answer));
    stream.close().await?;
    Ok(())
}
