//! Echoes what clients send, a thread for each: `echo serve ADDRESS:PORT`; or is a client of it: `echo ADDRESS:PORT TEXT`.

use std::error::Error;
use std::io::{self, Read, Write};
use std::thread;

use cwnd_net::{UdtListener, UdtStream};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", address] => serve(address),
        [address, text] => talk(address, text),
        _ => Err("usage: echo serve ADDRESS:PORT | echo ADDRESS:PORT TEXT".into()),
    }
}

fn serve(address: &str) -> Result<(), Box<dyn Error>> {
    let listener: UdtListener = UdtListener::bind(address.parse()?)?;
    println!("listening at {}", listener.local_addr());
    for accepted in listener.incoming() {
        let (stream, from) = accepted?;
        thread::spawn(move || match io::copy(&mut &stream, &mut &stream) {
            Ok(bytes) => println!("{from}: {bytes} bytes"),
            Err(error) => println!("{from}: {error}"),
        });
    }
    Ok(())
}

fn talk(address: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let mut stream = UdtStream::connect(address)?;
    stream.write_all(text.as_bytes())?;
    // UDT closes both directions at once: a client that waits for an answer must know its length, or let the server close first.
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer)?;
    println!("{}", String::from_utf8_lossy(&answer));
    stream.close()?;
    Ok(())
}
