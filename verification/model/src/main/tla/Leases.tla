------------------------------ MODULE Leases ------------------------------
(***************************************************************************)
(* Unordered topics: messages that are claimed one by one under a lease.   *)
(*                                                                         *)
(* A lease runs out whenever it likes: the model has no clock, so a worker *)
(* that stands still, one whose clock is wrong and one that is merely slow *)
(* are all the same zombie. What costs nothing in a run that goes well is  *)
(* free; what goes wrong is paid from a number of faults, which is what    *)
(* keeps the model finite.                                                 *)
(*                                                                         *)
(* One step of the model is one statement of the code, or one thing that   *)
(* happens in a process between two of them. A token is a number that is   *)
(* new for its message; the code draws it at random, for a whole claim.    *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Workers,      \* the processes that claim, deliver and write outcomes
    Messages,     \* the messages that may be written
    MaxAttempts,  \* after so many a failure is the end
    MaxFaults,    \* how many faults a run may have
    Bugs,         \* what is wrong on purpose; nothing in the proper run
    Recording     \* whether the transitions of rows are noted

VARIABLES
    row,       \* the table: of each message its state, token, attempts, and whether its lease has run out
    hands,     \* claims in the memory of workers
    newest,    \* the newest token of each message
    looks,     \* what a purge or a sweep has found and not yet changed
    faults,    \* how many are left
    received,  \* what the destination has had and confirmed
    excused,   \* what may be delivered twice: a lease ran out, a worker was lost, or an operator replayed it
    again,     \* what was delivered twice without an excuse
    stale,     \* whether an outcome was accepted under a token that was not the newest
    by         \* what the last step was; not part of the state

vars == <<row, hands, newest, looks, faults, received, excused, again, stale, by>>
view == <<row, hands, newest, looks, faults, received, excused, again, stale>>

Names == {"ack without token", "nack unguarded", "sweep by id only", "purge without state", "claim with the old token",
          "local hand-over before the commit", "no sweep"}
ASSUME Bugs \subseteq Names
Has(bug) == bug \in Bugs

NoToken == 0
Nobody == "nobody"

\* States that a row of the table can have. The others are before it was written and after it was removed.
Live == {"PENDING", "PROCESSING", "DEAD"}
Unwritten == {"ABSENT", "OPEN", "ROLLED BACK"}

By(name) == by' = IF Recording THEN name ELSE by
Fault == faults > 0 /\ faults' = faults - 1
NoFault == UNCHANGED faults

Init ==
    /\ row = [m \in Messages |-> [state |-> "ABSENT", token |-> NoToken, attempts |-> 0, over |-> FALSE, writer |-> Nobody]]
    /\ hands = {}
    /\ newest = [m \in Messages |-> NoToken]
    /\ looks = {}
    /\ faults = MaxFaults
    /\ received = {}
    /\ excused = {}
    /\ again = {}
    /\ stale = FALSE
    /\ by = ""

Waiting(attempts) == [state |-> "PENDING", token |-> NoToken, attempts |-> attempts, over |-> FALSE, writer |-> Nobody]
Leased(token, attempts) == [state |-> "PROCESSING", token |-> token, attempts |-> attempts, over |-> FALSE, writer |-> Nobody]
Ended(state, attempts) == [state |-> state, token |-> NoToken, attempts |-> attempts, over |-> FALSE, writer |-> Nobody]

\* A claim in a worker's hands: claimed, sent, or answered by the destination with "ok", "failed" or "rejected"; "unanswered" when
\* nobody told the worker that the claim was made.
Hand(w, m, token, attempt, phase) == [worker |-> w, message |-> m, token |-> token, attempt |-> attempt, phase |-> phase]

---------------------------------------------------------------------------
\* Writing

Open(m) ==
    /\ row[m].state = "ABSENT"
    /\ row' = [row EXCEPT ![m].state = "OPEN"]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ NoFault /\ By("open")

\* Staged on a node that delivers: inserted under a lease of that node. The row is not visible before the commit.
OpenBorn(w, m) ==
    /\ row[m].state = "ABSENT"
    /\ newest' = [newest EXCEPT ![m] = @ + 1]
    /\ row' = [row EXCEPT ![m].state = "OPEN", ![m].token = newest[m] + 1, ![m].writer = w]
    /\ hands' = IF Has("local hand-over before the commit") THEN hands \cup {Hand(w, m, newest[m] + 1, 1, "claimed")} ELSE hands
    /\ UNCHANGED <<looks, received, excused, again, stale>> /\ NoFault /\ By("open")

Commit(m) ==
    /\ row[m].state = "OPEN"
    /\ IF row[m].writer = Nobody
       THEN /\ row' = [row EXCEPT ![m] = Waiting(0)]
            /\ UNCHANGED <<hands, faults>>
       ELSE /\ row' = [row EXCEPT ![m] = Leased(row[m].token, 0)]
            \* Handed over only if the commit was answered; otherwise the lease has to run out.
            /\ \/ hands' = hands \cup {Hand(row[m].writer, m, row[m].token, 1, "claimed")} /\ NoFault
               \/ UNCHANGED hands /\ Fault
    /\ UNCHANGED <<newest, looks, received, excused, again, stale>> /\ By("enqueue")

Rollback(m) ==
    /\ row[m].state = "OPEN"
    /\ Fault
    /\ row' = [row EXCEPT ![m] = Ended("ROLLED BACK", 0)]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ By("rollback")

---------------------------------------------------------------------------
\* Claiming

Take(w, m, attempts, name) ==
    LET token == IF Has("claim with the old token") /\ newest[m] > 0 THEN newest[m] ELSE newest[m] + 1 IN
    /\ row' = [row EXCEPT ![m] = Leased(token, attempts)]
    /\ newest' = [newest EXCEPT ![m] = token]
    /\ \/ hands' = hands \cup {Hand(w, m, token, attempts, "claimed")} /\ NoFault
       \/ hands' = hands \cup {Hand(w, m, token, attempts, "unanswered")} /\ Fault
    /\ UNCHANGED <<looks, received, again, stale>> /\ By(name)

Claim(w, m) ==
    /\ row[m].state = "PENDING"
    /\ Take(w, m, row[m].attempts + 1, "claim")
    /\ UNCHANGED excused

ClaimExpired(w, m) ==
    /\ row[m].state = "PROCESSING" /\ row[m].over
    /\ row[m].attempts < MaxAttempts
    /\ Take(w, m, row[m].attempts + 1, "claim expired")
    /\ UNCHANGED excused

\* A claim whose answer was lost is given back by its token.
GiveBack(h) ==
    /\ h.phase = "unanswered"
    /\ hands' = hands \ {h}
    /\ row' = IF row[h.message].state = "PROCESSING" /\ row[h.message].token = h.token
              THEN [row EXCEPT ![h.message] = Waiting(IF @.attempts = 0 THEN 0 ELSE @.attempts - 1)] ELSE row
    /\ UNCHANGED <<newest, looks, received, excused, again, stale>> /\ NoFault /\ By("give back")

IsHeld(m) == \E h \in hands : h.message = m /\ h.token = row[m].token

\* Time passes. With a worker that is still at it that is a fault; without one it is what everybody waits for.
Expire(m) ==
    /\ row[m].state = "PROCESSING" /\ ~row[m].over
    /\ IF IsHeld(m) THEN Fault ELSE NoFault
    /\ row' = [row EXCEPT ![m].over = TRUE]
    /\ excused' = excused \cup {m}
    /\ UNCHANGED <<hands, newest, looks, received, again, stale>> /\ By("expire")

---------------------------------------------------------------------------
\* Delivering

Moved(h, phase) == hands' = (hands \ {h}) \cup {[h EXCEPT !.phase = phase]}

Send(h) ==
    /\ h.phase = "claimed"
    /\ Moved(h, "sent")
    /\ UNCHANGED <<row, newest, looks, received, excused, again, stale>> /\ NoFault /\ By("send")

Answer(h) ==
    /\ h.phase = "sent"
    /\ \/ /\ Moved(h, "ok")
          /\ received' = received \cup {h.message}
          /\ again' = IF h.message \in received /\ h.message \notin excused THEN again \cup {h.message} ELSE again
       \/ Moved(h, "failed") /\ UNCHANGED <<received, again>>
       \/ Moved(h, "rejected") /\ UNCHANGED <<received, again>>
    /\ UNCHANGED <<row, newest, looks, excused, stale>> /\ NoFault /\ By("answer")

---------------------------------------------------------------------------
\* Outcomes: each is one statement that holds only for its token

Holds(h, unguarded) ==
    IF unguarded THEN row[h.message].state \in Live
    ELSE row[h.message].state = "PROCESSING" /\ row[h.message].token = h.token

\* The statement is answered, or its answer is lost and it is sent again; then the row is not met any more, and that is that.
Settle(h, unguarded, after, name) ==
    /\ IF Holds(h, unguarded)
       THEN /\ row' = [row EXCEPT ![h.message] = after]
            /\ stale' = (stale \/ h.token # newest[h.message])
       ELSE UNCHANGED <<row, stale>>
    /\ \/ hands' = hands \ {h} /\ NoFault
       \/ Holds(h, unguarded) /\ UNCHANGED hands /\ Fault
    /\ UNCHANGED <<newest, looks, received, excused, again>> /\ By(name)

Counted(h) == IF row[h.message].attempts = 0 THEN 1 ELSE row[h.message].attempts

Acknowledge(h) == h.phase = "ok" /\ Settle(h, Has("ack without token"), Ended("DELIVERED", Counted(h)), "acknowledge")

Reschedule(h) ==
    /\ h.phase = "failed" /\ h.attempt < MaxAttempts
    /\ Settle(h, Has("nack unguarded"), Waiting(Counted(h)), "reschedule")

Bury(h) ==
    /\ h.phase = "rejected" \/ (h.phase = "failed" /\ h.attempt >= MaxAttempts)
    /\ Settle(h, FALSE, Ended("DEAD", Counted(h)), "bury")

\* Claimed and not tried: at shutdown, or when there is too little left of the lease.
Release(h) ==
    /\ h.phase = "claimed" /\ Fault
    /\ row' = IF Holds(h, FALSE) THEN [row EXCEPT ![h.message] = Waiting(IF @.attempts = 0 THEN 0 ELSE @.attempts - 1)] ELSE row
    /\ hands' = hands \ {h}
    /\ UNCHANGED <<newest, looks, received, excused, again, stale>> /\ By("release")

Extend(h) ==
    /\ h.phase \in {"claimed", "sent"} /\ Holds(h, FALSE) /\ row[h.message].over
    /\ row' = [row EXCEPT ![h.message].over = FALSE]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ NoFault /\ By("extend")

\* A process dies, and with it the transactions it had open.
Crash(w) ==
    /\ Fault
    /\ hands' = {h \in hands : h.worker # w}
    /\ row' = [m \in Messages |-> IF row[m].writer = w THEN Ended("ROLLED BACK", 0) ELSE row[m]]
    /\ excused' = excused \cup {h.message : h \in {h \in hands : h.worker = w}}
    /\ UNCHANGED <<newest, looks, received, again, stale>> /\ By("crash")

---------------------------------------------------------------------------
\* Housekeeping and operators

IsLost(m) == row[m].state = "PROCESSING" /\ row[m].over /\ row[m].attempts >= MaxAttempts

\* The rows are locked by the same statement that changes them, so this is one step; by id alone it would be two.
Sweep(m) ==
    /\ ~Has("sweep by id only") /\ ~Has("no sweep")
    /\ IsLost(m)
    /\ row' = [row EXCEPT ![m] = Ended("DEAD", @.attempts)]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ NoFault /\ By("sweep")

SweepLooks(m) ==
    /\ Has("sweep by id only") /\ IsLost(m)
    /\ looks' = looks \cup {<<"sweep", m>>}
    /\ UNCHANGED <<row, hands, newest, received, excused, again, stale>> /\ NoFault /\ By("sweep looks")

SweepBuries(m) ==
    /\ <<"sweep", m>> \in looks
    /\ looks' = looks \ {<<"sweep", m>>}
    /\ row' = IF row[m].state \in Live THEN [row EXCEPT ![m] = Ended("DEAD", @.attempts)] ELSE row
    /\ UNCHANGED <<hands, newest, received, excused, again, stale>> /\ NoFault /\ By("sweep")

Replay(m) ==
    /\ row[m].state = "DEAD" /\ Fault
    /\ row' = [row EXCEPT ![m] = Waiting(0)]
    /\ excused' = excused \cup {m}
    /\ UNCHANGED <<hands, newest, looks, received, again, stale>> /\ By("replay")

Discard(m) ==
    /\ row[m].state = "DEAD" /\ Fault
    /\ row' = [row EXCEPT ![m] = Ended("GONE", @.attempts)]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ By("discard")

\* Dead letters past their retention: found first, and then removed by a condition that repeats what was found.
PurgeLooks(m) ==
    /\ row[m].state = "DEAD" /\ Fault
    /\ looks' = looks \cup {<<"purge", m>>}
    /\ UNCHANGED <<row, hands, newest, received, excused, again, stale>> /\ By("purge looks")

Purge(m) ==
    /\ <<"purge", m>> \in looks
    /\ looks' = looks \ {<<"purge", m>>}
    /\ row' = IF row[m].state = "DEAD" \/ (Has("purge without state") /\ row[m].state \in Live)
              THEN [row EXCEPT ![m] = Ended("GONE", @.attempts)] ELSE row
    /\ UNCHANGED <<hands, newest, received, excused, again, stale>> /\ NoFault /\ By("purge")

PurgeArchive(m) ==
    /\ row[m].state = "DELIVERED"
    /\ row' = [row EXCEPT ![m] = Ended("GONE", @.attempts)]
    /\ UNCHANGED <<hands, newest, looks, received, excused, again, stale>> /\ NoFault /\ By("purge archive")

---------------------------------------------------------------------------

Of(h) == GiveBack(h) \/ Send(h) \/ Answer(h) \/ Acknowledge(h) \/ Reschedule(h) \/ Bury(h) \/ Release(h) \/ Extend(h)

On(m) == Open(m) \/ Commit(m) \/ Rollback(m) \/ Expire(m) \/ Sweep(m) \/ SweepLooks(m) \/ SweepBuries(m) \/ Replay(m)
         \/ Discard(m) \/ PurgeLooks(m) \/ Purge(m) \/ PurgeArchive(m)

Next ==
    \/ \E m \in Messages : On(m)
    \/ \E w \in Workers, m \in Messages : OpenBorn(w, m) \/ Claim(w, m) \/ ClaimExpired(w, m)
    \/ \E h \in hands : Of(h)
    \/ \E w \in Workers : Crash(w)

Spec == Init /\ [][Next]_vars

\* Somebody always goes on: a worker with what it has in its hands, some worker with what is there to claim, and time.
Goes(m) ==
    \/ \E w \in Workers : Claim(w, m) \/ ClaimExpired(w, m)
    \/ \E h \in {h \in hands : h.message = m} : GiveBack(h) \/ Send(h) \/ Answer(h) \/ Acknowledge(h) \/ Reschedule(h) \/ Bury(h)
    \/ Sweep(m)
    \/ Commit(m)

FairSpec == Spec /\ \A m \in Messages : WF_vars(Goes(m)) /\ WF_vars(~IsHeld(m) /\ Expire(m))

---------------------------------------------------------------------------
\* The promise

Committed(m) == row[m].state \notin Unwritten

NoPhantom == \A m \in received : Committed(m)

\* What left the table as delivered was received. That nothing else leaves it but the dead is what Legal says.
NoLoss == \A m \in Messages : row[m].state = "DELIVERED" => m \in received

TokenSafety == ~stale

BoundedDuplicates == again = {}

\* A row has a token exactly while somebody works on it.
LeaseHasToken == \A m \in Messages : Committed(m) => (row[m].state = "PROCESSING") = (row[m].token # NoToken)

\* No more than are allowed.
BoundedAttempts == \A m \in Messages : row[m].attempts <= MaxAttempts

\* The transitions a row may take, and by what: the list that traces are checked by, too.
Transitions == {
    <<"NONE", "PENDING", "enqueue">>, <<"NONE", "PROCESSING", "enqueue">>,
    <<"PENDING", "PROCESSING", "claim">>, <<"PROCESSING", "PROCESSING", "claim expired">>,
    <<"PROCESSING", "DELIVERED", "acknowledge">>, <<"PROCESSING", "PENDING", "reschedule">>, <<"PROCESSING", "DEAD", "bury">>,
    <<"PROCESSING", "PENDING", "release">>, <<"PROCESSING", "PENDING", "give back">>,
    <<"PROCESSING", "DEAD", "sweep">>, <<"DEAD", "PENDING", "replay">>, <<"DEAD", "GONE", "discard">>, <<"DEAD", "GONE", "purge">>,
    <<"DELIVERED", "GONE", "purge archive">>}

Name(state) == IF state \in Unwritten THEN "NONE" ELSE state
Steps(m) == {t \in Transitions : t[1] = Name(row[m].state) /\ t[2] = Name(row'[m].state)}
Changed(m) == Name(row'[m].state) # Name(row[m].state) \/ (row'[m].token # row[m].token /\ Committed(m))

\* Terminal states absorb: from the dead there is a way back only for an operator, from the delivered none.
Legal == [][\A m \in Messages : Changed(m) => Steps(m) # {} /\ (Recording => \E t \in Steps(m) : t[3] = by')]_vars

\* In the end everything that was written is delivered or dead.
Delivered == \A m \in Messages : Committed(m) ~> row[m].state \in {"DELIVERED", "DEAD", "GONE"}

---------------------------------------------------------------------------
\* For the checker

ASSUME TLCSet(1, {})

Noted ==
    \A m \in Messages : Changed(m) =>
        LET t == <<Name(row[m].state), Name(row'[m].state), by'>> IN
        t \in TLCGet(1) \/ (PrintT(<<"transition", t>>) /\ TLCSet(1, TLCGet(1) \cup {t}))

Symmetry == Permutations(Workers) \cup Permutations(Messages)
===========================================================================
