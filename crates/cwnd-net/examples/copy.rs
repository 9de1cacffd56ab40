//! Copies a file to another host: `copy receive FILE ADDRESS:PORT` there, then `copy send FILE ADDRESS:PORT` here. It neither verifies nor
//! resumes; `udt send --to` does.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};

use cwnd_net::{UdtListener, UdtStream};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["receive", file, address] => {
            let listener: UdtListener = UdtListener::bind(address.parse()?)?;
            println!("listening at {}", listener.local_addr());
            let (mut stream, from) = listener.accept()?;
            let bytes = io::copy(&mut stream, &mut File::create_new(file)?)?;
            println!("{bytes} bytes from {from}");
        }
        ["send", file, address] => {
            let mut file = File::open(file)?;
            let mut stream = UdtStream::connect(*address)?;
            let bytes = io::copy(&mut file, &mut stream)?;
            stream.flush()?;
            let how = stream.stats();
            // Dropping the stream would not report that the last bytes were not delivered.
            stream.close()?;
            println!("{bytes} bytes, all of them acknowledged");
            if let Some(how) = how {
                println!("{how}");
            }
        }
        _ => return Err("usage: copy receive FILE ADDRESS:PORT | copy send FILE ADDRESS:PORT".into()),
    }
    Ok(())
}
