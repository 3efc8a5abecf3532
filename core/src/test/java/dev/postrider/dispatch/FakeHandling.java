package dev.postrider.dispatch;

import dev.postrider.internal.store.HandlingStore;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Transactions in memory: runs the handlers, records what happened, and ends as the test scripts; without a script as they deserve. */
final class FakeHandling implements HandlingStore {

    final List<List<Claim>> runs = new CopyOnWriteArrayList<>();
    final List<Transaction> abandoned = new CopyOnWriteArrayList<>();
    final List<Transaction> endedSessions = new CopyOnWriteArrayList<>();

    volatile BiFunction<HandlingResult, Integer, HandlingResult> ending = (handled, together) -> handled;
    volatile Function<Claim, Boolean> isGone = claim -> true;

    @Override
    public Transaction transaction(List<Item> items, Terms terms) {
        return new Transaction() {
            @Override
            public List<HandlingResult> run() {
                runs.add(items.stream().map(Item::claim).toList());
                List<HandlingResult> answers = new ArrayList<>();
                for (Item item : items) {
                    answers.add(ending.apply(handle(item.claim(), terms), items.size()));
                }
                return answers;
            }

            @Override
            public void abandon() {
                abandoned.add(this);
            }

            @Override
            public boolean endSession() {
                endedSessions.add(this);
                return true;
            }
        };
    }

    private static HandlingResult handle(Claim claim, Terms terms) {
        try {
            terms.handler().handle(claim, claim.message(), new NoWork());
            return new HandlingResult(claim, End.DONE, null);
        } catch (Exception e) {
            return new HandlingResult(claim, End.FAILED, e);
        }
    }

    @Override
    public Set<Claim> gone(Collection<Claim> claims) {
        return claims.stream().filter(isGone::apply).collect(Collectors.toSet());
    }

    @Override
    public Handler intoInbox(String consumer) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Handler router(String consumer) {
        throw new UnsupportedOperationException();
    }

    /** For handlers that write nothing. */
    private static final class NoWork implements UnitOfWork {

        @Override
        public Connection connection() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void stage(Message message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void stage(Collection<Message> messages) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<Enqueued> staged() {
            return List.of();
        }

        @Override
        public Outbox outbox() {
            throw new UnsupportedOperationException();
        }
    }
}
