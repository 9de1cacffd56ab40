//! The congestion control of a steered flow: what the learner sets, or an algorithm to compare it with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd::{
    Ack, Algorithm, Congestion, CongestionControl, Control, Maker, Packets, Spec, Start, View, Wrapped, Wrapper,
};

use crate::error::CourseError;
use crate::observation::StepReport;
use crate::options::{Lever, Options, Steering};
use crate::policy::Policy;
use crate::sender::Sender;

/// A sender that an environment and its flow share. Both are on one thread.
#[derive(Debug)]
pub(crate) struct Shared {
    sender: Mutex<Sender>,
    /// A step has ended, and its report waits for the environment.
    over: AtomicBool,
    report: Mutex<Option<StepReport>>,
}

/// Makes the congestion control of a flow that an environment steers.
#[derive(Debug)]
pub(crate) struct SteeredMaker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) steering: Steering,
    /// Controls the flow instead of the learner.
    pub(crate) algorithm: Option<Spec>,
    /// Whether steps end by the flow's own clock.
    pub(crate) clocked: bool,
}

/// Makes the congestion control of a flow that a policy steers.
#[derive(Debug)]
struct PolicyMaker {
    steering: Steering,
    policy: Arc<dyn Policy>,
}

/// The algorithm `label` in which `policy` steers a flow as it would in an [`Environment`](crate::Environment) of one steered flow: with
/// the same signals its steps, reports and actions are the same, to the last bit.
///
/// # Errors
/// `steering` is out of range.
pub fn learnt(label: &str, policy: Arc<dyn Policy>, steering: Steering) -> Result<Spec, CourseError> {
    steering.check()?;
    Ok(Spec::outside(label, Arc::new(PolicyMaker { steering, policy })))
}

/// The receiver of the end of a step.
#[derive(Clone, Debug)]
enum Actor {
    /// Acts at once.
    Policy(Arc<dyn Policy>),
    /// Acts when it has looked at the report.
    Environment,
    /// Ends steps by itself, for several flows together.
    Course,
}

/// A flow's algorithm, and the sender that counts for it.
#[derive(Debug)]
struct Steered {
    inner: Algorithm,
    shared: Arc<Shared>,
    actor: Actor,
}

/// Stands inside where the learner sets everything.
#[derive(Clone, Debug)]
struct Nobody;

impl Shared {
    pub(crate) fn new(steering: &Steering) -> Self {
        let sender = Sender::new(steering, true, &Start::default());
        Self { sender: Mutex::new(sender), over: AtomicBool::new(false), report: Mutex::new(None) }
    }

    /// The sender.
    pub(crate) fn sender(&self) -> MutexGuard<'_, Sender> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a step has ended by the flow's own clock.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The report of the step that has ended by the flow's own clock.
    pub(crate) fn take_report(&self) -> Option<StepReport> {
        self.over.store(false, Ordering::Relaxed);
        self.report.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end_step(&self, report: StepReport) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Steered {
    /// Ends the step if it is due.
    fn end_if_due(&self, view: &View) {
        if !self.shared.sender().is_due(view.now) {
            return;
        }
        let requested = Wrapper::control(self).window.0;
        match &self.actor {
            Actor::Course => {}
            Actor::Environment => {
                let report = self.shared.sender().close(view.now, requested);
                self.shared.end_step(report);
            }
            Actor::Policy(policy) => {
                let report = self.shared.sender().close(view.now, requested);
                let action = policy.act(&report);
                self.shared.sender().act(action);
            }
        }
    }
}

/// A copy has a sender of its own.
impl Clone for Steered {
    fn clone(&self) -> Self {
        let sender = self.shared.sender().clone();
        let shared = Shared { sender: Mutex::new(sender), over: AtomicBool::new(false), report: Mutex::new(None) };
        Self { inner: self.inner.clone(), shared: Arc::new(shared), actor: self.actor.clone() }
    }
}

impl Maker for SteeredMaker {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        *self.shared.sender() = Sender::new(&self.steering, self.algorithm.is_none(), start);
        let inner = match &self.algorithm {
            None => inside(&self.steering, start),
            Some(spec) => spec.start(start),
        };
        let actor = if self.clocked { Actor::Environment } else { Actor::Course };
        Box::new(Wrapped(Steered { inner, shared: Arc::clone(&self.shared), actor }))
    }
}

impl Maker for PolicyMaker {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let shared = Arc::new(Shared::new(&self.steering));
        *shared.sender() = Sender::new(&self.steering, true, start);
        let (inner, actor) = (inside(&self.steering, start), Actor::Policy(Arc::clone(&self.policy)));
        Box::new(Wrapped(Steered { inner, shared, actor }))
    }
}

/// The algorithm on top of which a learner steers.
fn inside(steering: &Steering, start: &Start) -> Algorithm {
    match &steering.lever {
        Lever::Over(spec) => spec.start(start),
        Lever::Window | Lever::Rate => Algorithm::Custom(Box::new(Nobody)),
    }
}

impl Options {
    /// What makes the congestion control of a flow; `clocked` if its steps end by its own clock.
    pub(crate) fn maker(&self, shared: &Arc<Shared>, clocked: bool) -> SteeredMaker {
        let (shared, algorithm) = (Arc::clone(shared), self.algorithm.clone());
        SteeredMaker { shared, steering: self.steering(), algorithm, clocked }
    }
}

/// An action is applied by the first signal after the event that ended its step. The end of a recovery and a restart may belong to that
/// event itself, which an environment has not seen the end of: they apply nothing.
impl Wrapper for Steered {
    type Inner = Algorithm;

    fn inner(&self) -> &Algorithm {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut Algorithm {
        &mut self.inner
    }

    fn control(&self) -> Control {
        self.shared.sender().control(|| self.inner.control())
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        {
            let mut sender = self.shared.sender();
            sender.apply();
            sender.count(view, ack);
        }
        self.inner.on_ack(view, ack);
        self.end_if_due(view);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        {
            let mut sender = self.shared.sender();
            sender.apply();
            sender.count_losses(view);
        }
        self.inner.on_congestion(view, event);
    }

    fn on_fluid(&mut self, view: &View, acked: Packets) {
        {
            let mut sender = self.shared.sender();
            sender.apply();
            sender.count(view, &Ack::fluid(view, acked));
        }
        self.inner.on_fluid(view, acked);
        self.end_if_due(view);
    }

    fn on_wake(&mut self, view: &View) {
        self.shared.sender().apply();
        self.inner.on_wake(view);
    }
}

impl CongestionControl for Nobody {
    fn control(&self) -> Control {
        Control::window(Packets(1.0))
    }

    fn on_ack(&mut self, _view: &View, _ack: &Ack) {}

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use cwnd::testing::not_forwarded;

    use super::*;

    /// Hands out one algorithm, once.
    #[derive(Debug)]
    struct Once(Mutex<Option<Box<dyn CongestionControl>>>);

    impl Maker for Once {
        fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
            self.0.lock().expect("no test panics with it").take().expect("it is started once")
        }
    }

    #[test]
    fn an_algorithm_in_the_learners_place_or_below_it_gets_every_signal() {
        let once = |inner| Spec::outside("inner", Arc::new(Once(Mutex::new(Some(inner)))));
        let missed = not_forwarded(|inner| {
            let options = Options { algorithm: Some(once(inner)), ..Options::default() };
            let shared = Arc::new(Shared::new(&options.steering()));
            options.maker(&shared, true).start(&Start::default())
        });
        assert!(missed.is_empty(), "{missed:?}");
        let missed = not_forwarded(|inner| {
            let options = Options { lever: Lever::Over(once(inner)), ..Options::default() };
            let shared = Arc::new(Shared::new(&options.steering()));
            options.maker(&shared, true).start(&Start::default())
        });
        assert!(missed.is_empty(), "{missed:?}");
    }
}
