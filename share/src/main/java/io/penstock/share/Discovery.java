package io.penstock.share;

import java.net.InetSocketAddress;
import java.util.List;

/** Where the other nodes are found. Ports are those of the bytes ({@link ShareConfig#listen}). */
public sealed interface Discovery {
    /**
     * These, and no others. The node itself may be among them.
     *
     * @param unresolved names are looked up again and again
     */
    record Addresses(List<InetSocketAddress> unresolved) implements Discovery {
        public Addresses {
            unresolved = List.copyOf(unresolved);
        }
    }

    /** All addresses that this name has now. */
    record Dns(String name, int port) implements Discovery {}

    /** Those that have put their names there. */
    record Folder(ShareFolder folder) implements Discovery {}
}
