//! The functions of the module, and the worker as a host.

#![expect(unsafe_code, reason = "the page and the module share a memory, and the exported names are the interface")]

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::time::Duration;

use cwnd_engine::{
    Begun, Frame, Host, Limits, Paced, PageError, Prepared, Pulled, Request, hello as greeting, mismatch, read_address,
    read_text,
};

#[link(wasm_import_module = "cwnd")]
unsafe extern "C" {
    /// Milliseconds of a clock that never goes back.
    safe fn now() -> f64;
    /// Takes the bytes of a frame.
    fn send(from: *const u8, length: usize);
}

/// The page of this worker.
struct Page;

impl Host for Page {
    fn send(&self, frame: &Frame) {
        let bytes = frame.encode();
        // SAFETY: the page reads these bytes during the call and no others.
        unsafe { send(bytes.as_ptr(), bytes.len()) }
    }

    fn wanted(&self) -> bool {
        // A worker whose run is not wanted any more is ended.
        true
    }

    fn now(&self) -> Duration {
        Duration::try_from_secs_f64(now() * 1e-3).unwrap_or_default()
    }

    fn limits(&self) -> Limits {
        Limits {
            threads: NonZeroUsize::MIN,
            memory: MEMORY,
            clocked_memory: MEMORY,
            time: Duration::from_secs(60),
            more_memory: " (a page has no more: `cwnd run` takes what the machine has)",
        }
    }
}

/// What the worker keeps between two calls.
#[derive(Default)]
struct Kept {
    /// The text of the request that is being written.
    request: Vec<u8>,
    /// The run whose other seeds may be asked for.
    begun: Option<Begun>,
    /// The run that follows the clock, with its number.
    paced: Option<(u32, Paced)>,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Sends the first frame of a session.
#[unsafe(no_mangle)]
extern "C" fn hello() {
    Page.send(&greeting());
}

/// Where the worker writes the `length` bytes of a request.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    KEPT.with_borrow_mut(|kept| {
        kept.request = vec![0; length];
        kept.request.as_mut_ptr()
    })
}

/// Handles the request that was written, and sends its answers.
#[unsafe(no_mangle)]
extern "C" fn handle() {
    KEPT.with_borrow_mut(|kept| {
        let text = std::mem::take(&mut kept.request);
        match serde_json::from_slice(&text) {
            Ok(request) => kept.handle(request),
            Err(error) => Page.send(&mismatch(&error)),
        }
    });
}

/// Brings the run that follows the clock to the present. Whether there is one that goes on.
#[unsafe(no_mangle)]
extern "C" fn step() -> bool {
    KEPT.with_borrow_mut(|kept| kept.step(Pulled::default()))
}

impl Kept {
    fn handle(&mut self, request: Request) {
        match request {
            Request::Run { id, document, apart, moving } => {
                (self.begun, self.paced) = (None, None);
                match Prepared::of(&document, apart) {
                    Ok(prepared) => self.run(id, prepared, moving),
                    Err(refusal) => refuse(id, &refusal),
                }
            }
            Request::Finish { id } => {
                if let Some(begun) = self.begun.as_mut().filter(|begun| begun.id() == id) {
                    begun.rest(&Page);
                }
            }
            Request::Seed { id, document, apart, nth, engines } => {
                if self.begun.as_ref().is_none_or(|begun| begun.id() != id) {
                    self.paced = None;
                    match Prepared::of(&document, apart) {
                        Ok(prepared) => self.begun = Some(Begun::helping(id, prepared)),
                        Err(refusal) => return refuse(id, &refusal),
                    }
                }
                if let Some(begun) = &mut self.begun {
                    begun.seed(&Page, nth, engines);
                }
            }
            Request::Join { id, run, nth, values } => {
                let begun = self.begun.as_ref().filter(|begun| begun.id() == id);
                if let Some(Err(error)) = begun.map(|begun| begun.join(&Page, run, nth, &values)) {
                    Page.send(&mismatch(&error));
                }
            }
            Request::Pace { id, document, speed } => {
                (self.begun, self.paced) = (None, None);
                match Paced::new(&Page, id, &document, speed) {
                    Ok(paced) => self.paced = Some((id, paced)),
                    Err(ended) => ended.tell(&Page, id),
                }
            }
            Request::Pull { rate, speed } => {
                self.step(Pulled { rate, speed });
            }
            Request::Stop => (self.begun, self.paced) = (None, None),
            Request::Open { id, address } => Page.send(&read_address(id, &address)),
            Request::Read { id, text } => Page.send(&read_text(id, &text)),
        }
    }

    fn run(&mut self, id: u32, prepared: Prepared, moving: bool) {
        let mut begun = Begun::new(&Page, id, prepared);
        if !begun.first(&Page) {
            return;
        }
        if moving {
            begun.complete(&Page, 1);
            self.begun = Some(begun);
        } else {
            begun.rest(&Page);
        }
    }

    fn step(&mut self, pulled: Pulled) -> bool {
        let Some((id, paced)) = &mut self.paced else { return false };
        if let Err(ended) = paced.step(&Page, pulled) {
            ended.tell(&Page, *id);
            self.paced = None;
        }
        self.paced.is_some()
    }
}

fn refuse(id: u32, refusal: &PageError) {
    Page.send(&refusal.frame(id));
}

/// Of a run, bytes: a quarter of what a module can address.
const MEMORY: u64 = 1 << 30;
