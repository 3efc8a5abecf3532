package dev.postrider.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NotificationPayloadTest {

    @Test
    void ringIsReadAsItWasWritten() {
        Ring ring = new Ring(Set.of(TopicName.of("orders"), TopicName.of("billing/in-voices.v2")));

        String note = NotificationPayload.ring("0123abcd", ring);

        assertThat(note).isEqualTo("ring:0123abcd:billing/in-voices.v2,orders");
        assertThat(NotificationPayload.read(note)).isEqualTo(ring);
        assertThat(NotificationPayload.isFrom("0123abcd", note)).isTrue();
        assertThat(NotificationPayload.isFrom("0123abce", note)).isFalse();
    }

    @Test
    void ringForManyTopicsIsOneForAny() {
        Set<TopicName> many = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            many.add(TopicName.of("topic-" + i));
        }

        String note = NotificationPayload.ring("0123abcd", new Ring(many));

        assertThat(note).isEqualTo("ring:0123abcd:*");
        assertThat(NotificationPayload.read(note)).isEqualTo(Ring.ANYWHERE);
    }

    /** A listener may run on a thread with a small stack, and anybody may send the note. */
    @Test
    void noteWithManyTopicsNeedsNoMoreStackThanOneWithFew() throws InterruptedException {
        Set<TopicName> many = new HashSet<>();
        for (int i = 0; i < 500; i++) {
            many.add(TopicName.of(Integer.toString(i, 36)));
        }
        Ring ring = new Ring(many);
        String note = NotificationPayload.ring("0123abcd", ring);
        AtomicReference<Object> answer = new AtomicReference<>();

        Thread small = new Thread(
                null,
                () -> {
                    try {
                        answer.set(NotificationPayload.read(note));
                    } catch (StackOverflowError e) {
                        answer.set(e);
                    }
                },
                "small",
                128 * 1024);
        small.start();
        small.join();

        assertThat(answer.get()).isEqualTo(ring);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "rubbish",
                "ring:",
                "ring:0123abcd:",
                "ring:0123ABCD:orders",
                "ring:0123abcd:a b",
                "ring:0123abcd:orders,",
                "ring:0123abcd:a/b/c",
                "ring:0123abcd:orders,,other",
                "ring:0123abcd:,orders",
                "ring:0123abcd:orders/",
                "ring:0123abcd:.orders",
                "ring:0123abcd:orders\n"
            })
    void whatIsNotUnderstoodIsARingForAny(String note) {
        assertThat(NotificationPayload.read(note)).isEqualTo(Ring.ANYWHERE);
    }

    @Test
    void channelIsAPlainNameThatPostgresTellsApart() {
        assertThat(Channel.named("postrider_doorbell").name()).isEqualTo("postrider_doorbell");
        Channel one = Channel.named("s".repeat(63) + "_postrider_doorbell");
        Channel other = Channel.named("s".repeat(63) + "_postrider_doorbelk");
        assertThat(one.name()).hasSize(63).isNotEqualTo(other.name());
        assertThatThrownBy(() -> Channel.named("a\"; DROP TABLE x; --"))
                .isInstanceOf(InvalidConfigurationException.class);
    }
}
