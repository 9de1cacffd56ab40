"""Algorithms written in Python."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cwnd._native import Ack, Congestion, Control, Start, View

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["OUTSIDE", "Algorithm", "CongestionControl", "Learnt", "Outside", "WindowRule", "fresh", "label"]


class _Copied:
    """Copies its plain state without the general machinery, for the model copies algorithms at every step."""

    _slotted: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        members = (member for base in cls.__mro__ if "__slots__" in vars(base) for member in vars(base).items())
        cls._slotted = tuple(name for name, kind in members if isinstance(kind, MemberDescriptorType))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in vars(self).items():
            vars(twin)[name] = value if type(value) in _PLAIN else copy.deepcopy(value, memo)
        for name in self._slotted:
            if hasattr(self, name):
                setattr(twin, name, copy.deepcopy(getattr(self, name), memo))
        return twin


class CongestionControl(_Copied, ABC):
    """An algorithm: state and a rule, called for each event, and read for its control.

    Subclass it, and give the class, or an object of it, wherever an algorithm is named: in a scenario, to
    :func:`cwnd.compare`, to :mod:`cwnd.model`. Each flow gets an object of its own: a new one of a class, a deep copy
    of an object. It receives the same signals as the built-in algorithms, and its control is read after each. It
    reads no clock and has no random numbers except from a generator seeded by ``start.seed``, so that equal seeds are
    equal runs.

    An exception of one of its methods ends the run, and the function that started the run raises it.

    Window algorithms are shorter as a :class:`WindowRule`, which has slow start, timeouts and all the rest around it.
    """

    name: ClassVar[str] = ""
    """The name in tables; that of the class if empty."""

    def start(self, start: Start) -> None:
        """Hear of the flow that begins, before any signal.

        Parameters
        ----------
        start : Start
            The initial window and the sizes of packets.
        """

    @abstractmethod
    def control(self) -> Control | float:
        """Return the present requests of the algorithm.

        Returns
        -------
        Control or float
            A float is a window in packets and nothing else. A window below one packet counts as one.
        """

    @abstractmethod
    def on_ack(self, view: View, ack: Ack) -> None:
        """Hear that new data was acknowledged.

        Parameters
        ----------
        view : View
            The state of the connection.
        ack : Ack
            The acknowledgement.
        """

    @abstractmethod
    def on_congestion(self, view: View, event: Congestion) -> None:
        """Hear of congestion: of every loss event and mark. Which of them is acted upon is up to the algorithm.

        Parameters
        ----------
        view : View
            The state of the connection.
        event : Congestion
            The congestion event.
        """

    def on_fluid(self, view: View, acked: float) -> None:
        """Hear that a number of packets was acknowledged at once, in a model without packets (:mod:`cwnd.model`).

        Parameters
        ----------
        view : View
            The state of the connection.
        acked : float
            Packets. Unless overridden, the whole ones are passed to :meth:`on_ack`.
        """

    def on_recovered(self, view: View) -> None:
        """Hear that loss recovery has ended.

        Parameters
        ----------
        view : View
            The state of the connection.
        """

    def on_wake(self, view: View) -> None:
        """Hear that the time asked for in ``Control.wake`` has come: never early, maybe late. Ask for a later one.

        Parameters
        ----------
        view : View
            The state of the connection.
        """

    def on_restart(self, view: View, idle: float) -> None:
        """Hear that sending resumes after a time without a packet in flight.

        Parameters
        ----------
        view : View
            The state of the connection.
        idle : float
            That time, seconds.
        """

    def on_spurious(self, view: View) -> None:
        """Hear that the last congestion event was an error: packets that counted as lost had been delayed.

        Parameters
        ----------
        view : View
            The state of the connection.
        """

    def wants_samples(self) -> bool:
        """Say whether the algorithm reads ``Ack.sample`` and ``Congestion.sample``; asked once, after :meth:`start`.

        Returns
        -------
        bool
            True for delivery-rate samples, as BBR needs them. The window then also bounds departures in a recovery;
            otherwise proportional rate reduction (RFC 9937) approaches the window after a cut. Each packet that an
            acknowledgement shows lost is then an event of its own.
        """
        return False

    def needs_marks(self) -> bool:
        """Say whether the algorithm needs congestion marks, each echoed; asked once, after :meth:`start`.

        Returns
        -------
        bool
            True where it answers losses alone without them. A run in which nothing marks then has a warning.
        """
        return False

    def slow_start_threshold(self) -> float | None:
        """Say at which window slow start ends; asked after each signal, like :meth:`control`.

        Returns
        -------
        float or None
            Packets, infinite before it is known; None where the algorithm has no slow start. Hosts that pace as Linux
            does (``host="fq"``) send faster below half of it.
        """
        return None

    def inspect(self) -> Mapping[str, float]:
        """Show internals to the trace, where they become columns. Always the same names in the same order.

        Returns
        -------
        mapping of str to float
            ``{"ssthresh": self.ssthresh}``.
        """
        return {}


class WindowRule(_Copied, ABC):
    """The rule of a window algorithm; the shell around it is common to all window algorithms.

    That is slow start, timeouts, one decrease per window of data, undo, and the stack profile of an era, as for the
    built-in algorithms. The rule is the growth for one acknowledged packet and the window after a cut. Windows are
    packets. AIMD, whole:

    >>> import cwnd
    >>> class Aimd(cwnd.WindowRule):
    ...     def grow(self, w, view):
    ...         return 1.0 / w
    ...
    ...     def cut(self, w, view):
    ...         return w / 2

    It is given wherever a :class:`CongestionControl` is. Its state is its attributes. It must be
    possible to copy them with :func:`copy.deepcopy`: that happens at every cut, for a cut that proves wrong is taken
    back.
    """

    name: ClassVar[str] = ""
    """The name in tables; that of the class if empty."""
    spread: ClassVar[float | None] = None
    """Pace the window over a round trip, faster than evenly by this factor; None to send as the window allows."""

    def start(self, start: Start) -> None:
        """Hear of the flow that begins, before any signal.

        Parameters
        ----------
        start : Start
            The initial window and the sizes of packets.
        """

    @abstractmethod
    def grow(self, w: float, view: View) -> float:
        """Say the increase for one acknowledged packet in congestion avoidance.

        Parameters
        ----------
        w : float
            The window, packets.
        view : View
            The state of the connection.

        Returns
        -------
        float
            Packets; below zero where the delay asks for it.
        """

    def grow_by(self, w: float, acked: float, view: View) -> float:
        """Say the increase for some acknowledged packets at once, each as the first: a step of :mod:`cwnd.model`.

        Parameters
        ----------
        w : float
            The window, packets.
        acked : float
            How many, a real number.
        view : View
            The state of the connection.

        Returns
        -------
        float
            Packets; `acked` times :meth:`grow` unless overridden.
        """
        return acked * self.grow(w, view)

    @abstractmethod
    def cut(self, w: float, view: View) -> float:
        """Say the window after a cut; :meth:`epoch` follows, with the window that really came of it.

        Parameters
        ----------
        w : float
            The window before, packets.
        view : View
            The state of the connection.

        Returns
        -------
        float
            Packets.
        """

    def cut_for_marks(self, w: float, view: View) -> float:
        """Say the window after a cut that marks of routers ask for.

        Parameters
        ----------
        w : float
            The window before, packets.
        view : View
            The state of the connection.

        Returns
        -------
        float
            Packets; as for a loss unless overridden.
        """
        return self.cut(w, view)

    def cuts_flight(self) -> bool:
        """Say whether cuts are taken from the packets in flight; asked once, after :meth:`start`.

        Returns
        -------
        bool
            True where :meth:`cut` gets them in place of the window while application or receiver let the sender use
            less than its window (``FlightSize`` of RFC 5681, equation 4), as for ``reno``. False for the window, as in
            RFC 9002, section 7.3.2. Eras without window validation have the window throughout.
        """
        return False

    def floor(self) -> float | None:
        """Say the least window that congestion leaves; asked once, after :meth:`start`.

        Returns
        -------
        float or None
            Packets, at least 1; None for the floor of the era.
        """
        return None

    def needs_marks(self) -> bool:
        """Say whether the rule needs congestion marks, each echoed; asked once, after :meth:`start`.

        Returns
        -------
        bool
            True where it answers losses alone without them. A run in which nothing marks then has a warning.
        """
        return False

    def observe(self, view: View, ack: Ack) -> None:
        """Hear of an acknowledgement, in whatever phase: for algorithms that measure.

        Parameters
        ----------
        view : View
            The state of the connection.
        ack : Ack
            The acknowledgement.
        """

    def epoch(self, before: float | None, after: float, view: View) -> None:
        """Hear that an epoch of congestion avoidance starts.

        The first :meth:`grow` or :meth:`cut` always comes after such a call.

        Parameters
        ----------
        before : float or None
            The window at which congestion hit, also where the shell cut by a rule of its own; None where slow start
            ended.
        after : float
            The window now, packets.
        view : View
            The state of the connection.
        """

    def ramp(self, w: float) -> float | None:  # noqa: ARG002  (for those who override it)
        """Say the increase for one acknowledged packet in slow start.

        Parameters
        ----------
        w : float
            The window, packets.

        Returns
        -------
        float or None
            Packets; None for the era's.
        """
        return None

    def slow_start_done(self, w: float, view: View) -> bool:  # noqa: ARG002  (for those who override it)
        """Say whether slow start has filled the path.

        Parameters
        ----------
        w : float
            The window, packets.
        view : View
            The state of the connection.

        Returns
        -------
        bool
            Congestion avoidance begins here.
        """
        return False

    def slowdown(self, view: View) -> float | Literal["hold"] | None:  # noqa: ARG002  (for those who override it)
        """Say whether the rule slows down by itself, not for congestion: for algorithms that let the queue drain.

        Asked at each acknowledgement on which the window may grow.

        Parameters
        ----------
        view : View
            The state of the connection.

        Returns
        -------
        float, "hold" or None
            A window in packets, at least 1, where a slowdown begins: slow start leads from there back to the present
            window. ``"hold"`` while it lasts: the window stays. None where the window grows as usual.
        """
        return None

    def inspect(self) -> Mapping[str, float]:
        """Show internals to the trace, where they become columns. Always the same names in the same order.

        Returns
        -------
        mapping of str to float
            ``{"w0": self.w0}``.
        """
        return {}


class Learnt(ABC):
    """A trained policy that steers flows: :func:`cwnd.gym.algorithm` makes it."""

    name: str
    """The name in tables."""

    @abstractmethod
    def steering(self) -> Mapping[str, object]:
        """Return the target of an action and the length of a step: ``lever``, ``over``, ``gain`` and ``packets``."""

    @abstractmethod
    def act(self, observation: Sequence[float], step: Sequence[float]) -> float:
        """Choose the action for the step that begins.

        Parameters
        ----------
        observation : sequence of float
            The numbers of ``cwnd.gym.FEATURES``.
        step : sequence of float
            The numbers of ``cwnd.gym.Step``.

        Returns
        -------
        float
            From -1 to 1.
        """


_PLAIN = frozenset({bool, float, int, str, type(None)})

Outside = CongestionControl | WindowRule | Learnt | type[CongestionControl] | type[WindowRule]
"""An algorithm in Python: an object or its class, or a trained policy."""

OUTSIDE = (type, CongestionControl, WindowRule, Learnt)
"""The class of such an algorithm."""

Algorithm = str | Outside
"""An algorithm as people give it: text such as ``aimd:b=1/8``, or one of their own."""


def fresh(given: Outside) -> object:
    """Make the object of one flow.

    Parameters
    ----------
    given : CongestionControl or WindowRule, or a class of these
        As people gave it.

    Returns
    -------
    CongestionControl or WindowRule
        A new one that shares nothing with others.
    """
    return given() if isinstance(given, type) else copy.deepcopy(given)


def label(given: Any) -> str:
    """Return the name of an algorithm in tables.

    Parameters
    ----------
    given : str, CongestionControl or WindowRule, or a class of these
        As people gave it.

    Returns
    -------
    str
        Its name, or that of its class.
    """
    if isinstance(given, str):
        return given
    name = getattr(given, "name", "")
    # That of a class may be a property, which only its objects have.
    if isinstance(name, str) and name:
        return name
    return (given if isinstance(given, type) else type(given)).__name__
