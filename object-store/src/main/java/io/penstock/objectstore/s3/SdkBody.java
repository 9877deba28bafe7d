package io.penstock.objectstore.s3;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * A body as the SDK has it before wrapping it. The SDK's own stream starts a timer for each GET, which closes bodies
 * that are not read.
 */
final class SdkBody implements ObjectBody {
    static final ResponseTransformer<GetObjectResponse, ObjectBody> LEFT_OPEN = new ResponseTransformer<>() {
        @Override
        public ObjectBody transform(GetObjectResponse response, AbortableInputStream stream) {
            return new SdkBody(response, stream);
        }

        @Override
        public boolean needsConnectionLeftOpen() {
            return true;
        }
    };

    /**
     * Bytes moved at a time to a target off the heap, which the SDK's streams cannot fill: enough to make calls rare,
     * few enough to stay in a core's cache between the two copies.
     */
    private static final int CHUNK = 128 << 10;

    private final GetObjectResponse response;
    private final AbortableInputStream stream;
    private final boolean checked;
    private byte[] chunk = new byte[0];

    private SdkBody(GetObjectResponse response, AbortableInputStream stream) {
        this.response = response;
        this.stream = stream;
        this.checked = response.sdkHttpResponse().anyMatchingHeader(SdkBody::isChecksum);
    }

    @Override
    public @Nullable String eTag() {
        return response.eTag();
    }

    @Override
    public @Nullable Instant lastModified() {
        return response.lastModified();
    }

    @Override
    public @Nullable Long contentLength() {
        return response.contentLength();
    }

    @Override
    public @Nullable String contentRange() {
        return response.contentRange();
    }

    @Override
    public boolean isChecked() {
        return checked;
    }

    /**
     * Whether it is a checksum. The SDK does not compare that of a multipart object ({@code …-2}), which is computed
     * from the parts' checksums.
     */
    private static boolean isChecksum(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return name.startsWith("x-amz-checksum-") && !name.equals("x-amz-checksum-type");
    }

    @Override
    public int read(ByteBuffer target, int wanted) throws IOException {
        if (target.hasArray()) {
            int received = receive(target.array(), target.arrayOffset() + target.position(), wanted);
            if (received > 0) {
                target.position(target.position() + received);
            }
            return received;
        }
        int length = Math.min(CHUNK, wanted);
        if (chunk.length < length) {
            chunk = new byte[length];
        }
        int received = receive(chunk, 0, length);
        if (received > 0) {
            target.put(chunk, 0, received);
        }
        return received;
    }

    @Override
    public boolean finish() throws IOException {
        try (stream) {
            return receive(new byte[1], 0, 1) < 0;
        }
    }

    /** The SDK's own exception for a body, unlike the connection's, always means that the checksum does not match. */
    private int receive(byte[] target, int offset, int length) throws IOException {
        try {
            return stream.read(target, offset, length);
        } catch (AbortedException e) {
            throw e;
        } catch (SdkClientException e) {
            throw new DamagedBodyException(e);
        }
    }

    @Override
    public void abort() {
        stream.abort();
    }
}
