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
 * The endpoint of one node on the channel. Its listening connection counts as working only while its own test
 * notifications come back. The line sends a test at first and then at intervals, through the other connection: a pooler
 * in transaction mode may happen to deliver a notification to the connection that sent it, and would pass the test.
 */
final class PostgresLine implements Line {

    private static final Logger log = LoggerFactory.getLogger(PostgresLine.class);

    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

    private final DataSource dataSource;
    private final Channel channel;
    private final PostgresDoorbell.Timing timing;
    private final String node = UUID.randomUUID().toString().substring(0, 8);
    private final NotificationSender bellpull;
    private volatile boolean closed;

    /** Locked while a thread listens. {@link #close} never waits for it. */
    private final ReentrantLock listening = new ReentrantLock();

    // Written under the lock above
    private volatile @Nullable NotificationListener ear;

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
        this.bellpull = new NotificationSender(dataSource, channel);
    }

    @Override
    public void ring(Ring ring) {
        bellpull.send(NotificationPayload.ring(node, ring));
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
            NotificationListener known = ear;
            NotificationListener open = known == null ? open() : known;
            testIfDue();
            List<String> notes = open.hear(atMost);
            Optional<Ring> ring = read(notes);
            return isDeaf() ? fallSilent() : new Heard(ring, Duration.ZERO);
        } catch (SQLException | StoreException e) {
            return lost(e);
        }
    }

    private NotificationListener open() throws SQLException {
        NotificationListener opened = NotificationListener.on(dataSource, channel);
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
            bellpull.send(NotificationPayload.test(node));
            testSent = Optional.of(System.nanoTime());
        }
    }

    /**
     * The rings of other nodes. The first test that comes back adds a ring for any topic, because all earlier rings
     * were missed.
     */
    private Optional<Ring> read(List<String> notes) {
        Set<Ring> rings = new HashSet<>();
        for (String note : notes) {
            if (note.equals(NotificationPayload.test(node))) {
                if (!trusted) {
                    rings.add(Ring.ANYWHERE);
                }
                echoed();
            } else if (!NotificationPayload.isFrom(node, note) && !NotificationPayload.isTest(note)) {
                rings.add(NotificationPayload.read(note));
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
            log.info("The doorbell works again: wake-ups of other nodes arrive");
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

    /**
     * Handles a test that did not come back. A connection that worked before may only have been cut: it is opened again
     * soon.
     */
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

    /** Handles a lost connection: logs it once, and returns a pause that grows with each failure. */
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
        NotificationListener closing = ear;
        ear = null;
        trusted = false;
        testSent = Optional.empty();
        if (closing != null) {
            closing.close();
        }
    }

    /** Does not wait. Running calls are aborted, and close the connections that they have or get. */
    @Override
    public void close() {
        closed = true;
        NotificationListener inUse = ear;
        if (!closeIfOver() && inUse != null) {
            inUse.cut();
        }
        bellpull.close();
    }

    /**
     * Closes the connection if the line is closed and the lock is free. Either the closer gets the lock, or the
     * listener that has it sees after the unlock that the line is closed.
     */
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
