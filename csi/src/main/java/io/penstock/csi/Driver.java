package io.penstock.csi;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.penstock.serve.log.Logging;
import io.penstock.settings.Host;
import io.penstock.settings.LogLevel;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.Version;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The driver's process. It serves no file: a mount has a server of its own, which outlives this process. */
@Command(
        name = "penstock-csi",
        showDefaultValues = true,
        mixinStandardHelpOptions = true,
        description = "Mounts buckets for the pods of a Kubernetes node, by the Container Storage Interface.")
public final class Driver implements Callable<Integer> {
    private static final Logger log = LoggerFactory.getLogger(Driver.class);

    private static final String SCHEME = "unix://";
    private static final int SECONDS_TO_END = 20;

    @Option(names = "--endpoint", required = true, description = "The socket on which to listen: unix:///csi/csi.sock.")
    private String endpoint;

    @Option(names = "--node-id", required = true, description = "The node's name in the cluster.")
    private String node;

    @Option(
            names = "--state",
            defaultValue = "/run/penstock-csi",
            description = "The folder of mounts, with their credentials.")
    private Path state;

    @Option(
            names = "--cache",
            defaultValue = "/var/cache/penstock",
            description = "The folder of caches, of which each mount has one.")
    private Path cache;

    @Option(
            names = "--staging",
            defaultValue = "/var/lib/penstock/staging",
            description = "The folder of written data until it is uploaded: data, not a cache.")
    private Path staging;

    @Option(
            names = "--allow-inline-driver-credentials",
            description = "Let pods mount any bucket that the driver's own credentials can read.")
    private boolean inlineOfDriver;

    private Driver() {}

    /** Called by bin/penstock-csi. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Driver()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Logging.toTerminal(LogLevel.INFO);
        if (!endpoint.startsWith(SCHEME + "/")) {
            throw new IOException("--endpoint must be such as unix:///csi/csi.sock, but is " + endpoint);
        }
        Path socket = Path.of(endpoint.substring(SCHEME.length()));
        Setup setup = setup(Host.current().environment());
        NodeMounts mounts = new NodeMounts(setup);
        mounts.endUnused();
        Files.deleteIfExists(socket); // of a killed process
        MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Server server = NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioServerDomainSocketChannel.class)
                .bossEventLoopGroup(loops)
                .workerEventLoopGroup(loops)
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .addService(new IdentityService())
                .addService(new NodeService(setup, mounts))
                .build()
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(server), "end"));
        log.info("Penstock {} serves node {} at {}", Version.NUMBER, node, endpoint);
        server.awaitTermination();
        return 0;
    }

    private Setup setup(Map<String, String> environment) throws IOException {
        String user = environment.getOrDefault("PENSTOCK_USER", "");
        Optional<Setup.User> server = user.isEmpty() ? Optional.empty() : Optional.of(Setup.User.parse(user));
        Path command = Objects.requireNonNull(Launcher.home(), "started without bin/penstock-csi")
                .resolve("bin/penstock");
        Setup setup = new Setup(node, state, cache, staging, command, server, inlineOfDriver);
        Files.createDirectories(state);
        for (Path folder : new Path[] {
            cache, staging, Host.current().runtimeFolder(), Host.current().logFolder()
        }) {
            Files.createDirectories(folder);
            setup.give(folder);
        }
        return setup;
    }

    /** Calls in progress finish. Mounts stay. */
    private static void end(Server server) {
        try {
            if (!server.shutdown().awaitTermination(SECONDS_TO_END, TimeUnit.SECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
