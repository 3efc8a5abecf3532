package dev.postrider.server;

import org.jspecify.annotations.Nullable;

/**
 * The URL, the user and the password of a database. Immutable; {@link #toString} shows no password and no secret of the
 * URL.
 */
record Login(String url, @Nullable String user, @Nullable String password) {

    @Override
    public String toString() {
        return Redaction.url(url) + (user == null ? "" : " as " + user);
    }
}
