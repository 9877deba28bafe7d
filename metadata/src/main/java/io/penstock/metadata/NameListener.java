package io.penstock.metadata;

/** Notified of each answer of the store. Called on the threads that receive the answers, so it must not wait. */
@FunctionalInterface
public interface NameListener {
    void answered(Directory directory, String name, Answer answer);
}
