package io.penstock.objectstore.s3;

import static software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner.AUTH_LOCATION;
import static software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner.EXPIRATION_DURATION;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.RequestCounters.Kind;
import java.io.IOException;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner.AuthLocation;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;

/**
 * A proof by a presigned URL of ListObjectsV2 (Signature Version 4 in the query). Everything before the query must
 * match this mount's own address exactly, except for upper case in the server's name, so that a proof cannot send a
 * request elsewhere. The query may contain only the parameters of such a request, each once.
 */
final class PresignedProof implements BucketProof, AutoCloseable {
    private static final Duration VALIDITY = Duration.ofMinutes(15);

    /** For the whole request. A peer waits for the response, and uses the store if this takes long. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int OK = 200;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    /** The values that the query must have. */
    private static final Map<String, String> REQUIRED = Map.of("list-type", "2", "max-keys", "1");

    /** A signed query contains no other characters, encoded or decoded. */
    private static final Pattern PARAMETER = Pattern.compile("[A-Za-z0-9%=._~-]+");

    private static final Pattern SIGNATURE = Pattern.compile("[0-9a-f]{64}");

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    /** The length of the day in a date. */
    private static final int DAY = 8;

    /** The clock difference beyond which stores refuse requests, so that a node learns that its clock is wrong. */
    private static final Duration SKEW = Duration.ofMinutes(15);

    private static final Set<String> ALLOWED = Set.of(
            "list-type",
            "max-keys",
            "prefix",
            "x-amz-request-payer",
            "X-Amz-Algorithm",
            "X-Amz-Credential",
            "X-Amz-Date",
            "X-Amz-Expires",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Amz-SignedHeaders");

    private final S3Config config;
    private final String prefix;
    private final URI bucket;
    private final String region;
    private final AwsCredentialsProvider credentials;
    private final Supplier<SdkHttpClient> clients;
    private final RequestCounters counters;
    private final ErrorMapper errors;
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();

    /** Created when the first proof of another node is checked. */
    @GuardedBy("this")
    private @Nullable SdkHttpClient http;

    @GuardedBy("this")
    private boolean closed;

    /**
     * @param base the address to which a key is appended
     * @param clients creates a client to check proofs: those of other nodes must not use this mount's connections
     */
    PresignedProof(
            S3Config config,
            String prefix,
            URI base,
            String region,
            AwsCredentialsProvider credentials,
            Supplier<SdkHttpClient> clients,
            RequestCounters counters) {
        this.config = config;
        this.prefix = prefix;
        this.bucket = base;
        this.region = region;
        this.credentials = credentials;
        this.clients = clients;
        this.counters = counters;
        this.errors = new ErrorMapper(config);
    }

    @Override
    public String make() throws ObjectStoreException, InterruptedException {
        SdkHttpRequest.Builder request =
                SdkHttpRequest.builder().method(SdkHttpMethod.GET).uri(bucket).putRawQueryParameter("prefix", prefix);
        REQUIRED.forEach(request::putRawQueryParameter);
        if (config.requester().pays()) {
            request.putRawQueryParameter("x-amz-request-payer", "requester");
        }
        try {
            AwsCredentials identity = credentials.resolveCredentials();
            SdkHttpRequest unsigned = request.build();
            return (identity.accessKeyId() == null ? unsigned : sign(unsigned, identity))
                    .getUri()
                    .toASCIIString();
        } catch (SdkException e) {
            RequestExecutor.checkInterrupt(e);
            throw errors.explain(errors.bucket(), e);
        }
    }

    private SdkHttpRequest sign(SdkHttpRequest request, AwsCredentials identity) {
        return signer.sign(sign -> sign.identity(identity)
                        .request(request)
                        .putProperty(AUTH_LOCATION, AuthLocation.QUERY_STRING)
                        .putProperty(EXPIRATION_DURATION, VALIDITY)
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                        .putProperty(AwsV4HttpSigner.SIGNING_CLOCK, DirectRequests.storesClock())
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false))
                .request();
    }

    @Override
    public boolean covers(String proof, String key) {
        Map<String, String> query = queryOf(proof);
        String proven = query == null ? null : query.get("prefix");
        return proven != null && key.startsWith(proven) && key.startsWith(prefix);
    }

    @Override
    public boolean holds(String proof) throws ObjectStoreException, InterruptedException {
        Map<String, String> query = queryOf(proof);
        if (query == null) {
            return false;
        }
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(URI.create(proof.substring(0, proof.indexOf('?'))))
                .putHeader("User-Agent", config.requester().userAgent());
        query.forEach(request::putRawQueryParameter);
        return new Deadline(PATIENCE, "5 s").call(() -> status(request.build())) == OK;
    }

    private int status(SdkHttpRequest request) throws ObjectStoreException, InterruptedException {
        counters.sent(Kind.LIST);
        try {
            HttpExecuteResponse response = http().prepareRequest(
                            HttpExecuteRequest.builder().request(request).build())
                    .call();
            response.responseBody().ifPresent(AbortableInputStream::abort);
            int status = response.httpResponse().statusCode();
            counters.responded(status);
            if (status == TOO_MANY_REQUESTS || status >= SERVER_ERROR) {
                throw unchecked("the store responded with status " + status, null);
            }
            return status;
        } catch (IOException | SdkException e) {
            RequestExecutor.checkInterrupt(e);
            throw unchecked(e.getMessage(), e);
        }
    }

    private synchronized SdkHttpClient http() throws IOException {
        if (closed) {
            throw new IOException("the mount is ending");
        }
        if (http == null) {
            http = clients.get();
        }
        return http;
    }

    /** Aborts the checks in progress. */
    @Override
    public synchronized void close() {
        closed = true;
        if (http != null) {
            http.close();
        }
    }

    private ObjectStoreException unchecked(@Nullable String why, @Nullable Exception cause) {
        return new ObjectStoreException.Unavailable(
                errors.bucket() + ": a peer's permission could not be checked: " + why, cause);
    }

    /** The decoded parameters; null if this is not a list request for this bucket. */
    private @Nullable Map<String, String> queryOf(String proof) {
        int mark = proof.indexOf('?');
        if (proof.length() > LONGEST || mark < 0 || !isThisBucket(proof.substring(0, mark))) {
            return null;
        }
        Map<String, String> query = new HashMap<>();
        for (String parameter : proof.substring(mark + 1).split("&", -1)) {
            int equals = parameter.indexOf('=');
            String name = parameter.substring(0, Math.max(0, equals));
            String value =
                    PARAMETER.matcher(parameter).matches() ? UrlEncoding.decode(parameter.substring(equals + 1)) : null;
            if (value == null || !ALLOWED.contains(name) || query.put(name, value) != null) {
                return null;
            }
        }
        boolean isList = query.containsKey("prefix") && query.entrySet().containsAll(REQUIRED.entrySet());
        return isList && (isUnsigned(query) || isSignedForNow(query)) ? query : null;
    }

    private static boolean isUnsigned(Map<String, String> query) {
        return query.keySet().stream().noneMatch(name -> name.startsWith("X-Amz-"));
    }

    /** Whether it looks signed and currently valid; the store checks the signature. */
    private static boolean isSignedForNow(Map<String, String> query) {
        String date = query.getOrDefault("X-Amz-Date", "");
        String expires = query.getOrDefault("X-Amz-Expires", "");
        String day = date.substring(0, Math.min(DAY, date.length()));
        if (!"AWS4-HMAC-SHA256".equals(query.get("X-Amz-Algorithm"))
                || !SIGNATURE.matcher(query.getOrDefault("X-Amz-Signature", "")).matches()
                || !query.getOrDefault("X-Amz-Credential", "")
                        .matches(".+/" + Pattern.quote(day) + "/[^/]+/s3/aws4_request")
                || !query.containsKey("X-Amz-SignedHeaders")
                || !expires.matches("[0-9]{1,6}")) {
            return false;
        }
        try {
            Instant signed = DATE.parse(date, Instant::from);
            Instant now = DirectRequests.storesClock().instant();
            return now.isAfter(signed.minus(SKEW))
                    && now.isBefore(signed.plusSeconds(Long.parseLong(expires)).plus(SKEW));
        } catch (DateTimeException e) {
            return false;
        }
    }

    /** By path or by host, since a peer may have the other setting. */
    private boolean isThisBucket(String address) {
        String scheme = bucket.getScheme() + "://";
        String authority = bucket.getRawAuthority();
        String host = config.bucket() + ".";
        String path = "/" + config.bucket() + "/";
        boolean byPath = bucket.getRawPath().equals(path);
        String server = !byPath && authority.startsWith(host) ? authority.substring(host.length()) : authority;
        return address.equals(bucket.toString())
                || isOf(address, scheme, server, path)
                || isOf(address, scheme + host, server, "/");
    }

    /** Whether it consists of these three. The server's name is case-insensitive, as in the group's name. */
    private static boolean isOf(String address, String before, String server, String after) {
        return address.length() == before.length() + server.length() + after.length()
                && address.startsWith(before)
                && address.regionMatches(true, before.length(), server, 0, server.length())
                && address.endsWith(after);
    }
}
