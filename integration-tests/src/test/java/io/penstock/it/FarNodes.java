package io.penstock.it;

import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.ToxiproxyClient;
import eu.rekawek.toxiproxy.model.ToxicDirection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Delays bytes between nodes: a Toxiproxy next to their switches, on the {@link NodeNetwork#detour}. */
final class FarNodes implements AutoCloseable {
    private static final int CONTROL = 8474;

    private final Process process;

    /**
     * @param millis the delay of bytes in each direction
     * @param scratch for its log
     */
    FarNodes(int nodes, int millis, Path toxiproxy, Path scratch) throws Exception {
        List<String> command = new ArrayList<>(NodeNetwork.onSwitches());
        command.addAll(List.of(toxiproxy.toString(), "-host", NodeNetwork.SWITCHES, "-port", "" + CONTROL));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(scratch.resolve("toxiproxy.log").toFile())
                .start();
        try {
            ToxiproxyClient client = new ToxiproxyClient(NodeNetwork.SWITCHES, CONTROL);
            Await.until("Toxiproxy answers", () -> answers(client));
            for (int node = 1; node <= nodes; node++) {
                for (int port = NodeNetwork.PORT; port <= NodeNetwork.PORT + 1; port++) {
                    String address = NodeNetwork.PEERS + node + ":" + port;
                    Proxy proxy = client.createProxy(address, NodeNetwork.DETOUR + node + ":" + port, address);
                    proxy.toxics().latency("there", ToxicDirection.UPSTREAM, millis);
                    proxy.toxics().latency("back", ToxicDirection.DOWNSTREAM, millis);
                }
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private static boolean answers(ToxiproxyClient client) {
        try {
            client.getProxies();
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroy();
    }
}
