package dev.postrider.server.demo;

import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What became of the messages of the two topics that do not work on purpose. Immutable.
 *
 * @param committed the number of messages that were committed
 * @param states the number of them that are in each state
 * @param missing the number of them that are in no state and that no operator has discarded
 */
record Troubled(int committed, Map<State, Integer> states, int missing) {

    private static final int PAGE = 1000;

    /** Looks up every message. Messages that an operator discards are known by their number only. */
    static Troubled of(Set<MessageId> committed, Admin admin) {
        Map<State, Integer> states = new EnumMap<>(State.class);
        Set<MessageId> missing = new HashSet<>(committed);
        for (String topic : List.of(Shop.MAIL, Shop.STOCK)) {
            @Nullable String cursor = null;
            do {
                MessagePage page = admin.messages(
                        Filter.all().topic(topic), Paging.oldest(PAGE).after(cursor));
                for (MessageSummary message : page.messages()) {
                    if (missing.remove(message.id())) {
                        states.merge(message.state(), 1, Integer::sum);
                    }
                }
                cursor = page.next();
            } while (cursor != null);
        }
        return new Troubled(committed.size(), states, Math.max(0, missing.size() - discarded(admin)));
    }

    private static int discarded(Admin admin) {
        return admin.audit(Long.MAX_VALUE, PAGE).stream()
                .filter(entry -> entry.action().equals("DISCARD"))
                .mapToInt(Troubled::number)
                .sum();
    }

    private static int number(AuditEntry entry) {
        Integer changed = entry.changed();
        return changed == null ? 1 : changed;
    }

    int in(State state) {
        return states.getOrDefault(state, 0);
    }

    /** The number of messages that are still to be delivered without an operator. */
    int waiting() {
        return in(State.PENDING) + in(State.RETRYING) + in(State.PROCESSING) + in(State.BLOCKED);
    }
}
