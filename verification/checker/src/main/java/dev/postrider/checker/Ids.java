package dev.postrider.checker;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Numbers for 128-bit ids, assigned from zero in the order of first use: a million take 40 megabytes. */
final class Ids {

    private int[] slots = new int[1024];
    private final Longs high = new Longs(0);
    private final Longs low = new Longs(0);

    Ids() {
        Arrays.fill(slots, -1);
    }

    /** The number of the id; a new number if the id is new. */
    int of(long idHigh, long idLow) {
        int slot = slotOf(idHigh, idLow);
        if (slots[slot] >= 0) {
            return slots[slot];
        }
        int number = high.add(idHigh);
        low.add(idLow);
        slots[slot] = number;
        if (high.size() * 2 > slots.length) {
            grow();
        }
        return number;
    }

    int of(UUID id) {
        return of(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    /** The number of a text, by its hash. */
    int of(String text) {
        return of(UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** The number of the id, or -1. */
    int find(UUID id) {
        return slots[slotOf(id.getMostSignificantBits(), id.getLeastSignificantBits())];
    }

    UUID get(int number) {
        return new UUID(high.get(number), low.get(number));
    }

    int size() {
        return high.size();
    }

    private int slotOf(long idHigh, long idLow) {
        long mixed = (idHigh ^ Long.rotateLeft(idLow, 32)) * 0x9E3779B97F4A7C15L;
        int slot = (int) (mixed >>> 32) & (slots.length - 1);
        while (slots[slot] >= 0 && (high.get(slots[slot]) != idHigh || low.get(slots[slot]) != idLow)) {
            slot = (slot + 1) & (slots.length - 1);
        }
        return slot;
    }

    private void grow() {
        slots = new int[slots.length * 2];
        Arrays.fill(slots, -1);
        for (int number = 0; number < high.size(); number++) {
            slots[slotOf(high.get(number), low.get(number))] = number;
        }
    }
}
