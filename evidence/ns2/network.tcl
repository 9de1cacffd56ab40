# The words of which the driver writes an experiment, and what is measured. Rates are in bit/s, times in seconds, sizes in bytes.
#
# Prints `flows TIME COUNT...` at the end of the warm-up and after each interval, with the packets of every flow that arrived, and
# `link TIME BYTES ARRIVALS DROPS MARKS PACKET-SECONDS` of the bottleneck at the end of the warm-up and at the end.

# Starts a simulator; `seed` draws start times, round trips and what queues draw. `agents` is a library of UDT, or empty.
proc begin {seed agents} {
    global ns draws
    set headers {IP TCP Flags}
    if {$agents ne ""} {
        load $agents Udt
        lappend headers UDT
    }
    remove-all-packet-headers
    eval add-packet-header $headers
    set ns [new Simulator]
    # Queues draw from the default generator, which must not repeat the draws of the flows.
    ns-random [expr {1000 + $seed}]
    set draws [new RNG]
    $draws seed $seed
}

# ns-2's own switches, as they stood at a date by the comments of its list of defaults. Connections are open from the start.
proc habits {year} {
    Agent/TCP set syn_ false
    Agent/TCP set delay_growth_ false
    Agent/TCP set useHeaders_ false
    switch $year {
        2001 { set values {windowInit_ 1 tcpTick_ 0.1 minrto_ 0 rtxcur_init_ 6.0 singledup_ 0 precisionReduce_ false
            rfc2988_ false updated_rttvar_ false exitFastRetrans_ false SetCWRonRetransmit_ false bugfix_ss_ 0} }
        2004 { set values {windowInit_ 2 tcpTick_ 0.01 minrto_ 1.0 rtxcur_init_ 6.0 singledup_ 1 precisionReduce_ false
            rfc2988_ true updated_rttvar_ false exitFastRetrans_ true SetCWRonRetransmit_ false bugfix_ss_ 0} }
        2006 { set values {windowInit_ 2 tcpTick_ 0.01 minrto_ 0.2 rtxcur_init_ 3.0 singledup_ 1 precisionReduce_ true
            rfc2988_ true updated_rttvar_ true exitFastRetrans_ true SetCWRonRetransmit_ false bugfix_ss_ 0} }
    }
    foreach {name value} $values { Agent/TCP set $name $value }
    # Both were 0 until 5 May 2003.
    set newreno [expr {$year >= 2003}]
    Agent/TCP/Newreno set newreno_changes1_ $newreno
    Agent/TCP/Newreno set partial_window_deflation_ $newreno
}

# Changes one of ns-2's switches for all senders created later.
proc switch_to {class name value} { $class set $name $value }

proc nodes {count} {
    global ns node
    for {set i 0} {$i < $count} {incr i} { set node($i) [$ns node] }
}

proc droptail {from to rate delay limit} {
    global ns node
    $ns simplex-link $node($from) $node($to) $rate $delay DropTail
    $ns queue-limit $node($from) $node($to) $limit
}

# `settings` are RED's own, by their names.
proc red {from to rate delay limit settings} {
    global ns node
    foreach {name value} $settings { Queue/RED set $name $value }
    $ns simplex-link $node($from) $node($to) $rate $delay RED
    $ns queue-limit $node($from) $node($to) $limit
}

# The limit is in bytes.
proc drr {from to rate delay limit quantum} {
    global ns node
    Queue/DRR set buckets_ 1024
    Queue/DRR set blimit_ $limit
    Queue/DRR set quantum_ $quantum
    $ns simplex-link $node($from) $node($to) $rate $delay DRR
}

# Where the delay of a flow's own access links lies: `both` ends, each way, or all of it at the `sender`, on the way of data, as here.
Class Access
Access set place_ both

# The nodes of a flow's two end systems, whose own links take `access` of the round trip and hold nothing up.
proc end_systems {from to access} {
    global node
    if {[Access set place_] eq "sender"} {
        return [list [behind $from $access 0] $node($to)]
    }
    set part [expr {$access / 4}]
    return [list [behind $from $part $part] [behind $to $part $part]]
}

# A node of an end system, behind links that take `out` from it and `in` to it, seconds.
proc behind {at out in} {
    global ns node
    if {$out <= 0} { return $node($at) }
    set host [$ns node]
    foreach {from to delay} [list $host $node($at) $out $node($at) $host $in] {
        $ns simplex-link $from $to 1000Gb $delay DropTail
        $ns queue-limit $from $to 1000000
    }
    return $host
}

proc ftp {sender start stop} {
    global ns
    set application [new Application/FTP]
    $application attach-agent $sender
    $ns at $start "$application start"
    if {$stop ne ""} { $ns at $stop "$application stop" }
}

# A flow under one of the author's agents. It starts up to `spread` later than `start`.
proc udt {from to packet start spread} {
    global ns node draws counters
    Agent/UDT set mtu_ $packet
    Agent/UDT set max_flow_window_ 100000
    set sender [new Agent/UDT/Counting]
    set receiver [new Agent/UDT/Counting]
    $ns attach-agent $node($from) $sender
    $ns attach-agent $node($to) $receiver
    $ns connect $sender $receiver
    ftp $sender [expr {$start + [$draws uniform 0 $spread]}] ""
    lappend counters "$receiver arrivals"
}

# A flow under one of the author's agents that starts at a time and prints its steps; `side` is the end that prints, or empty. The data
# packets of the numbers in `lost` are lost before the link from the sender's node.
proc udt_steps {from to packet start side lost window} {
    global ns node
    Agent/UDT set mtu_ $packet
    Agent/UDT set max_flow_window_ $window
    set sender [new Agent/UDT/Counting]
    set receiver [new Agent/UDT/Counting]
    $ns attach-agent $node($from) $sender
    $ns attach-agent $node($to) $receiver
    $ns connect $sender $receiver
    if {$side ne ""} { [set $side] print-steps }
    set loser [new Loser]
    foreach number $lost { $loser lose $number }
    [$ns link $node($from) $node($to)] add-to-head $loser
    ftp $sender $start ""
    lappend ::counters "$receiver arrivals"
}

# A sender of ns-2's TCP at one node and its receiver at another.
proc connected {kind from to packet ack window ecn overhead} {
    global ns
    set sinks {Tahoe TCPSink Reno TCPSink Newreno TCPSink Sack1 TCPSink/Sack1}
    set class [expr {$kind eq "Tahoe" ? "Agent/TCP" : "Agent/TCP/$kind"}]
    set sender [new $class]
    set receiver [new Agent/[dict get $sinks $kind]]
    $sender set packetSize_ $packet
    $sender set window_ $window
    # The first threshold is the window at a reset, which only agents that exist when the simulator starts get by themselves. Without it
    # slow start of later ones ends at 20 packets, the window they are created with.
    $sender reset
    $sender set ecn_ $ecn
    $sender set overhead_ $overhead
    $receiver set packetSize_ $ack
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    $ns connect $sender $receiver
    return [list $sender $receiver]
}

# A flow under one of ns-2's TCPs. Its round trip is `access` longer than the way over the links; all of it together, `base`,
# varies by the fraction `vary` both ways. Each packet leaves up to `overhead` late.
proc tcp {kind from to packet ack window ecn overhead start spread stop access base vary} {
    global draws counters
    set ends [end_systems $from $to [expr {$access + $base * [$draws uniform -$vary $vary]}]]
    foreach {sender receiver} [connected $kind [lindex $ends 0] [lindex $ends 1] $packet $ack $window $ecn $overhead] {}
    ftp $sender [expr {$start + [$draws uniform 0 $spread]}] $stop
    # The highest packet that arrived with all before it; -1 before the first.
    lappend counters "$sender set ack_"
}

# Finite flows of ns-2's TCP that arrive at random, `gap` apart on average, with sizes after Pareto, rounded up. They share the
# access links of one end system at each end; nothing counts them.
proc crowd {kind from to packet ack ecn overhead access gap scale shape start stop} {
    set ends [end_systems $from $to $access]
    arrival $kind $ends [list $packet $ack $ecn $overhead $gap $scale $shape] $start $stop
}

# Lets a flow of a crowd arrive after `start`, and the next one after it.
proc arrival {kind ends settings start stop} {
    global ns draws
    foreach {packet ack ecn overhead gap scale shape} $settings {}
    set at [expr {$start + [$draws exponential $gap]}]
    if {$at >= $stop} { return }
    set packets [expr {int(ceil($scale * pow(1 - [$draws uniform 0 1], -1.0 / $shape)))}]
    $ns at $at [list transfer $kind $ends $packet $ack $ecn $overhead $packets]
    $ns at $at [list arrival $kind $ends $settings $at $stop]
}

proc transfer {kind ends packet ack ecn overhead packets} {
    foreach {sender receiver} [connected $kind [lindex $ends 0] [lindex $ends 1] $packet $ack 1000000 $ecn $overhead] {}
    $sender advanceby $packets
}

# Runs; `bottleneck` is a pair of nodes, or empty.
proc measure {warmup duration interval bottleneck} {
    global ns node
    if {$bottleneck ne ""} {
        foreach {from to} $bottleneck {}
        set monitor [$ns monitor-queue $node($from) $node($to) [open /dev/null w]]
        $ns at $warmup "link $monitor"
        # After the packets of the last instant.
        $ns at [expr {$duration + 1e-9}] "link $monitor"
    }
    set samples [expr {round(($duration - $warmup) / $interval)}]
    for {set i 0} {$i <= $samples} {incr i} { $ns at [expr {$warmup + $i * $interval + 1e-9}] flows }
    $ns at [expr {$duration + 2e-9}] "exit 0"
    $ns run
}

proc flows {} {
    global ns counters
    set counts {}
    foreach counter $counters { lappend counts [eval $counter] }
    puts "flows [$ns now] $counts"
}

proc link {monitor} {
    global ns
    set queue [$monitor get-pkts-integrator]
    # The integral is brought up to date by a point.
    $queue newpoint [$ns now] [$monitor set pkts_]
    puts "link [$ns now] [$monitor set bdepartures_] [$monitor set parrivals_] [$monitor set pdrops_]\
        [$monitor set pmarks_] [$queue set sum_]"
}
