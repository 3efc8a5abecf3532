package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import dev.postrider.store.TableOptions.Archive;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TopicStorageTest {

    @Test
    void topicWithoutAChoiceHasTheOptionOfTheTables() {
        Topic orders = Topic.named("orders").build();
        Topic invoices = Topic.named("invoices")
                .archive(Archive.FULL)
                .compressPayloadsAbove(500)
                .build();
        StorageOptions options = new StorageOptions(
                TableOptions.defaults().with(tables -> tables.archive(Archive.OFF)),
                Map.of(orders.name(), orders.storage(), invoices.name(), invoices.storage()));

        assertThat(options.archive(orders.name())).isEqualTo(Archive.OFF);
        assertThat(options.archive(TopicName.of("undeclared"))).isEqualTo(Archive.OFF);
        assertThat(options.archive(invoices.name())).isEqualTo(Archive.FULL);
        assertThat(options.compressPayloadsAbove(orders.name())).isZero();
        assertThat(options.compressPayloadsAbove(invoices.name())).isEqualTo(500);
    }

    @Test
    void choicesAreDescribedAsInAConfigurationFile() {
        Topic topic = Topic.named("orders")
                .archive(Archive.WITHOUT_PAYLOAD)
                .compressPayloadsAbove(500)
                .build();

        assertThat(topic.describe())
                .containsEntry("archive", "without-payload")
                .containsEntry("compress-payloads-above", "500")
                .containsEntry("encrypt-payloads", "none");
        assertThat(Topic.named("orders")
                        .encryptPayloads(AesGcmPayloadCipher.with("k1", new byte[16]))
                        .build()
                        .describe())
                .containsEntry("encrypt-payloads", "declared");
    }

    @Test
    void handlerHasTheCipherOfItsConsumerUnlessItDeclaresItsOwn() {
        PayloadCipher common = AesGcmPayloadCipher.with("common", new byte[16]);
        PayloadCipher own = AesGcmPayloadCipher.with("own", new byte[16]);
        DurableInbox inbox = DurableInbox.of("billing")
                .encryptPayloads(common)
                .handler("plain", "order.placed", (message, work) -> {})
                .handler("own", List.of("order.placed"), (message, work) -> {}, topic -> topic.encryptPayloads(own))
                .build();
        StorageOptions options = new StorageOptions(
                TableOptions.defaults(),
                inbox.topics().stream().collect(Collectors.toMap(Topic::name, Topic::storage)));

        assertThat(options.cipher(TopicName.of("inbox/billing"))).isSameAs(common);
        assertThat(options.cipher(TopicName.of("inbox/billing.plain"))).isSameAs(common);
        assertThat(options.cipher(TopicName.of("inbox/billing.undeclared"))).isSameAs(common);
        assertThat(options.cipher(TopicName.of("inbox/billing.own"))).isSameAs(own);
        assertThat(options.cipher(TopicName.of("inbox/shipping.own"))).isNull();
        assertThat(options.cipher(TopicName.of("billing.plain"))).isNull();
        assertThat(options.cipherOfConsumer("billing")).isSameAs(common);
        assertThat(options.cipherOfConsumer("shipping")).isNull();
    }

    @Test
    void negativeSizeIsRefused() {
        assertThatThrownBy(() -> Topic.named("orders").compressPayloadsAbove(-1).build())
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("topic.orders.compress-payloads-above");
    }
}
