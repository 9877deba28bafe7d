package io.penstock.settings;

import java.net.InetSocketAddress;
import java.util.List;

/** Where the other nodes of a cache group are found: the value of share.peers. */
public sealed interface Peers {
    /** Of the bytes, where none is named; the group itself has the one above. */
    int PORT = 7420;

    /** The port above it is needed, too. */
    int HIGHEST_PORT = 65_534;

    /** Each node keeps its address as an object in a folder of the bucket. */
    record InBucket() implements Peers {}

    /**
     * All addresses of this name in the DNS.
     *
     * @param port of each
     */
    record OfName(String name, int port) implements Peers {}

    /** These nodes; the names are not looked up yet. */
    record Listed(List<InetSocketAddress> nodes) implements Peers {
        public Listed {
            nodes = List.copyOf(nodes);
        }
    }
}
