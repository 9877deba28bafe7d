package io.penstock.objectstore;

import java.io.IOException;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * An answer to a GET whose bytes are still to be read, by the caller of the SDK. The SDK's own stream for it starts a
 * timer for each GET that closes bodies which nobody reads.
 */
record ObjectBody(GetObjectResponse response, AbortableInputStream stream) {
    static final ResponseTransformer<GetObjectResponse, ObjectBody> LEFT_OPEN = new ResponseTransformer<>() {
        @Override
        public ObjectBody transform(GetObjectResponse response, AbortableInputStream stream) {
            return new ObjectBody(response, stream);
        }

        @Override
        public boolean needsConnectionLeftOpen() {
            return true;
        }
    };

    int read(byte[] target, int offset, int length) throws IOException {
        return stream.read(target, offset, length);
    }

    /** Breaks the connection, unless all has been read. */
    void abort() {
        stream.abort();
    }
}
