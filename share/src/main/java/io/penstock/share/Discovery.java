package io.penstock.share;

import java.net.InetSocketAddress;
import java.util.List;

/** How the other nodes are found. Ports are those of the bytes ({@link ShareConfig#listen}). */
public sealed interface Discovery {
    /**
     * Only these addresses. The node itself may be among them.
     *
     * @param unresolved names, which are looked up repeatedly
     */
    record Addresses(List<InetSocketAddress> unresolved) implements Discovery {
        public Addresses {
            unresolved = List.copyOf(unresolved);
        }
    }

    /** All current addresses of this name. */
    record Dns(String name, int port) implements Discovery {}

    /** The nodes that have put their names into this folder. */
    record Folder(ShareFolder folder) implements Discovery {}
}
