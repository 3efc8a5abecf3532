package dev.postrider.torture;

/** A fault that lasts for a while. One thread begins and ends it. */
interface Fault {

    /** The target of the fault, as the evidence names it. Valid after the fault has begun. */
    String target();

    /** Begins the fault. Returns false if that is not possible now; then {@link #end} is not called. */
    boolean begin() throws Exception;

    /** Ends the fault and repairs what it broke. Also called when the run is aborted. */
    void end() throws Exception;
}
