package io.penstock.metadata;

/** There is nothing of this name. */
public enum Absent implements Answer {
    ABSENT
}
