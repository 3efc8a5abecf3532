package dev.postrider.jdbc;

import dev.postrider.internal.store.CommandId;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of the simulated command table. Changed only as a copy that is not yet in the table. */
final class CommandState {

    final CommandId id;
    final Map<String, @Nullable Object> names = new LinkedHashMap<>();
    UUID reference;
    UUID owner;
    String state = "IN_PROGRESS";
    long fence = 1;
    long lease;
    long leaseUntil;
    boolean uncertainIfLost;
    boolean effectStarted;
    int attempts = 1;
    byte[] fingerprint = new byte[0];
    int fingerprintVersion;
    long keyUntil;

    byte @Nullable [] steps;

    @Nullable
    String outcome;

    @Nullable
    String resultKind;

    @Nullable
    String codec;

    byte @Nullable [] result;

    @Nullable
    Long resultUntil;

    @Nullable
    String reason;

    CommandState(CommandId id, UUID reference, UUID owner) {
        this.id = id;
        this.reference = reference;
        this.owner = owner;
    }

    CommandState copy() {
        CommandState copy = new CommandState(id, reference, owner);
        copy.names.putAll(names);
        copy.state = state;
        copy.fence = fence;
        copy.lease = lease;
        copy.leaseUntil = leaseUntil;
        copy.uncertainIfLost = uncertainIfLost;
        copy.effectStarted = effectStarted;
        copy.attempts = attempts;
        copy.fingerprint = fingerprint;
        copy.fingerprintVersion = fingerprintVersion;
        copy.keyUntil = keyUntil;
        copy.steps = steps;
        copy.outcome = outcome;
        copy.resultKind = resultKind;
        copy.codec = codec;
        copy.result = result;
        copy.resultUntil = resultUntil;
        copy.reason = reason;
        return copy;
    }

    boolean isInProgress() {
        return state.equals("IN_PROGRESS");
    }

    /** An owner may still end it. */
    boolean isOpen() {
        return isInProgress() || state.equals("UNCERTAIN");
    }

    /** No owner extends its lease, and any caller may take it over. */
    boolean isAbandoned(long now) {
        return isInProgress() && leaseUntil <= now && !uncertainIfLost;
    }

    /** No owner extends its lease, and no caller may take it over. */
    boolean isLost(long now) {
        return isInProgress() && leaseUntil <= now && uncertainIfLost;
    }

    /** The key is free again. */
    boolean isOver(long now) {
        return keyUntil <= now && (state.equals("COMPLETED") || state.equals("FAILED") || isAbandoned(now));
    }

    void forgetResult() {
        result = null;
        codec = null;
        resultUntil = null;
    }

    /** By the names of its columns. */
    Map<String, @Nullable Object> columns(long now) {
        Map<String, @Nullable Object> columns = new LinkedHashMap<>(names);
        columns.put("id", id.bytes());
        columns.put("reference", reference);
        columns.put("state", state);
        columns.put("owner", owner);
        columns.put("fence", fence);
        columns.put("fingerprint", fingerprint);
        columns.put("fingerprint_version", fingerprintVersion);
        columns.put("attempts", attempts);
        columns.put("uncertain_if_lost", uncertainIfLost);
        columns.put("effect_started", effectStarted);
        columns.put("outcome", outcome);
        columns.put("result_kind", resultKind);
        columns.put("result_codec", codec);
        columns.put("result", result);
        columns.put("reason", reason);
        columns.put("steps", steps);
        columns.put("lease_until", time(leaseUntil));
        columns.put("key_expires_at", time(keyUntil));
        columns.put("result_expires_at", resultUntil == null ? null : time(Objects.requireNonNull(resultUntil)));
        columns.put("created_at", time(now));
        columns.put("updated_at", time(now));
        columns.put("read_at", time(now));
        return columns;
    }

    private static Object time(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000)
                .atOffset(ZoneOffset.UTC);
    }
}
