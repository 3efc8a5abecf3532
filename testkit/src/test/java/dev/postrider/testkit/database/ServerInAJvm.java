package dev.postrider.testkit.database;

import java.io.IOException;

/** A program that starts a server, prints its process id, and does not close it. It ends when its input does. */
final class ServerInAJvm {

    private ServerInAJvm() {}

    public static void main(String[] arguments) throws IOException {
        System.out.println(Databases.start(Engine.POSTGRESQL_18).pid());
        while (System.in.read() != -1) {
            // input is not looked at
        }
    }
}
