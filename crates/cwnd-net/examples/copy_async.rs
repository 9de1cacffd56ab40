//! Copies a file to another host: `copy_async receive FILE ADDRESS:PORT` there, then `copy_async send FILE ADDRESS:PORT` here.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};

use cwnd_net::{AsyncUdtListener, AsyncUdtStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["receive", file, address] => runtime.block_on(receive(File::create_new(file)?, address)),
        ["send", file, address] => runtime.block_on(send(File::open(file)?, address)),
        _ => Err("usage: copy_async receive FILE ADDRESS:PORT | copy_async send FILE ADDRESS:PORT".into()),
    }
}

async fn receive(mut file: File, address: &str) -> Result<(), Box<dyn Error>> {
    let mut listener = AsyncUdtListener::bind(address.parse()?)?;
    println!("listening at {}", listener.local_addr());
    let (mut stream, from) = listener.accept().await?;
    let mut piece = vec![0; PIECE];
    let mut bytes = 0;
    loop {
        match stream.read(&mut piece).await? {
            0 => break,
            // Reading a file blocks; a server with more to do would use a thread for it.
            size => {
                file.write_all(&piece[..size])?;
                bytes += size;
            }
        }
    }
    println!("{bytes} bytes from {from}");
    Ok(())
}

async fn send(mut file: File, address: &str) -> Result<(), Box<dyn Error>> {
    let mut stream = AsyncUdtStream::connect(address.parse()?).await?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            size => stream.write_all(&piece[..size]).await?,
        }
    }
    // Dropping the stream would not report that the last bytes were not delivered.
    stream.close().await?;
    println!("all of it acknowledged");
    Ok(())
}

/// Large enough for the cost of a call not to matter.
const PIECE: usize = 64 * 1024;
