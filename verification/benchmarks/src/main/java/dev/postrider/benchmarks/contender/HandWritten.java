package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Sql;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Plain JDBC on Postrider's tables and indexes, without any statement or check that the job does not need: the limit. */
public final class HandWritten implements Contender {

    /** The default number of lanes of a topic. */
    private static final int LANES = 32;

    private static final int LOOPS = 2;

    private static final List<String> TABLES = List.of("hand_message", "hand_archive", "hand_dedup");

    /** How a loop excludes other loops from its messages. */
    private enum Claiming {
        /** A lease, so that no transaction is open during delivery, as Postrider promises it too. */
        LEASES,
        /** Row locks in an open transaction: the minimum, but it occupies a connection for the time of the delivery. */
        LOCKS,
        /** Nothing in the database: each loop has its own lanes, and reads each by number. */
        LANES,
        /** As {@link #LANES}, and delivered messages are archived. */
        LANES_WITH_ARCHIVE,
        /** A lease, and then a transaction for each message that deletes it and writes its order. */
        EFFECTS;

        boolean isOrdered() {
            return this == LANES || this == LANES_WITH_ARCHIVE;
        }
    }

    private final String name;
    private final Arena arena;
    private final DataSource dataSource;
    private final Claiming claiming;
    private final boolean keyed;
    private final Postrider tables;
    private int topicId;
    private @Nullable HandLoops loops;

    private HandWritten(String name, Arena arena, DataSource dataSource, Claiming claiming, boolean keyed) {
        this.name = name;
        this.arena = arena;
        this.dataSource = dataSource;
        this.claiming = claiming;
        this.keyed = keyed;
        this.tables = Postrider.on(dataSource)
                .tables(options -> options.tablePrefix("hand_"))
                .topic(topic(), topic -> topic.lanes(claiming.isOrdered() ? LANES : 0))
                .build();
    }

    public static Contender leasing(Arena arena, DataSource dataSource) {
        return new HandWritten("hand-written", arena, dataSource, Claiming.LEASES, false);
    }

    public static Contender locking(Arena arena, DataSource dataSource) {
        return new HandWritten("hand-written, row locks held", arena, dataSource, Claiming.LOCKS, false);
    }

    /** The minimum of an ordered drain: read by lane and number, and delete. */
    public static Contender inLanes(Arena arena, DataSource dataSource) {
        return new HandWritten("hand-written ordered", arena, dataSource, Claiming.LANES, false);
    }

    /** As {@link #inLanes}, with a copy to the archive. */
    public static Contender inLanesArchiving(Arena arena, DataSource dataSource) {
        return new HandWritten(
                "hand-written ordered with archive", arena, dataSource, Claiming.LANES_WITH_ARCHIVE, false);
    }

    /** The minimum for handling each message once in its own transaction. */
    public static Contender effects(Arena arena, DataSource dataSource) {
        return new HandWritten("loop by hand, a transaction each", arena, dataSource, Claiming.EFFECTS, false);
    }

    public static Contender keyed(Arena arena, DataSource dataSource) {
        return new HandWritten("hand-written keyed", arena, dataSource, Claiming.LEASES, true);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare() {
        tables.migrate();
        topicId = (int) arena.number("SELECT id FROM hand_topic WHERE topic = '" + topic() + "'");
    }

    private String topic() {
        return claiming.isOrdered() ? "orders-in-order" : "orders";
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
    }

    @Override
    public void transact(Order order) throws SQLException {
        if (claiming.isOrdered()) {
            throw new UnsupportedOperationException("It has no lanes by hand, only drains what is in them");
        }
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            order.insert(connection);
            insert(connection, order);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private void insert(Connection connection, Order order) throws SQLException {
        Sql sql = arena.sql();
        UUID id = MessageId.next().value();
        byte[] payload = order.json().getBytes(StandardCharsets.UTF_8);
        String key = keyed ? "order-" + order.number() : null;
        if (key != null) {
            try (PreparedStatement statement = connection.prepareStatement(sql.insertMark())) {
                statement.setInt(1, topicId);
                statement.setBytes(2, sha256(key.getBytes(StandardCharsets.UTF_8)));
                statement.setObject(3, sql.uuid(id));
                statement.setBytes(4, sha256(payload));
                statement.executeUpdate();
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(sql.insertMessage())) {
            statement.setObject(1, sql.uuid(id));
            statement.setInt(2, topicId);
            statement.setString(3, key);
            statement.setBytes(4, payload);
            statement.executeUpdate();
        }
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    @Override
    public void fill(int messages) throws SQLException {
        if (arena.copies().fill("hand_message", topic(), messages)) {
            return;
        }
        PostriderContender.fill(
                tables,
                dataSource,
                messages,
                order -> Message.to(topic())
                        .type("order.placed")
                        .key(claiming.isOrdered() ? PostriderContender.key(order) : null)
                        .json(order.json())
                        .build());
        arena.copies().keep("hand_message", topic(), messages);
    }

    @Override
    public void start(Receiver receiver) {
        HandStatements statements = HandStatements.of(arena.sql(), topicId);
        int threads = claiming == Claiming.EFFECTS ? DurableInboxContender.THREADS : LOOPS;
        loops = new HandLoops(dataSource, threads, (number, of) -> switch (claiming) {
            case EFFECTS -> new EffectLoop(statements, receiver);
            case LEASES -> new LeaseLoop(statements, receiver);
            case LOCKS -> new LockLoop(statements, receiver);
            case LANES, LANES_WITH_ARCHIVE ->
                new LaneLoop(statements, receiver, lanes(number, of), claiming == Claiming.LANES_WITH_ARCHIVE);
        });
    }

    private static List<Integer> lanes(int loop, int of) {
        return IntStream.range(0, LANES)
                .filter(lane -> lane % of == loop)
                .boxed()
                .toList();
    }

    @Override
    public void stop() {
        if (loops != null) {
            loops.stop();
            loops = null;
        }
    }

    @Override
    public long unfinished() {
        return arena.count("hand_message");
    }

    @Override
    public void close() {
        stop();
        tables.close();
    }
}
