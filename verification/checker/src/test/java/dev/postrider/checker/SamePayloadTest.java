package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class SamePayloadTest extends InvariantTest {

    SamePayloadTest() {
        super(new SamePayload());
    }

    private void received(String hash, String topic, String tenant, String key, String number) {
        story.inOrder("k&ä", "a")
                .line(
                        "receiver",
                        "received",
                        "id=" + Story.id("a"),
                        "topic=" + topic,
                        "tenant=" + tenant,
                        "key=" + key,
                        "number=" + number,
                        "hash=" + hash,
                        "worker=w",
                        "attempt=1");
    }

    @Test
    void whatWasWrittenIsDelivered() {
        received(Story.HASH, "ordered", "t", "k&ä", "1");
        holds(1);
    }

    @Test
    void otherBytesAreNoticed() {
        received(Story.HASH.replace("0011", "0012"), "ordered", "t", "k&ä", "1");
        isViolated(1, Story.id("a") + " was delivered otherwise than it was written");
    }

    @Test
    void otherTopicIsNoticed() {
        received(Story.HASH, "plain", "t", "k&ä", "1");
        isViolated(1, "otherwise");
    }

    @Test
    void otherTenantIsNoticed() {
        received(Story.HASH, "ordered", "u", "k&ä", "1");
        isViolated(1, "otherwise");
    }

    @Test
    void otherKeyIsNoticed() {
        received(Story.HASH, "ordered", "t", "k&a", "1");
        isViolated(1, "otherwise");
    }

    @Test
    void otherNumberIsNoticed() {
        received(Story.HASH, "ordered", "t", "k&ä", "2");
        isViolated(1, "otherwise");
    }
}
