package dev.postrider.server;

import org.jspecify.annotations.Nullable;

/** How to get into a database. Immutable; shows neither the password nor what the URL holds of it. */
record Login(String url, @Nullable String user, @Nullable String password) {

    @Override
    public String toString() {
        return Redaction.line(url) + (user == null ? "" : " as " + user);
    }
}
