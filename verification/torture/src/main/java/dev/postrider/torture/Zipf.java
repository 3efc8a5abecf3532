package dev.postrider.torture;

import java.util.Arrays;
import java.util.Random;

/** Ranks with frequency 1/n of the first rank: with ten thousand ranks the first has a tenth of all draws. Immutable. */
final class Zipf {

    private final double[] upTo;

    Zipf(int ranks) {
        upTo = new double[ranks];
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            sum += 1.0 / (rank + 1);
            upTo[rank] = sum;
        }
    }

    int ranks() {
        return upTo.length;
    }

    /** Draws a rank. 0 is the most frequent. */
    int next(Random random) {
        double point = random.nextDouble() * upTo[upTo.length - 1];
        int found = Arrays.binarySearch(upTo, point);
        return found >= 0 ? found : Math.min(-found - 1, upTo.length - 1);
    }
}
