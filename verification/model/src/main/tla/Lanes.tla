------------------------------- MODULE Lanes -------------------------------
(***************************************************************************)
(* Ordered topics: one lane, its holders, and the keys in it.              *)
(*                                                                         *)
(* The lease of the lane runs out whenever it likes, so a node that stands *)
(* still goes on later as a zombie, and sends what it has in its hands. A  *)
(* step is one statement, or what one lock of the code keeps together:     *)
(* Sequencer for the lines of keys, LaneCursor for where a read begins,    *)
(* Horizon for what is proved, LaneOutcomes for the order of statements.   *)
(*                                                                         *)
(* Two messages of one key are written one after the other, the second     *)
(* when the first is committed or rolled back: that is what staging gives, *)
(* and nothing is promised about others. Messages of different keys draw   *)
(* their numbers and commit in any order.                                  *)
(*                                                                         *)
(* Unlike the code the model never reads a lane from its beginning: that   *)
(* look mends a wrong start within a minute, and would hide it here. Of    *)
(* marks that wait to be proved it keeps one, the oldest; the code keeps   *)
(* 64. Transaction ids are sets: a mark waits for those that were running  *)
(* when it was made. A database that crashes keeps what was drawn before   *)
(* the last commit, since a commit writes the log up to itself.            *)
(*                                                                         *)
(* Of clocks the model keeps one thing. Before it begins a delivery a node *)
(* looks at its clock, and what it has read after it lost the lane is not  *)
(* sent: by then the lease is over by its own clock too, which counts from *)
(* before the lease was asked for. What was read before that may be sent   *)
(* at any time, since a node can stand still between the look and the      *)
(* sending. Without the look the order of keys breaks: see the bug "sends  *)
(* without a look at the clock".                                           *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Workers,    \* nodes
    KeyOf,      \* the keys of the messages 1, 2, 3, ..., in the order of writing
    Written,    \* how many are committed when the run begins
    Room,       \* how many of the lane a node takes into its hands
    Events,     \* what may happen in this run
    MaxFaults,  \* how often something that goes wrong may happen
    Bugs,       \* what is wrong on purpose; nothing in the proper run
    Recording   \* whether the transitions of rows are noted

VARIABLES
    row,        \* of each message its state and number
    drawn,      \* the last number that was drawn
    durable,    \* the last number that a crash of the database leaves drawn
    running,    \* the open transactions that others can see are running
    life,       \* which server this is, and since when it runs
    lane,       \* the lane's row: token, whether its lease has run out, floor, revision
    newest,     \* the newest token
    node,       \* the memory of each node
    faults,     \* how many are left
    sent,       \* what was ever sent
    received,   \* what the destination has had and confirmed
    given,      \* what was given up: rejected by the destination, or put away by an operator
    early,      \* what was sent for the first time before one of its key that was written earlier was done with
    excuse,     \* whether something happened after which a message may be delivered twice
    again,      \* what was delivered twice without an excuse
    stale,      \* whether an outcome was accepted from a node that did not hold the lane
    afresh,     \* what an operator put back when nothing of it was under way, and was not sent since
    undone,     \* whether an outcome changed one of these
    by          \* what the last step was; not part of the state

database == <<drawn, durable, running, life>>
ghosts == <<sent, received, given, early, excuse, again, stale, afresh, undone>>
vars == <<row, database, lane, newest, node, faults, ghosts, by>>
view == <<row, database, lane, newest, node, faults, ghosts>>

Names == {"outcome without the lane lock", "blocked keys not loaded", "floor above an undelivered row", "floor raised before the read",
          "horizon from the newest number", "floor kept over a database crash", "floor kept over a failover", "acknowledge by number", "joins out of order",
          "number before the transaction", "reads what is not committed", "reads on from the last row",
          "read forgets what was put back", "sends while a message is put back", "promotes no message",
          "sends without a look at the clock", "number of a lost answer passed over", "outcome over an operator's change"}
AllEvents == {"commits in any order", "rollback", "database crash", "failover", "failure", "rejection", "parking", "operator",
              "slow read", "slow answer", "lost answer", "crash", "put back", "expiry"}
ASSUME Bugs \subseteq Names
ASSUME Events \subseteq AllEvents
Has(bug) == bug \in Bugs
May(event) == event \in Events

Messages == DOMAIN KeyOf
Keys == {KeyOf[m] : m \in Messages}
Key(m) == KeyOf[m]
Nothing == 0       \* no message, no number, no token
Far == Len(KeyOf) + 1

Unwritten == {"ABSENT", "OPEN", "ROLLED BACK"}
Waits == {"RETRY", "BLOCKED", "PARKED"}
Live == {"PENDING", "DEAD"} \cup Waits

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Least(S) == CHOOSE x \in S : \A y \in S : x <= y

\* Everything that was drawn before a commit is on disk; of no interest where nothing crashes.
Flushed == durable' = IF May("database crash") \/ May("failover") THEN drawn ELSE durable

By(name) == by' = IF Recording THEN name ELSE by
Fault == faults > 0 /\ faults' = faults - 1
NoFault == UNCHANGED faults

Number(m) == row[m].seq
State(m) == row[m].state
Committed(m) == State(m) \notin Unwritten
Earlier(m) == {x \in Messages : x < m /\ Key(x) = Key(m)}
WaitingOf(k) == {m \in Messages : Key(m) = k /\ State(m) \in Waits}
HeadOf(k) == CHOOSE m \in WaitingOf(k) : \A x \in WaitingOf(k) : Number(m) <= Number(x)

\* The messages of a set in the order of their numbers.
RECURSIVE InOrder(_)
InOrder(S) ==
    IF S = {} THEN <<>>
    ELSE LET first == CHOOSE m \in S : \A x \in S : Number(m) <= Number(x) IN <<first>> \o InOrder(S \ {first})

Upto(list, n) == SubSeq(list, 1, Min(n, Len(list)))

---------------------------------------------------------------------------
\* The memory of a node

Never == <<>>      \* an outcome that was not sent without an answer; else the revision that its lane had when it was sent first
NoLine == [first |-> Nothing, behind |-> <<>>, held |-> FALSE]
NoMark == [number |-> Nothing, waits |-> {}]
NoLook == [kind |-> "none", rows |-> <<>>, full |-> FALSE, drawn |-> 0, mark |-> NoMark, proves |-> FALSE, life |-> 0,
           late |-> FALSE]

Fresh == [
    token |-> Nothing, revision |-> 0, loaded |-> FALSE,
    known |-> FALSE, start |-> 0, limit |-> Far,           \* LaneCursor
    kept |-> 0,                                            \* the floor that was stored last; only a wrong one begins there
    inOrder |-> {}, waiting |-> {},                        \* what is in hand, and from where
    afterwards |-> {},                                     \* what of it was read after the lane was lost
    server |-> 0, seen |-> 0, mark |-> NoMark, proved |-> 0, \* Horizon
    lines |-> [k \in Keys |-> NoLine], flying |-> {},      \* Sequencer
    late |-> {}, back |-> {}, look |-> NoLook,
    queue |-> <<>>, batch |-> <<>>]                        \* OutcomeWriter

\* The lane is not this node's any more. What it knows of the horizon is not the lane's, and stays.
WithoutLane(n) == [Fresh EXCEPT !.server = n.server, !.seen = n.seen, !.mark = n.mark, !.proved = n.proved]

InHand(n) == n.inOrder \cup n.waiting
Numbers(S) == {Number(m) : m \in S}
Floor(n) ==
    LET lowest == IF n.inOrder = {} \/ Has("floor above an undelivered row") THEN Far ELSE Least(Numbers(n.inOrder)) - 1 IN
    Min(n.start, lowest)

Outcome(m, kind) == [message |-> m, kind |-> kind, phase |-> "new", held |-> FALSE, asked |-> Never]
Queued(n, m, kind) == [n EXCEPT !.queue = Append(@, Outcome(m, kind))]
Unsettled(n) == n.batch \o n.queue
IsReturning(n, k) ==
    \/ k \in n.back
    \/ \E i \in DOMAIN Unsettled(n) : Unsettled(n)[i].kind = "released" /\ Key(Unsettled(n)[i].message) = k

\* Sequencer.join: what came in order goes to wait behind the head.
RECURSIVE JoinAll(_, _)
JoinAll(n, list) == IF list = <<>> THEN n ELSE JoinAll(Queued(n, list[1], "blocked"), Tail(list))
Joined(n, k) ==
    LET behind == n.lines[k].behind
        IsOrdered(m) == m \in n.inOrder
        IsOther(m) == m \notin n.inOrder IN
    JoinAll([n EXCEPT !.lines[k].behind = SelectSeq(behind, IsOther)], SelectSeq(behind, IsOrdered))

\* Sequencer.release: what is still behind is put back.
RECURSIVE ReleaseAll(_, _)
ReleaseAll(n, list) == IF list = <<>> THEN n ELSE ReleaseAll(Queued(n, list[1], "released"), Tail(list))
Released(n, k) == ReleaseAll([n EXCEPT !.lines[k].behind = <<>>], n.lines[k].behind)

\* Sequencer.enqueue
Lined(n, k, m) ==
    IF n.lines[k].first = Nothing THEN [n EXCEPT !.lines[k].first = m] ELSE [n EXCEPT !.lines[k].behind = Append(@, m)]

\* Sequencer.place
Placed(n, m, ordered) ==
    LET k == Key(m)
        got == IF ordered THEN [n EXCEPT !.inOrder = @ \cup {m}] ELSE [n EXCEPT !.waiting = @ \cup {m}]
        held == IF ~ordered /\ ~n.lines[k].held THEN Joined([got EXCEPT !.lines[k].held = TRUE], k) ELSE got IN
    IF IsReturning(n, k) /\ ~Has("sends while a message is put back") THEN Queued(got, m, "released")
    ELSE IF ordered /\ n.lines[k].held THEN Queued(got, m, "blocked")
    ELSE Lined(held, k, m)

RECURSIVE Offered(_, _, _)
Offered(n, list, ordered) == IF list = <<>> THEN n ELSE Offered(Placed(n, list[1], ordered), Tail(list), ordered)

\* Sequencer.goOn, when the outcome of the first of a key is known.
GoneOn(n, k, kind) ==
    IF kind \in {"retry", "parked"}
    THEN LET held == [n EXCEPT !.lines[k].held = TRUE] IN
         IF Has("joins out of order") THEN [held EXCEPT !.late = @ \cup {k}] ELSE Released(Joined(held, k), k)
    ELSE IF kind = "released" THEN Released(n, k)
    ELSE IF n.lines[k].behind = <<>> THEN n
    ELSE [n EXCEPT !.lines[k].first = n.lines[k].behind[1], !.lines[k].behind = Tail(@)]

Decided(n, m, kind) ==
    GoneOn([Queued(n, m, kind) EXCEPT !.flying = @ \ {m}, !.lines[Key(m)].first = Nothing], Key(m), kind)

\* LaneCursor.putBack
PutBack(n, m) ==
    LET lower == IF m \in n.inOrder
                 THEN [n EXCEPT !.start = Min(@, Number(m) - 1), !.limit = Min(@, Number(m) - 1)] ELSE n IN
    [lower EXCEPT !.inOrder = @ \ {m}, !.waiting = @ \ {m}]

\* LaneCursors.distrust: what was concluded is forgotten, what is in hand stays.
Distrusting(n) ==
    IF Has("floor kept over a database crash") THEN n
    ELSE [n EXCEPT !.known = FALSE, !.start = 0, !.limit = 0, !.server = 0, !.seen = 0, !.mark = NoMark, !.proved = 0]

\* Horizon.wrote: a number that was seen waits for those that run when the write that comes after it takes its transaction id.
Marked(n) ==
    IF n.seen = 0 \/ n.mark # NoMark \/ n.seen <= n.proved THEN n
    ELSE [n EXCEPT !.mark = [number |-> n.seen, waits |-> running]]

---------------------------------------------------------------------------

Init ==
    /\ row = [m \in Messages |-> IF m <= Written THEN [state |-> "PENDING", seq |-> m] ELSE [state |-> "ABSENT", seq |-> 0]]
    /\ drawn = Written /\ durable = Written /\ running = {} /\ life = 1
    /\ lane = [token |-> Nothing, over |-> TRUE, floor |-> 0, revision |-> 0]
    /\ newest = Nothing
    /\ node = [w \in Workers |-> Fresh]
    /\ faults = MaxFaults
    /\ sent = {} /\ received = {} /\ given = {} /\ early = {} /\ excuse = FALSE /\ again = {} /\ stale = FALSE
    /\ afresh = {} /\ undone = FALSE
    /\ by = ""

---------------------------------------------------------------------------
\* Producers

Draw(m) ==
    /\ State(m) = "ABSENT"
    /\ \A x \in Earlier(m) : State(x) \notin {"ABSENT", "OPEN"}
    /\ May("commits in any order") \/ \A x \in Messages : State(x) # "OPEN"
    /\ drawn' = drawn + 1
    /\ row' = [row EXCEPT ![m] = [state |-> "OPEN", seq |-> drawn + 1]]
    /\ running' = IF Has("number before the transaction") THEN running ELSE running \cup {m}
    /\ UNCHANGED <<durable, life, lane, newest, node, ghosts>> /\ NoFault /\ By("draw")

\* Only with the bug: the transaction shows as running after it has drawn its number.
Begin(m) ==
    /\ State(m) = "OPEN" /\ m \notin running
    /\ running' = running \cup {m}
    /\ UNCHANGED <<row, drawn, durable, life, lane, newest, node, ghosts>> /\ NoFault /\ By("begin")

Commit(m) ==
    /\ State(m) = "OPEN" /\ m \in running
    /\ row' = [row EXCEPT ![m].state = "PENDING"]
    /\ running' = running \ {m}
    /\ Flushed
    /\ UNCHANGED <<drawn, life, lane, newest, node, ghosts>> /\ NoFault /\ By("enqueue")

Rollback(m) ==
    /\ May("rollback") /\ State(m) = "OPEN" /\ Fault
    /\ row' = [row EXCEPT ![m].state = "ROLLED BACK"]
    /\ running' = running \ {m}
    /\ UNCHANGED <<drawn, durable, life, lane, newest, node, ghosts>> /\ By("rollback")

---------------------------------------------------------------------------
\* The database

\* Open transactions are gone, and numbers that no commit made durable may be drawn again. A read under way fails; a node that was
\* not reading notices by the next read, which shows another server.
Failing(n) == IF n.look.kind = "none" THEN n ELSE [Distrusting(n) EXCEPT !.look = NoLook, !.back = {}]

DatabaseCrash ==
    /\ May("database crash") /\ Fault
    /\ \E n \in durable..drawn : drawn' = n
    /\ row' = [m \in Messages |-> IF State(m) = "OPEN" THEN [row[m] EXCEPT !.state = "ROLLED BACK"] ELSE row[m]]
    /\ running' = {} /\ life' = life + 1
    /\ node' = [w \in Workers |-> Failing(node[w])]
    /\ UNCHANGED <<durable, lane, newest, ghosts>> /\ By("database crash")

\* A replica takes over that had not everything. What is lost with the primary is not promised; what is written afterwards is,
\* although it gets the same numbers. The lane's floor may be an earlier one; its token and revision are taken to have arrived.
Failover ==
    /\ May("failover") /\ Fault
    /\ \E n \in 0..drawn :
        /\ n < drawn
        /\ drawn' = n /\ durable' = n
        /\ lane' = [lane EXCEPT !.floor = Min(@, n)]
        /\ row' = [m \in Messages |->
                    IF State(m) = "OPEN" THEN [row[m] EXCEPT !.state = "ROLLED BACK"]
                    ELSE IF Number(m) > n /\ State(m) \in Live THEN [row[m] EXCEPT !.state = "LOST"] ELSE row[m]]
    /\ running' = {} /\ life' = life + 1 /\ excuse' = TRUE
    /\ node' = [w \in Workers |-> Failing(node[w])]
    /\ UNCHANGED <<newest, sent, received, given, early, again, stale, afresh, undone>> /\ By("failover")

---------------------------------------------------------------------------
\* Holding the lane

Holds(w) == node[w].token # Nothing /\ node[w].token = lane.token

Acquire(w) ==
    /\ node[w].token = Nothing /\ lane.over
    /\ newest' = newest + 1
    /\ lane' = [lane EXCEPT !.token = newest + 1, !.over = FALSE]
    /\ node' = [node EXCEPT ![w] = [WithoutLane(@) EXCEPT !.token = newest + 1, !.revision = lane.revision]]
    /\ Flushed
    /\ UNCHANGED <<row, drawn, running, life, ghosts>> /\ NoFault /\ By("acquire")

\* By a statement that begins after the one that took the lane.
LoadBlockedKeys(w) ==
    /\ node[w].token # Nothing /\ ~node[w].loaded
    /\ node' = [node EXCEPT ![w].loaded = TRUE, ![w].lines = [k \in Keys |-> [@[k] EXCEPT
                    !.held = ~Has("blocked keys not loaded") /\ \E m \in WaitingOf(k) : State(m) \in {"RETRY", "PARKED"}]]]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("load held keys")

\* LaneCursors.findFloors: where to begin is asked of the server that is to be read from.
FindFloor(w) ==
    LET n == node[w]
        alone == IF n.server \in {0, life} THEN n ELSE Distrusting(n) IN
    /\ n.token # Nothing /\ n.loaded /\ ~n.known /\ n.look.kind = "none"
    /\ node' = [node EXCEPT ![w] =
                    IF ~Holds(w) THEN WithoutLane(n)
                    ELSE [alone EXCEPT !.known = TRUE, !.server = life, !.start = Max(lane.floor, n.kept)]]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("find floor")

\* The floor is only true of the server that showed it.
Renew(w) ==
    LET n == node[w]
        trusted == n.server = life \/ Has("floor kept over a database crash")
        stored == IF trusted THEN Max(lane.floor, Floor(n)) ELSE lane.floor IN
    /\ n.token # Nothing /\ n.loaded
    /\ IF Holds(w)
       THEN /\ lane' = [lane EXCEPT !.over = FALSE, !.floor = stored]
            /\ node' = [node EXCEPT ![w] = [Marked(n) EXCEPT
                            !.kept = IF Has("floor kept over a failover") THEN stored ELSE 0]]
            /\ Flushed
       ELSE /\ node' = [node EXCEPT ![w] = WithoutLane(n)]
            /\ UNCHANGED <<lane, durable>>
    /\ UNCHANGED <<row, drawn, running, life, newest, ghosts>> /\ NoFault /\ By("renew")

\* Given back when nothing of it is in hand.
GiveUpLane(w) ==
    LET n == node[w] IN
    /\ May("put back") /\ Fault
    /\ Holds(w) /\ n.loaded /\ InHand(n) = {} /\ n.look.kind = "none"
    /\ lane' = [lane EXCEPT !.token = Nothing, !.over = TRUE, !.floor = IF n.server = life THEN Max(@, Floor(n)) ELSE @]
    /\ node' = [node EXCEPT ![w] = WithoutLane(n)]
    /\ Flushed
    /\ UNCHANGED <<row, drawn, running, life, newest, ghosts>> /\ By("release lane")

\* Time passes. With a holder that is still at it that is a fault; without one it is what everybody waits for.
Expire ==
    /\ ~lane.over
    /\ IF \E w \in Workers : Holds(w) THEN May("expiry") /\ Fault /\ excuse' = TRUE ELSE NoFault /\ UNCHANGED excuse
    /\ lane' = [lane EXCEPT !.over = TRUE]
    /\ UNCHANGED <<row, database, newest, node, sent, received, given, early, again, stale, afresh, undone>> /\ By("expire")

Crash(w) ==
    /\ May("crash") /\ node[w] # Fresh /\ Fault
    /\ node' = [node EXCEPT ![w] = Fresh]
    /\ excuse' = TRUE
    /\ UNCHANGED <<row, database, lane, newest, sent, received, given, early, again, stale, afresh, undone>> /\ By("crash")

---------------------------------------------------------------------------
\* Reading

Visible == {m \in Messages : State(m) = "PENDING" \/ (Has("reads what is not committed") /\ State(m) = "OPEN")}

\* Whether the node holds the lane when the snapshot is taken.
Late(n) == n.token # lane.token

\* One statement, one snapshot: what is there behind the start, the last number, and who is still running.
Sight(n) ==
    LET proves == n.mark # NoMark /\ n.mark.waits \cap running = {}
        start == IF Has("floor raised before the read") /\ proves THEN Max(n.start, n.mark.number) ELSE n.start
        found == InOrder({m \in Visible : Number(m) > start /\ Number(m) \notin Numbers(n.inOrder)})
        room == Room - Cardinality(InHand(n)) IN
    [kind |-> "order", rows |-> Upto(found, room), full |-> Len(found) >= room, drawn |-> drawn, mark |-> n.mark, proves |-> proves,
     life |-> life, late |-> Late(n)]

\* Horizon.see. A mark that was made after the snapshot is not proved by it.
Seeing(n, look) ==
    LET proved == look.proves /\ n.mark = look.mark
        reached == IF Has("horizon from the newest number") THEN look.drawn
                   ELSE IF proved THEN Max(n.proved, n.mark.number) ELSE n.proved IN
    [n EXCEPT !.server = look.life, !.seen = look.drawn, !.proved = reached, !.mark = IF proved THEN NoMark ELSE @]

Taken(n, rows) == LET IsNew(m) == m \notin InHand(n) IN SelectSeq(rows, IsNew)

TakenIn(n, look, rows, ordered) ==
    [Offered(n, rows, ordered) EXCEPT
        !.look = NoLook, !.back = {}, !.afterwards = IF look.late THEN @ \cup {rows[i] : i \in DOMAIN rows} ELSE @]

\* What another server shows is of no use: it may have rows before those that were asked for.
AfterRead(n, look) ==
    IF n.server # look.life /\ ~Has("floor kept over a database crash")
    THEN [Distrusting(n) EXCEPT !.look = NoLook, !.back = {}]
    ELSE
    LET saw == Seeing(n, look)
        last == IF look.rows = <<>> THEN 0 ELSE Number(look.rows[Len(look.rows)])
        end == IF Has("reads on from the last row") THEN Max(saw.start, last)
               ELSE Min(saw.proved, IF look.full THEN Max(last, saw.start) ELSE Far)
        limit == IF Has("read forgets what was put back") THEN Far ELSE saw.limit
        further == [saw EXCEPT !.start = Max(@, Min(end, limit))] IN
    TakenIn(further, look, Taken(n, look.rows), TRUE)

Reads(w) == node[w].token # Nothing /\ node[w].loaded /\ node[w].look.kind = "none"

Read(w) ==
    LET n == [node[w] EXCEPT !.limit = Far] IN
    /\ Reads(w) /\ n.known /\ ~May("slow read") /\ Cardinality(InHand(n)) < Room
    /\ node' = [node EXCEPT ![w] = AfterRead(n, Sight(n))]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("read")

\* What waits in a held key whose head is due: the head, and what is behind it up to the first that waits for an operator or is in
\* hand. Any head may be due at any time.
Due(n, k) ==
    /\ WaitingOf(k) # {}
    /\ State(HeadOf(k)) = "RETRY"
    /\ Number(HeadOf(k)) \notin Numbers(InHand(n))

TimedSight(n, k) ==
    LET all == InOrder(WaitingOf(k))
        Ends(i) == State(all[i]) = "PARKED" \/ Number(all[i]) \in Numbers(InHand(n))
        ends == {i \in DOMAIN all : Ends(i)} IN
    [NoLook EXCEPT !.kind = "timed", !.late = Late(n), !.rows = IF ends = {} THEN all ELSE SubSeq(all, 1, Least(ends) - 1)]

AfterTimed(n, look) == TakenIn(n, look, Taken(n, look.rows), FALSE)

ReadTimed(w, k) ==
    /\ Reads(w) /\ ~May("slow read") /\ Due(node[w], k) /\ Cardinality(InHand(node[w])) < Room
    /\ node' = [node EXCEPT ![w] = AfterTimed(@, TimedSight(@, k))]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("read timed")

\* The same in two steps: others of the node write outcomes between what the statement has seen and what is made of it.
BeginRead(w) ==
    LET n == [node[w] EXCEPT !.limit = Far] IN
    /\ May("slow read") /\ Reads(w) /\ n.known /\ Cardinality(InHand(n)) < Room
    /\ node' = [node EXCEPT ![w] = [n EXCEPT !.look = Sight(n)]]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("begin to read")

BeginReadTimed(w, k) ==
    /\ May("slow read") /\ Reads(w) /\ Due(node[w], k) /\ Cardinality(InHand(node[w])) < Room
    /\ node' = [node EXCEPT ![w].look = TimedSight(node[w], k)]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("begin to read timed")

EndRead(w) ==
    /\ node[w].look.kind # "none"
    /\ node' = [node EXCEPT ![w] = IF @.look.kind = "order" THEN AfterRead(@, @.look) ELSE AfterTimed(@, @.look)]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("end read")

---------------------------------------------------------------------------
\* Delivering

Send(w, m) ==
    /\ node[w].lines[Key(m)].first = m /\ m \notin node[w].flying
    /\ m \notin node[w].afterwards \/ Has("sends without a look at the clock")
    /\ node' = [node EXCEPT ![w].flying = @ \cup {m}]
    /\ sent' = sent \cup {m}
    /\ early' = IF m \notin sent /\ \E x \in Earlier(m) : Committed(x) /\ x \notin received \cup given /\ State(x) # "LOST"
                THEN early \cup {m} ELSE early
    /\ afresh' = afresh \ {m}
    /\ UNCHANGED <<row, database, lane, newest, received, given, excuse, again, stale, undone>> /\ NoFault /\ By("send")

Answer(w, m) ==
    /\ m \in node[w].flying
    /\ \/ /\ node' = [node EXCEPT ![w] = Decided(@, m, "delivered")]
          /\ received' = received \cup {m}
          /\ again' = IF m \in received /\ ~excuse THEN again \cup {m} ELSE again
          /\ UNCHANGED given /\ NoFault
       \/ /\ May("failure") /\ Fault
          /\ node' = [node EXCEPT ![w] = Decided(@, m, "retry")]
          /\ UNCHANGED <<received, given, again>>
       \/ /\ May("rejection") /\ Fault
          /\ node' = [node EXCEPT ![w] = Decided(@, m, "buried")]
          /\ given' = given \cup {m}
          /\ UNCHANGED <<received, again>>
       \/ /\ May("parking") /\ Fault
          /\ node' = [node EXCEPT ![w] = Decided(@, m, "parked")]
          /\ UNCHANGED <<received, given, again>>
    /\ UNCHANGED <<row, database, lane, newest, sent, early, excuse, stale, afresh, undone>> /\ By("answer")

\* Too little is left of the lease to begin a delivery.
DoNotSend(w, m) ==
    /\ node[w].lines[Key(m)].first = m /\ m \notin node[w].flying
    /\ IF m \in node[w].afterwards THEN NoFault ELSE May("put back") /\ Fault
    /\ node' = [node EXCEPT ![w] = Decided(@, m, "released")]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ By("do not send")

\* Only with the bug: what is behind a failed message joins it later, not under the same lock.
JoinLate(w, k) ==
    /\ k \in node[w].late
    /\ node' = [node EXCEPT ![w] = [Released(Joined(@, k), k) EXCEPT !.late = @ \ {k}]]
    /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("join late")

---------------------------------------------------------------------------
\* Outcomes

\* OutcomeWriter.takeBatch: so many of the oldest, unless a batch is under way.
Counts(n) == IF n.batch = <<>> THEN 1..Len(n.queue) ELSE {0}
WithBatch(n, count) ==
    [n EXCEPT !.batch = @ \o SubSeq(n.queue, 1, count), !.queue = SubSeq(@, count + 1, Len(@))]

\* LaneOutcomes.steps: what leaves the order, what joins a hold, what was delivered in order, what was delivered in held keys, what
\* leaves a held key, what was tried there again.
Rank(n, outcome) ==
    LET waiting == outcome.message \in n.waiting IN
    CASE outcome.kind = "released" -> 0
      [] outcome.kind = "blocked" -> 2
      [] outcome.kind = "delivered" -> IF waiting THEN 4 ELSE 3
      [] outcome.kind = "buried" /\ waiting -> 5
      [] outcome.kind \in {"retry", "parked"} /\ waiting -> 6
      [] OTHER -> 1

New(n) == {i \in DOMAIN n.batch : n.batch[i].phase = "new" /\ Rank(n, n.batch[i]) > 0}
Rung(n) == Least({Rank(n, n.batch[i]) : i \in New(n)})

\* What one statement does to the rows that it meets: all by the same snapshot.
Becomes == [retry |-> "RETRY", parked |-> "PARKED", buried |-> "DEAD"]
Target(m) ==
    IF Has("acknowledge by number") THEN {x \in Messages : Number(x) = Number(m) /\ State(x) \in Live}
    ELSE {x \in {m} : State(x) \in Live}

\* Unanswered.isInDoubt: it may have been written, and an operator may have put the message back since.
IsInDoubt(n, outcome) == outcome.asked # Never /\ outcome.asked # <<n.revision>>

\* LaneStatements.Leaving: no operator puts a message back into the order.
Meets(n, outcome) ==
    CASE outcome.kind = "delivered" -> Target(outcome.message) # {}
      [] outcome.kind = "blocked" -> State(outcome.message) = "PENDING"
      [] Has("outcome over an operator's change") -> State(outcome.message) \in Live \ {"PARKED", "DEAD"}
      [] outcome.message \in n.waiting -> State(outcome.message) \in {"RETRY", "BLOCKED"} /\ ~IsInDoubt(n, outcome)
      [] OTHER -> State(outcome.message) = "PENDING"

\* The heads of keys after these are gone.
NextHeads(gone) ==
    LET Left(k) == WaitingOf(k) \ gone
        keys == {k \in {Key(m) : m \in gone} : Left(k) # {}} IN
    {CHOOSE m \in Left(k) : \A x \in Left(k) : Number(m) <= Number(x) : k \in keys}

Blocks(m) == \E x \in WaitingOf(Key(m)) : Number(x) < Number(m)

After(rank, met) ==
    LET kind(m) == (CHOOSE o \in met : o.message = m).kind
        moved == {o.message : o \in met}
        removed == UNION {Target(m) : m \in moved}
        heads == IF rank \in {4, 5} /\ ~Has("promotes no message") THEN NextHeads(moved) ELSE {} IN
    [m \in Messages |->
        IF rank \in {3, 4} /\ m \in removed THEN [row[m] EXCEPT !.state = "DELIVERED"]
        ELSE IF rank = 2 /\ m \in moved THEN [row[m] EXCEPT !.state = IF Blocks(m) THEN "BLOCKED" ELSE "RETRY"]
        ELSE IF rank \in {1, 5, 6} /\ m \in moved THEN [row[m] EXCEPT !.state = Becomes[kind(m)]]
        ELSE IF m \in heads /\ State(m) = "BLOCKED" THEN [row[m] EXCEPT !.state = "RETRY"]
        ELSE row[m]]

KeyHeld(rank, outcome, met) ==
    LET m == outcome.message IN
    CASE rank = 2 -> Blocks(m)
      [] rank = 3 -> FALSE
      [] rank \in {4, 5} -> WaitingOf(Key(m)) \ {o.message : o \in met} # {}
      [] OTHER -> outcome.kind \in {"retry", "parked"}

Kinds == [i \in 1..6 |-> <<"leave the order", "join", "acknowledge", "acknowledge waiting", "leave the key", "fail again">>[i]]

\* The node is told of each outcome, in the order of the batch. How many of a key are still on their way to join it counts those
\* that come later.
JoiningAfter(n, i) ==
    LET k == Key(n.batch[i].message)
        IsJoin(o) == o.kind = "blocked" /\ Key(o.message) = k IN
    SelectSeq(SubSeq(n.batch, i + 1, Len(n.batch)) \o n.queue, IsJoin) # <<>>

SettledOne(n, whole, i) ==
    LET o == whole.batch[i]
        m == o.message
        k == Key(m)
        written == o.phase = "met" \/ o.asked # Never
        keyHeld == IF o.phase = "met" THEN o.held ELSE TRUE
        held == IF m \in n.waiting /\ o.kind \in {"delivered", "buried"} /\ written
                THEN keyHeld \/ JoiningAfter(whole, i) ELSE n.lines[k].held IN
    IF o.kind = "released" THEN [PutBack(n, m) EXCEPT !.back = IF n.look.kind = "none" THEN @ ELSE @ \cup {k}]
    ELSE IF o.phase = "met" \/ (written /\ Has("number of a lost answer passed over"))
    THEN [n EXCEPT !.inOrder = @ \ {m}, !.waiting = @ \ {m}, !.lines[k].held = held]
    ELSE [PutBack(n, m) EXCEPT !.lines[k].held = held]

RECURSIVE Settled(_, _, _)
Settled(n, whole, i) == IF i > Len(whole.batch) THEN [n EXCEPT !.batch = <<>>] ELSE Settled(SettledOne(n, whole, i), whole, i + 1)

Missed(n) == {i \in DOMAIN n.batch : n.batch[i].phase = "missed"}

\* When everything was sent. If something was not met, the lane's row tells whether it is lost, or an operator changed it.
Ended(n) ==
    IF Missed(n) # {} /\ lane.token # n.token THEN WithoutLane(n)
    ELSE IF Missed(n) # {} /\ lane.revision # n.revision
    THEN [n EXCEPT !.revision = lane.revision, !.batch = [i \in DOMAIN n.batch |->
            IF i \in Missed(n) THEN [n.batch[i] EXCEPT !.phase = "new"] ELSE n.batch[i]]]
    ELSE Settled(n, n, 1)

\* Where the answer is not slow, the node is told of the last statement at once.
Told(n) == IF May("slow answer") \/ New(n) # {} \/ Missed(n) # {} THEN n ELSE Settled(n, n, 1)

Settle(w) ==
    \E count \in Counts(node[w]) :
        LET n == WithBatch(node[w], count) IN
        /\ n.token # Nothing /\ n.batch # <<>> /\ New(n) = {}
        /\ node' = [node EXCEPT ![w] = Ended(n)]
        /\ UNCHANGED <<row, database, lane, newest, ghosts>> /\ NoFault /\ By("settle")

\* One statement: under the lane's lock, for its token and revision.
WriteOf(w, n) ==
    LET rank == Rung(n)
        mine == {i \in New(n) : Rank(n, n.batch[i]) = rank}
        fenced == Has("outcome without the lane lock") \/ (lane.token = n.token /\ lane.revision = n.revision)
        meets == {i \in mine : fenced /\ Meets(n, n.batch[i])}
        met == {n.batch[i] : i \in meets}
        answered == [i \in DOMAIN n.batch |->
            IF i \notin mine THEN n.batch[i]
            ELSE [n.batch[i] EXCEPT !.phase = IF i \in meets THEN "met" ELSE "missed",
                                    !.held = i \in meets /\ KeyHeld(rank, n.batch[i], met)]] IN
    /\ row' = IF met = {} THEN row ELSE After(rank, met)
    /\ IF met = {} THEN UNCHANGED durable ELSE Flushed
    /\ stale' = (stale \/ (met # {} /\ lane.token # n.token))
    /\ undone' = (undone \/ (rank \in {1, 5, 6} /\ \E o \in met : o.message \in afresh))
    /\ \/ /\ node' = [node EXCEPT ![w] = Told([IF met = {} THEN n ELSE Marked(n) EXCEPT !.batch = answered])]
          /\ NoFault
       \* The answer is lost: all of the batch is sent again, and what was concluded is not trusted.
       \/ /\ May("lost answer") /\ Fault
          /\ node' = [node EXCEPT ![w] = [Distrusting(n) EXCEPT
                        !.batch = [i \in DOMAIN n.batch |-> [n.batch[i] EXCEPT !.phase = "new", !.asked = IF @ = Never THEN <<n.revision>> ELSE @]]]]
    /\ UNCHANGED <<drawn, running, life, lane, newest, sent, received, given, early, excuse, again, afresh>> /\ By(Kinds[rank])

Write(w) ==
    \E count \in Counts(node[w]) :
        LET n == WithBatch(node[w], count) IN
        /\ n.token # Nothing /\ n.batch # <<>> /\ New(n) # {}
        /\ WriteOf(w, n)

---------------------------------------------------------------------------
\* Operators: each locks the lane and raises its revision.

IsUnderWay(m) ==
    \E w \in Workers :
        \/ m \in node[w].flying
        \/ \E i \in DOMAIN Unsettled(node[w]) : Unsettled(node[w])[i].message = m /\ Unsettled(node[w])[i].asked = Never

Repair(after, puts, back, name) ==
    /\ May("operator") /\ Fault
    /\ row' = after
    /\ lane' = [lane EXCEPT !.revision = @ + 1]
    /\ Flushed
    /\ given' = given \cup puts
    /\ afresh' = (afresh \ puts) \cup {m \in back : ~IsUnderWay(m)}
    /\ excuse' = TRUE
    /\ UNCHANGED <<drawn, running, life, newest, node, sent, received, early, again, stale, undone>> /\ By(name)

Promoted(rows, gone) ==
    [m \in Messages |-> IF m \in NextHeads({gone}) /\ State(m) = "BLOCKED" THEN [rows[m] EXCEPT !.state = "RETRY"] ELSE rows[m]]

ReleaseKey(k) ==
    /\ WaitingOf(k) # {}
    /\ Repair([row EXCEPT ![HeadOf(k)].state = "RETRY"], {}, {HeadOf(k)}, "release")

SkipKey(k) ==
    /\ WaitingOf(k) # {} /\ State(HeadOf(k)) \in {"RETRY", "PARKED"}
    /\ Repair(Promoted([row EXCEPT ![HeadOf(k)].state = "DEAD"], HeadOf(k)), {HeadOf(k)}, {}, "skip")

\* Behind a message of its key that waits, it is blocked. Otherwise it is the head, and the former head is blocked if it is due.
Replay(m) ==
    /\ State(m) \in {"DEAD", "PARKED"}
    /\ LET others == WaitingOf(Key(m)) \ {m}
           back == [row EXCEPT ![m].state = IF Blocks(m) THEN "BLOCKED" ELSE "RETRY"]
           due == {x \in others : x = HeadOf(Key(m)) /\ State(x) = "RETRY" /\ ~Blocks(m)} IN
       \E behind \in SUBSET due :
           Repair([x \in Messages |-> IF x \in behind THEN [back[x] EXCEPT !.state = "BLOCKED"] ELSE back[x]],
                  {}, {m}, "replay")

Discard(m) ==
    /\ State(m) \in {"DEAD", "PARKED"}
    /\ LET gone == [row EXCEPT ![m].state = "GONE"] IN
       Repair(IF State(m) = "PARKED" THEN Promoted(gone, m) ELSE gone, {m}, {}, "discard")

---------------------------------------------------------------------------

Works(w) ==
    \/ LoadBlockedKeys(w) \/ FindFloor(w) \/ Renew(w) \/ Read(w) \/ BeginRead(w) \/ EndRead(w) \/ Write(w) \/ Settle(w)
    \/ \E k \in Keys : ReadTimed(w, k) \/ BeginReadTimed(w, k) \/ JoinLate(w, k)
    \/ \E m \in Messages : Send(w, m) \/ Answer(w, m)

Next ==
    \/ \E m \in Messages : Draw(m) \/ Begin(m) \/ Commit(m) \/ Rollback(m) \/ Replay(m) \/ Discard(m)
    \/ \E k \in Keys : ReleaseKey(k) \/ SkipKey(k)
    \/ \E w \in Workers : Acquire(w) \/ Works(w) \/ GiveUpLane(w) \/ Crash(w) \/ \E m \in Messages : DoNotSend(w, m)
    \/ Expire \/ DatabaseCrash \/ Failover

Spec == Init /\ [][Next]_vars

\* For what happens in the end, without asking of every step whether it could be taken, which takes TLC very long here: every run
\* that cannot go on must have come to the end (TLC is told to look for dead ends), and every run that goes on for ever must have
\* passed it. No node becomes a zombie in this: one that does reads and puts back until it renews.
IsAtTheEnd == \A m \in Messages : State(m) \in {"DELIVERED", "DEAD", "GONE", "ROLLED BACK"}
GoesOn == (Next /\ view' # view) \/ (IsAtTheEnd /\ UNCHANGED vars)
FairSpec == Init /\ [][GoesOn]_vars /\ []<><<TRUE>>_vars

---------------------------------------------------------------------------
\* The promise

\* Nothing is sent whose transaction did not commit.
NoPhantom == \A m \in sent : Committed(m)

\* What was committed is there, or was received, or was put away by an operator.
NoLoss == \A m \in Messages : Committed(m) => State(m) \in Live \cup {"LOST"} \/ m \in received \cup given

\* First deliveries of a key come in the order of writing, and none before the one before it is done with.
OrderOfKeys == early = {}

\* Not promised: that they are accepted in this order. A message that was rejected is done with when that is known, and the next one is
\* sent; if the node dies before it is written, the message is tried again.
AcceptedInOrder == [][\A x \in received' \ received : \A m \in received : x \notin Earlier(m)]_vars

TokenSafety == ~stale

BoundedDuplicates == again = {}

\* What an operator puts back is delivered before it is given up again.
NothingUndone == ~undone

\* Whoever takes the lane over begins to read at its floor: nothing may appear below.
FloorIsBelow == \A m \in Messages : State(m) \in {"PENDING", "OPEN"} => Number(m) > lane.floor

\* And the holder finds what it has not in its hands behind its start.
StartIsBelow ==
    \A w \in Workers, m \in Messages :
        LET n == node[w] IN
        Holds(w) /\ n.server = life /\ n.look.kind = "none" /\ State(m) \in {"PENDING", "OPEN"}
            => Number(m) > n.start \/ Number(m) \in Numbers(n.inOrder)

\* The lowest waiting message of a key is due at a time, or waits for an operator.
HeadsLead == \A k \in Keys : WaitingOf(k) # {} => State(HeadOf(k)) \in {"RETRY", "PARKED"}

\* The transitions a row may take, and by what.
Transitions == {
    <<"NONE", "PENDING", "enqueue">>,
    <<"PENDING", "RETRY", "leave the order">>, <<"PENDING", "PARKED", "leave the order">>, <<"PENDING", "DEAD", "leave the order">>,
    <<"PENDING", "BLOCKED", "join">>, <<"PENDING", "RETRY", "join">>,
    <<"PENDING", "DELIVERED", "acknowledge">>,
    <<"RETRY", "DELIVERED", "acknowledge waiting">>, <<"BLOCKED", "DELIVERED", "acknowledge waiting">>,
    <<"BLOCKED", "RETRY", "acknowledge waiting">>,
    <<"RETRY", "DEAD", "leave the key">>, <<"BLOCKED", "DEAD", "leave the key">>, <<"BLOCKED", "RETRY", "leave the key">>,
    <<"RETRY", "PARKED", "fail again">>,
    \* An operator put an earlier one before it while it was under way.
    <<"BLOCKED", "RETRY", "fail again">>, <<"BLOCKED", "PARKED", "fail again">>,
    \* An operator skipped it while it was under way, and then it was delivered after all.
    <<"DEAD", "DELIVERED", "acknowledge waiting">>,
    <<"PARKED", "RETRY", "release">>, <<"PARKED", "DEAD", "skip">>, <<"RETRY", "DEAD", "skip">>, <<"BLOCKED", "RETRY", "skip">>,
    <<"DEAD", "RETRY", "replay">>, <<"PARKED", "RETRY", "replay">>, <<"DEAD", "BLOCKED", "replay">>,
    <<"PARKED", "BLOCKED", "replay">>, <<"RETRY", "BLOCKED", "replay">>,
    <<"DEAD", "GONE", "discard">>, <<"PARKED", "GONE", "discard">>, <<"BLOCKED", "RETRY", "discard">>}

Name(state) == IF state \in Unwritten THEN "NONE" ELSE state
Changed(m) == Name(row'[m].state) # Name(row[m].state) /\ row'[m].state # "LOST"
Steps(m) == {t \in Transitions : t[1] = Name(row[m].state) /\ t[2] = Name(row'[m].state)}

Legal == [][\A m \in Messages : Changed(m) => Steps(m) # {} /\ (Recording => \E t \in Steps(m) : t[3] = by')]_vars

\* In the end everything that was written is delivered or dead. Only for runs in which nothing waits for an operator.
Delivered == \A m \in Messages : Committed(m) ~> State(m) \in {"DELIVERED", "DEAD", "GONE"}

---------------------------------------------------------------------------
\* For the checker

ASSUME TLCSet(1, {})

Noted ==
    \A m \in Messages : Changed(m) =>
        LET t == <<Name(row[m].state), Name(row'[m].state), by'>> IN
        t \in TLCGet(1) \/ (PrintT(<<"transition", t>>) /\ TLCSet(1, TLCGet(1) \cup {t}))

Symmetry == Permutations(Workers)

\* Values of KeyOf
A == <<"a">>
AA == <<"a", "a">>
AB == <<"a", "b">>
AAA == <<"a", "a", "a">>
AAB == <<"a", "a", "b">>
===========================================================================
