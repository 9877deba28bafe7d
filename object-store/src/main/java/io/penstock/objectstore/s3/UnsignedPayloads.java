package io.penstock.objectstore.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.checksums.SdkChecksum;
import software.amazon.awssdk.checksums.spi.ChecksumAlgorithm;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.scheme.AwsV4AuthScheme;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.scheme.AuthScheme;
import software.amazon.awssdk.http.auth.spi.signer.AsyncSignRequest;
import software.amazon.awssdk.http.auth.spi.signer.AsyncSignedRequest;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.IdentityProvider;
import software.amazon.awssdk.identity.spi.IdentityProviders;

/**
 * Signature version 4 with {@code UNSIGNED-PAYLOAD} even over plain HTTP, where the SDK would compute the SHA-256 of
 * every body: half as much CPU again as sending it. Headers stay signed, including the body's checksum. An attacker who
 * can change plain HTTP can also read it; only HTTPS helps.
 */
final class UnsignedPayloads implements AuthScheme<AwsCredentialsIdentity>, HttpSigner<AwsCredentialsIdentity> {
    private final AwsV4AuthScheme scheme = AwsV4AuthScheme.create();
    private final AwsV4HttpSigner signer = scheme.signer();

    @Override
    public String schemeId() {
        return scheme.schemeId();
    }

    @Override
    public IdentityProvider<AwsCredentialsIdentity> identityProvider(IdentityProviders providers) {
        return scheme.identityProvider(providers);
    }

    @Override
    public HttpSigner<AwsCredentialsIdentity> signer() {
        return this;
    }

    /** The SDK may leave a request without a body unsigned, so this signs without the body and adds it afterwards. */
    @Override
    public SignedRequest sign(SignRequest<? extends AwsCredentialsIdentity> request) {
        ContentStreamProvider payload = request.payload().orElse(null);
        if (payload == null) {
            return signer.sign(request);
        }
        SignedRequest signed = signer.sign(request.toBuilder()
                .request(withChecksum(request, payload))
                .payload(null)
                .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                .putProperty(AwsV4FamilyHttpSigner.CHUNK_ENCODING_ENABLED, false)
                .build());
        return SignedRequest.builder()
                .request(signed.request())
                .payload(payload)
                .build();
    }

    /** The request with the checksum that the signer would compute if it had the body. */
    private static SdkHttpRequest withChecksum(SignRequest<?> request, ContentStreamProvider payload) {
        ChecksumAlgorithm algorithm = request.property(AwsV4FamilyHttpSigner.CHECKSUM_ALGORITHM);
        if (algorithm == null) {
            return request.request();
        }
        String header = "x-amz-checksum-" + algorithm.algorithmId().toLowerCase(Locale.ROOT);
        if (request.request().firstMatchingHeader(header).isPresent()) {
            return request.request();
        }
        SdkChecksum checksum = SdkChecksum.forAlgorithm(algorithm);
        try (InputStream body = payload.newStream()) {
            checksum.update(body.readAllBytes()); // a few KiB: bodies of objects come with their checksum
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String value = Base64.getEncoder().encodeToString(checksum.getChecksumBytes());
        return request.request().copy(builder -> builder.putHeader(header, value));
    }

    @Override
    public CompletableFuture<AsyncSignedRequest> signAsync(AsyncSignRequest<? extends AwsCredentialsIdentity> request) {
        return signer.signAsync(request);
    }
}
