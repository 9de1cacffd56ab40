package main

import (
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
)

// clock is the only time that a stack sees: the simulation sets it, and calls the timers that are due.
type clock struct {
	now time.Duration
	// timers has those that run, in no order.
	timers []*timer
	// started counts the starts of timers, so that those of one instant are called in the order in which they were started.
	started uint64
}

type timer struct {
	clock   *clock
	call    func()
	due     time.Duration
	started uint64
}

// Now is a date: simulations start on 2020-09-13.
func (c *clock) Now() time.Time {
	return time.Unix(1_600_000_000, 0).Add(c.now)
}

func (c *clock) NowMonotonic() tcpip.MonotonicTime {
	// The zero of this type means never.
	return tcpip.MonotonicTime{}.Add(time.Second + c.now)
}

func (c *clock) AfterFunc(after time.Duration, call func()) tcpip.Timer {
	t := &timer{clock: c, call: call}
	t.Reset(after)
	return t
}

func (t *timer) Reset(after time.Duration) {
	t.Stop()
	t.due = t.clock.now + max(after, 0)
	t.started = t.clock.started
	t.clock.started++
	t.clock.timers = append(t.clock.timers, t)
}

func (t *timer) Stop() bool {
	timers := t.clock.timers
	for i, other := range timers {
		if other == t {
			timers[i] = timers[len(timers)-1]
			t.clock.timers = timers[:len(timers)-1]
			return true
		}
	}
	return false
}

// next is the timer that is due first, or nil if none runs.
func (c *clock) next() *timer {
	var first *timer
	for _, t := range c.timers {
		if first == nil || t.due < first.due || t.due == first.due && t.started < first.started {
			first = t
		}
	}
	return first
}
