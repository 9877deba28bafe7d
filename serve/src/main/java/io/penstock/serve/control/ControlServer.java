package io.penstock.serve.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves other processes' commands about this mount, on a Unix domain socket. A connection carries one request and one
 * response, each a JSON object on one line: {@code {"version":1,"command":"set","arguments":{…}}}, and {@code
 * {"version":1,"result":…}} or {@code {"version":1,"error":"why"}}.
 *
 * <p>It serves only this process's user and root. It has its own threads, so a mount answers even while its store or
 * its disk hangs. Thread-safe.
 */
public final class ControlServer implements AutoCloseable {
    static final int VERSION = 1;

    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);

    /** The maximum size of a request, in bytes. */
    private static final int LONGEST_REQUEST = 64 << 10;

    /** The maximum number of connections; more are closed immediately. */
    private static final int MOST_CONNECTIONS = 16;

    /** The time for a client to send its request; after that it may be dropped. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Duration BETWEEN_FAILURES = Duration.ofMillis(100);

    private final Path path;
    private final Map<String, ControlCommand> commands;
    private final String owner;
    private final ServerSocketChannel listener;
    private final ExecutorService threads = new ThreadPoolExecutor(
            0,
            MOST_CONNECTIONS + 1, // plus the one that accepts
            PATIENCE.toSeconds(),
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("control-", 0).factory());

    /** Connections and their deadlines, by {@link System#nanoTime}. */
    private final Map<SocketChannel, Long> open = new ConcurrentHashMap<>();

    private record Response(int version, Object result) {}

    private record Refusal(int version, String error) {}

    /**
     * Starts to listen.
     *
     * @param path the socket, in a folder that only this user may write to; an existing file is replaced
     * @param commands the commands by name
     * @throws IOException if the socket cannot be created, for example for a path of more than 108 bytes
     */
    public ControlServer(Path path, Map<String, ControlCommand> commands) throws IOException {
        this.path = path;
        this.commands = Map.copyOf(commands);
        Files.deleteIfExists(path); // left by a killed process with this PID
        this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        boolean listens = false;
        try {
            listener.bind(UnixDomainSocketAddress.of(path));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            this.owner = Files.getOwner(Path.of("/proc/self")).getName();
            threads.execute(this::accept);
            listens = true;
        } finally {
            if (!listens) {
                close();
            }
        }
    }

    private void accept() {
        while (listener.isOpen()) {
            try {
                SocketChannel client = listener.accept();
                dropSlow();
                open.put(client, System.nanoTime() + PATIENCE.toNanos());
                if (open.size() > MOST_CONNECTIONS) {
                    end(client);
                } else {
                    serveSoon(client);
                }
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                LOG.debug("Cannot accept a control connection", e);
                if (!pause()) {
                    return;
                }
            }
        }
    }

    /** While no file descriptor is free, each accept fails immediately. False if this is closed. */
    private static boolean pause() {
        try {
            Thread.sleep(BETWEEN_FAILURES);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Closes the connection if all threads are busy: some may wait for a disk that hangs. */
    private void serveSoon(SocketChannel client) {
        try {
            threads.execute(() -> serve(client));
        } catch (RejectedExecutionException e) {
            end(client);
        }
    }

    private void dropSlow() {
        long now = System.nanoTime();
        open.forEach((client, until) -> {
            if (now - until > 0) {
                end(client);
            }
        });
    }

    private void end(SocketChannel client) {
        open.remove(client);
        try {
            client.close();
        } catch (IOException e) {
            LOG.debug("Cannot close a control connection", e);
        }
    }

    private void serve(SocketChannel client) {
        try {
            ByteBuffer response =
                    ByteBuffer.wrap((Json.MAPPER.writeValueAsString(response(client)) + "\n").getBytes(UTF_8));
            while (response.hasRemaining()) {
                client.write(response);
            }
        } catch (IOException e) {
            LOG.debug("Cannot send the response to a command", e);
        } finally {
            end(client);
        }
    }

    private Object response(SocketChannel client) throws IOException {
        byte[] line = line(client); // also before a refusal: unread bytes break the connection
        String user = client.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
        if (!user.equals(owner) && !user.equals("root")) {
            return new Refusal(VERSION, "this mount belongs to " + owner + ", not to " + user);
        }
        JsonNode request;
        try {
            request = Json.MAPPER.readTree(line);
        } catch (JsonProcessingException e) {
            return new Refusal(VERSION, "invalid JSON: " + e.getOriginalMessage());
        }
        if (request.path("version").asInt() != VERSION) {
            return new Refusal(VERSION, "version: unsupported; this mount uses version " + VERSION);
        }
        ControlCommand command = commands.get(request.path("command").asText());
        if (command == null) {
            return new Refusal(
                    VERSION,
                    "command: must be one of "
                            + commands.keySet().stream().sorted().toList());
        }
        try {
            return new Response(VERSION, command.run(request.path("arguments")));
        } catch (RefusedException e) {
            return new Refusal(VERSION, String.valueOf(e.getMessage()));
        } catch (InvalidPathException e) {
            return new Refusal(VERSION, "'" + e.getInput() + "' is not a valid path: " + e.getReason());
        } catch (RuntimeException e) {
            LOG.error("The command {} failed", request.path("command").asText(), e);
            return new Refusal(VERSION, "internal error; see the mount's log");
        }
    }

    private static byte[] line(SocketChannel client) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(LONGEST_REQUEST);
        while (bytes.position() == 0 || bytes.get(bytes.position() - 1) != '\n') {
            if (!bytes.hasRemaining()) {
                throw new IOException("the request is longer than " + LONGEST_REQUEST + " bytes");
            }
            if (client.read(bytes) < 0) {
                throw new IOException("the client closed the connection");
            }
        }
        byte[] line = new byte[bytes.flip().remaining()];
        bytes.get(line);
        return line;
    }

    /** Removes the socket and aborts requests in flight. */
    @Override
    public void close() {
        try {
            listener.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.debug("Cannot remove the control socket", e);
        }
        open.keySet().forEach(this::end);
        threads.shutdownNow();
    }
}
