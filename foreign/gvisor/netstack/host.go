package main

import (
	"fmt"
	"io"
	"math/rand"
	"time"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"
)

// host is one end of a connection: a stack of its own with one interface and one connection.
//
// Arrived segments are worked on by goroutines of the stack. They are paused except in settle, so that nothing happens between two calls.
type host struct {
	clock clock
	stack *stack.Stack
	link  *channel.Endpoint
	// listener is nil at the end that connects; connection is nil at the other until it has accepted.
	listener, connection tcpip.Endpoint
	// left are the bytes that are submitted and not yet written.
	left, read uint64
	leaving    [][]byte
}

const (
	nic  = 1
	port = 4433
	// bufferSize is what either end buffers: the window of 1 Gbit/s over 32 ms.
	bufferSize = 4 << 20
	// backlog is the number of handshakes beyond which the stack answers with SYN cookies, which lose options.
	backlog = 128
)

func address(server bool) tcpip.FullAddress {
	last := byte(1)
	if server {
		last = 2
	}
	return tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFrom4([4]byte{10, 0, 0, last}), Port: port}
}

// newHost makes an end whose clock, random numbers and link are the simulation's. Everything that is not set here is the stack's default.
func newHost(server bool, algorithm string, mtu uint32, seed int64, now int64) (*host, error) {
	h := &host{link: channel.New(1, mtu, "")}
	h.advance(now)
	h.link.AddNotify(h)
	random := rand.New(rand.NewSource(seed))
	h.stack = stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
		Clock:              &h.clock,
		RandSource:         rand.NewSource(random.Int63()),
		SecureRNG:          random,
	})
	h.stack.Pause()
	err := h.configure(server, algorithm)
	if err == nil {
		err = h.settle()
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *host) configure(server bool, algorithm string) error {
	control := tcpip.CongestionControlOption(algorithm)
	send := tcpip.TCPSendBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: bufferSize, Max: bufferSize}
	receive := tcpip.TCPReceiveBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: bufferSize, Max: bufferSize}
	moderate := tcpip.TCPModerateReceiveBufferOption(false)
	for _, option := range []tcpip.SettableTransportProtocolOption{&control, &send, &receive, &moderate} {
		if err := h.stack.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			return fmt.Errorf("%T: %s", option, err)
		}
	}
	own := address(server)
	if err := h.stack.CreateNIC(nic, h.link); err != nil {
		return fmt.Errorf("the interface: %s", err)
	}
	protocolAddress := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: own.Addr.WithPrefix()}
	if err := h.stack.AddProtocolAddress(nic, protocolAddress, stack.AddressProperties{}); err != nil {
		return fmt.Errorf("the address: %s", err)
	}
	h.stack.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	endpoint, err := h.stack.NewEndpoint(tcp.ProtocolNumber, ipv4.ProtocolNumber, &waiter.Queue{})
	if err != nil {
		return fmt.Errorf("the socket: %s", err)
	}
	if err := endpoint.Bind(own); err != nil {
		return fmt.Errorf("the port: %s", err)
	}
	if server {
		h.listener = endpoint
		if err := endpoint.Listen(backlog); err != nil {
			return fmt.Errorf("listening: %s", err)
		}
		return nil
	}
	h.connection = endpoint
	if err := endpoint.Connect(address(true)); err != nil && !is[*tcpip.ErrConnectStarted](err) {
		return fmt.Errorf("connecting: %s", err)
	}
	return nil
}

// advance sets the clock.
func (h *host) advance(now int64) {
	h.clock.now = time.Duration(now)
}

// arrive hands a packet to the interface.
func (h *host) arrive(packet []byte) {
	p := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet)})
	defer p.DecRef()
	h.link.InjectInbound(ipv4.ProtocolNumber, p)
}

// expire calls the timers that are due, each after what the one before has begun.
func (h *host) expire() error {
	for t := h.clock.next(); t != nil && t.due <= h.clock.now; t = h.clock.next() {
		t.Stop()
		t.call()
		if err := h.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle lets the goroutines of the stack work until they have nothing to do, and then the application.
//
// A goroutine acknowledges a pause only when its queue is empty.
func (h *host) settle() error {
	h.stack.Resume()
	h.stack.Pause()
	return h.apply()
}

// apply moves data between connection and application.
func (h *host) apply() error {
	if h.connection == nil {
		accepted, _, err := h.listener.Accept(nil)
		if is[*tcpip.ErrWouldBlock](err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting: %s", err)
		}
		h.connection = accepted
	}
	for {
		result, err := h.connection.Read(io.Discard, tcpip.ReadOptions{})
		if is[*tcpip.ErrWouldBlock](err) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading: %s", err)
		}
		h.read += uint64(result.Count)
	}
	for h.left > 0 {
		count, err := h.connection.Write(&zeros{min(h.left, chunk)}, tcpip.WriteOptions{})
		h.left -= uint64(count)
		if is[*tcpip.ErrWouldBlock](err) {
			break
		}
		if err != nil {
			return fmt.Errorf("writing: %s", err)
		}
	}
	return nil
}

func is[E tcpip.Error](err tcpip.Error) bool {
	_, yes := err.(E)
	return yes
}

// info is the visible state of the connection.
func (h *host) info() tcpip.TCPInfoOption {
	var info tcpip.TCPInfoOption
	if h.connection != nil {
		// It has no errors.
		_ = h.connection.GetSockOpt(&info)
	}
	return info
}

// WriteNotify takes what the stack has just put into the channel.
func (h *host) WriteNotify() {
	for p := h.link.Read(); p != nil; p = h.link.Read() {
		contents := p.ToBuffer()
		h.leaving = append(h.leaving, contents.Flatten())
		contents.Release()
		p.DecRef()
	}
}

// close ends the goroutines of the stack. What it sends then goes nowhere: the link is closed first.
func (h *host) close() {
	h.link.Close()
	h.stack.Resume()
	h.stack.Destroy()
}

// zeros is the data of an application.
type zeros struct{ left uint64 }

// chunk is the most that an application writes at once, bytes.
const chunk = 64 << 10

func (z *zeros) Len() int { return int(z.left) }

func (z *zeros) Read(into []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	count := min(uint64(len(into)), z.left)
	clear(into[:count])
	z.left -= count
	return int(count), nil
}
