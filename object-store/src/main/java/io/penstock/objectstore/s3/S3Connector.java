package io.penstock.objectstore.s3;

import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.objectstore.s3.S3ObjectStore.FoundCredentials;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.defaultsmode.DefaultsMode;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.useragent.BusinessMetricFeatureId;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Opens a bucket: finds its region and checks that it can be used, with messages for a user. */
final class S3Connector {
    /**
     * The region that signs a HEAD of any bucket; its response names the region. Compatible servers mostly accept it.
     */
    private static final String ANY_REGION = "us-east-1";

    /** The number of other nodes' proofs that are checked at a time. */
    private static final int PROOF_CONNECTIONS = 4;

    private static final String REGION_HEADER = "x-amz-bucket-region";

    private final S3Config config;
    private final ErrorMapper errors;
    private final RequestCounters counters = new RequestCounters();
    private final AwsCredentialsProvider credentials;

    S3Connector(S3Config config) {
        this.config = config;
        this.errors = new ErrorMapper(config);
        this.credentials = new ExplainedCredentials(credentials(config.requester()));
    }

    S3ObjectStore connect(String prefix) throws ObjectStoreException, InterruptedException {
        requireCredentials();
        SSLContext tls = TrustedCertificates.context(config.server());
        SdkHttpClient http = http(config.limits(), tls);
        S3ObjectStore store = null;
        boolean usable = false;
        try {
            String region = region(http);
            S3Client client = client(http, region, AwsRetryStrategy.doNotRetry());
            PresignedProof proof = new PresignedProof(
                    config,
                    prefix,
                    base(client, config.bucket()),
                    region,
                    credentials,
                    () -> http(proofLimits(), tls),
                    counters);
            store = new S3ObjectStore(config, client, http, direct(client, region, tls), counters, proof, prefix);
            // A response to HEAD has no body, so a listing shows which credentials are wrong and why.
            if (store.tryList(new ListRequest(prefix, "", null, null, 1))
                    .objects()
                    .isEmpty()) {
                refuseObject(store, prefix);
                store.setFoundNothing();
            }
            usable = true;
            return store;
        } finally {
            if (store == null) {
                http.close();
            } else if (!usable) {
                store.close();
            }
        }
    }

    private SdkHttpClient http(Limits limits, @Nullable SSLContext tls) {
        return new DeadlineHttpClient(HttpClients.create(limits, config.server(), tls), limits.readTimeout());
    }

    private Limits proofLimits() {
        Limits own = config.limits();
        return new Limits(PROOF_CONNECTIONS, own.connectTimeout(), own.readTimeout());
    }

    /** Refuses a prefix with nothing below it that is the key of an object: the user has named a file as a folder. */
    private void refuseObject(S3ObjectStore store, String prefix) throws ObjectStoreException, InterruptedException {
        if (!prefix.endsWith("/") || prefix.length() == 1) {
            return;
        }
        String key = prefix.substring(0, prefix.length() - 1);
        if (!store.isKnownToHave(key)) {
            return;
        }
        String folder = key.substring(0, key.lastIndexOf('/') + 1);
        throw new ObjectStoreException.NotFound(
                "s3://%s/%s is an object, not a folder; name the folder that it is in, s3://%s/%s"
                        .formatted(config.bucket(), key, config.bucket(), folder),
                null);
    }

    /** The access key's id; empty if requests are not signed. */
    String identity() throws ObjectStoreException {
        if (config.requester().credentials() instanceof Credentials.Anonymous) {
            return "";
        }
        requireCredentials();
        return credentials.resolveCredentials().accessKeyId();
    }

    FoundCredentials found() throws ObjectStoreException {
        requireCredentials();
        AwsCredentials found = credentials.resolveCredentials();
        return new FoundCredentials(
                found.accessKeyId(),
                found.providerName().map(S3Connector::words).orElse("unknown"),
                found.expirationTime());
    }

    /** The SDK identifies its providers by codes: {@code g} of CREDENTIALS_ENV_VARS becomes {@code env vars}. */
    private static String words(String provider) {
        return Arrays.stream(BusinessMetricFeatureId.values())
                .filter(each -> each.value().equals(provider))
                .map(each -> each.name()
                        .replace("CREDENTIALS_", "")
                        .replace('_', ' ')
                        .toLowerCase(Locale.ROOT))
                .findFirst()
                .orElse(provider);
    }

    /** From the Date of any response, even of a refusal. */
    Optional<Duration> clockOffset() throws ObjectStoreException {
        SSLContext tls = TrustedCertificates.context(config.server());
        String configured = config.server().region();
        try (SdkHttpClient http = HttpClients.create(config.limits(), config.server(), tls);
                S3Client client =
                        client(http, configured == null ? ANY_REGION : configured, AwsRetryStrategy.doNotRetry())) {
            Instant sent = Instant.now();
            Optional<Instant> date = dateOfAnyResponse(client);
            Duration roundTrip = Duration.between(sent, Instant.now());
            return date.map(then -> Duration.between(sent.plus(roundTrip.dividedBy(2)), then))
                    .map(offset -> offset.truncatedTo(ChronoUnit.SECONDS));
        } catch (SdkException failure) {
            throw errors.explain(errors.bucket(), failure);
        }
    }

    private Optional<Instant> dateOfAnyResponse(S3Client client) {
        SdkHttpResponse response;
        try {
            response = client.headBucket(request -> request.bucket(config.bucket()))
                    .sdkHttpResponse();
        } catch (S3Exception refusal) {
            if (refusal.awsErrorDetails() == null) {
                return Optional.empty();
            }
            response = refusal.awsErrorDetails().sdkHttpResponse();
        }
        try {
            return response.firstMatchingHeader("Date")
                    .map(date -> Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date)));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** The bucket's region: the configured one if there is one. */
    private String region(SdkHttpClient http) throws ObjectStoreException {
        String configured = config.server().region();
        if (configured != null && config.server().endpoint() != null) {
            return configured; // only AWS reports a bucket's region
        }
        String found = askForRegion(
                client(http, configured == null ? ANY_REGION : configured, AwsRetryStrategy.standardRetryStrategy()));
        if (configured == null) {
            return Objects.requireNonNullElse(found, ANY_REGION);
        }
        if (found != null && !found.equals(configured)) {
            throw new ObjectStoreException.Unavailable(
                    "%s is in the region %s, not %s; set the region %s or omit it"
                            .formatted(errors.bucket(), found, configured, found),
                    null);
        }
        return configured;
    }

    /** The region that S3 names, even in refusals and redirects; null if the server names none. */
    private @Nullable String askForRegion(S3Client client) throws ObjectStoreException {
        try (client) {
            return client.headBucket(request -> request.bucket(config.bucket())).bucketRegion();
        } catch (S3Exception response) {
            String region = response.awsErrorDetails() == null
                    ? null
                    : response.awsErrorDetails()
                            .sdkHttpResponse()
                            .firstMatchingHeader(REGION_HEADER)
                            .orElse(null);
            if (ErrorMapper.isTransient(response)) {
                throw errors.explain(errors.bucket(), response);
            }
            return region; // a listing explains any other refusal better, because its response has a body
        } catch (SdkException failure) {
            throw errors.explain(errors.bucket(), failure);
        }
    }

    /** @param retries none for the store's requests: {@link RetryState} must see how each attempt ends */
    private S3Client client(SdkHttpClient http, String region, RetryStrategy retries) throws ObjectStoreException {
        boolean supported = config.integrity().checksums() == Checksums.SUPPORTED;
        String profile = config.requester().profile();
        S3ClientBuilder builder = S3Client.builder()
                .httpClient(http)
                .credentialsProvider(credentials)
                .region(Region.of(region))
                .endpointOverride(config.server().endpoint())
                .forcePathStyle(config.server().pathStyle())
                .defaultsMode(DefaultsMode.STANDARD)
                .requestChecksumCalculation(
                        supported
                                ? RequestChecksumCalculation.WHEN_SUPPORTED
                                : RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(
                        supported
                                ? ResponseChecksumValidation.WHEN_SUPPORTED
                                : ResponseChecksumValidation.WHEN_REQUIRED)
                .overrideConfiguration(override -> {
                    override.retryStrategy(retries)
                            .addExecutionInterceptor(new ListingInterceptor())
                            .addExecutionInterceptor(counters)
                            .putAdvancedOption(
                                    SdkAdvancedClientOption.USER_AGENT_PREFIX,
                                    config.requester().userAgent());
                    if (profile != null) {
                        override.defaultProfileName(profile); // or the default profile's settings would apply
                    }
                })
                // Bodies have their checksum in a header and are sent as they are. Expecting 100-continue would cost a
                // round trip.
                .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false).expectContinueEnabled(false));
        if (!config.integrity().signedPayloads()) {
            builder.putAuthScheme(new UnsignedPayloads());
        }
        try {
            return build(builder);
        } catch (SdkException | IllegalArgumentException | IllegalStateException e) {
            throw new ObjectStoreException.Unavailable(
                    "the AWS SDK cannot create a client: " + e.getMessage()
                            + "; check s3.region, and AWS's environment variables and profiles",
                    e);
        }
    }

    private S3Client build(S3ClientBuilder builder) throws ObjectStoreException {
        S3Client client = builder.build();
        try {
            refuseOtherServer(client);
            return client;
        } catch (ObjectStoreException | RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * The SDK also takes an endpoint from the environment, from system properties and from profiles. Caches and waiting
     * uploads belong to the bucket of {@link S3Config.Server#endpoint}, so the endpoint must be set there too.
     */
    private void refuseOtherServer(S3Client client) throws ObjectStoreException {
        Optional<URI> found = client.serviceClientConfiguration().endpointOverride();
        if (config.server().endpoint() == null && found.isPresent()) {
            throw new ObjectStoreException.Unavailable(
                    "the AWS SDK is configured to use the server " + found.get()
                            + " by an unsupported setting; set s3.endpoint (--endpoint) to it",
                    null);
        }
    }

    /** Null if only the SDK can make the requests. */
    private @Nullable DirectRequests direct(S3Client client, String region, @Nullable SSLContext tls)
            throws ObjectStoreException {
        if (config.httpClient() != HttpClient.DIRECT || !isOrdinaryBucket()) {
            return null;
        }
        URI base = base(client, config.bucket());
        return HttpClients.isProxied(base.getHost(), config.server())
                ? null
                : new DirectRequests(config, base, region, credentials, tls, counters, System::nanoTime);
    }

    /** The address to which a key is appended. */
    static URI base(S3Client client, String bucket) {
        String key = "k";
        String url = client.utilities()
                .getUrl(object -> object.bucket(bucket).key(key))
                .toExternalForm();
        return URI.create(url.substring(0, url.length() - key.length()));
    }

    /**
     * Whether direct requests can reach the bucket. Directory buckets use sessions, and buckets on Outposts or behind a
     * function use another signature; AWS reserves name suffixes for them. An access point's alias is addressed like a
     * bucket.
     */
    private boolean isOrdinaryBucket() {
        return !config.bucket().matches(".*--[a-z]+-s3");
    }

    private void requireCredentials() throws ObjectStoreException {
        if (config.requester().credentials() instanceof Credentials.Chain) {
            try {
                credentials.resolveCredentials();
            } catch (SdkException | IllegalStateException e) {
                String profile = config.requester().profile();
                String why;
                if (profile == null) {
                    why = "looked in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), the default profile in"
                            + " ~/.aws/credentials and ~/.aws/config, the container's role and the instance's role";
                } else if (ProfileFile.defaultProfileFile().profile(profile).isPresent()) {
                    why = "looked in the profile '" + profile + "' in ~/.aws/credentials and ~/.aws/config";
                } else {
                    why = "there is no profile '" + profile + "' in ~/.aws/credentials or ~/.aws/config";
                }
                throw new ObjectStoreException.AccessDenied(
                        "no credentials for " + errors.bucket() + ": " + why
                                + "; set them there, set s3.profile to another profile, or set s3.anonymous if the"
                                + " bucket is public",
                        ObjectStoreException.AccessDenied.Reason.NO_CREDENTIALS,
                        e);
            }
        }
    }

    private static AwsCredentialsProvider credentials(Requester requester) {
        return switch (requester.credentials()) {
            case Credentials.Anonymous() -> AnonymousCredentialsProvider.create();
            case Credentials.Static(String id, String secret) ->
                StaticCredentialsProvider.create(AwsBasicCredentials.create(id, secret));
            // A named profile takes precedence: the chain would prefer the environment's credentials.
            case Credentials.Chain() ->
                requester.profile() == null
                        ? DefaultCredentialsProvider.builder().build()
                        : ProfileCredentialsProvider.create(requester.profile());
        };
    }
}
