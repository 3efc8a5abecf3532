package dev.postrider.admin.rest;

import dev.postrider.admin.Action;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.EnumSet;
import java.util.UUID;

/** Parameters and members that several routes have. */
final class CommonFields {

    static final int DEFAULT_LIMIT = 100;

    /** The states that a filter can ask for. */
    static final FieldType.Word<State> STATES =
            new FieldType.Word<>(State.class, EnumSet.complementOf(EnumSet.of(State.UNKNOWN)));

    static final Field<String> REASON =
            Field.optional("reason", new FieldType.Text(), "Why, for the audit: up to 1000 characters.");

    static final Field<Integer> LIMIT = Field.optional(
            "limit", new FieldType.WholeNumber(), "The largest number of entries, 1 to 1000; 100 by default.");

    static final Field<TopicName> TOPIC =
            Field.required("topic", new FieldType.Topic(), "The topic: name, or namespace/name.");

    static final Field<MessageId> ID = Field.required("id", new FieldType.Id(), "The id of the message.");

    static final Field<Action> ACTION =
            Field.required("action", FieldType.Word.of(Action.class), "What to do with the messages.");

    static final Field<State> EXPECTED = Field.optional(
            "expected", STATES, "The state in which you saw the message; a message in another state is not changed.");

    static final Field<UUID> REFERENCE =
            Field.required("reference", new FieldType.Reference(), "The reference of the command.");

    private CommonFields() {}
}
