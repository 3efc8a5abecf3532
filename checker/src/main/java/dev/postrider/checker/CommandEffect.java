package dev.postrider.checker;

/** That a command took effect: the number of its identity and that of the call that did it. */
record CommandEffect(int identity, int call) {}
