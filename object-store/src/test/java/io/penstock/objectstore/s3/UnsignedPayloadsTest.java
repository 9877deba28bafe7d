package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.checksums.DefaultChecksumAlgorithm;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

class UnsignedPayloadsTest {
    /** As for DeleteObjects: stores refuse a body with the checksum of an empty one. */
    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void sign_ofARequestThatNeedsAChecksum_hasThatOfItsBody(String scheme) throws IOException {
        ContentStreamProvider body = ContentStreamProvider.fromByteArrayUnsafe("123456789".getBytes(US_ASCII));
        SignedRequest signed = new UnsignedPayloads()
                .signer()
                .sign(SignRequest.builder(AwsCredentialsIdentity.create("id", "secret"))
                        .request(SdkHttpRequest.builder()
                                .method(SdkHttpMethod.POST)
                                .uri(URI.create(scheme + "://127.0.0.1/bucket?delete"))
                                .build())
                        .payload(body)
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.CHECKSUM_ALGORITHM, DefaultChecksumAlgorithm.CRC32)
                        .build());

        assertThat(signed.request().firstMatchingHeader("x-amz-checksum-crc32")).hasValue("y/Q5Jg=="); // cbf43926
        assertThat(signed.request().firstMatchingHeader("x-amz-content-sha256")).hasValue("UNSIGNED-PAYLOAD");
        assertThat(signed.payload().orElseThrow().newStream()).hasBinaryContent("123456789".getBytes(US_ASCII));
    }
}
