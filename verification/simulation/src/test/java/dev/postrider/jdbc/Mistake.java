package dev.postrider.jdbc;

import dev.postrider.jdbc.inbox.InboxMark;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rules of the protocol, each broken in one place. A simulation that does not notice would be worth nothing. */
public enum Mistake implements SimulatedStores.Speech {

    /** Outcomes are written although the lane may have another owner by now. */
    OUTCOME_WITHOUT_FENCE(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Set<SimulatedDatabase.Place> fence(Transaction transaction, Collection<LaneCursor> fence) {
            return places(fence);
        }
    })),

    /** The lane's token is compared, but the lane is not locked: it may be taken over before the outcome is committed. */
    FENCE_WITHOUT_LOCK(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Set<SimulatedDatabase.Place> fence(Transaction transaction, Collection<LaneCursor> fence) {
            return places(fence.stream()
                    .filter(cursor -> cursor.token.equals(lane(cursor).token))
                    .toList());
        }
    })),

    /** Everything up to the newest number is believed to be there. */
    HORIZON_FROM_NEWEST_NUMBER(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Horizon.Sight sight(long finishedBefore) {
            return new Horizon.Sight(database.server(), database.lastNumber(), Long.MAX_VALUE, 1L);
        }
    })),

    /** The end of the snapshot is taken for its beginning: transactions that are still running count as finished. */
    HORIZON_FROM_END_OF_SNAPSHOT(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Horizon.Sight sight(long finishedBefore) {
            return super.sight(database.nextTransaction());
        }
    })),

    /** The number is paired with a transaction that began before it was seen. */
    HORIZON_PAIRED_TOO_EARLY(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Horizon.Sight sight(long finishedBefore) {
            return new Horizon.Sight(database.server(), database.lastNumber(), finishedBefore, finishedBefore - 1);
        }
    })),

    /** What has finished is looked up after the rows, in a snapshot of its own. */
    HORIZON_NEWER_THAN_ROWS(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Horizon.Sight sight(long finishedBefore) {
            return super.sight(database.oldestRunning());
        }
    })),

    /** The floor is stored above messages that are not delivered yet. */
    FLOOR_TOO_HIGH(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        long floor(LaneState lane, Floors floors) {
            return database.lastNumber();
        }
    })),

    /** A node that takes over a lane does not learn which keys are blocked. */
    BLOCKED_KEYS_NOT_LOADED(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        public List<WaitingKey> waitingKeys(Connection connection, int topicId, Collection<Integer> lanes) {
            return List.of();
        }
    })),

    /** A row is found by its number alone, which can stand for another message after a crash. */
    OUTCOME_BY_NUMBER_ALONE(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        boolean isMeant(Row row, UUID id) {
            return true;
        }
    })),

    /** Lanes are taken although their holder's time is not over. */
    LANE_TAKEN_TOO_EARLY(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        boolean isFree(LaneState lane, long grace) {
            return true;
        }
    })),

    /** When the head of a key is gone, nothing takes its place. */
    HEAD_WITHOUT_SUCCESSOR(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        Map<Long, Boolean> promote(
                Transaction transaction,
                NavigableMap<Long, Row> seen,
                List<Row> finished,
                Map<Long, Long> lockedHeads) {
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            finished.forEach(row -> keyBlocked.put(row.seq, false));
            return keyBlocked;
        }
    })),

    /** A failed head of a key goes back into the order, where what is behind it does not wait. */
    FAILED_HEAD_STAYS_IN_ORDER(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        public Written move(Connection connection, Collection<LaneCursor> fence, List<Move> moves, Leaving leaving)
                throws SQLException {
            return super.move(
                    connection, fence, moves.stream().map(Mistake::pending).toList(), leaving);
        }
    })),

    /** A lane is released although another node owns it by now. */
    LANE_RELEASED_WITHOUT_TOKEN(lanes(dialect -> new SimulatedLanes(dialect) {
        @Override
        @Nullable
        LaneState lockLane(Transaction transaction, int topicId, int lane, Predicate<LaneState> condition)
                throws SQLException {
            return super.lockLane(transaction, topicId, lane, row -> row.token != null);
        }
    })),

    /** Outcomes of claims do not look at the token. */
    OUTCOME_WITHOUT_TOKEN(database -> new SimulatedDialect(database) {
        @Override
        boolean isHeld(Row row, UUID token) {
            return row.state == RowState.PROCESSING;
        }
    }),

    /** A claim does not look again at a row that was changed after it was found. */
    CLAIM_OF_WHAT_IS_GONE(database -> new SimulatedDialect(database) {
        @Override
        @Nullable
        Row lockForClaim(Transaction transaction, Row candidate, Predicate<Row> condition) throws SQLException {
            return super.lockForClaim(transaction, candidate, row -> true);
        }
    }),

    /** Leases count as over at once. */
    LEASE_WITHOUT_LENGTH(database -> new SimulatedDialect(database) {
        @Override
        public Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
            return super.extend(connection, rows, Duration.ZERO);
        }
    }),

    /** A claim waits for what is locked instead of passing over it. */
    CLAIM_THAT_WAITS(database -> new SimulatedDialect(database) {
        @Override
        @Nullable
        Row lockForClaim(Transaction transaction, Row candidate, Predicate<Row> condition) throws SQLException {
            return database.lockRow(transaction, candidate.seq, condition);
        }
    }),

    /** A claim does not end where it should: its limit is looked at for each row anew. */
    CLAIM_ABOVE_ITS_LIMIT(database -> new SimulatedDialect(database) {
        @Override
        boolean isFull(List<ClaimedRow> claimed, long bytes, ClaimRequest request) {
            return claimed.size() > 2 * request.limit();
        }
    }),

    /** A claim locks the gaps around what it finds, as at REPEATABLE READ on MySQL. */
    CLAIM_THAT_LOCKS_GAPS(database -> new SimulatedDialect(database) {
        @Override
        void look(Transaction transaction, int topicId) {
            super.look(transaction, topicId);
            database.lockGap(transaction, topicId);
        }
    }),

    /** The end of a lease is reckoned by the clock of the node. */
    LEASE_BY_NODE_CLOCK(database -> new SimulatedDialect(database) {
        @Override
        long clock(Session session) {
            return database.micros() + session.host().wallOffset() / 1000;
        }
    }),

    /** Lost messages are looked for, and then buried by their numbers alone. */
    SWEEP_BY_NUMBER_ALONE(database -> new SimulatedDialect(database) {
        @Override
        @Nullable
        Row lockForSweep(Transaction transaction, Row seen, Predicate<Row> condition) {
            return super.lockForSweep(transaction, seen, row -> true);
        }
    }),

    /** Old dead letters are looked for, and then deleted whatever they are by then. */
    PURGE_WITHOUT_STATE(database -> new SimulatedDialect(database) {
        @Override
        @Nullable
        Row lockForPurge(Transaction transaction, Row seen, Predicate<Row> condition) {
            return super.lockForPurge(transaction, seen, row -> true);
        }
    }),

    /** The lease of what is handed over after the commit begins with its transaction. */
    BIRTH_LEASED_FROM_BEGIN(database -> new SimulatedDialect(database) {
        @Override
        long lockedUntil(Transaction transaction, Lease lease) {
            return transaction.begunAt + micros(lease.length());
        }
    }),

    /** A command is ended by an owner that was replaced. */
    COMMAND_ENDED_WITHOUT_FENCE(commands(database -> new SimulatedCommands(database) {
        @Override
        boolean isOwned(CommandState row, Owner owner) {
            return true;
        }
    })),

    /** A caller that takes a command over goes on under the fence of the owner before, and only the fence is compared. */
    COMMAND_TAKEN_OVER_WITH_OLD_FENCE(commands(database -> new SimulatedCommands(database) {
        @Override
        boolean isOwned(CommandState row, Owner owner) {
            return row.fence == owner.fence();
        }

        @Override
        void hand(CommandState row, UUID owner) {
            row.owner = owner;
        }
    })),

    /** What a command did is committed before its end is written. */
    COMMAND_ENDED_IN_ANOTHER_TRANSACTION(commands(database -> new SimulatedCommands(database) {
        @Override
        SimulatedSql.Answer complete(Session session, Transaction transaction, SimulatedSql.Parameters values)
                throws SQLException {
            transaction.onCommit.forEach(Runnable::run);
            transaction.onCommit.clear();
            return super.complete(session, transaction, values);
        }
    })),

    /** The row does not say that the effect of a command may have begun. */
    COMMAND_EFFECT_NOT_NOTED(commands(database -> new SimulatedCommands(database) {
        @Override
        boolean isUncertain(boolean uncertainIfLost) {
            return false;
        }
    })),

    /** The lease of a command is not kept up, however long its work takes. */
    COMMAND_LEASE_NOT_KEPT_UP(commands(database -> new SimulatedCommands(database) {
        @Override
        void renew(CommandState row) {}
    })),

    /** Lost commands are not called uncertain unless a caller asks for them. */
    LOST_COMMANDS_NOT_SWEPT(commands(database -> new SimulatedCommands(database) {
        @Override
        boolean isToBeDoubted(CommandState row) {
            return false;
        }
    })),

    /** A duplicate is handled again: the code does not look which marks were inserted. */
    MARK_NOT_COUNTED(inbox(dialect -> new SimulatedInbox(dialect) {
        @Override
        Set<InboxMark.Key> answered(List<InboxMark> marks, Set<InboxMark.Key> inserted) {
            return marks.stream().map(mark -> mark.key).collect(Collectors.toSet());
        }
    })),

    /** The mark is committed before what is done about the message. */
    MARK_IN_ANOTHER_TRANSACTION(inbox(dialect -> new SimulatedInbox(dialect) {
        @Override
        void write(Cell<InboxMark> cell, InboxMark mark) {
            cell.committed = mark;
        }
    })),

    /** What is handed over after the commit is inserted under a lease that is over at once. */
    BIRTH_WITHOUT_LEASE(database -> new SimulatedDialect(database) {
        @Override
        long lockedUntil(Transaction transaction, Lease lease) {
            return database.micros();
        }
    }),

    /** A message of the local hand-over can be claimed by every other node, too. */
    BIRTH_OPEN_TO_ALL(database -> new SimulatedDialect(database) {
        @Override
        RowState bornState() {
            return RowState.PENDING;
        }
    });

    @SuppressWarnings("ImmutableEnumChecker")
    private final Function<SimulatedDatabase, SimulatedDialect> dialect;

    Mistake(Function<SimulatedDatabase, SimulatedDialect> dialect) {
        this.dialect = dialect;
    }

    @Override
    public Object dialect(SimulatedDatabase database) {
        return dialect.apply(database);
    }

    private static Function<SimulatedDatabase, SimulatedDialect> lanes(
            Function<SimulatedDialect, SimulatedLanes> lanes) {
        return database -> new SimulatedDialect(database) {
            @Override
            SimulatedLanes simulatedLanes() {
                return lanes.apply(this);
            }
        };
    }

    private static Function<SimulatedDatabase, SimulatedDialect> commands(
            Function<SimulatedDatabase, SimulatedCommands> commands) {
        return database -> new SimulatedDialect(database) {
            @Override
            SimulatedCommands commands() {
                return commands.apply(database);
            }
        };
    }

    private static Function<SimulatedDatabase, SimulatedDialect> inbox(
            Function<SimulatedDialect, SimulatedInbox> inbox) {
        return database -> new SimulatedDialect(database) {
            @Override
            public InboxStatements inbox() {
                return inbox.apply(this);
            }
        };
    }

    private static Set<SimulatedDatabase.Place> places(Collection<LaneCursor> cursors) {
        Set<SimulatedDatabase.Place> places = new HashSet<>();
        cursors.forEach(cursor -> places.add(new SimulatedDatabase.Place(cursor.topicId, cursor.lane)));
        return places;
    }

    private static LaneOutcomeStatements.Move pending(LaneOutcomeStatements.Move move) {
        return move.state() != RowState.RETRY
                ? move
                : new LaneOutcomeStatements.Move(
                        move.seq(),
                        move.id(),
                        RowState.PENDING,
                        move.attempts(),
                        Objects.requireNonNull(move.delay()),
                        move.error(),
                        move.reason(),
                        move.fingerprint(),
                        move.attempt());
    }
}
