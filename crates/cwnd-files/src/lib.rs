//! Files and folders over any stream of bytes with two directions: verified while they move, resumed where they stopped.
//!
//! One end gives, the other takes; either may be the client. A transfer reads every byte once at the giver and writes it once at
//! the taker; a file is checked group by group with BLAKE3 as it arrives ([`GROUP`]), stands under a name of its own until it is
//! whole, and is then renamed into its place. A journal beside an unfinished file proves what of it is on the disk, so that a
//! later transfer of the same file goes on from there without reading it again.
//!
//! Nothing is encrypted and nobody is asked who they are: that is the business of what lies below.
//!
//! Where to start: [`send`] and [`fetch`] are the clients, [`answer`] is the server. They block. The connection needs room for
//! 128 KiB on the way from the taker to the giver, as sockets have.
//!
//! ```
//! use std::os::unix::net::UnixStream;
//! use cwnd_files::{Folder, Serving, Source, Taking, answer, send};
//!
//! let place = tempfile::tempdir()?;
//! let (letter, inbox) = (place.path().join("letter"), place.path().join("inbox"));
//! std::fs::write(&letter, "dear all")?;
//! std::fs::create_dir(&inbox)?;
//!
//! let (here, there) = UnixStream::pair()?;
//! let folder = Folder::open(&inbox)?;
//! let server = std::thread::spawn(move || answer(there, &folder, &Serving::writing(Taking::new()), &mut |_| true));
//! let outcome = send(here, &[Source::at(&letter)?], &mut |event| {
//!     println!("{event:?}");
//!     true
//! })?;
//! assert_eq!((outcome.whole, outcome.failed), (1, 0));
//! assert_eq!(server.join().unwrap()?, outcome);
//! assert_eq!(std::fs::read(inbox.join("letter"))?, b"dear all");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Symbolic links, devices and sockets are not given away. Times of last change and permission bits of files are kept; owners and
//! the attributes of folders are not.

mod frame;
mod journal;
mod name;
mod outcome;
mod part;
mod receiver;
mod sender;
mod session;
mod tree;
mod walk;

pub use frame::Malformed;
#[cfg(any(test, feature = "testing"))]
pub use frame::frames_in;
pub use name::{BadName, Name, RESERVED};
pub use outcome::{Event, Outcome, Reason, Role, TransferError};
pub use receiver::Taking;
pub use session::{Serving, answer, fetch, send};
pub use tree::{GROUP, Hash};
pub use walk::{Folder, Source};
