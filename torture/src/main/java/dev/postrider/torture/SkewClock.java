package dev.postrider.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A worker lives in another hour for a while; what is left of its leases must not depend on it. Needs libfaketime. */
final class SkewClock implements Fault {

    /** Where distributions put it, and a property for everybody else. */
    private static final List<String> PLACES = List.of(
            System.getProperty("postrider.torture.faketime", ""),
            "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib64/faketime/libfaketimeMT.so.1",
            "/usr/lib/faketime/libfaketimeMT.so.1",
            "/usr/local/lib/faketime/libfaketimeMT.so.1");

    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final Slot slot;
    private final @Nullable Path mutant;
    private final int seconds;
    private String target = "";

    /** @param seconds how far its clock is ahead */
    SkewClock(Slot slot, @Nullable Path mutant, int seconds) {
        this.slot = slot;
        this.mutant = mutant;
        this.seconds = seconds;
    }

    static Optional<String> library() {
        return PLACES.stream()
                .filter(place -> !place.isEmpty() && Files.isRegularFile(Path.of(place)))
                .findFirst();
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() throws InterruptedException {
        Optional<String> library = library();
        if (library.isEmpty() || !slot.take()) {
            return false;
        }
        slot.current().stop(STOP_LIMIT);
        slot.start(new Child.Start(
                WorkerProgram.class,
                mutant,
                Map.of(
                        "LD_PRELOAD",
                        library.get(),
                        "FAKETIME",
                        (seconds < 0 ? "" : "+") + seconds + "s",
                        "FAKETIME_DONT_FAKE_MONOTONIC",
                        "1"),
                List.of("-D" + Journal.SKEW + "=" + seconds * 1_000_000L, "-Duser.timezone=Europe/Berlin")));
        target = "worker-" + slot.current().number();
        return true;
    }

    @Override
    public void end() throws InterruptedException {
        try {
            slot.current().stop(STOP_LIMIT);
            slot.start();
        } finally {
            slot.giveBack();
        }
    }
}
