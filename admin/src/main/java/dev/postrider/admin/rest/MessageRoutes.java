package dev.postrider.admin.rest;

import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.admin.rest.Route.Call;
import dev.postrider.message.MessageId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The routes about messages. */
final class MessageRoutes {

    private enum Order {
        OLDEST,
        NEWEST
    }

    private static final FieldType<String> TEXT = new FieldType.Text();

    private static final Field<Order> ORDER =
            Field.optional("order", FieldType.Word.of(Order.class), "Which entries come first; oldest by default.");
    private static final Field<String> CURSOR =
            Field.optional("cursor", TEXT, "The next of the page before, or of the call before.");
    static final Field<Boolean> DRY_RUN = Field.required(
            "dryRun", new FieldType.Flag(), "Whether to count the selected messages only, and to change nothing.");
    private static final Field<Input> FILTER = Field.required(
            "filter", new FieldType.Members(FilterFields.ALL), "Which messages: the parameters of the list.");
    private static final Field<Integer> MOST = Field.optional(
            "limit",
            new FieldType.WholeNumber(),
            "The largest number of messages, 1 to " + Change.MOST + "; as many by default.");

    static final List<Field<?>> LIST = withFilter(ORDER, CURSOR, CommonFields.LIMIT);
    static final List<Field<?>> FAILURES = withFilter(CommonFields.LIMIT);
    static final List<Field<?>> ACTION = List.of(CommonFields.REASON, CommonFields.EXPECTED);
    static final List<Field<?>> ACTIONS =
            List.of(CommonFields.ACTION, FILTER, DRY_RUN, MOST, CommonFields.REASON, CommonFields.EXPECTED, CURSOR);

    private final Admin admin;

    MessageRoutes(Admin admin) {
        this.admin = admin;
    }

    private static List<Field<?>> withFilter(Field<?>... more) {
        List<Field<?>> fields = new ArrayList<>(FilterFields.ALL);
        fields.addAll(List.of(more));
        return fields;
    }

    private static Filter filter(Call call, Input input) {
        return FilterFields.read(input, call.operator().tenant());
    }

    Page<MessageSummary> list(Call call) {
        Input input = call.input();
        int limit = input.get(CommonFields.LIMIT, CommonFields.DEFAULT_LIMIT);
        boolean isNewestFirst = input.get(ORDER, Order.OLDEST) == Order.NEWEST;
        @Nullable String cursor = input.get(CURSOR);
        MessagePage page = admin.messages(filter(call, input), new Paging(cursor, limit, isNewestFirst));
        return new Page<>(page.messages(), page.next(), page.cut());
    }

    MessageDetail find(Call call) {
        Optional<MessageDetail> found = admin.explain(call.parameter(CommonFields.ID));
        return Tenants.visible(
                        call.operator(),
                        found,
                        detail -> detail.message().message().tenant())
                .orElseThrow(MessageRoutes::notFound);
    }

    private static Refusal notFound() {
        return ProblemType.NOT_FOUND
                .because("There is no message of this id: it never was there, or its retention is over")
                .refusal();
    }

    FailureGroups failures(Call call) {
        int limit = call.input().get(CommonFields.LIMIT, CommonFields.DEFAULT_LIMIT);
        return admin.failures(filter(call, call.input()), limit);
    }

    Shapes.Done change(Call call) {
        MessageId id = call.parameter(CommonFields.ID);
        Action action = Words.find(Action.class, call.parameters().getOrDefault("action", ""));
        if (action == null) {
            throw ProblemType.NO_ROUTE
                    .because("There is no such action. The document of all routes is at " + RouteTable.DOCUMENT)
                    .refusal();
        }
        requireVisible(call.operator(), id);
        return Repairs.done(admin.apply(action, id, expecting(call)), "message");
    }

    /** The tenant of a message never changes, and its id is not used again while it exists. So nothing can come between. */
    private void requireVisible(Operator operator, MessageId id) {
        if (operator.tenant() == null) {
            return;
        }
        Optional<StoredMessage> found = admin.find(id);
        if (Tenants.visible(operator, found, stored -> stored.message().tenant())
                .isEmpty()) {
            throw Repairs.refusal(Repair.NOT_FOUND, "message"); // as if it were nowhere
        }
    }

    private static Change expecting(Call call) {
        Change change = call.change();
        @Nullable State expected = call.input().get(CommonFields.EXPECTED);
        return expected == null ? change : change.expecting(expected);
    }

    ChangeResult changeAll(Call call) {
        Input input = call.input();
        Action action = input.require(CommonFields.ACTION);
        if (action == Action.DISCARD && !call.operator().role().includes(Role.ADMIN)) {
            throw ProblemType.FORBIDDEN
                    .because("To discard messages by filter needs the role admin")
                    .refusal();
        }
        Change change = expecting(call);
        if (input.require(DRY_RUN)) {
            change = new Change(null, null, change.limit(), change.expected(), null);
        }
        int limit = input.get(MOST, Change.MOST);
        Change whole = change.after(input.get(CURSOR));
        return admin.apply(action, filter(call, input.require(FILTER)), Checked.field(MOST, () -> whole.limit(limit)));
    }
}
