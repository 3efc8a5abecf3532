----------------------------- MODULE Commands -----------------------------
(***************************************************************************)
(* Idempotent commands: the row of one key, and those who come with it.    *)
(*                                                                         *)
(* FENCED runs the work in a transaction whose last statement ends the     *)
(* command; LEASED runs it outside of any and ends it afterwards; JOIN     *)
(* claims, works and ends in one transaction of the caller's. Leases and   *)
(* keys run out whenever they like; what goes wrong is paid from a number  *)
(* of faults.                                                              *)
(*                                                                         *)
(* All callers come with the same request: a mismatch is decided before    *)
(* anything that is modelled. What is shared within a node (flights, the   *)
(* memory of ended commands) and waiting for a result are left out: they   *)
(* save statements, and every statement here is one that they might save.  *)
(* Results are numbers: the token of the owner who ran.                    *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Callers,      \* who comes with the key
    ModeOf,       \* and how
    MaxAttempts,  \* after so many a command is uncertain instead of being tried again
    MaxFaults,    \* how many faults a run may have
    Events,       \* what else may happen
    Bugs,         \* what is wrong on purpose; nothing in the proper run
    Recording     \* whether the transitions of the row are noted

VARIABLES
    row,      \* the row of the key
    caller,   \* the memory of each caller
    newest,   \* the newest owner token
    lock,     \* who has the row in an open transaction of his own
    epoch,    \* how often the key's time was over
    effects,  \* how often the command took effect since then
    told,     \* which results callers were told, and of which time of the key
    stale,    \* whether an end was accepted from somebody who was not the newest owner
    faults,   \* how many are left
    by        \* what the last step was; not part of the state

vars == <<row, caller, newest, lock, epoch, effects, told, stale, faults, by>>
view == <<row, caller, newest, lock, epoch, effects, told, stale, faults>>

Names == {"completed without fence", "take-over without a new fence", "fence alone", "effect and end in two transactions",
          "sweep without state", "take-over after the effect began", "given back after the effect", "doubt is not swept",
          "committed claim of a joined command is taken over"}
AllEvents == {"throw", "throw after the effect", "reject", "lost answer", "operator", "probe", "key over", "crash", "expiry",
              "unseen end"}
ASSUME Bugs \subseteq Names
ASSUME Events \subseteq AllEvents
Has(bug) == bug \in Bugs
May(event) == event \in Events

Nobody == "nobody"
NoToken == 0

\* Over: the lease has run out. Uncertain: nobody may take over then. KeyOver: the key's time has.
NoRow == [state |-> "ABSENT", owner |-> NoToken, fence |-> 0, over |-> FALSE, uncertain |-> FALSE, attempts |-> 0, result |-> 0,
          keyOver |-> FALSE]
Idle == [phase |-> "idle", token |-> NoToken, fence |-> 0, epoch |-> 0, act |-> ""]
Done == [Idle EXCEPT !.phase = "done"]

By(name) == by' = IF Recording THEN name ELSE by
Fault == faults > 0 /\ faults' = faults - 1
NoFault == UNCHANGED faults

Init ==
    /\ row = NoRow
    /\ caller = [c \in Callers |-> Idle]
    /\ newest = NoToken /\ lock = Nobody
    /\ epoch = 0 /\ effects = 0 /\ told = {} /\ stale = FALSE
    /\ faults = MaxFaults /\ by = ""

Goes(c, memory) == caller' = [caller EXCEPT ![c] = memory]
Told(result) == told' = told \cup {<<epoch, result>>}

Claimed(token, fence, attempts) ==
    [NoRow EXCEPT !.state = "IN_PROGRESS", !.owner = token, !.fence = fence, !.attempts = attempts]
Owner(token, fence, since) == [phase |-> "running", token |-> token, fence |-> fence, epoch |-> since, act |-> ""]

\* CommandRecord.isOver: the key is free again.
IsOver == row.keyOver /\ (row.state \in {"COMPLETED", "FAILED"} \/ (row.state = "IN_PROGRESS" /\ row.over /\ ~row.uncertain))

---------------------------------------------------------------------------
\* Claiming: insert first, and if there is a row, decide by it

Insert(c) ==
    /\ ModeOf[c] # "JOIN" /\ caller[c].phase = "idle" /\ row.state = "ABSENT" /\ lock = Nobody
    /\ newest' = newest + 1
    /\ row' = Claimed(newest + 1, 1, 1)
    /\ \/ Goes(c, Owner(newest + 1, 1, epoch)) /\ NoFault
       \* The answer is lost; the next look finds the row with this claim's token.
       \/ May("lost answer") /\ Fault /\ Goes(c, [Idle EXCEPT !.token = newest + 1])
    /\ UNCHANGED <<lock, epoch, effects, told, stale>> /\ By("claim")

\* CommandClaimer.decide: the key's time, the request, the state, the lease.
Decision(c) ==
    IF row.state = "IN_PROGRESS" /\ row.owner = caller[c].token THEN "mine"
    ELSE IF IsOver THEN "take"
    ELSE CASE row.state = "COMPLETED" -> "ended"
           [] row.state = "FAILED" -> "take"
           [] row.state = "UNCERTAIN" -> "unknown"
           [] row.state = "IN_PROGRESS" ->
                IF ~row.over THEN "busy"
                ELSE IF (row.uncertain /\ ~Has("take-over after the effect began")) \/ row.attempts >= MaxAttempts
                THEN "doubt" ELSE "take"

Look(c) ==
    /\ ModeOf[c] # "JOIN" /\ caller[c].phase = "idle" /\ row.state # "ABSENT"
    /\ LET found == [phase |-> "looked", token |-> row.owner, fence |-> row.fence, epoch |-> epoch, act |-> Decision(c)] IN
       CASE Decision(c) = "mine" -> Goes(c, Owner(row.owner, row.fence, epoch)) /\ UNCHANGED told
         [] Decision(c) = "ended" -> Goes(c, Done) /\ Told(row.result)
         [] Decision(c) = "unknown" -> Goes(c, IF May("probe") THEN [found EXCEPT !.act = "probe"] ELSE Done) /\ UNCHANGED told
         [] Decision(c) = "busy" -> UNCHANGED <<caller, told>>
         [] OTHER -> Goes(c, found) /\ UNCHANGED told
    /\ UNCHANGED <<row, newest, lock, epoch, effects, stale>> /\ NoFault /\ By("look")

IsFound(c) == row.state # "ABSENT" /\ row.owner = caller[c].token /\ row.fence = caller[c].fence

\* RETAKE and RESTART: by owner and fence of the row that was found, and only in a state that allows it.
MayTake ==
    \/ row.state = "FAILED"
    \/ /\ row.state = "IN_PROGRESS"
       /\ row.over
       /\ ~row.uncertain \/ Has("take-over after the effect began")
    \/ IsOver

Retaken(restart, token) ==
    IF Has("take-over without a new fence") THEN [row EXCEPT !.state = "IN_PROGRESS", !.over = FALSE]
    ELSE Claimed(token, row.fence + 1, IF restart THEN 1 ELSE row.attempts + 1)

Take(c) ==
    /\ caller[c].phase = "looked" /\ caller[c].act = "take" /\ lock = Nobody
    /\ IF IsFound(c) /\ MayTake
       THEN /\ newest' = newest + 1
            /\ row' = Retaken(IsOver, newest + 1)
            /\ epoch' = IF IsOver THEN epoch + 1 ELSE epoch
            /\ Goes(c, Owner(row'.owner, row'.fence, epoch'))
            /\ effects' = IF IsOver THEN 0 ELSE effects
       ELSE Goes(c, Idle) /\ UNCHANGED <<row, newest, epoch, effects>>
    /\ UNCHANGED <<lock, told, stale>> /\ NoFault /\ By(IF row.state = "IN_PROGRESS" THEN "take over" ELSE "claim")

Doubt(c) ==
    /\ caller[c].phase = "looked" /\ caller[c].act = "doubt" /\ lock = Nobody
    /\ row' = IF IsFound(c) /\ row.state = "IN_PROGRESS" /\ row.over THEN [row EXCEPT !.state = "UNCERTAIN"] ELSE row
    /\ Goes(c, Idle)
    /\ UNCHANGED <<newest, lock, epoch, effects, told, stale>> /\ NoFault /\ By("doubt")

---------------------------------------------------------------------------
\* Ending

Owns(c) ==
    IF Has("completed without fence") THEN row.state # "ABSENT"
    ELSE /\ row.state \in {"IN_PROGRESS", "UNCERTAIN"}
         /\ row.fence = caller[c].fence
         /\ row.owner = caller[c].token \/ Has("fence alone")

Ended(result) == [row EXCEPT !.state = "COMPLETED", !.result = result]
\* An effect that comes after its key was over is not promised to be the only one.
Happens(c) == effects' = IF caller[c].epoch = epoch THEN effects + 1 ELSE effects
Accepts(c) == stale' = (stale \/ row.owner # caller[c].token)

\* FENCED: the end is the last statement of the transaction in which the work was done.
CommitWork(c) ==
    /\ ModeOf[c] = "FENCED" /\ caller[c].phase = "running" /\ lock = Nobody
    /\ ~Has("effect and end in two transactions")
    /\ Owns(c)
    /\ row' = Ended(caller[c].token) /\ Happens(c) /\ Accepts(c)
    /\ \/ Goes(c, Done) /\ Told(caller[c].token) /\ NoFault
       \/ May("lost answer") /\ Fault /\ Goes(c, [caller[c] EXCEPT !.phase = "unanswered"]) /\ UNCHANGED told
    /\ UNCHANGED <<newest, lock, epoch>> /\ By("complete")

\* The connection is lost before the commit arrives: rolled back, but that is not known here.
LoseCommit(c) ==
    /\ ModeOf[c] = "FENCED" /\ caller[c].phase = "running" /\ May("lost answer") /\ Fault
    /\ Goes(c, [caller[c] EXCEPT !.phase = "unanswered"])
    /\ UNCHANGED <<row, newest, lock, epoch, effects, told, stale>> /\ By("lose commit")

\* CommandCompletion.wasCommitted: a statement that waits for the transaction, and gives the command back if it was rolled back.
FindOut(c) ==
    /\ caller[c].phase = "unanswered" /\ lock = Nobody
    /\ IF Owns(c) /\ row.state # "COMPLETED"
       THEN row' = [row EXCEPT !.state = IF row.attempts >= MaxAttempts THEN "UNCERTAIN" ELSE "FAILED"] /\ UNCHANGED told
       ELSE /\ UNCHANGED row
            /\ IF row.state = "COMPLETED" /\ row.owner = caller[c].token /\ row.fence = caller[c].fence
               THEN Told(caller[c].token) ELSE UNCHANGED told
    /\ Goes(c, Done)
    /\ UNCHANGED <<newest, lock, epoch, effects, stale>> /\ NoFault /\ By("fail")

\* Only with the bug: first the work, then, in another transaction, the end.
CommitEffect(c) ==
    /\ Has("effect and end in two transactions") /\ ModeOf[c] = "FENCED" /\ caller[c].phase = "running"
    /\ Happens(c)
    /\ Goes(c, [caller[c] EXCEPT !.phase = "did"])
    /\ UNCHANGED <<row, newest, lock, epoch, told, stale>> /\ NoFault /\ By("commit effect")

\* LEASED: said durably before it is true. It may then happen at any time, also much later.
StartEffect(c) ==
    /\ ModeOf[c] = "LEASED" /\ caller[c].phase = "running" /\ lock = Nobody
    /\ IF Owns(c) /\ row.state = "IN_PROGRESS"
       THEN row' = [row EXCEPT !.uncertain = TRUE] /\ Goes(c, [caller[c] EXCEPT !.phase = "started"])
       ELSE UNCHANGED row /\ Goes(c, Done)
    /\ UNCHANGED <<newest, lock, epoch, effects, told, stale>> /\ NoFault /\ By("start effect")

Effect(c) ==
    /\ caller[c].phase = "started"
    /\ Happens(c)
    /\ Goes(c, [caller[c] EXCEPT !.phase = "did"])
    /\ UNCHANGED <<row, newest, lock, epoch, told, stale>> /\ NoFault /\ By("effect")

\* In a statement of its own; if its answer is lost it is sent again, and the row tells. If the database stays away the caller is
\* told what happened all the same.
End(c) ==
    /\ caller[c].phase = "did" /\ lock = Nobody
    /\ Owns(c)
    /\ \/ row' = Ended(caller[c].token) /\ Accepts(c) /\ NoFault
       \/ May("lost answer") /\ Fault /\ ModeOf[c] = "LEASED" /\ UNCHANGED <<row, stale>>
    /\ Goes(c, Done) /\ Told(caller[c].token)
    /\ UNCHANGED <<newest, lock, epoch, effects>> /\ By("complete")

\* CommandCompletion.lost: somebody else has it. If he is done, his result is the answer.
Lose(c) ==
    /\ caller[c].phase \in {"running", "did"} /\ ~Owns(c)
    /\ Goes(c, Done)
    /\ IF row.state = "COMPLETED" THEN Told(row.result) ELSE UNCHANGED told
    /\ UNCHANGED <<row, newest, lock, epoch, effects, stale>> /\ NoFault /\ By("lose")

\* The work throws: what it did in its transaction is rolled back, and the command is given back. Work that throws after
\* externalEffectStarted() leaves the command uncertain, unless it says externalEffectDidNotHappen(): a "throw" that has begun.
Throw(c) ==
    /\ ModeOf[c] # "JOIN" /\ lock = Nobody
    /\ \/ May("throw") /\ caller[c].phase \in {"running", "started"}
          /\ row' = IF Owns(c) THEN [row EXCEPT !.state = IF row.attempts >= MaxAttempts THEN "UNCERTAIN" ELSE "FAILED"] ELSE row
       \/ May("throw after the effect") /\ caller[c].phase \in {"started", "did"}
          /\ row' = IF Owns(c)
                    THEN [row EXCEPT !.state = IF Has("given back after the effect") THEN "FAILED" ELSE "UNCERTAIN"]
                    ELSE row
    /\ Fault
    /\ Goes(c, Idle)
    /\ UNCHANGED <<newest, lock, epoch, effects, told, stale>> /\ By("fail")

\* The answer is no, for everybody who comes.
Reject(c) ==
    /\ May("reject") /\ ModeOf[c] # "JOIN" /\ caller[c].phase = "running" /\ Owns(c) /\ lock = Nobody
    /\ Fault
    /\ row' = Ended(caller[c].token) /\ Accepts(c)
    /\ Goes(c, Done) /\ Told(caller[c].token)
    /\ UNCHANGED <<newest, lock, epoch, effects>> /\ By("complete")

---------------------------------------------------------------------------
\* JOIN: whoever comes meanwhile waits for the transaction, or is told that it is in progress

Join(c) ==
    /\ ModeOf[c] = "JOIN" /\ caller[c].phase = "idle" /\ lock = Nobody
    /\ LET decision == IF row.state = "ABSENT" THEN "take" ELSE Decision(c) IN
       CASE decision = "take" -> lock' = c /\ Goes(c, [Idle EXCEPT !.phase = "joined"]) /\ UNCHANGED told
         [] decision = "ended" -> Goes(c, Done) /\ Told(row.result) /\ UNCHANGED lock
         [] decision = "busy" -> UNCHANGED <<caller, told, lock>>
         [] OTHER -> Goes(c, Done) /\ UNCHANGED <<told, lock>>
    /\ UNCHANGED <<row, newest, epoch, effects, stale>> /\ NoFault /\ By("join")

CommitJoined(c) ==
    /\ caller[c].phase = "joined"
    /\ newest' = newest + 1 /\ lock' = Nobody
    /\ row' = [Claimed(newest + 1, row.fence + 1, IF IsOver THEN 1 ELSE row.attempts + 1) EXCEPT
                    !.state = "COMPLETED", !.result = newest + 1]
    /\ epoch' = IF IsOver THEN epoch + 1 ELSE epoch
    /\ effects' = IF IsOver THEN 1 ELSE effects + 1
    /\ Goes(c, Done)
    /\ told' = told \cup {<<epoch', newest + 1>>}
    /\ UNCHANGED stale /\ NoFault /\ By("commit joined")

\* The work ends the transaction of the caller's, and what it did is committed with the claim. Nobody may do it again.
EndUnseen(c) ==
    /\ May("unseen end") /\ caller[c].phase = "joined" /\ Fault
    /\ newest' = newest + 1 /\ lock' = Nobody
    /\ row' = [Claimed(newest + 1, row.fence + 1, IF IsOver THEN 1 ELSE row.attempts + 1) EXCEPT
                    !.uncertain = ~Has("committed claim of a joined command is taken over")]
    /\ epoch' = IF IsOver THEN epoch + 1 ELSE epoch
    /\ effects' = IF IsOver THEN 1 ELSE effects + 1
    /\ Goes(c, Idle)
    /\ UNCHANGED <<told, stale>> /\ By(IF row.state = "IN_PROGRESS" THEN "take over" ELSE "claim")

RollBackJoined(c) ==
    /\ caller[c].phase = "joined" /\ Fault
    /\ lock' = Nobody /\ Goes(c, Idle)
    /\ UNCHANGED <<row, newest, epoch, effects, told, stale>> /\ By("roll back joined")

---------------------------------------------------------------------------
\* Time, crashes, sweeps, operators

IsAlive == \E c \in Callers : caller[c].phase \in {"running", "started", "did", "unanswered"} /\ caller[c].token = row.owner

Expire ==
    /\ row.state = "IN_PROGRESS" /\ ~row.over
    /\ IF IsAlive THEN May("expiry") /\ Fault ELSE NoFault
    /\ row' = [row EXCEPT !.over = TRUE]
    /\ UNCHANGED <<caller, newest, lock, epoch, effects, told, stale>> /\ By("expire")

Heartbeat(c) ==
    /\ caller[c].phase \in {"running", "started", "did"} /\ lock = Nobody
    /\ row.state = "IN_PROGRESS" /\ row.owner = caller[c].token /\ row.fence = caller[c].fence /\ row.over
    /\ row' = [row EXCEPT !.over = FALSE]
    /\ UNCHANGED <<caller, newest, lock, epoch, effects, told, stale>> /\ NoFault /\ By("renew")

KeyOver ==
    /\ May("key over") /\ row.state # "ABSENT" /\ ~row.keyOver /\ Fault
    /\ row' = [row EXCEPT !.keyOver = TRUE]
    /\ UNCHANGED <<caller, newest, lock, epoch, effects, told, stale>> /\ By("key over")

Crash(c) ==
    /\ May("crash") /\ caller[c].phase \notin {"idle", "done"} /\ Fault
    /\ Goes(c, Idle)
    /\ lock' = IF lock = c THEN Nobody ELSE lock
    /\ UNCHANGED <<row, newest, epoch, effects, told, stale>> /\ By("crash")

\* What is locked is passed over; what is deleted repeats its condition.
SweepKey ==
    /\ lock = Nobody /\ row.state # "ABSENT"
    /\ IsOver \/ (Has("sweep without state") /\ row.keyOver)
    /\ row' = NoRow /\ epoch' = epoch + 1 /\ effects' = 0
    /\ UNCHANGED <<caller, newest, lock, told, stale>> /\ NoFault /\ By("sweep")

SweepLost ==
    /\ lock = Nobody /\ row.state = "IN_PROGRESS" /\ row.over /\ row.uncertain /\ ~Has("doubt is not swept")
    /\ row' = [row EXCEPT !.state = "UNCERTAIN"]
    /\ UNCHANGED <<caller, newest, lock, epoch, effects, told, stale>> /\ NoFault /\ By("doubt")

IsOpen == row.state = "UNCERTAIN" \/ (row.state = "IN_PROGRESS" /\ row.over)

\* With the next fence and a token that nobody has. What an operator says is taken to be true: that a command is failed, only if it
\* took no effect and nobody is at it.
Resolve ==
    /\ May("operator") /\ lock = Nobody /\ IsOpen /\ Fault
    /\ newest' = newest + 1
    /\ \/ row' = [row EXCEPT !.state = "COMPLETED", !.owner = newest + 1, !.fence = @ + 1, !.result = row.owner] /\ By("resolve")
       \/ /\ effects = 0 /\ ~\E c \in Callers : caller[c].phase \in {"started", "did"}
          /\ row' = [row EXCEPT !.state = "FAILED", !.owner = newest + 1, !.fence = @ + 1] /\ By("resolve")
       \/ /\ effects = 0 /\ ~\E c \in Callers : caller[c].phase \in {"started", "did"}
          /\ row' = NoRow /\ By("resolve")
    /\ UNCHANGED <<caller, lock, epoch, effects, told, stale>>

\* OutcomeProbe: it asks whether the effect happened. It cannot know of one that is still to come, so the model asks only when nobody
\* is at it; see the document for what that means.
Probe(c) ==
    /\ caller[c].phase = "looked" /\ caller[c].act = "probe" /\ lock = Nobody
    /\ ~\E d \in Callers : caller[d].phase \in {"started", "did"}
    /\ IF IsFound(c) /\ row.state = "UNCERTAIN"
       THEN row' = IF effects > 0 THEN Ended(row.owner) ELSE [row EXCEPT !.state = "FAILED"]
       ELSE UNCHANGED row
    /\ Goes(c, Idle)
    /\ UNCHANGED <<newest, lock, epoch, effects, told, stale>> /\ NoFault /\ By("probe")

---------------------------------------------------------------------------

Works(c) ==
    \/ Insert(c) \/ Look(c) \/ Take(c) \/ Doubt(c) \/ Probe(c)
    \/ CommitWork(c) \/ FindOut(c) \/ CommitEffect(c) \/ StartEffect(c) \/ Effect(c) \/ End(c) \/ Lose(c)
    \/ Join(c) \/ CommitJoined(c)

Next ==
    \/ \E c \in Callers : Works(c) \/ LoseCommit(c) \/ Throw(c) \/ Reject(c) \/ EndUnseen(c) \/ RollBackJoined(c) \/ Heartbeat(c) \/ Crash(c)
    \/ Expire \/ KeyOver \/ SweepKey \/ SweepLost \/ Resolve

Spec == Init /\ [][Next]_vars

FairSpec ==
    /\ Spec
    /\ \A c \in Callers : WF_vars(Works(c))
    /\ WF_vars(~IsAlive /\ Expire) /\ WF_vars(SweepLost)

---------------------------------------------------------------------------
\* The promise

OneEffect == effects <= 1

\* Every caller gets the one stored result.
OneResult == \A a, b \in told : a[1] = b[1] => a[2] = b[2]

\* What a caller was told stands in the row as long as the key lasts.
ResultStands == \A t \in told : t[1] = epoch /\ row.state = "COMPLETED" => row.result = t[2]

TokenSafety == ~stale

\* The transitions the row may take, and by what.
Transitions == {
    <<"NONE", "IN_PROGRESS", "claim">>, <<"FAILED", "IN_PROGRESS", "claim">>, <<"COMPLETED", "IN_PROGRESS", "claim">>,
    <<"IN_PROGRESS", "IN_PROGRESS", "take over">>,
    <<"IN_PROGRESS", "COMPLETED", "complete">>, <<"UNCERTAIN", "COMPLETED", "complete">>,
    <<"IN_PROGRESS", "FAILED", "fail">>, <<"UNCERTAIN", "FAILED", "fail">>, <<"IN_PROGRESS", "UNCERTAIN", "fail">>,
    <<"IN_PROGRESS", "UNCERTAIN", "doubt">>,
    <<"NONE", "COMPLETED", "commit joined">>, <<"FAILED", "COMPLETED", "commit joined">>,
    <<"IN_PROGRESS", "COMPLETED", "commit joined">>, <<"COMPLETED", "COMPLETED", "commit joined">>,
    <<"UNCERTAIN", "COMPLETED", "probe">>, <<"UNCERTAIN", "FAILED", "probe">>,
    <<"UNCERTAIN", "COMPLETED", "resolve">>, <<"UNCERTAIN", "FAILED", "resolve">>, <<"UNCERTAIN", "NONE", "resolve">>,
    <<"IN_PROGRESS", "COMPLETED", "resolve">>, <<"IN_PROGRESS", "FAILED", "resolve">>, <<"IN_PROGRESS", "NONE", "resolve">>,
    <<"COMPLETED", "NONE", "sweep">>, <<"FAILED", "NONE", "sweep">>, <<"IN_PROGRESS", "NONE", "sweep">>}

Name(state) == IF state = "ABSENT" THEN "NONE" ELSE state
Changed == Name(row'.state) # Name(row.state) \/ (row'.owner # row.owner /\ row.state # "ABSENT")
Steps == {t \in Transitions : t[1] = Name(row.state) /\ t[2] = Name(row'.state)}

\* The completed stays so until its key is over.
Legal == [][Changed => /\ Steps # {} /\ (Recording => \E t \in Steps : t[3] = by')
                       /\ (row.state = "COMPLETED" => row.keyOver)]_vars

\* No command stays in progress for ever.
Ends == row.state = "IN_PROGRESS" ~> row.state # "IN_PROGRESS"

---------------------------------------------------------------------------
\* For the checker

ASSUME TLCSet(1, {})

Noted ==
    Changed =>
        LET t == <<Name(row.state), Name(row'.state), by'>> IN
        t \in TLCGet(1) \/ (PrintT(<<"transition", t>>) /\ TLCSet(1, TLCGet(1) \cup {t}))

Symmetry == Permutations(Callers)

\* Values of ModeOf
AllFenced == [c \in Callers |-> "FENCED"]
AllLeased == [c \in Callers |-> "LEASED"]
OneJoins == [c \in Callers |-> IF c = CHOOSE x \in Callers : TRUE THEN "JOIN" ELSE "FENCED"]
===========================================================================
