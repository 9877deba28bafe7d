package io.penstock.embeddeds3;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Unused ports of this machine, for servers that a demo, a benchmark or a test starts. */
public final class FreePorts {
    private static final int TRIES = 100;

    /** Below the ports of outgoing connections, one of which could take a port before its server does: ip_local_port_range. */
    private static final int LOWEST = 20_000;

    private static final int HIGHEST = 32_000;

    private FreePorts() {}

    /** A free port at 127.0.0.1. */
    public static int one() throws IOException {
        return first(1, "127.0.0.1");
    }

    /**
     * The first of so many consecutive free ports.
     *
     * @param address a numeric address of this machine
     */
    public static int first(int count, String address) throws IOException {
        for (int tries = 0; tries < TRIES; tries++) {
            int first = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            if (IntStream.range(first, first + count).allMatch(port -> isFree(address, port))) {
                return first;
            }
        }
        throw new IOException("no " + count + " consecutive free ports at " + address);
    }

    private static boolean isFree(String address, int port) {
        try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.ofLiteral(address))) {
            return true;
        } catch (IOException e) {
            return false; // it is in use
        }
    }
}
