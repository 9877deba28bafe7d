package io.penstock.it;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Machines of a network on this one: each node has a network namespace with a link to the store and another to the other nodes. The
 * switches that join them are in a namespace too, so that the machine itself gets no more than one link, with an address of
 * those that are set aside for such tests (RFC 2544). All names hold the number of this process.
 */
final class NodeNetwork implements AutoCloseable {
    /** Of the bytes between nodes. */
    static final int PORT = 7420;

    private static final Path ROOT = Path.of("/");
    private static final long PID = ProcessHandle.current().pid();
    private static final String NAME = "pst" + PID;

    /** The machine's own address is .1, that of a node .1 and its number. */
    private static final String STORE = "198.18.%d.".formatted(PID % 256);

    static final String PEERS = "198.19.255.1";

    /** As {@link #PEERS}, of the machine with the switches. */
    static final String DETOUR = "198.19.255.2";

    /** Where this machine reaches that one. */
    static final String SWITCHES = STORE + 2;

    private final int nodes;
    private final WireTap store;

    /** How a link is cut. */
    enum Cut {
        /** The link is down: whoever sends is told so in some seconds. */
        LINK_DOWN,
        /** The switch loses everything, and nobody is told. */
        SILENT
    }

    /** @param server is reached by the nodes at an address of this network */
    NodeNetwork(S3Server server, int nodes) throws IOException {
        this.nodes = nodes;
        try {
            build();
            store = new WireTap(server, InetAddress.ofLiteral(STORE + 1));
        } catch (Throwable e) {
            remove();
            throw e;
        }
    }

    /** Why there can be none here; null if there can. */
    static @Nullable String obstacle() {
        Program.Result tried =
                run("type -P ip tc nsenter >/dev/null || { echo 'iproute2 and util-linux are needed'; exit 1; };"
                        + " ip netns add $1-try && ip netns del $1-try");
        return tried.exit() == 0 ? null : tried.out().strip();
    }

    private void build() {
        run("""
            set -e
            ip netns add $1
            for net in store peers; do
                ip -n $1 link add $net type bridge
                ip -n $1 link set $net up
            done
            ip link add $1 type veth peer name machine netns $1
            ip addr add ${2}1/24 dev $1
            ip link set $1 up
            ip -n $1 link set machine master store up
            for node in $(seq $4); do
                ip netns add $1-$node
                ip -n $1-$node link set lo up
                for net in store peers; do
                    ip -n $1-$node link add $net type veth peer name $net$node netns $1
                    ip -n $1 link set $net$node master $net up
                    ip -n $1-$node link set $net up
                done
                ip -n $1-$node addr add ${2}1$node/24 dev store
                ip -n $1-$node addr add $3$node/24 dev peers
            done
            """, STORE, PEERS, nodes).orThrow();
    }

    /** @param arguments $2 and so on; $1 is the name of the switches, and the beginning of those of the nodes */
    private static Program.Result run(String script, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = NAME;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return Program.shell(ROOT, "PATH=$PATH:/usr/sbin:/sbin\n" + script, all);
    }

    /** The store as the nodes see it. */
    S3Server server() {
        return store.tapped();
    }

    /** What the nodes request of it. */
    WireTap store() {
        return store;
    }

    /** Starts a program on a node. */
    MountedBucket.Launch on(int node, Map<String, String> environment) {
        return new MountedBucket.Launch(List.of("nsenter", "--net=/run/netns/" + NAME + "-" + node), environment);
    }

    /** Where the other nodes reach it. */
    static String address(int node) {
        return PEERS + node + ":" + PORT;
    }

    /** Where this machine reaches it. */
    static String addressOfTheStoresNetwork(int node, int port) {
        return STORE + "1" + node + ":" + port;
    }

    /** Parts a node from the others; it still has the store. */
    void cut(int node, Cut how) {
        run("ip -n $1 link set peers$2 " + (how == Cut.SILENT ? "nomaster" : "down"), node)
                .orThrow();
    }

    void heal(int node) {
        run("ip -n $1 link set peers$2 master peers up", node).orThrow();
    }

    /**
     * Has a node send slowly to the others, 1 Mbit/s, and late and with losses where the kernel can do that.
     *
     * @return whether it can
     */
    boolean slow(int node) {
        boolean netem = run("tc -n $1-$2 qdisc replace dev peers root netem delay 300ms 100ms loss 2% rate 1mbit", node)
                        .exit()
                == 0;
        if (!netem) {
            run("tc -n $1-$2 qdisc replace dev peers root tbf rate 1mbit burst 32kb latency 400ms", node)
                    .orThrow();
        }
        return netem;
    }

    void hurry(int node) {
        run("tc -n $1-$2 qdisc del dev peers root", node).orThrow();
    }

    /**
     * Changes a byte in each fifth large packet of bytes that a node sends to others; no checksum of the network tells.
     *
     * @return false if there is no program for it
     */
    boolean damage(int node) {
        return run("""
            type -P nft >/dev/null && nsenter --net=/run/netns/$1-$2 nft -f - <<END
            table ip damage {
                chain sent {
                    type filter hook output priority 0
                    tcp sport $3 meta length > 1000 numgen inc mod 5 == 0 @ih,4000,8 set 0x5a
                }
            }
            END
            """, node, PORT).exit() == 0;
    }

    /**
     * Has each node lose two of a hundred packets of TCP that others send it: all connections between nodes lose some both ways.
     *
     * @return false if there is no program for it
     */
    boolean lose() {
        return run("""
            type -P nft >/dev/null || exit
            for node in $(seq $2); do
                nsenter --net=/run/netns/$1-$node nft -f - <<END || exit
            table ip loss {
                chain received {
                    type filter hook input priority 0
                    iifname peers meta l4proto tcp numgen random mod 100 < 2 counter drop
                }
            }
            END
            done
            """, nodes).exit() == 0;
    }

    /** The packets that all nodes have lost since {@link #lose}. */
    long lost() {
        return counted("loss");
    }

    private long counted(String table) {
        String rules = run(
                        "for node in $(seq $2); do nsenter --net=/run/netns/$1-$node nft list table ip $3; done",
                        nodes,
                        table)
                .orThrow();
        return Pattern.compile("counter packets (\\d+)")
                .matcher(rules)
                .results()
                .mapToLong(node -> Long.parseLong(node.group(1)))
                .sum();
    }

    /**
     * Has each packet between nodes take 20 ms.
     *
     * @return whether the kernel can do that
     */
    boolean delay() {
        return run(
                                "for node in $(seq $2); do tc -n $1-$node qdisc replace dev peers root netem delay"
                                        + " 20ms || exit; done",
                                nodes)
                        .exit()
                == 0;
    }

    /**
     * Has connections between nodes that begin from now on go to the same ports of {@link #DETOUR}.
     *
     * @return false if there is no program for it
     */
    boolean detour() {
        return run("""
            type -P nft >/dev/null || exit
            ip -n $1 addr add $2/24 dev store
            for node in $(seq $3); do
                ip -n $1 addr add $5$node/24 dev peers
                rules+="ip daddr $4$node tcp dport $6-$(($6 + 1)) counter dnat to $5$node;"
            done
            for node in $(seq $3); do
                nsenter --net=/run/netns/$1-$node nft -f - <<END || exit
            table ip detour {
                chain sent {
                    type nat hook output priority -100
                    $rules
                }
            }
            END
            done
            """, SWITCHES, nodes, PEERS, DETOUR, PORT).exit() == 0;
    }

    /** The connections that nodes have made by {@link #detour}. */
    long detoured() {
        return counted("detour");
    }

    /** The beginning of the command line of a program on {@link #SWITCHES}. */
    static List<String> onSwitches() {
        return List.of("nsenter", "--net=/run/netns/" + NAME);
    }

    private void remove() {
        run("ip link del $1; for node in $(seq $2); do ip netns del $1-$node; done; ip netns del $1", nodes);
    }

    /** Programs on the nodes must have been ended. */
    @Override
    public void close() throws IOException {
        store.close();
        remove();
    }
}
