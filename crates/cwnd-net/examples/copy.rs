//! Copies a file to another host: `copy take FILE ADDRESS:PORT` there, then `copy give FILE ADDRESS:PORT` here. Neither checked nor
//! resumed: `cwnd udt send` does that.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};

use cwnd_net::{UdtListener, UdtStream};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["take", file, address] => {
            let listener: UdtListener = UdtListener::bind(address.parse()?)?;
            let (mut stream, from) = listener.accept()?;
            let bytes = io::copy(&mut stream, &mut File::create_new(file)?)?;
            println!("{bytes} bytes from {from}");
        }
        ["give", file, address] => {
            let mut file = File::open(file)?;
            let mut stream = UdtStream::connect(*address)?;
            let bytes = io::copy(&mut file, &mut stream)?;
            stream.flush()?;
            let how = stream.stats();
            // Without this a failure of the last bytes would go unnoticed.
            stream.close()?;
            println!("{bytes} bytes, all of them acknowledged");
            if let Some(how) = how {
                println!("{how}");
            }
        }
        _ => return Err("usage: copy take FILE ADDRESS:PORT | copy give FILE ADDRESS:PORT".into()),
    }
    Ok(())
}
