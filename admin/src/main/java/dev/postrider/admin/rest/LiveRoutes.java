package dev.postrider.admin.rest;

import dev.postrider.admin.rest.Route.Call;
import dev.postrider.event.Event;
import dev.postrider.health.Health;
import org.jspecify.annotations.Nullable;

/** The routes about what this process knows without asking the database. */
final class LiveRoutes {

    private final @Nullable AdminEvents events;

    LiveRoutes(@Nullable AdminEvents events) {
        this.events = events;
    }

    private AdminEvents published() {
        AdminEvents known = events;
        if (known == null) {
            throw ProblemType.NOT_PUBLISHED
                    .because("Give the API of this process an AdminEvents, and let its Postrider sampleEvery(interval)")
                    .refusal();
        }
        return known;
    }

    Event.Sampled sample(Call call) {
        Event.Sampled last = published().last();
        if (last == null) {
            throw ProblemType.NOT_PUBLISHED
                    .because("There was no sample yet: the first one follows within the interval of samples")
                    .refusal();
        }
        return last;
    }

    Health health(Call call) {
        return published().health();
    }

    EventStream events(Call call) {
        EventStream stream = published().stream();
        if (stream == null) {
            throw ProblemType.TOO_MANY_STREAMS
                    .because("At most " + AdminEvents.MOST_STREAMS + " streams are open at a time: close one")
                    .refusal("Retry-After", "60");
        }
        return stream;
    }
}
