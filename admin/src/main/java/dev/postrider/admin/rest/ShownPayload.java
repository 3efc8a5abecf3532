package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.message.Message;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A payload as an operator sees it: as text if it is UTF-8, otherwise in Base64, or not at all.
 *
 * @param text null if the payload is hidden or is not UTF-8
 * @param base64 null if the payload is hidden or is UTF-8
 */
record ShownPayload(@Nullable String text, @Nullable String base64) {

    private static final ShownPayload HIDDEN = new ShownPayload(null, null);

    static ShownPayload of(Message message, View view) {
        if (!view.payloads()) {
            return HIDDEN;
        }
        byte[] bytes = message.payload().bytes();
        try {
            String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            return new ShownPayload(redacted(message, view, text), null);
        } catch (CharacterCodingException e) {
            return new ShownPayload(
                    null, redacted(message, view, Base64.getEncoder().encodeToString(bytes)));
        }
    }

    private static String redacted(Message message, View view, String text) {
        return view.redaction().redact(message.topic(), Redaction.Part.PAYLOAD, text);
    }
}
