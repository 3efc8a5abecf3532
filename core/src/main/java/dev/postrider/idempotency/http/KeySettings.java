package dev.postrider.idempotency.http;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.idempotency.Command;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an operation. {@link IdempotencyKey} writes them only while it makes a changed copy; afterwards they
 * are only read.
 */
final class KeySettings {

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Set<String> METHODS = Set.of("POST", "PATCH", "PUT", "DELETE");

    /** Headers that belong to one response or one caller. A replay of them would be wrong or disclose a secret. */
    private static final Set<String> NEVER_REPLAYED = Set.of(
            "authentication-info",
            "authorization",
            "connection",
            "content-length",
            "date",
            "proxy-authenticate",
            "retry-after",
            "set-cookie",
            "transfer-encoding",
            "www-authenticate");

    final String operation;
    final boolean required;
    Set<String> methods = Set.of("POST", "PATCH");
    Function<KeyedRequest, @Nullable String> caller = KeyedRequest::principal;
    boolean anyCaller;

    @Nullable
    Function<KeyedRequest, @Nullable String> tenant;

    KeySyntax syntax = new KeySyntax(false, 1, null);
    Function<KeyedRequest, Optional<KeyedResponse>> check = call -> Optional.empty();
    int largestRequest = 1024 * 1024;
    int largestAnswer = 8 * 1024 * 1024;
    Set<String> replayed = names(Set.of(
            "Content-Type",
            "Content-Encoding",
            "Content-Language",
            "Location",
            "Content-Location",
            "ETag",
            "Last-Modified",
            "Link"));
    String replayMarker = "Idempotency-Replayed";
    Duration longestWait = Duration.ZERO;
    boolean failOpen;
    String problems = "urn:postrider:problem:";

    @Nullable
    String challenge;

    Command.Options options = Command.Options.defaults();

    KeySettings(String operation, boolean required) {
        this.operation = operation;
        this.required = required;
    }

    KeySettings copy() {
        KeySettings copy = new KeySettings(operation, required);
        copy.methods = methods;
        copy.caller = caller;
        copy.anyCaller = anyCaller;
        copy.tenant = tenant;
        copy.syntax = syntax;
        copy.check = check;
        copy.largestRequest = largestRequest;
        copy.largestAnswer = largestAnswer;
        copy.replayed = replayed;
        copy.replayMarker = replayMarker;
        copy.longestWait = longestWait;
        copy.failOpen = failOpen;
        copy.problems = problems;
        copy.challenge = challenge;
        copy.options = options;
        return copy;
    }

    void addMethods(String... more) {
        Set<String> all = new TreeSet<>(methods);
        for (String method : more) {
            if (!METHODS.contains(method)) {
                throw new InvalidConfigurationException(
                        "idempotency-key.methods", "can be " + new TreeSet<>(METHODS) + ", but not '" + method + "'");
            }
            all.add(method);
        }
        methods = Collections.unmodifiableSet(all);
    }

    void addReplayed(String... more) {
        Set<String> all = new TreeSet<>(replayed);
        for (String name : more) {
            if (NEVER_REPLAYED.contains(name.toLowerCase(Locale.ROOT))) {
                throw new InvalidConfigurationException("idempotency-key.replaying", "must not contain " + name);
            }
            all.add(headerName("idempotency-key.replaying", name));
        }
        replayed = names(all);
    }

    void chooseStrict() {
        syntax = new KeySyntax(true, syntax.shortest(), syntax.pattern());
    }

    void choosePattern(Pattern pattern) {
        syntax = new KeySyntax(syntax.strict(), syntax.shortest(), pattern);
    }

    void chooseShortest(int length) {
        if (length < 1 || length > KeySyntax.LONGEST) {
            throw new InvalidConfigurationException(
                    "idempotency-key.shortest-key", "must lie between 1 and " + KeySyntax.LONGEST);
        }
        syntax = new KeySyntax(syntax.strict(), length, syntax.pattern());
    }

    void documentAt(URI base) {
        if (base.isOpaque() || !base.isAbsolute()) {
            throw new InvalidConfigurationException(
                    "idempotency-key.documented-at", "must be an absolute URL to which a problem code can be appended");
        }
        problems = base.toString();
    }

    void chooseOptions(Consumer<Command.Options.Builder> change) {
        options = options.with(change);
    }

    static int positive(String property, int bytes) {
        if (bytes < 1 || bytes == Integer.MAX_VALUE) {
            throw new InvalidConfigurationException(property, "must lie between 1 byte and 2 GiB");
        }
        return bytes;
    }

    static String headerName(String property, String name) {
        if (!TOKEN.matcher(name).matches()) {
            throw new InvalidConfigurationException(property, "has a name that is not an HTTP token");
        }
        return name;
    }

    private static Set<String> names(Set<String> names) {
        Set<String> all = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        all.addAll(names);
        return Collections.unmodifiableSet(all);
    }
}
