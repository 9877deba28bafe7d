package io.penstock.objectstore.s3;

import io.penstock.objectstore.http.HttpConnection;
import io.penstock.objectstore.http.ResponseHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A body on a connection of the direct client. */
final class DirectBody implements ObjectBody {
    private final ConnectionPool connections;
    private final HttpConnection connection;
    private final ResponseHead head;
    private final long length;
    private final @Nullable ExpectedChecksum checksum;

    /** Confined to the reading thread. */
    private long left;

    /**
     * @param length in bytes, from the response's head
     * @param checksum that the body must have; null if it is not compared
     */
    DirectBody(
            ConnectionPool connections,
            HttpConnection connection,
            ResponseHead head,
            long length,
            @Nullable ExpectedChecksum checksum) {
        this.connections = connections;
        this.connection = connection;
        this.head = head;
        this.length = length;
        this.checksum = checksum;
        this.left = length;
    }

    @Override
    public @Nullable String eTag() {
        return head.header("ETag");
    }

    @Override
    public @Nullable Instant lastModified() {
        return ResponseValues.parseTime(head.header("Last-Modified"));
    }

    @Override
    public Long contentLength() {
        return length;
    }

    @Override
    public @Nullable String contentRange() {
        return head.header("Content-Range");
    }

    @Override
    public boolean isChecked() {
        return checksum != null;
    }

    @Override
    public int read(ByteBuffer target, int wanted) throws IOException {
        if (left == 0) {
            return -1;
        }
        int start = target.position();
        int received = connection.read(target, (int) Math.min(wanted, left));
        left -= Math.max(0, received);
        if (checksum != null && received > 0) {
            checksum.update(target.slice(start, received));
        }
        return received;
    }

    @Override
    public boolean finish() throws DamagedBodyException {
        if (checksum != null && left == 0) {
            checksum.check(); // before another request can get the connection
        }
        if (left > 0 || !head.keepsAlive()) {
            connections.end(connection);
        } else {
            connections.giveBack(connection);
        }
        return left == 0;
    }

    @Override
    public void abort() {
        connections.end(connection);
    }
}
