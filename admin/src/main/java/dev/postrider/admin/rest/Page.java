package dev.postrider.admin.rest;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list. Immutable.
 *
 * @param next the cursor of the next page; null at the end of the list
 * @param isCut whether the page ended because as many entries were examined as may be
 */
record Page<T>(List<T> items, @Nullable String next, boolean isCut) {

    Page {
        items = List.copyOf(items);
    }

    /** Returns a list that has no pages. */
    static <T> Page<T> whole(List<T> items) {
        return new Page<>(items, null, false);
    }

    /** The shape of a list. */
    static <T> Shape<Page<T>> shape(Shape<T> item) {
        return Shape.<Page<T>>named(item.name() + "List")
                .list("items", item, Page::items)
                .text("next?", Page::next);
    }

    /** The shape of a list whose pages may end early. */
    static <T> Shape<Page<T>> cutShape(Shape<T> item) {
        return shape(item).flag("cut", Page::isCut);
    }
}
