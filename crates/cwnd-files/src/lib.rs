//! Files and directories over any stream of bytes with two directions: verified while they are transferred, resumed where they stopped.
//!
//! One end sends, the other receives; either may be the client. A transfer reads every byte once at the sender and writes it once at the
//! receiver. A file is checked group by group with BLAKE3 as it arrives ([`GROUP`]), has a temporary name until all of it has arrived,
//! and is then renamed. A journal next to an unfinished file lists the groups that are on the disk, from which a later transfer of the file
//! resumes. It reads those groups again while new ones arrive, and starts over where they have changed.
//!
//! Nothing is encrypted and nobody is authenticated: that is left to the stream below, as `cwnd-secure` makes one.
//!
//! Where to start: [`send`] and [`receive`] are the clients, [`serve`] and [`offer`] are the servers. They block. The connection must buffer 128 KiB in
//! the direction from the receiver to the sender, as sockets do.
//!
//! ```
//! use std::os::unix::net::UnixStream;
//! use cwnd_files::{Directory, ReceiveOptions, ServeOptions, Source, send, serve};
//!
//! let place = tempfile::tempdir()?;
//! let (letter, inbox) = (place.path().join("letter"), place.path().join("inbox"));
//! std::fs::write(&letter, "dear all")?;
//! std::fs::create_dir(&inbox)?;
//!
//! let (near, far) = UnixStream::pair()?;
//! let directory = Directory::open(&inbox)?;
//! let options = ServeOptions::writable(ReceiveOptions::new());
//! let server = std::thread::spawn(move || serve(far, &directory, &options, &mut |_| true));
//! let outcome = send(near, &[Source::at(&letter)?], &mut |event| {
//!     println!("{event:?}");
//!     true
//! })?;
//! assert_eq!((outcome.completed, outcome.failed), (1, 0));
//! assert_eq!(server.join().unwrap()?, outcome);
//! assert_eq!(std::fs::read(inbox.join("letter"))?, b"dear all");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Symbolic links are left out, followed or kept ([`Links`]). Devices and sockets are not sent. Modification times and permission bits of
//! files are kept; owners and the attributes of directories are not.

mod directory;
mod error;
mod frame;
mod handshake;
mod journal;
mod limits;
mod link;
mod name;
mod options;
mod outcome;
mod part;
mod pipe;
mod private;
mod receiver;
mod sender;
mod session;
mod tree;
mod verification;
mod walk;

pub use cwnd_text::Printable;
pub use directory::Directory;
pub use error::{BUSY, Malformed, TransferError};
#[cfg(any(test, feature = "testing"))]
pub use frame::frames_in;
pub use link::Links;
pub use name::{BadName, Name, RESERVED};
pub use options::{ReceiveOptions, ServeOptions};
pub use outcome::{Event, Outcome, Reason, Role};
pub use session::{offer, receive, receive_to, refuse, send, serve};
pub use tree::{GROUP, Hash};
pub use walk::Source;
