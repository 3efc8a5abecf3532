package dev.postrider.idempotency;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.StoreException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stored results of the steps of a command: name, codec and bytes of each step, each preceded by its length. Not
 * thread-safe.
 */
final class StepResults {

    private static final int ABSENT = -1;
    private static final byte VERSION = 1;

    /** The result of one step; null is a valid result and has no bytes. */
    record StepResult(String codec, @Nullable ByteBuffer result) {}

    private final Map<String, StepResult> steps = new LinkedHashMap<>();

    static StepResults of(byte @Nullable [] stored) {
        StepResults results = new StepResults();
        if (stored != null) {
            results.read(ByteBuffer.wrap(stored));
        }
        return results;
    }

    private void read(ByteBuffer in) {
        try {
            if (in.get() != VERSION) {
                throw new StoreException(
                        "The steps of a command were stored by a newer version: upgrade this node", null);
            }
            while (in.hasRemaining()) {
                String name = UTF_8.decode(part(in)).toString();
                String codec = UTF_8.decode(part(in)).toString();
                int length = in.getInt();
                steps.put(name, new StepResult(codec, length == ABSENT ? null : part(in, length)));
            }
        } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
            throw new StoreException("The steps of a command are damaged", e);
        }
    }

    private static ByteBuffer part(ByteBuffer in) {
        return part(in, in.getInt());
    }

    private static ByteBuffer part(ByteBuffer in, int length) {
        ByteBuffer part = in.slice(in.position(), length);
        in.position(in.position() + length);
        return part;
    }

    @Nullable
    StepResult find(String name) {
        return steps.get(name);
    }

    void add(String name, StepResult step) {
        steps.put(name, step);
    }

    void remove(String name) {
        steps.remove(name);
    }

    byte[] stored() {
        int size = 1;
        for (Map.Entry<String, StepResult> step : steps.entrySet()) {
            size += 3 * Integer.BYTES
                    + bytes(step.getKey()).length
                    + bytes(step.getValue().codec()).length;
            ByteBuffer result = step.getValue().result();
            size += result == null ? 0 : result.remaining();
        }
        ByteBuffer out = ByteBuffer.allocate(size).put(VERSION);
        steps.forEach((name, step) -> {
            put(out, bytes(name));
            put(out, bytes(step.codec()));
            ByteBuffer result = step.result();
            out.putInt(result == null ? ABSENT : result.remaining());
            if (result != null) {
                out.put(result.duplicate());
            }
        });
        return out.array();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static void put(ByteBuffer out, byte[] part) {
        out.putInt(part.length).put(part);
    }
}
