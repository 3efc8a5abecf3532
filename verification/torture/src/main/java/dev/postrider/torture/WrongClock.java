package dev.postrider.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Gives a worker a wrong clock for a while. The validity of its leases must not depend on it. Needs libfaketime. */
final class WrongClock implements Fault {

    /** A property for the path of the library, and the paths of the usual distributions. */
    private static final List<String> PLACES = List.of(
            System.getProperty("postrider.torture.faketime", ""),
            "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib64/faketime/libfaketimeMT.so.1",
            "/usr/lib/faketime/libfaketimeMT.so.1",
            "/usr/local/lib/faketime/libfaketimeMT.so.1");

    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final String NO_STEP = "+0s\n";
    private static final String STEP = "-600s\n";

    private final Supplier<@Nullable Slot> choice;
    private final @Nullable Path mutant;
    private final Map<String, String> environment;
    private final List<String> options;
    private final @Nullable Path file;
    private @Nullable Slot slot;
    private String target = "";

    private WrongClock(
            Supplier<@Nullable Slot> choice,
            @Nullable Path mutant,
            Map<String, String> environment,
            List<String> options,
            @Nullable Path file) {
        this.choice = choice;
        this.mutant = mutant;
        this.environment = environment;
        this.options = options;
        this.file = file;
    }

    /**
     * A clock that is an hour off, and another time zone.
     *
     * @param choice reserves the slot of a worker; returns null if none is available
     * @param seconds how far the clock is ahead
     */
    static WrongClock ahead(Supplier<@Nullable Slot> choice, @Nullable Path mutant, int seconds) {
        return new WrongClock(
                choice,
                mutant,
                Map.of("FAKETIME", (seconds < 0 ? "" : "+") + seconds + "s"),
                List.of("-D" + Journal.SKEW + "=" + seconds * 1_000_000L, "-Duser.timezone=Europe/Berlin"),
                null);
    }

    /**
     * A clock that is right at the start, and is set back by ten minutes when the worker is ready.
     *
     * @param file the file from which libfaketime repeatedly reads the offset
     */
    static WrongClock setBack(Supplier<@Nullable Slot> choice, @Nullable Path mutant, Path file) {
        return new WrongClock(
                choice,
                mutant,
                Map.of("FAKETIME_TIMESTAMP_FILE", file.toString(), "FAKETIME_CACHE_DURATION", "1"),
                List.of("-D" + Journal.STEADY + "=true"),
                file);
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
    public boolean begin() throws IOException, InterruptedException {
        Optional<String> library = library();
        if (file != null) {
            Files.writeString(file, NO_STEP);
        }
        Slot taken = library.isEmpty() ? null : choice.get();
        if (taken == null) {
            return false;
        }
        slot = taken;
        Map<String, String> all = new HashMap<>(environment);
        all.put("LD_PRELOAD", library.orElseThrow());
        all.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        taken.current().stop(STOP_LIMIT);
        taken.start(new Child.Start(WorkerProgram.class, mutant, all, options));
        target = "worker-" + taken.current().number();
        if (file != null) {
            taken.current().awaitReady(START_LIMIT);
            Files.writeString(file, STEP);
        }
        return true;
    }

    @Override
    public void end() throws InterruptedException {
        if (slot != null) {
            try {
                slot.current().stop(STOP_LIMIT);
                slot.start();
            } finally {
                slot.giveBack();
            }
        }
    }
}
