package dev.postrider.jdbc;

import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The pages of a list of messages: first those of the live table by number, then those of the archive by the time of delivery. */
final class MessageLists {

    private static final String SUMMARIES = """
            SELECT m.seq, m.id, m.topic_id, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.state, m.attempts, m.crashes,
                   {payload size} AS payload_bytes, m.created_at, m.available_at, m.updated_at, m.locked_by, m.last_error,
                   m.reason, m.fingerprint, {now} AS now
            FROM {message} m{by key} WHERE m.seq IN ({values})
            """;

    private final SqlRunner sql;
    private final MessageSearch search;
    private final ArchiveSearch archive;

    MessageLists(SqlRunner sql, MessageSearch search) {
        this.sql = sql;
        this.search = search;
        this.archive = new ArchiveSearch(sql);
    }

    MessagePage page(Connection connection, Filter filter, Paging paging) throws SQLException {
        MessageCursor cursor = MessageCursor.parse(paging.cursor());
        search.begin(connection);
        MessageConditions conditions = MessageConditions.of(connection, sql, filter);
        if (cursor.inArchive() && !conditions.archived()) {
            throw new InvalidConfigurationException("cursor", "is one of another list");
        }
        if (conditions.live() && !cursor.inArchive()) {
            return livePage(connection, conditions, cursor, paging);
        }
        return conditions.archived()
                ? archive.page(connection, conditions, cursor, paging)
                : new MessagePage(List.of(), null, false);
    }

    private MessagePage livePage(
            Connection connection, MessageConditions conditions, MessageCursor cursor, Paging paging)
            throws SQLException {
        MessageSearch.FoundPage found =
                search.find(connection, conditions, cursor.seq(), paging.newestFirst(), paging.limit());
        List<MessageSummary> summaries = summaries(connection, found.seqs());
        Comparator<MessageSummary> bySeq = Comparator.comparingLong(MessageSummary::seq);
        summaries.sort(paging.newestFirst() ? bySeq.reversed() : bySeq);
        Long next = found.next();
        String more = conditions.archived() ? MessageCursor.ARCHIVE.toString() : null;
        return new MessagePage(
                summaries, next == null ? more : MessageCursor.live(next).toString(), found.cut());
    }

    /** Returns what is still there of these messages, in any order. */
    List<MessageSummary> summaries(Connection connection, List<Long> seqs) throws SQLException {
        List<MessageSummary> summaries = new ArrayList<>();
        Map<Integer, TopicName> topics = TopicNames.read(connection, sql);
        for (int from = 0; from < seqs.size(); from += ValueList.ROWS_PER_STATEMENT) {
            List<Long> some = seqs.subList(from, Math.min(from + ValueList.ROWS_PER_STATEMENT, seqs.size()));
            sql.query(
                    connection,
                    ValueList.in(SUMMARIES, some.size()),
                    binder -> ValueList.bindNumbers(binder, some),
                    rows -> {
                        while (rows.next()) {
                            TopicName topic = topics.get(rows.getInt("topic_id"));
                            if (topic != null) {
                                summaries.add(summary(rows, topic));
                            }
                        }
                        return summaries;
                    });
        }
        return summaries;
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
                MessageStates.read(row, sql),
                row.getInt("attempts"),
                row.getInt("crashes"),
                row.getLong("payload_bytes"),
                time(row, "created_at"),
                sql.readTimeIfValid(row, "available_at"),
                sql.readTimeIfValid(row, "updated_at"),
                null,
                row.getString("locked_by"),
                row.getString("last_error"),
                row.getString("reason"),
                row.getString("fingerprint"));
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        @Nullable Instant time = sql.readTimeIfValid(row, column);
        return time == null ? Instant.EPOCH : time;
    }
}
