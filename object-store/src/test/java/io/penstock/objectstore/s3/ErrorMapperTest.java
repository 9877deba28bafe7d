package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.ExplainedCredentials.NoCredentialsException;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;

/** The meaning of a failure without a response follows from its kind, not from its message. */
final class ErrorMapperTest {
    private final ErrorMapper failures = new ErrorMapper(config("bucket", at(URI.create("http://localhost"))));

    @Test
    void explain_credentialsNamedInAMessageOnly_isUnavailable() {
        assertThat(failures.explain("it", SdkClientException.create("the credentials proxy reset the connection")))
                .isInstanceOf(ObjectStoreException.Unavailable.class);
    }

    @Test
    void explain_noCredentials_isAccessDenied() {
        SdkClientException wrapped = SdkClientException.create(
                "the request failed", new NoCredentialsException(new IllegalStateException("the role is gone")));
        assertThat(failures.explain("it", wrapped))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("the role is gone");
    }

    @Test
    void explainBrokenBody_checksumNamedInAMessageOnly_isUnavailable() {
        assertThat(failures.explainBrokenBody("key", new IOException("bad TCP checksum offload")))
                .isInstanceOf(ObjectStoreException.Unavailable.class);
    }

    @Test
    void explainBrokenBody_damaged_isCorrupt() {
        assertThat(failures.explainBrokenBody("key", new DamagedBodyException(new IllegalStateException("CRC32"))))
                .isInstanceOf(ObjectStoreException.Corrupt.class)
                .hasMessageContaining("CRC32");
    }
}
