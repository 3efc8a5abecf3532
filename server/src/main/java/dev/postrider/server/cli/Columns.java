package dev.postrider.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How a kind of entry is shown: the columns of its table and the members of its JSON object, declared once. Immutable. */
final class Columns<T> {

    /** A column without a heading is in the JSON object only. */
    private record Column<T>(String name, @Nullable String heading, Function<T, @Nullable Object> value) {}

    private final List<Column<T>> all;

    private Columns(List<Column<T>> all) {
        this.all = List.copyOf(all);
    }

    static <T> Columns<T> none() {
        return new Columns<>(List.of());
    }

    /** Adds a column of the table, which is also a member of the JSON object. */
    Columns<T> with(String name, String heading, Function<T, @Nullable Object> value) {
        return plus(new Column<>(name, heading, value));
    }

    /** Adds a member of the JSON object that the table leaves out. */
    Columns<T> detail(String name, Function<T, @Nullable Object> value) {
        return plus(new Column<>(name, null, value));
    }

    private Columns<T> plus(Column<T> column) {
        List<Column<T>> more = new ArrayList<>(all);
        more.add(column);
        return new Columns<>(more);
    }

    List<String> headings() {
        List<String> headings = new ArrayList<>();
        for (Column<T> column : all) {
            if (column.heading() != null) {
                headings.add(column.heading());
            }
        }
        return headings;
    }

    List<String> cells(T entry) {
        List<String> cells = new ArrayList<>();
        for (Column<T> column : all) {
            if (column.heading() != null) {
                cells.add(cell(column.value().apply(entry)));
            }
        }
        return cells;
    }

    Map<String, @Nullable Object> members(T entry) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        all.forEach(column -> members.put(column.name(), column.value().apply(entry)));
        return members;
    }

    /** Returns a value as people read it, in one line. */
    static String cell(@Nullable Object value) {
        if (value == null) {
            return "-";
        }
        if (value instanceof Instant time) {
            return Words.of(time);
        }
        if (value instanceof Duration duration) {
            return duration.isZero() ? "-" : Words.of(duration);
        }
        if (value instanceof Boolean flag) {
            return flag ? "yes" : "no";
        }
        if (value instanceof Enum<?> constant) {
            return Words.of(constant);
        }
        if (value instanceof Collection<?> list) {
            return list.isEmpty() ? "-" : list.stream().map(Columns::cell).collect(Collectors.joining(", "));
        }
        String text = Printable.line(value.toString());
        return text.isEmpty() ? "-" : text;
    }
}
