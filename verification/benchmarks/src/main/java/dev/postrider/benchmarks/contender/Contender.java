package dev.postrider.benchmarks.contender;

/**
 * A system under measurement. It uses one database from {@link #prepare} to {@link #close}. In between, phases follow one another,
 * and each begins with {@link #clear}. Many threads call {@link #transact}; one thread calls the other methods.
 */
public interface Contender extends AutoCloseable {

    String name();

    /** Creates its tables. */
    void prepare() throws Exception;

    /** Empties its tables. Not called during delivery. */
    void clear() throws Exception;

    /** Runs one business transaction, which writes the order and its message. */
    void transact(Order order) throws Exception;

    /** Writes a backlog of orders from 0 on, without business rows, in the fastest way that the system offers. */
    void fill(int messages) throws Exception;

    /** Starts to deliver. */
    void start(Receiver receiver) throws Exception;

    /** Stops delivery. {@link #start} may follow again. Does nothing when the system does not deliver. */
    void stop();

    /** The number of messages in its tables that are not finished. */
    long unfinished();

    @Override
    void close();
}
