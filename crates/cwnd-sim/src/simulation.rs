//! A run in steps, between which its flows can be looked at.

use cwnd::{CongestionControl, Packets, Rtt, Span, Time};
use cwnd_trace::Trace;

use crate::error::{SetupError, SetupPart, StackPanic};
use crate::flow::Flow;
use crate::recorder::Recorder;
use crate::setup::{CheckedSetup, Setup};
use crate::world::World;
use crate::world::holders::Holder;

/// A run that can be advanced in steps. Its trace is that of an uninterrupted run, wherever it was stopped on its way.
///
/// ```
/// use cwnd::{Span, Spec, Time};
/// use cwnd_sim::{Dumbbell, Era, QueueLimit, Simulation};
///
/// let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
/// let reno = Spec::parse("reno").expect("registered");
/// let setup = path.setup(&[reno], Era::MODERN, Span::from_secs(10), Span::ZERO, 1);
/// let mut simulation = Simulation::new(&setup)?;
/// // Until the first loss.
/// let whole = simulation.advance(simulation.end(), |state| state.flow(0).lost() == 0);
/// assert!(!whole && simulation.state().now() < Time::ZERO + Span::from_secs(1));
/// let trace = simulation.finish(&setup, &mut |_now| true)?;
/// assert!(trace.flows[0].lost.last() > Some(&0));
/// # Ok::<(), cwnd_sim::SetupError>(())
/// ```
#[must_use]
pub struct Simulation {
    world: World,
    recorder: Recorder,
    end: Time,
    /// The memory for samples, bytes.
    samples: u64,
    /// The budget has been asked for that.
    reserved: bool,
}

/// The visible state of a run between two events.
#[derive(Clone, Copy)]
pub struct State<'a>(&'a World);

/// The visible state of a flow. Its sender's counts are those that a real sender would have.
#[derive(Clone, Copy)]
pub struct FlowState<'a> {
    flow: &'a Flow,
    base_rtt: Span,
}

impl Simulation {
    /// A run at time zero, before its first event.
    ///
    /// # Errors
    /// A field is out of range, a flow has no route, or its access delay is too short.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        setup.check()?;
        Self::build(setup)
    }

    /// Starts a run of a setup that is already checked.
    pub fn of(setup: &CheckedSetup) -> Self {
        Self::build(setup).expect("every route was found when the setup was checked")
    }

    fn build(setup: &Setup) -> Result<Self, SetupError> {
        let mut world = World::new(setup)?;
        let recorder = Recorder::new(setup, &world);
        world.record(&recorder);
        let samples = recorder.memory();
        Ok(Self { world, recorder, end: Time::ZERO + setup.duration, samples, reserved: false })
    }

    /// Advances to `until`, or to the end of the run if that is earlier, while `should_continue` returns true, which is called before each event.
    /// Whether it got there.
    pub fn advance(&mut self, until: Time, mut should_continue: impl FnMut(State<'_>) -> bool) -> bool {
        self.world.simulate(until.min(self.end), &mut self.recorder, &mut |world, _| should_continue(State(world)))
    }

    /// The visible state now.
    #[must_use]
    pub fn state(&self) -> State<'_> {
        State(&self.world)
    }

    /// When the run ends.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Limits the memory for packets and samples to `most` bytes; the default is 4 GiB.
    pub fn within(self, most: u64) -> Self {
        self.world.budget().set(most);
        self
    }

    /// Runs without observation: only [the record](Self::recorded) may be read before the end. This takes less work and gives an equal trace.
    /// Indistinguishable events are handled early, so that [the state](Self::state) belongs to no instant.
    pub fn unobserved(mut self) -> Self {
        self.world.allow_ahead(&self.recorder);
        self
    }

    /// The record so far. The totals and histograms of a [finished](Self::finish) run are not in it yet.
    #[must_use]
    pub fn recorded(&self) -> &Trace {
        self.recorder.trace()
    }

    /// Advances to `until`, or to the end of the run if that is earlier, within the memory it may use. `progress` is that of
    /// [`run`](crate::run); `setup` is the setup of the run, for the names in errors.
    ///
    /// # Errors
    /// `progress` returned false, the packets or samples of the run need more memory than it may use, or time does not move on.
    pub fn proceed(
        &mut self,
        until: Time,
        setup: &Setup,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), SetupError> {
        self.reserve(setup)?;
        let mut asked = 0_u64;
        self.world.budget().look_after(self.world.sampled() + WORK_PER_PROGRESS);
        let (mut last, mut since) = (Time::MAX, 0);
        let mut stalled = false;
        let reached = self.world.simulate(until.min(self.end), &mut self.recorder, &mut |world, at| {
            asked += 1;
            let work = asked + world.sampled();
            if work < world.budget().look() {
                return true;
            }
            world.budget().look_after(work + WORK_PER_PROGRESS);
            if at != last {
                (last, since) = (at, asked);
            }
            stalled = asked - since >= EVENTS_AT_ONCE;
            !stalled && !world.budget().is_passed() && world.failed_stack().is_none() && progress(at.as_nanos())
        });
        if self.world.budget().is_passed() {
            return Err(self.over_memory(setup));
        }
        if let Some((index, failure)) = self.world.failed_stack() {
            let flow = &setup.flows[index as usize];
            let panic = StackPanic {
                part: SetupPart::Flow(flow.name.clone()),
                stack: flow.algorithm.label().to_string(),
                at: failure.at.as_secs_f64(),
                seed: setup.seed,
                message: failure.message.clone(),
            };
            return Err(Box::new(panic).into());
        }
        if stalled {
            let (part, at) = (self.world.next_part(setup), last.as_secs_f64());
            return Err(SetupError::Stalled { part, at, events: EVENTS_AT_ONCE });
        }
        if reached { Ok(()) } else { Err(SetupError::Interrupted) }
    }

    /// Runs to the end. `progress` is that of [`run`](crate::run); `setup` is the setup of the run, for the names in errors.
    ///
    /// # Errors
    /// `progress` returned false, the packets or samples of the run need more memory than it may use, or time does not move on.
    pub fn finish(mut self, setup: &Setup, progress: &mut dyn FnMut(u64) -> bool) -> Result<Trace, SetupError> {
        self.reserve(setup)?;
        self.world.allow_ahead(&self.recorder);
        self.proceed(self.end, setup, progress)?;
        self.world.audit();
        let handled = self.world.handled();
        let digest = self.world.final_digest();
        Ok(self.recorder.finish(self.world, digest, handled))
    }

    /// Takes the memory of the samples to come, once.
    fn reserve(&mut self, setup: &Setup) -> Result<(), SetupError> {
        if self.reserved || self.world.budget().take(self.samples) {
            self.reserved = true;
            return Ok(());
        }
        Err(self.over_memory(setup))
    }

    #[cold]
    fn over_memory(&self, setup: &Setup) -> SetupError {
        let most = self.world.budget().most();
        let Holder { part, what, remedy, .. } = self.world.largest(setup).or_larger(Holder::samples(self.samples));
        SetupError::Memory { part, what, at: self.world.now().as_secs_f64(), most, remedy }
    }
}

impl<'a> State<'a> {
    /// The time.
    #[must_use]
    pub fn now(self) -> Time {
        self.0.now()
    }

    /// Flow `index` of [`Setup::flows`].
    ///
    /// # Panics
    /// `index` is not below the number of flows.
    #[inline]
    #[must_use]
    pub fn flow(self, index: usize) -> FlowState<'a> {
        FlowState { base_rtt: self.0.base_rtts[index], flow: &self.0.flows[index] }
    }
}

impl FlowState<'_> {
    /// Round-trip time without queueing or transmission, as drawn.
    #[must_use]
    pub fn base_rtt(self) -> Span {
        self.base_rtt
    }

    /// Packets the sender has sent, those sent again included.
    #[must_use]
    pub fn sent(self) -> u64 {
        self.flow.sender.state().counts().sent
    }

    /// Packets the sender knows to have arrived.
    #[inline]
    #[must_use]
    pub fn delivered(self) -> u64 {
        self.flow.sender.state().counts().delivered
    }

    /// The number of expiries of the sender's retransmission timer.
    #[must_use]
    pub fn timeouts(self) -> u64 {
        self.flow.sender.state().counts().timeouts
    }

    /// Packets the sender found lost.
    #[must_use]
    pub fn lost(self) -> u64 {
        self.flow.sender.state().counts().lost
    }

    /// The round-trip time, if the sender has a sample.
    #[must_use]
    pub fn rtt(self) -> Option<Rtt> {
        self.flow.sender.state().rtt()
    }

    /// The window its algorithm requests.
    #[must_use]
    pub fn window(self) -> Packets {
        self.flow.sender.state().window()
    }

    /// The window at which the slow start of its algorithm ends, infinite before it is known; none where it has no slow start, or the flow
    /// is a whole stack.
    #[must_use]
    pub fn slow_start_threshold(self) -> Option<Packets> {
        self.flow.sender.state().algorithm().and_then(CongestionControl::slow_start_threshold)
    }

    /// Shows the internals of its algorithm.
    pub fn inspect(self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.flow.sender.state().inspect(visit);
    }
}

/// Events, and samples of a flow, between two calls of `progress`: often enough for a smooth progress bar and for an interruption to be
/// obeyed at once, seldom enough to cost nothing.
const WORK_PER_PROGRESS: u64 = 1 << 16;
/// Ten windows of a million packets at one instant are unusual; more never end.
const EVENTS_AT_ONCE: u64 = 1 << 24;
