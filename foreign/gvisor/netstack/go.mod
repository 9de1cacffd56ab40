module cwnd/netstack

go 1.26.3

// The version under test: a bump is one line here, and the digests anew (docs/foreign.md).
require gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237

require (
	github.com/google/btree v1.1.2 // indirect
	golang.org/x/exp v0.0.0-20250711185948-6ae5c78190dc // indirect
	golang.org/x/sys v0.43.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
