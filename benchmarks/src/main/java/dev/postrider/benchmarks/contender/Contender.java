package dev.postrider.benchmarks.contender;

/**
 * A system that takes part. It lives on one database from {@link #prepare} to {@link #close}; between them phases follow one
 * another, each beginning with {@link #clear}. {@link #transact} is called by many threads, the rest by one.
 */
public interface Contender extends AutoCloseable {

    String name();

    /** Brings its tables in. */
    void prepare() throws Exception;

    /** Empties its tables. Not called while it delivers. */
    void clear() throws Exception;

    /** One business transaction: writes the order, and its message with it. */
    void transact(Order order) throws Exception;

    /** Makes a backlog of orders from 0 on, without their business rows, by the fastest way that it offers. */
    void fill(int messages) throws Exception;

    /** Begins to deliver. */
    void start(Receiver receiver) throws Exception;

    /** Stops delivering; {@link #start} may follow again. Does nothing when it does not deliver. */
    void stop();

    /** How many messages are in its tables and not done with. */
    long unfinished();

    @Override
    void close();
}
