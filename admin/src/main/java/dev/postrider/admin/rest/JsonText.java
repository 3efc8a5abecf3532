package dev.postrider.admin.rest;

/** JSON that is harmless also where a program takes it for HTML. Pure functions. */
final class JsonText {

    private JsonText() {}

    /** Escapes what begins markup. These characters are in strings only, so the JSON stays the same. */
    static String of(String json) {
        return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
    }
}
