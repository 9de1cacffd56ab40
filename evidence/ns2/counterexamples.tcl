# One flow in ns-2 on the paths of `scenarios/counterexamples`, with an algorithm of Linux 2.6 (`Agent/TCP/Linux`): a bottleneck with a
# drop-tail queue, an application that is slow until an instant, and one lost packet.
#
#   ns counterexamples.tcl -algorithm htcp -slow 2e6 -bulk 30 -drop 100 -duration 31 -warmup 30 -seed 1
#   ns counterexamples.tcl -algorithm westwood -rate 50e6 -rtt 0.1 -limit 417 -duration 10 -warmup 0 -seed 1
#
# Prints the shares of the time from the end of the warm-up to the end: `utilisation` of the bottleneck, and `loss` of what is offered to it; then
# the largest window before the first loss, and the smallest in the second after it. A packet has 1500 bytes. The seed draws the start within 100 ms.

array set given {-algorithm reno -rate 20e6 -rtt 0.04 -limit 67 -slow 0 -bulk 0 -drop 0 -duration 10 -warmup 0 -seed 1}
array set given $argv
foreach name {algorithm rate rtt limit slow bulk drop duration warmup seed} { set $name $given(-$name) }

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set draws [new RNG]
for {set nth 0} {$nth < $seed} {incr nth} { $draws next-substream }

set near [$ns node]
set far [$ns node]
$ns simplex-link $near $far $rate [expr {$rtt / 2}] DropTail
$ns simplex-link $far $near 1e9 [expr {$rtt / 2}] DropTail
# One more: ns-2's queue of n packets holds n - 1.
$ns queue-limit $near $far [expr {$limit + 1}]
$ns queue-limit $far $near 1000000
set queue [$ns monitor-queue $near $far ""]
if {$drop > 0} {
    set lose [new ErrorModel/List]
    $lose droplist [expr {$drop - 1}]
    $ns link-lossmodel $lose $near $far
}

set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set window_ 100000
$tcp set windowInit_ 10
$tcp set packetSize_ 1460
$ns at 0 "$tcp select_ca $algorithm"
set sink [new Agent/TCPSink/Sack1]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $near $tcp
$ns attach-agent $far $sink
$ns connect $tcp $sink

set start [$draws uniform 0 0.1]
if {$slow > 0} {
    set source [new Application/Traffic/CBR]
    $source set packetSize_ 1460
    $source set rate_ $slow
    $source attach-agent $tcp
    $ns at $start "$source start"
    $ns at $bulk "$source stop; [new Application/FTP] attach-agent $tcp; $tcp send -1"
} else {
    $ns at $start "$tcp send -1"
}

# The window, every 2 ms.
array set window {largest 0 lost 0 least 1e9}
proc look {} {
    global ns tcp queue window
    set now [$tcp set cwnd_]
    if {[$queue set pdrops_] == 0} {
        if {$now > $window(largest)} { set window(largest) $now }
    } else {
        if {$window(lost) == 0} { set window(lost) [$ns now] }
        if {[$ns now] < $window(lost) + 1 && $now < $window(least)} { set window(least) $now }
    }
    $ns at [expr {[$ns now] + 0.002}] look
}
$ns at 0.2 look

proc begin {} {
    global queue at
    foreach name {bdepartures_ parrivals_ pdrops_} { set at($name) [$queue set $name] }
}
proc finish {} {
    global queue at rate duration warmup window
    foreach name {bdepartures_ parrivals_ pdrops_} { set now($name) [expr {[$queue set $name] - $at($name)}] }
    set used [expr {8.0 * $now(bdepartures_) / $rate / ($duration - $warmup)}]
    set lost [expr {double($now(pdrops_)) / $now(parrivals_)}]
    puts [format "utilisation %.4f loss %.4f largest %.0f least %.1f" $used $lost $window(largest) $window(least)]
    exit 0
}
$ns at $warmup begin
$ns at $duration finish
$ns run
