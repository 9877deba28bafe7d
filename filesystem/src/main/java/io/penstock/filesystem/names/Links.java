package io.penstock.filesystem.names;

/** What link(2) does. An object has one name, so that no two names can share a file. */
public enum Links {
    /**
     * A copy by the store under the new name, if nothing has that: exclusive among all nodes, as programs want that commit by
     * a link. From then on the two are files of their own, with one link each.
     */
    COPY,
    /** EPERM, upon which programs that can do without copy by themselves. */
    REFUSE
}
