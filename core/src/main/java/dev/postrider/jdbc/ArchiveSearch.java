package dev.postrider.jdbc;

import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds delivered messages by a filter, in the order of their delivery, which is that of the primary key. It examines at most
 * {@link Filter#EXAMINED} rows each time, and the rows of the last moment, which one statement has delivered. A range of delivery times is found through the primary key, other conditions are compared with
 * each row.
 */
final class ArchiveSearch {

    private static final String LAST_EXAMINED = """
            SELECT m.delivered_at, m.seq FROM {archive} m{by key}
            WHERE m.delivered_at {after}= ? AND (m.delivered_at {after} ? OR m.seq {after} ?) AND m.delivered_at {until} ?
            ORDER BY m.delivered_at{direction}, m.seq{direction} LIMIT 1 OFFSET ?
            """;

    private static final String PAGE = """
            SELECT m.seq, m.id, m.topic_id, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.attempts, m.crashes,
                   {payload size} AS payload_bytes, m.created_at, m.delivered_at
            FROM {archive} m{hint}
            WHERE m.delivered_at {after}= ? AND (m.delivered_at {after} ? OR m.seq {after} ?) AND m.delivered_at {until} ?{access}
              AND CASE WHEN {matches} THEN 1 ELSE 0 END = 1
            ORDER BY m.delivered_at{direction}, m.seq{direction} LIMIT ?
            """;

    private static final Instant FIRST = Instant.EPOCH;
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

    private final SqlRunner sql;

    ArchiveSearch(SqlRunner sql) {
        this.sql = sql;
    }

    /** Where the examined rows begin and end; the beginning is not among them. */
    private record Span(Instant after, long afterSeq, Instant until) {}

    MessagePage page(Connection connection, MessageConditions conditions, MessageCursor cursor, Paging paging)
            throws SQLException {
        boolean newestFirst = paging.newestFirst();
        Span span = span(conditions.filter(), cursor, newestFirst);
        boolean byId = !conditions.ids().isEmpty();
        @Nullable MessageCursor last = byId ? null : lastExamined(connection, span, newestFirst);
        Instant end = last == null ? null : last.deliveredAt();
        Span examined = end == null ? span : new Span(span.after(), span.afterSeq(), end);
        List<MessageSummary> found = read(connection, conditions, examined, newestFirst, paging.limit() + 1);
        if (found.size() > paging.limit()) {
            List<MessageSummary> page = found.subList(0, paging.limit());
            return new MessagePage(page, cursor(page.get(page.size() - 1)).toString(), false);
        }
        // Rows of the last examined moment with higher numbers may be among the found ones.
        MessageCursor next =
                last == null || found.isEmpty() ? last : later(last, cursor(found.get(found.size() - 1)), newestFirst);
        return new MessagePage(found, next == null ? null : next.toString(), next != null);
    }

    private static MessageCursor later(MessageCursor a, MessageCursor b, boolean newestFirst) {
        boolean sameMoment = a.deliveredAt() != null && a.deliveredAt().equals(b.deliveredAt());
        boolean behind = sameMoment
                && a.seq() != null
                && b.seq() != null
                && (newestFirst ? b.seq() < a.seq() : b.seq() > a.seq());
        return behind ? b : a;
    }

    private static MessageCursor cursor(MessageSummary summary) {
        Instant deliveredAt = summary.deliveredAt();
        return MessageCursor.archive(deliveredAt == null ? FIRST : deliveredAt, summary.seq());
    }

    private static Span span(Filter filter, MessageCursor cursor, boolean newestFirst) {
        Instant from = FIRST;
        Instant to = LAST;
        for (Filter.Condition condition : filter.conditions()) {
            if (condition instanceof Filter.Between between && between.time() == Filter.Time.DELIVERED) {
                from = between.from() == null ? from : between.from();
                to = between.to() == null ? to : between.to();
            }
        }
        Instant at = cursor.deliveredAt();
        Long seq = cursor.seq();
        if (at != null && seq != null) {
            return new Span(at, seq, newestFirst ? from : to);
        }
        return newestFirst ? new Span(to, Long.MAX_VALUE, from) : new Span(from, Long.MIN_VALUE, to);
    }

    private static String directed(String statement, boolean newestFirst) {
        return statement
                .replace("{after}", newestFirst ? "<" : ">")
                .replace("{until}", newestFirst ? ">=" : "<=")
                .replace("{direction}", newestFirst ? " DESC" : "");
    }

    private static Binder bind(Binder binder, Span span) throws SQLException {
        return binder.time(span.after())
                .time(span.after())
                .number(span.afterSeq())
                .time(span.until());
    }

    private @Nullable MessageCursor lastExamined(Connection connection, Span span, boolean newestFirst)
            throws SQLException {
        Optional<MessageCursor> last = sql.queryOnce(
                connection,
                directed(LAST_EXAMINED, newestFirst),
                binder -> bind(binder, span).integer(Filter.EXAMINED - 1),
                row -> row.next()
                        ? Optional.of(MessageCursor.archive(time(row, "delivered_at"), row.getLong("seq")))
                        : Optional.empty());
        return last.orElse(null);
    }

    private List<MessageSummary> read(
            Connection connection, MessageConditions conditions, Span span, boolean newestFirst, int limit)
            throws SQLException {
        boolean byId = !conditions.ids().isEmpty();
        String access =
                byId ? ValueList.in(" AND m.id IN ({values})", conditions.ids().size()) : "";
        Map<Integer, TopicName> topics = TopicNames.read(connection, sql);
        return sql.queryOnce(
                connection,
                directed(PAGE, newestFirst)
                        .replace("{hint}", byId ? MessageIndexes.hint(sql.kind(), "archive_id") : "{by key}")
                        .replace("{access}", access)
                        .replace("{matches}", conditions.matchesArchived()),
                binder -> {
                    bind(binder, span);
                    if (byId) {
                        ValueList.bindUuids(binder, conditions.ids());
                    }
                    conditions.bind(binder).integer(limit);
                },
                rows -> {
                    List<MessageSummary> found = new ArrayList<>();
                    while (rows.next()) {
                        TopicName topic = topics.get(rows.getInt("topic_id"));
                        if (topic != null) {
                            found.add(summary(rows, topic));
                        }
                    }
                    return found;
                });
    }

    private MessageSummary summary(ResultSet row, TopicName topic) throws SQLException {
        return new MessageSummary(
                row.getLong("seq"),
                new MessageId(sql.readUuid(row, "id")),
                topic,
                row.getString("type"),
                row.getString("tenant"),
                row.getString("ordering_key"),
                row.getString("idempotency_key"),
                State.DELIVERED,
                row.getInt("attempts"),
                row.getInt("crashes"),
                row.getLong("payload_bytes"),
                time(row, "created_at"),
                null,
                null,
                time(row, "delivered_at"),
                null,
                null,
                null,
                null);
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        Instant time = sql.readTimeIfValid(row, column);
        return time == null ? Instant.EPOCH : time;
    }
}
