package dev.postrider.idempotency;

import java.nio.charset.StandardCharsets;

/** Codecs for types of the JDK. */
public final class ResultCodecs {

    private ResultCodecs() {}

    public static ResultCodec<String> text() {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return "text";
            }

            @Override
            public byte[] encode(String result) {
                return result.getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String decode(byte[] bytes) {
                return new String(bytes, StandardCharsets.UTF_8);
            }
        };
    }

    public static ResultCodec<byte[]> bytes() {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return "bytes";
            }

            @Override
            public byte[] encode(byte[] result) {
                return result.clone();
            }

            @Override
            public byte[] decode(byte[] bytes) {
                return bytes.clone();
            }
        };
    }

    /** For commands that return null. */
    public static ResultCodec<Void> nothing() {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return "nothing";
            }

            @Override
            public byte[] encode(Void result) {
                return new byte[0];
            }

            @Override
            public Void decode(byte[] bytes) {
                throw new IllegalStateException("nothing was encoded");
            }
        };
    }
}
