package dev.postrider.admin.rest;

import dev.postrider.admin.Admin;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.rest.Route.Call;
import dev.postrider.message.MessageId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The routes about blocked keys. */
final class BlockedKeyRoutes {

    private static final FieldType<String> TEXT = new FieldType.Text();

    private static final Field<Long> AFTER =
            Field.optional("after", new FieldType.Sequence(), "The next of the page before.");
    private static final Field<String> TENANT = Field.optional("tenant", TEXT, "The tenant of the key.");
    private static final Field<String> KEY = Field.required("key", TEXT, "The ordering key.");
    private static final Field<MessageId> HEAD =
            Field.required("head", new FieldType.Id(), "The head as it was listed; another head is not buried.");

    static final List<Field<?>> LIST = List.of(CommonFields.TOPIC, AFTER, CommonFields.LIMIT);
    static final List<Field<?>> RETRY = List.of(CommonFields.TOPIC, TENANT, KEY, CommonFields.REASON);
    static final List<Field<?>> BURY = List.of(CommonFields.TOPIC, TENANT, KEY, HEAD, CommonFields.REASON);

    private final Admin admin;

    BlockedKeyRoutes(Admin admin) {
        this.admin = admin;
    }

    /** A page of an operator with a tenant may be short before the end. */
    Page<BlockedKey> list(Call call) {
        int limit = call.input().get(CommonFields.LIMIT, CommonFields.DEFAULT_LIMIT);
        List<BlockedKey> keys = admin.blockedKeys(
                call.input().require(CommonFields.TOPIC), call.input().get(AFTER, 0L), limit);
        @Nullable
        String next =
                keys.size() < limit ? null : Long.toString(keys.get(limit - 1).headSeq());
        List<BlockedKey> visible = keys.stream()
                .filter(key -> Tenants.isVisible(call.operator(), key.tenant()))
                .toList();
        return new Page<>(visible, next, false);
    }

    Shapes.Done retry(Call call) {
        Input input = call.input();
        return Repairs.done(
                admin.retry(input.require(CommonFields.TOPIC), tenant(call), input.require(KEY), call.change()),
                "blocked key");
    }

    Shapes.Done bury(Call call) {
        Input input = call.input();
        return Repairs.done(
                admin.bury(
                        input.require(CommonFields.TOPIC),
                        tenant(call),
                        input.require(KEY),
                        input.require(HEAD),
                        call.change()),
                "blocked key with this head");
    }

    private static @Nullable String tenant(Call call) {
        return Tenants.of(call.operator(), call.input().get(TENANT));
    }
}
