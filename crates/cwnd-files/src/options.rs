//! Options of receivers and servers.

use crate::link::Links;

/// Options for writing received files.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReceiveOptions {
    /// Replace files of the same name. Otherwise they stay, and the new ones fail.
    pub overwrite: bool,
    /// Sync every file to the disk before it counts as received. Otherwise only files of more than one [`GROUP`](crate::GROUP) are:
    /// smaller ones survive the end of the process, but perhaps not a crash of the machine.
    pub sync: bool,
    /// The space of the file system to be left free, bytes.
    pub keep_free: u64,
    /// Whether links that the sender keeps are created: with [`Links::Keep`] alone.
    pub links: Links,
}

impl ReceiveOptions {
    /// Replaces nothing, syncs large files only, and may fill the file system.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether files of the same name are replaced.
    #[must_use]
    pub fn overwrite(mut self, on: bool) -> Self {
        self.overwrite = on;
        self
    }

    /// Whether small files are synced to the disk too.
    #[must_use]
    pub fn sync(mut self, on: bool) -> Self {
        self.sync = on;
        self
    }

    /// Treatment of links that the sender keeps.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Free space to keep, in bytes.
    #[must_use]
    pub fn keep_free(mut self, bytes: u64) -> Self {
        self.keep_free = bytes;
        self
    }
}

/// The rights of the clients of a server.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Options for writing the files of clients; with `None` clients may not send any.
    pub receive: Option<ReceiveOptions>,
    /// Treatment of links that clients receive.
    pub links: Links,
}

impl ServeOptions {
    /// Clients may receive files only.
    #[must_use]
    pub fn read_only() -> Self {
        Self::default()
    }

    /// Clients may receive files, and send files that are written according to `receive`.
    #[must_use]
    pub fn writable(receive: ReceiveOptions) -> Self {
        Self { receive: Some(receive), links: receive.links }
    }

    /// Treatment of links that clients receive.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }
}
