package io.penstock.metadata;

/** No object or directory has this name. */
public enum Absent implements Answer {
    ABSENT
}
