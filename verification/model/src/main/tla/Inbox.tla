------------------------------- MODULE Inbox -------------------------------
(***************************************************************************)
(* The inbox: one message of a broker, one consumer, one handler.          *)
(*                                                                         *)
(* Inline, the receiver's transaction writes the mark and takes effect.    *)
(* Durable, it writes the mark and a row for the handler; a worker leases  *)
(* the row as it does any other, and the handler's transaction removes it  *)
(* before it does anything else: the row lock keeps everybody else away    *)
(* until the transaction ends, and who finds nothing to remove rolls back. *)
(* The broker gives the message again until it is told that it was had,    *)
(* and once more if that answer is lost.                                   *)
(*                                                                         *)
(* After its retention a mark is purged. That the message comes again when *)
(* it was handled and its mark is gone is outside the promise, and left    *)
(* out; that it comes again while its row still waits is not.              *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Workers,      \* who receives and who handles
    Durable,      \* whether the message is stored first
    MaxAttempts,  \* after so many a failure is the end
    MaxFaults,    \* how many faults a run may have
    Bugs,         \* what is wrong on purpose; nothing in the proper run
    Recording     \* whether the transitions of the row are noted

VARIABLES
    mark,      \* whether the mark is committed
    row,       \* the row of the handler
    copies,    \* how many rows of the message there are beside it
    receiver,  \* of each worker: its transaction as a receiver
    handler,   \* of each worker: what it does as a handler, and under which token
    lock,      \* whose open transaction has removed the row
    newest,    \* the newest token of a lease
    acked,     \* whether the broker was told
    effects,   \* how often the handler took effect
    faults,    \* how many are left
    by         \* what the last step was; not part of the state

vars == <<mark, row, copies, receiver, handler, lock, newest, acked, effects, faults, by>>
view == <<mark, row, copies, receiver, handler, lock, newest, acked, effects, faults>>

Names == {"mark and effect in two transactions", "removed after the effect", "count not checked", "told before the commit",
          "row with an id of its own"}
ASSUME Bugs \subseteq Names
Has(bug) == bug \in Bugs

Nobody == "nobody"
NoRow == [state |-> "NONE", token |-> 0, attempts |-> 0, over |-> FALSE]
Free == [phase |-> "idle", token |-> 0, attempt |-> 0]

By(name) == by' = IF Recording THEN name ELSE by
Fault == faults > 0 /\ faults' = faults - 1
NoFault == UNCHANGED faults

Init ==
    /\ mark = FALSE /\ row = NoRow /\ copies = 0
    /\ receiver = [w \in Workers |-> "idle"]
    /\ handler = [w \in Workers |-> Free]
    /\ lock = Nobody /\ newest = 0 /\ acked = FALSE /\ effects = 0
    /\ faults = MaxFaults /\ by = ""

IsLive == row.state # "NONE" \/ lock # Nobody

\* A message that comes again after it was handled and its mark purged is another one for all that anybody knows.
IsPromised == ~Durable \/ effects = 0 \/ mark \/ IsLive

---------------------------------------------------------------------------
\* Receiving

\* The broker gives the message. The mark is written first; who comes while another transaction has it waits for that one.
Receive(w) ==
    /\ receiver[w] = "idle" /\ ~acked
    /\ ~\E other \in Workers : receiver[other] \in {"marked", "worked"}
    /\ IsPromised
    /\ receiver' = [receiver EXCEPT ![w] = IF mark THEN "known" ELSE "marked"]
    /\ acked' = Has("told before the commit")
    /\ UNCHANGED <<mark, row, copies, handler, lock, newest, effects>> /\ NoFault /\ By("receive")

\* Durable: mark and row in one commit. The row's id is made of the message's, so there is never a second one.
CommitStored(w) ==
    /\ Durable /\ receiver[w] = "marked" /\ IsPromised
    /\ mark' = TRUE
    /\ row' = IF IsLive THEN row ELSE [NoRow EXCEPT !.state = "PENDING"]
    /\ copies' = IF IsLive /\ Has("row with an id of its own") THEN copies + 1 ELSE copies
    /\ receiver' = [receiver EXCEPT ![w] = "known"]
    /\ UNCHANGED <<handler, lock, newest, acked, effects>> /\ NoFault /\ By("enqueue")

\* Inline: mark and effect in one commit.
CommitInline(w) ==
    /\ ~Durable /\ receiver[w] = "marked" /\ ~Has("mark and effect in two transactions")
    /\ mark' = TRUE /\ effects' = effects + 1
    /\ receiver' = [receiver EXCEPT ![w] = "known"]
    /\ UNCHANGED <<row, copies, handler, lock, newest, acked>> /\ NoFault /\ By("handle inline")

\* Only with the bug.
CommitEffect(w) ==
    /\ ~Durable /\ receiver[w] = "marked" /\ Has("mark and effect in two transactions")
    /\ effects' = effects + 1
    /\ receiver' = [receiver EXCEPT ![w] = "worked"]
    /\ UNCHANGED <<mark, row, copies, handler, lock, newest, acked>> /\ NoFault /\ By("effect")

CommitMark(w) ==
    /\ receiver[w] = "worked"
    /\ mark' = TRUE
    /\ receiver' = [receiver EXCEPT ![w] = "known"]
    /\ UNCHANGED <<row, copies, handler, lock, newest, acked, effects>> /\ NoFault /\ By("mark")

\* The broker is told, or the answer to the commit or to the broker is lost, and it gives the message again.
Tell(w) ==
    /\ receiver[w] = "known"
    /\ receiver' = [receiver EXCEPT ![w] = "idle"]
    /\ \/ acked' = TRUE /\ NoFault
       \/ UNCHANGED acked /\ Fault
    /\ UNCHANGED <<mark, row, copies, handler, lock, newest, effects>> /\ By("tell")

PurgeMark ==
    /\ Durable /\ mark /\ IsLive /\ Fault
    /\ mark' = FALSE
    /\ UNCHANGED <<row, copies, receiver, handler, lock, newest, acked, effects>> /\ By("purge mark")

---------------------------------------------------------------------------
\* Handling

Leased(attempts) == [state |-> "PROCESSING", token |-> newest + 1, attempts |-> attempts, over |-> FALSE]

Claim(w) ==
    /\ handler[w].phase = "idle" /\ lock = Nobody
    /\ \/ row.state = "PENDING" /\ By("claim")
       \/ row.state = "PROCESSING" /\ row.over /\ row.attempts < MaxAttempts /\ By("claim expired")
    /\ newest' = newest + 1
    /\ row' = Leased(row.attempts + 1)
    /\ handler' = [handler EXCEPT ![w] = [phase |-> "claimed", token |-> newest + 1, attempt |-> row.attempts + 1]]
    /\ UNCHANGED <<mark, copies, receiver, lock, acked, effects>> /\ NoFault

IsHeld == \E w \in Workers : handler[w].phase # "idle" /\ handler[w].token = row.token

Expire ==
    /\ row.state = "PROCESSING" /\ ~row.over
    /\ IF IsHeld THEN Fault ELSE NoFault
    /\ row' = [row EXCEPT !.over = TRUE]
    /\ UNCHANGED <<mark, copies, receiver, handler, lock, newest, acked, effects>> /\ By("expire")

Meets(w) == row.state = "PROCESSING" /\ row.token = handler[w].token

\* The first statement of the handler's transaction. It waits for another one that has the row.
Remove(w) ==
    /\ handler[w].phase = "claimed" /\ lock = Nobody
    /\ IF Meets(w) /\ ~Has("removed after the effect")
       THEN lock' = w /\ handler' = [handler EXCEPT ![w].phase = "removed"]
       ELSE /\ UNCHANGED lock
            /\ handler' = IF Has("count not checked") \/ Has("removed after the effect")
                          THEN [handler EXCEPT ![w].phase = "removed"] ELSE [handler EXCEPT ![w] = Free]
    /\ UNCHANGED <<mark, row, copies, receiver, newest, acked, effects>> /\ NoFault /\ By("remove")

CommitHandled(w) ==
    /\ handler[w].phase = "removed"
    /\ effects' = effects + 1
    /\ row' = IF lock = w THEN NoRow ELSE row
    /\ lock' = IF lock = w THEN Nobody ELSE lock
    /\ handler' = IF Has("removed after the effect") THEN [handler EXCEPT ![w].phase = "done"] ELSE [handler EXCEPT ![w] = Free]
    /\ UNCHANGED <<mark, copies, receiver, newest, acked>> /\ NoFault /\ By("handle")

\* Only with the bug.
RemoveLate(w) ==
    /\ handler[w].phase = "done"
    /\ row' = IF Meets(w) THEN NoRow ELSE row
    /\ handler' = [handler EXCEPT ![w] = Free]
    /\ UNCHANGED <<mark, copies, receiver, lock, newest, acked, effects>> /\ NoFault /\ By("handle")

\* The handler throws: rolled back. The attempt is written afterwards, outside of it.
Fail(w) ==
    /\ handler[w].phase = "removed" /\ Fault
    /\ lock' = IF lock = w THEN Nobody ELSE lock
    /\ handler' = [handler EXCEPT ![w].phase = "failed"]
    /\ UNCHANGED <<mark, row, copies, receiver, newest, acked, effects>> /\ By("throw")

WriteFailure(w) ==
    /\ handler[w].phase = "failed" /\ lock = Nobody
    /\ LET dead == handler[w].attempt >= MaxAttempts IN
       /\ row' = IF Meets(w) THEN [NoRow EXCEPT !.state = IF dead THEN "DEAD" ELSE "PENDING", !.attempts = row.attempts] ELSE row
       /\ By(IF dead THEN "bury" ELSE "reschedule")
    /\ handler' = [handler EXCEPT ![w] = Free]
    /\ UNCHANGED <<mark, copies, receiver, lock, newest, acked, effects>> /\ NoFault

Sweep ==
    /\ row.state = "PROCESSING" /\ row.over /\ row.attempts >= MaxAttempts /\ lock = Nobody
    /\ row' = [NoRow EXCEPT !.state = "DEAD", !.attempts = row.attempts]
    /\ UNCHANGED <<mark, copies, receiver, handler, lock, newest, acked, effects>> /\ NoFault /\ By("sweep")

Replay ==
    /\ row.state = "DEAD" /\ Fault
    /\ row' = [NoRow EXCEPT !.state = "PENDING"]
    /\ UNCHANGED <<mark, copies, receiver, handler, lock, newest, acked, effects>> /\ By("replay")

\* A process dies; the server rolls its transactions back.
Crash(w) ==
    /\ Fault
    /\ receiver[w] # "idle" \/ handler[w].phase # "idle"
    /\ receiver' = [receiver EXCEPT ![w] = "idle"]
    /\ handler' = [handler EXCEPT ![w] = Free]
    /\ lock' = IF lock = w THEN Nobody ELSE lock
    /\ UNCHANGED <<mark, row, copies, newest, acked, effects>> /\ By("crash")

---------------------------------------------------------------------------

Works(w) == Receive(w) \/ CommitStored(w) \/ CommitInline(w) \/ Tell(w) \/ Claim(w) \/ Remove(w) \/ CommitHandled(w)
            \/ WriteFailure(w)

Next ==
    \/ \E w \in Workers : Works(w) \/ CommitEffect(w) \/ CommitMark(w) \/ RemoveLate(w) \/ Fail(w) \/ Crash(w)
    \/ PurgeMark \/ Expire \/ Sweep \/ Replay

Spec == Init /\ [][Next]_vars

FairSpec ==
    /\ Spec
    /\ WF_vars(\E w \in Workers : Works(w)) /\ WF_vars(~IsHeld /\ Expire) /\ WF_vars(Sweep)
    /\ \A w \in Workers : WF_vars(Remove(w)) /\ WF_vars(CommitHandled(w)) /\ WF_vars(WriteFailure(w)) /\ WF_vars(Tell(w))
                          /\ WF_vars(CommitStored(w)) /\ WF_vars(CommitInline(w))

---------------------------------------------------------------------------
\* The promise

OneEffect == effects + copies <= 1

\* What the broker was told of has taken effect, or waits where it can be seen.
NoLoss == acked => effects > 0 \/ IsLive

\* Inline, mark and effect are there together or not at all.
EffectHasMark == ~Durable => mark = (effects > 0)

\* Everything that was received takes effect in the end, or is dead.
Handled == mark ~> (effects > 0 \/ row.state = "DEAD")

---------------------------------------------------------------------------
\* For the checker

ASSUME TLCSet(1, {})

\* What the handler's transaction removes goes to the archive.
Becomes == IF by' = "handle" THEN "DELIVERED" ELSE row'.state

Noted ==
    row' # row /\ (Becomes # row.state \/ row'.token # row.token) =>
        LET t == <<row.state, Becomes, by'>> IN
        t \in TLCGet(1) \/ (PrintT(<<"transition", t>>) /\ TLCSet(1, TLCGet(1) \cup {t}))

Symmetry == Permutations(Workers)
===========================================================================
