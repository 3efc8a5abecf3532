package dev.postrider.torture;

/** The destination is slow, refuses, drops answers, or is down. */
final class TroubledReceiver implements Fault {

    private final Runnable breaking;
    private final Runnable mending;

    private TroubledReceiver(Runnable breaking, Runnable mending) {
        this.breaking = breaking;
        this.mending = mending;
    }

    static Fault inMood(Receiver receiver, Receiver.Mood mood) {
        return new TroubledReceiver(() -> receiver.mood(mood), () -> receiver.mood(Receiver.Mood.USUAL));
    }

    static Fault down(Receiver receiver) {
        return new TroubledReceiver(receiver::down, receiver::up);
    }

    @Override
    public String target() {
        return "receiver";
    }

    @Override
    public boolean begin() {
        breaking.run();
        return true;
    }

    @Override
    public void end() {
        mending.run();
    }
}
