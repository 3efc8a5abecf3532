package dev.postrider.transport.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides to which address a connection goes. The HTTP client of the JDK looks up the host name itself, after the
 * check, and accepts a chosen address only in the form of a proxy. Therefore a plain HTTP request is sent to the
 * checked address "as its proxy". The connection is the same, and the request line contains the whole URL, which RFC
 * 9112 (3.2.2) requires every server to accept.
 *
 * <p>With TLS, the client would send CONNECT to a proxy. Therefore the name is looked up twice there, and the
 * certificate check prevents a request to an address that was changed in between. Thread-safe.
 */
final class Route extends ProxySelector {

    private static final List<Proxy> DIRECT = List.of(Proxy.NO_PROXY);

    /** The DNS lookup. Tests replace it. */
    interface Lookup {
        InetAddress[] of(String host) throws UnknownHostException;
    }

    private final Destination destination;
    private final boolean checked;
    private final Lookup lookup;
    private final Predicate<InetAddress> allowed;

    /** Concurrent deliveries may overwrite this value. Every value was checked. */
    private volatile List<Proxy> hop;

    Route(WebhookSettings settings, Lookup lookup, Predicate<InetAddress> allowed) {
        this.destination = settings.destination;
        this.checked = settings.proxy == null && destination.needsLookup();
        this.hop = settings.proxy == null ? DIRECT : List.of(new Proxy(Proxy.Type.HTTP, settings.proxy));
        this.lookup = lookup;
        this.allowed = allowed;
    }

    static Route of(WebhookSettings settings) {
        return new Route(settings, InetAddress::getAllByName, PublicAddress::is);
    }

    /** Completes when sending is allowed. Completes exceptionally, with an {@link IOException}, when it is not. */
    CompletableFuture<@Nullable Void> open() {
        return checked ? CompletableFuture.runAsync(this::check) : CompletableFuture.completedFuture(null);
    }

    private void check() {
        try {
            InetAddress[] addresses = lookUp();
            for (InetAddress address : addresses) {
                if (!allowed.test(address)) {
                    throw new IOException(destination.host() + " leads to " + address.getHostAddress()
                            + ", which is not a public address: nothing was sent");
                }
            }
            if (!destination.isEncrypted()) {
                hop = List.of(new Proxy(Proxy.Type.HTTP, new InetSocketAddress(addresses[0], destination.port())));
            }
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    /** Tells the common pool that this call may block, so that the pool can start another thread in the meantime. */
    private InetAddress[] lookUp() throws IOException {
        Blocking blocking = new Blocking();
        try {
            ForkJoinPool.managedBlock(blocking);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("looking up " + destination.host() + " was interrupted", e);
        }
        if (blocking.addresses == null || blocking.addresses.length == 0) {
            throw new IOException("the host " + destination.host() + " is unknown");
        }
        return blocking.addresses;
    }

    private final class Blocking implements ForkJoinPool.ManagedBlocker {

        private InetAddress @Nullable [] addresses;
        private boolean done;

        @Override
        public boolean block() {
            try {
                addresses = lookup.of(destination.host());
            } catch (UnknownHostException e) {
                addresses = null;
            }
            done = true;
            return true;
        }

        @Override
        public boolean isReleasable() {
            return done;
        }
    }

    @Override
    public List<Proxy> select(URI uri) {
        return hop;
    }

    /** Does nothing: the client reports the failure in the result of the delivery. */
    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
}
