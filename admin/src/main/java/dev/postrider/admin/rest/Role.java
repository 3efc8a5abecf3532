package dev.postrider.admin.rest;

/** What an operator may do. Each role includes those before it. */
public enum Role {
    /** Reads. */
    VIEWER,
    /** Also changes messages and commands, and pauses and resumes topics. */
    OPERATOR,
    /** Also removes: it discards messages by filter, removes topics and retires handlers. */
    ADMIN;

    /** Returns whether this role may do what the other one may. */
    public boolean includes(Role other) {
        return compareTo(other) >= 0;
    }
}
