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
 * Decides which address a connection goes to. The JDK's client looks names up by itself, after any check of ours, and has no
 * door for an address of our choice, except one: the proxy. So a plain HTTP request is sent to the checked address "as its
 * proxy": the same connection, with the whole URL in the request line, which RFC 9112 (3.2.2) obliges every server to take. With
 * TLS a proxy would be asked to CONNECT, so there the name is looked up twice, and the certificate keeps a request from going to
 * an address that was slipped in between. Thread-safe.
 */
final class Route extends ProxySelector {

    private static final List<Proxy> DIRECT = List.of(Proxy.NO_PROXY);

    /** How names are looked up; a seam for tests. */
    interface Lookup {
        InetAddress[] of(String host) throws UnknownHostException;
    }

    private final Destination destination;
    private final boolean checked;
    private final Lookup lookup;
    private final Predicate<InetAddress> allowed;

    /** Deliveries at the same time may overwrite each other's hop: each one in here was checked. */
    private volatile List<Proxy> hop;

    Route(WebhookSettings settings, Lookup lookup, Predicate<InetAddress> allowed) {
        this.destination = settings.destination;
        this.checked = settings.proxy == null && destination.mayLeadAnywhere();
        this.hop = settings.proxy == null ? DIRECT : List.of(new Proxy(Proxy.Type.HTTP, settings.proxy));
        this.lookup = lookup;
        this.allowed = allowed;
    }

    static Route of(WebhookSettings settings) {
        return new Route(settings, InetAddress::getAllByName, PublicAddress::is);
    }

    /** Completes when it is known that sending is allowed; exceptionally, with an {@link IOException}, when it is not. */
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

    /** The common pool is told that this may block, so that it can put another thread in place of this one meanwhile. */
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

    /** The failure reaches the result of the delivery through the client. */
    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
}
