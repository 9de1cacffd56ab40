// Hosts with gVisor's netstack for a simulator: packets in, packets out and the next timer, in the time of the simulation.
package main

/*
#include <stdint.h>

// Of Rust's `Report`.
typedef struct {
	int64_t next;
	uint64_t read;
	int64_t rtt;
	uint32_t window;
	uint32_t ssthresh;
	uint32_t leaving;
	uint32_t failure;
} report;
*/
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

func main() {}

// A stack starts as many goroutines for segments as the process may run at once. One has an order.
func init() {
	runtime.GOMAXPROCS(1)
}

// on runs work on a goroutine of its own. That of a call from C is bound to the thread of the caller, and each wait for another goroutine would
// cost two changes of threads.
func on(work func() error) error {
	done := make(chan error)
	go func() {
		var failure error
		defer func() {
			if panicked := recover(); panicked != nil {
				failure = fmt.Errorf("panic: %v", panicked)
			}
			done <- failure
		}()
		failure = work()
	}()
	return <-done
}

// message writes a failure to the buffer of the caller, and returns its length there.
func message(failure error, buffer unsafe.Pointer, size C.uint32_t) C.uint32_t {
	return C.uint32_t(copy(unsafe.Slice((*byte)(buffer), size), failure.Error()))
}

// gvisor_open makes a host. If that fails, it returns 0, the buffer has a message, and size its length.
//
//export gvisor_open
func gvisor_open(server, cubic bool, mtu C.uint32_t, seed C.uint64_t, now C.uint64_t, buffer unsafe.Pointer, size *C.uint32_t) C.uintptr_t {
	algorithm := "reno"
	if cubic {
		algorithm = "cubic"
	}
	var made *host
	failure := on(func() (err error) {
		made, err = newHost(server, algorithm, uint32(mtu), int64(seed), int64(now))
		return err
	})
	if failure != nil {
		*size = message(failure, buffer, *size)
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(made))
}

// gvisor_call lets a host do something at now: it takes a packet that has arrived, unless that is nil, and bytes to send, and calls the timers
// that are due if expire is set.
//
//export gvisor_call
func gvisor_call(handle C.uintptr_t, now C.uint64_t, packet unsafe.Pointer, length C.uint32_t, submitted C.uint64_t, expire bool, buffer unsafe.Pointer, size C.uint32_t, result *C.report) {
	h := cgo.Handle(handle).Value().(*host)
	failure := on(func() error {
		h.advance(int64(now))
		h.left += uint64(submitted)
		if packet != nil {
			h.arrive(C.GoBytes(packet, C.int(length)))
		}
		if expire {
			return h.expire()
		}
		return h.settle()
	})
	*result = C.report{next: -1, read: C.uint64_t(h.read), leaving: C.uint32_t(len(h.leaving))}
	if failure != nil {
		result.failure = message(failure, buffer, size)
		return
	}
	if t := h.clock.next(); t != nil {
		result.next = C.int64_t(t.due)
	}
	info := h.info()
	result.rtt, result.window, result.ssthresh = C.int64_t(info.RTT), C.uint32_t(info.SndCwnd), C.uint32_t(info.SndSsthresh)
}

// gvisor_take moves the oldest packet that leaves to the buffer, which has room for any, and returns its length.
//
//export gvisor_take
func gvisor_take(handle C.uintptr_t, buffer unsafe.Pointer, size C.uint32_t) C.uint32_t {
	h := cgo.Handle(handle).Value().(*host)
	length := copy(unsafe.Slice((*byte)(buffer), size), h.leaving[0])
	h.leaving = h.leaving[1:]
	return C.uint32_t(length)
}

//export gvisor_close
func gvisor_close(handle C.uintptr_t) {
	h := cgo.Handle(handle).Value().(*host)
	_ = on(func() error {
		h.close()
		return nil
	})
	cgo.Handle(handle).Delete()
}
