package dev.postrider.postgresql;

import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Line;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.error.StoreException;
import dev.postrider.message.TopicName;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node's place on the channel. It trusts its ear only while it hears itself: a note that it sends through the other connection,
 * at first and every now and then, must come back. Through the other one, because a pooler that hands out connections by the
 * transaction may happen to send an answer to whoever asked, and would pass the test.
 */
final class PostgresLine implements Line {

    private static final Logger log = LoggerFactory.getLogger(PostgresLine.class);

    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

    private final DataSource dataSource;
    private final Channel channel;
    private final PostgresDoorbell.Timing timing;
    private final String node = UUID.randomUUID().toString().substring(0, 8);
    private final Bellpull bellpull;
    private volatile boolean closed;

    /** Held while somebody listens. Whoever closes never waits for it. */
    private final ReentrantLock listening = new ReentrantLock();

    // Written under the lock above
    private volatile @Nullable Ear ear;

    // Under the lock above
    private boolean trusted;
    private boolean complained;
    private int failures;
    private Optional<Long> testSent = Optional.empty();
    private long lastEcho;

    PostgresLine(DataSource dataSource, Channel channel, PostgresDoorbell.Timing timing) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.timing = timing;
        this.bellpull = new Bellpull(dataSource, channel);
    }

    @Override
    public void ring(Ring ring) {
        bellpull.send(Note.ring(node, ring));
    }

    @Override
    public Heard listen(Duration atMost) {
        listening.lock();
        try {
            return closed ? Heard.nothingFor(timing.retry()) : listenOn(atMost);
        } finally {
            listening.unlock();
            closeIfOver();
        }
    }

    private Heard listenOn(Duration atMost) {
        try {
            Ear known = ear;
            Ear open = known == null ? open() : known;
            testIfDue();
            List<String> notes = open.hear(atMost);
            Optional<Ring> ring = read(notes);
            return isDeaf() ? fallSilent() : new Heard(ring, Duration.ZERO);
        } catch (SQLException | StoreException e) {
            return lost(e);
        }
    }

    private Ear open() throws SQLException {
        Ear opened = Ear.on(dataSource, channel);
        ear = opened;
        trusted = false;
        testSent = Optional.empty();
        if (closed) {
            throw new SQLException("The doorbell was closed");
        }
        return opened;
    }

    private void testIfDue() {
        long now = System.nanoTime();
        if (testSent.isEmpty() && (!trusted || now - lastEcho >= timing.test().toNanos())) {
            bellpull.send(Note.test(node));
            testSent = Optional.of(System.nanoTime());
        }
    }

    /** What others rang for; with the first echo, for anything, since whatever was rung before was missed. */
    private Optional<Ring> read(List<String> notes) {
        Set<Ring> rings = new HashSet<>();
        for (String note : notes) {
            if (note.equals(Note.test(node))) {
                if (!trusted) {
                    rings.add(Ring.ANYWHERE);
                }
                echoed();
            } else if (!Note.isFrom(node, note) && !Note.isTest(note)) {
                rings.add(Note.read(note));
            }
        }
        if (rings.isEmpty()) {
            return Optional.empty();
        }
        Set<TopicName> topics = new HashSet<>();
        rings.forEach(ring -> topics.addAll(ring.topics()));
        return Optional.of(rings.contains(Ring.ANYWHERE) ? Ring.ANYWHERE : new Ring(topics));
    }

    private void echoed() {
        if (complained) {
            log.info("The doorbell works again: commits of other nodes are heard at once");
        }
        trusted = true;
        complained = false;
        failures = 0;
        testSent = Optional.empty();
        lastEcho = System.nanoTime();
    }

    private boolean isDeaf() {
        return testSent.isPresent()
                && System.nanoTime() - testSent.get() > timing.echo().toNanos();
    }

    /** The test did not come back. A connection that was good before may only have been cut: that is tried again soon. */
    private Heard fallSilent() {
        boolean wasGood = trusted;
        hangUp();
        if (wasGood) {
            return Heard.nothingFor(FIRST_RETRY);
        }
        if (!complained) {
            complained = true;
            log.warn(
                    "The doorbell does not work: notifications of PostgreSQL do not arrive on channel {}, as behind a pooler in"
                            + " transaction mode. Messages of other nodes are found by polling until it does. Give PostgresDoorbell"
                            + " a data source that connects to the server itself, or through a pooler in session mode. It is tried"
                            + " again every {} s",
                    channel.name(),
                    timing.retry().toSeconds());
        }
        return Heard.nothingFor(timing.retry());
    }

    /** Said once, then tried again after pauses that grow. */
    private Heard lost(Exception e) {
        boolean wasGood = trusted;
        hangUp();
        if (closed) {
            return Heard.nothingFor(timing.retry());
        }
        failures++;
        if (!complained && !wasGood) {
            complained = true;
            log.warn(
                    "The doorbell has no connection: messages of other nodes are found by polling until it has. It is tried again"
                            + " at least every {} s ({})",
                    timing.retry().toSeconds(),
                    e.toString());
        }
        Duration pause = FIRST_RETRY.multipliedBy(1L << Math.min(failures - 1, 6));
        return Heard.nothingFor(pause.compareTo(timing.retry()) < 0 ? pause : timing.retry());
    }

    private void hangUp() {
        Ear closing = ear;
        ear = null;
        trusted = false;
        testSent = Optional.empty();
        if (closing != null) {
            closing.close();
        }
    }

    /** Waits for nobody: whoever is still at it is cut off, and closes what it has or gets. */
    @Override
    public void close() {
        closed = true;
        Ear inUse = ear;
        if (!closeIfOver() && inUse != null) {
            inUse.cut();
        }
        bellpull.close();
    }

    /** Either the closer gets the lock, or the listener who has it sees, after it gave it back, that all is over. */
    private boolean closeIfOver() {
        if (!closed || !listening.tryLock()) {
            return false;
        }
        try {
            hangUp();
            return true;
        } finally {
            listening.unlock();
        }
    }
}
