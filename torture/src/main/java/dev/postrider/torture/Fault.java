package dev.postrider.torture;

/** Something that is broken for a while. One thread begins and ends it. */
interface Fault {

    /** Whom it is done to, as the evidence names it; asked after it has begun. */
    String target();

    /** False if it cannot be done now; then it is not ended either. */
    boolean begin() throws Exception;

    /** Mends what was broken. Also called when the run is broken off. */
    void end() throws Exception;
}
