package io.penstock.settings;

import java.net.InetSocketAddress;
import java.util.List;

/** How to find the other nodes of a cache group: the value of share.peers. */
public sealed interface Peers {
    /** The default port for the bytes; the group's own messages use the next port. */
    int PORT = 7420;

    /** The highest possible port, because the next one is needed too. */
    int HIGHEST_PORT = 65_534;

    /** Each node stores its address as an object in a folder of the bucket. */
    record InBucket() implements Peers {}

    /**
     * All addresses of this name in DNS.
     *
     * @param port the port of each
     */
    record OfName(String name, int port) implements Peers {}

    /** These nodes; their names are not resolved yet. */
    record Listed(List<InetSocketAddress> nodes) implements Peers {
        public Listed {
            nodes = List.copyOf(nodes);
        }
    }
}
