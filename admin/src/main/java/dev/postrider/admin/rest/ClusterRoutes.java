package dev.postrider.admin.rest;

import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.InboxStatus;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.rest.Route.Call;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The routes about nodes, inboxes and the audit. */
final class ClusterRoutes {

    private static final FieldType<String> TEXT = new FieldType.Text();

    private static final Field<String> CONSUMER = Field.required("consumer", TEXT, "The consumer.");
    private static final Field<String> HANDLER = Field.required("handler", TEXT, "The handler.");
    private static final Field<Long> BEFORE =
            Field.optional("before", new FieldType.Sequence(), "The next of the page before.");

    static final List<Field<?>> RETIRE = List.of(CONSUMER, HANDLER, CommonFields.REASON);
    static final List<Field<?>> AUDIT = List.of(BEFORE, CommonFields.LIMIT);

    private final Admin admin;

    ClusterRoutes(Admin admin) {
        this.admin = admin;
    }

    Page<NodeStatus> nodes(Call call) {
        return Page.whole(admin.nodes());
    }

    Page<InboxStatus> inboxes(Call call) {
        return Page.whole(admin.inboxes());
    }

    Shapes.Retired retire(Call call) {
        return new Shapes.Retired(
                admin.retire(call.input().require(CONSUMER), call.input().require(HANDLER), call.change()));
    }

    Page<AuditEntry> audit(Call call) {
        int limit = call.input().get(CommonFields.LIMIT, CommonFields.DEFAULT_LIMIT);
        List<AuditEntry> entries = admin.audit(call.input().get(BEFORE, Long.MAX_VALUE), limit);
        @Nullable
        String next = entries.size() < limit
                ? null
                : Long.toString(entries.get(limit - 1).id());
        return new Page<>(entries, next, false);
    }
}
