package dev.postrider.checker;

/** The effect of a command: the number of its identity and that of the call that executed it. */
record CommandEffect(int identity, int call) {}
