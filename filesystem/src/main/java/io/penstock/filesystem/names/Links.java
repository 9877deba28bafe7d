package io.penstock.filesystem.names;

/** The behavior of link(2). An object has one name, so two names cannot share a file. */
public enum Links {
    /**
     * The store makes a copy under the new name if that name is free. This is exclusive among all nodes, as needed by
     * programs that commit by a link. From then on they are two files, with one link each.
     */
    COPY,
    /** EPERM: programs that can do without links then copy the file themselves. */
    REFUSE
}
