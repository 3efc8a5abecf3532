package dev.postrider.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;

/** The keys of attributes: those of the semantic conventions, which may change until they are stable, and those of Postrider. */
final class Attributes {

    static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    static final AttributeKey<String> OPERATION_NAME = AttributeKey.stringKey("messaging.operation.name");
    static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");
    static final AttributeKey<String> CONSUMER_GROUP = AttributeKey.stringKey("messaging.consumer.group.name");
    static final AttributeKey<String> MESSAGE_ID = AttributeKey.stringKey("messaging.message.id");
    static final AttributeKey<String> CONVERSATION_ID = AttributeKey.stringKey("messaging.message.conversation_id");
    static final AttributeKey<Long> BATCH_COUNT = AttributeKey.longKey("messaging.batch.message_count");
    static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");

    static final AttributeKey<String> MESSAGE_TYPE = AttributeKey.stringKey("postrider.message.type");
    static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("postrider.attempt");
    static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("postrider.outcome");
    static final AttributeKey<String> TENANT = AttributeKey.stringKey("postrider.tenant");
    static final AttributeKey<String> ORDERING_KEY = AttributeKey.stringKey("postrider.ordering_key");
    static final AttributeKey<String> IDEMPOTENCY_KEY = AttributeKey.stringKey("postrider.idempotency_key");
    static final AttributeKey<String> COMMAND_OPERATION = AttributeKey.stringKey("postrider.command.operation");
    static final AttributeKey<String> COMMAND_REFERENCE = AttributeKey.stringKey("postrider.command.reference");

    private Attributes() {}
}
