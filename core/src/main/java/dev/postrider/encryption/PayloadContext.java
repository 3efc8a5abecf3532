package dev.postrider.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The row of an encrypted payload. Immutable.
 *
 * @param id the id of the message; in a topic of the inbox, the id of the handler's own row
 * @param size the number of bytes of the clear payload, before compression. It is stored in front of the encrypted bytes
 * @param compressed whether the payload was compressed before it was encrypted
 */
public record PayloadContext(
        MessageId id, TopicName topic, @Nullable String tenant, int size, boolean compressed) {

    private static final byte VERSION = 1;

    /**
     * Returns all parts as bytes, the same for each call and different for different rows. A cipher authenticates them, for example as
     * the additional authenticated data of AES-GCM.
     */
    public byte[] authenticated() {
        byte[] namespace = topic.namespace().getBytes(UTF_8);
        byte[] name = topic.topic().getBytes(UTF_8);
        byte[] ofTenant = tenant == null ? new byte[0] : tenant.getBytes(UTF_8);
        int fixed = 1 + 2 * Long.BYTES + 4 * Integer.BYTES + 1;
        ByteBuffer out = ByteBuffer.allocate(fixed + namespace.length + name.length + ofTenant.length);
        out.put(VERSION);
        out.putLong(id.value().getMostSignificantBits());
        out.putLong(id.value().getLeastSignificantBits());
        out.putInt(namespace.length).put(namespace);
        out.putInt(name.length).put(name);
        out.putInt(tenant == null ? -1 : ofTenant.length).put(ofTenant); // so that no tenant differs from an empty one
        out.putInt(size);
        out.put((byte) (compressed ? 1 : 0));
        return out.array();
    }
}
