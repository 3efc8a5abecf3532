package dev.postrider.transport.http;

import dev.postrider.error.InvalidConfigurationException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Pattern;

/** The URL of a webhook, checked as far as possible without network access. Immutable. */
final class Destination {

    static final String PROPERTY = "webhook-url";

    private static final Pattern IPV4 = Pattern.compile("((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(?!$)|$)){4}");

    /**
     * Most resolvers read a host with such a last label as an IPv4 address: decimal, octal or hex, and possibly with
     * missing parts.
     */
    private static final Pattern NUMERIC = Pattern.compile("(.*\\.)?([0-9]+|0[xX][0-9a-fA-F]*)\\.?");

    private final URI uri;
    private final boolean internal;
    private final boolean literal;

    private Destination(URI uri, boolean internal) {
        if (uri == null) {
            throw invalid("is missing");
        }
        this.uri = uri;
        this.internal = internal;
        String scheme = uri.getScheme();
        if (!"http".equalsIgnoreCase(scheme) && !"https".equalsIgnoreCase(scheme)) {
            throw invalid("must begin with http:// or https://");
        }
        if (uri.getRawUserInfo() != null
                || (uri.getRawAuthority() != null && uri.getRawAuthority().contains("@"))) {
            throw invalid("must not contain a user or password: use header(\"Authorization\", …)");
        }
        if (uri.getHost() == null) {
            throw invalid("has no valid host: use letters, digits and dashes, and the xn-- form for other characters");
        }
        if (uri.getRawFragment() != null) {
            throw invalid("must not have a fragment (#…)");
        }
        if (uri.getPort() == 0 || uri.getPort() > 65535) {
            throw invalid("has the invalid port " + uri.getPort());
        }
        this.literal = isLiteral();
        if (!internal) {
            refuseSpecialHost();
        }
    }

    static Destination open(URI uri) {
        return new Destination(uri, false);
    }

    static Destination internal(URI uri) {
        return new Destination(uri, true);
    }

    private boolean isLiteral() {
        String host = host();
        if (host.startsWith("[") || IPV4.matcher(host).matches()) {
            return true;
        }
        if (NUMERIC.matcher(host).matches()) {
            throw invalid("has the host '" + host + "', a number that is not a plain IPv4 address");
        }
        return false;
    }

    private void refuseSpecialHost() {
        String name = host().toLowerCase(Locale.ROOT);
        String bare = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        if (bare.equals("localhost") || bare.endsWith(".localhost") || (literal && !isPublicLiteral())) {
            throw invalid("names " + host() + ", which is not a public address: use Webhook.toInternal to allow it");
        }
    }

    private boolean isPublicLiteral() {
        try {
            return PublicAddress.is(InetAddress.getByName(host()));
        } catch (UnknownHostException e) {
            throw invalid("has the host '" + host() + "', which is not an address");
        }
    }

    URI uri() {
        return uri;
    }

    String host() {
        return uri.getHost();
    }

    int port() {
        return uri.getPort() >= 0 ? uri.getPort() : isEncrypted() ? 443 : 80;
    }

    boolean isEncrypted() {
        return "https".equalsIgnoreCase(uri.getScheme());
    }

    /** Returns whether the addresses of the host must be looked up and checked before each delivery. */
    boolean needsLookup() {
        return !internal && !literal;
    }

    private static InvalidConfigurationException invalid(String problem) {
        return new InvalidConfigurationException(PROPERTY, problem);
    }

    @Override
    public String toString() {
        return uri.getScheme().toLowerCase(Locale.ROOT) + "://" + host() + ":" + port();
    }
}
