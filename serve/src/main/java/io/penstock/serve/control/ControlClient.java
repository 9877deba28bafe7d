package io.penstock.serve.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** Sends requests to the serving process of a mount. Thread-safe. */
public final class ControlClient {
    /** A mount responds immediately; one that does not is stopped or hangs. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** The maximum size of a response, in bytes. */
    private static final int LONGEST_RESPONSE = 16 << 20;

    private final Path socket;

    private record Request(int version, String command, Object arguments) {}

    /** @param socket the socket of the {@link ControlServer} */
    public ControlClient(Path socket) {
        this.socket = socket;
    }

    /**
     * The result of a command.
     *
     * @param arguments written by Jackson as a JSON object
     * @throws IOException if the process does not respond: it has ended, or belongs to another user
     * @throws RefusedException if it refuses; the message gives the reason
     */
    public JsonNode ask(String command, Object arguments) throws IOException, RefusedException {
        String request = Json.MAPPER.writeValueAsString(new Request(ControlServer.VERSION, command, arguments)) + "\n";
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                Watch _ = new Watch(channel)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            byte[] line = Channels.newInputStream(channel).readNBytes(LONGEST_RESPONSE);
            JsonNode response = Json.MAPPER.readTree(line);
            if (response.hasNonNull("error")) {
                throw new RefusedException(response.get("error").asText());
            } else if (!response.hasNonNull("result")) {
                throw new IOException("the mount returned no result");
            }
            return response.get("result");
        } catch (AsynchronousCloseException e) {
            throw new IOException("no response within " + PATIENCE.toSeconds() + " s", e);
        }
    }

    /** Closes the connection after the timeout. */
    private static final class Watch implements AutoCloseable {
        private final Thread thread;

        Watch(SocketChannel channel) {
            thread = Thread.ofVirtual().start(() -> {
                try {
                    Thread.sleep(PATIENCE);
                    channel.close();
                } catch (InterruptedException | IOException e) {
                    Thread.currentThread().interrupt(); // there is a response, or the connection has ended
                }
            });
        }

        @Override
        public void close() {
            thread.interrupt();
        }
    }
}
