package dev.postrider.admin.rest;

import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.rest.Route.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The routes about commands. */
final class CommandRoutes {

    /** The commands that an operator can resolve. */
    private enum Open {
        UNCERTAIN,
        STUCK
    }

    private static final int LONGEST_LIST = 1000;

    private static final Field<Open> STATE = Field.optional(
            "state", FieldType.Word.of(Open.class), "Which commands; by default uncertain ones and then stuck ones.");
    private static final Field<Resolution> RESOLUTION =
            Field.required("resolution", FieldType.Word.of(Resolution.class), "What is decided about the command.");

    static final List<Field<?>> LIST = List.of(STATE, CommonFields.LIMIT);
    static final List<Field<?>> RESOLVE = List.of(RESOLUTION, CommonFields.REASON);

    private final CommandAdmin admin;

    CommandRoutes(CommandAdmin admin) {
        this.admin = admin;
    }

    /** The list of an operator with a tenant is chosen from the oldest thousand of all tenants: more is not read. */
    Page<StoredCommand> list(Call call) {
        int limit = call.input().get(CommonFields.LIMIT, CommonFields.DEFAULT_LIMIT);
        Operator operator = call.operator();
        int read = operator.tenant() == null || limit < 1 ? limit : Math.max(limit, LONGEST_LIST);
        @Nullable Open state = call.input().get(STATE);
        List<StoredCommand> found = new ArrayList<>();
        boolean isCut = false;
        if (state != Open.STUCK) {
            found.addAll(admin.uncertain(read));
            isCut = found.size() == read;
        }
        if (state != Open.UNCERTAIN && !isCut) {
            List<StoredCommand> stuck = admin.stuck(read);
            found.addAll(stuck);
            isCut = stuck.size() == read;
        }
        List<StoredCommand> visible = found.stream()
                .filter(command -> Tenants.isVisible(operator, command.tenant()))
                .toList();
        boolean isLong = visible.size() > limit;
        return new Page<>(isLong ? visible.subList(0, limit) : visible, null, isCut || isLong);
    }

    StoredCommand find(Call call) {
        return visible(call, call.parameter(CommonFields.REFERENCE));
    }

    private StoredCommand visible(Call call, UUID reference) {
        return Tenants.visible(call.operator(), admin.find(reference), StoredCommand::tenant)
                .orElseThrow(CommandRoutes::notFound);
    }

    private static Refusal notFound() {
        return new Problem(
                        ProblemType.NOT_FOUND,
                        "There is no command of this reference: it never was there, or its retention is over",
                        null,
                        Words.of(Resolved.NOT_FOUND))
                .refusal();
    }

    Shapes.Done resolve(Call call) {
        UUID reference = call.parameter(CommonFields.REFERENCE);
        visible(call, reference); // a reference is never given to another command
        Resolved resolved = admin.resolve(reference, call.input().require(RESOLUTION), call.change());
        if (resolved == Resolved.NOT_FOUND) {
            throw notFound();
        }
        if (resolved == Resolved.NOT_OPEN) {
            throw new Problem(
                            ProblemType.NOT_OPEN,
                            "The command has a valid lease, or has already ended. Nothing was changed",
                            null,
                            Words.of(resolved))
                    .refusal();
        }
        return new Shapes.Done();
    }
}
