package dev.postrider.jdbc.sql;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/** Lists of parameters in a statement, such as {@code IN ({values})}. They are padded to a few lengths, so that statements repeat. */
public final class ValueList {

    /** More rows in one statement are not faster (docs/decisions/0012), and databases limit the number of parameters. */
    public static final int ROWS_PER_STATEMENT = 500;

    private ValueList() {}

    /** Returns the statement for a list of this many values. */
    public static String in(String statement, int count) {
        return statement.replace("{values}", placeholders(count));
    }

    public static String placeholders(int count) {
        return String.join(", ", Collections.nCopies(paddedSize(count), "?"));
    }

    /** Repeats the last value up to the next power of two. Duplicates do not change the result of an IN list. */
    public static <T> List<T> padded(Collection<T> values) {
        List<T> padded = new ArrayList<>(values);
        while (padded.size() < paddedSize(values.size())) {
            padded.add(padded.get(padded.size() - 1));
        }
        return padded;
    }

    public static int paddedSize(int count) {
        return count == 0 ? 0 : Integer.highestOneBit(count * 2 - 1);
    }

    public static Binder bindIntegers(Binder binder, Collection<Integer> values) throws SQLException {
        for (Integer value : padded(values)) {
            binder.integer(value);
        }
        return binder;
    }

    public static Binder bindNumbers(Binder binder, Collection<Long> seqs) throws SQLException {
        for (Long seq : padded(seqs)) {
            binder.number(seq);
        }
        return binder;
    }

    public static Binder bindUuids(Binder binder, Collection<UUID> ids) throws SQLException {
        for (UUID id : padded(ids)) {
            binder.uuid(id);
        }
        return binder;
    }
}
