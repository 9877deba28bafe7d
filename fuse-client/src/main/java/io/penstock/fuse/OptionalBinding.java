package io.penstock.fuse;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.calls.CallObserver;

/** A binding in a module of its own, which is found as a service and loaded only if a mount uses it. */
public interface OptionalBinding {
    /**
     * Mounts. The mount serves requests when this returns.
     *
     * @param fileSystem not closed with the mount
     * @param observer notified of each call
     * @throws MountException if it cannot be mounted; nothing is mounted then
     */
    Mount mount(FileSystem fileSystem, MountOptions options, CallObserver observer)
            throws MountException, InterruptedException;
}
