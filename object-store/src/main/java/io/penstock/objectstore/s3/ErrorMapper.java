package io.penstock.objectstore.s3;

import io.penstock.core.Printable;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied.Reason;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.s3.ExplainedCredentials.NoCredentialsException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Objects;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** Converts exceptions of the SDK to those of the store. No other class does. */
final class ErrorMapper {
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int PROXY_AUTHENTICATION_REQUIRED = 407;
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int NOT_IMPLEMENTED = 501;
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final int VERSION_NOT_SUPPORTED = 505;
    private static final int INSUFFICIENT_STORAGE = 507;

    /** Responses of S3, and of most compatible servers, always have this header; those of a proxy do not. */
    static final String REQUEST_ID = "x-amz-request-id";

    private final S3Config config;

    ErrorMapper(S3Config config) {
        this.config = config;
    }

    /** The bucket, in messages. */
    String bucket() {
        return "bucket '" + config.bucket() + "'";
    }

    /** The object, in messages. */
    String object(String key) {
        return "object '" + Printable.text(key) + "' in " + bucket();
    }

    /** Why a call about {@code subject} (a bucket or an object, named as above) failed. */
    ObjectStoreException explain(String subject, SdkException failure) {
        if (failure instanceof AwsServiceException response) {
            return explainResponse(subject, response);
        }
        return explainNoResponse(subject, failure);
    }

    /** Why a body broke off, or arrived complete but damaged. */
    ObjectStoreException explainBrokenBody(String key, Exception failure) {
        String message = String.valueOf(failure.getMessage());
        return failure instanceof DamagedBodyException
                ? new ObjectStoreException.Corrupt(object(key) + " arrived damaged: " + message, failure)
                : new ObjectStoreException.Unavailable(
                        object(key) + ": the connection broke before all bytes arrived: " + message
                                + "; check the network",
                        failure);
    }

    /** The same failure as the last one within its deadline. */
    static ObjectStoreException deadlineExceeded(ObjectStoreException failure, Deadline deadline) {
        String message = failure.getMessage() + deadline.explanation();
        return switch (failure) {
            case ObjectStoreException.Throttled _ -> new ObjectStoreException.Throttled(message, failure.getCause());
            case ObjectStoreException.Unavailable _ ->
                new ObjectStoreException.Unavailable(message, failure.getCause());
            default -> failure;
        };
    }

    /** Whether the same call may succeed later. */
    static boolean isTransient(SdkException failure) {
        return failure instanceof AwsServiceException response
                ? isThrottling(response) || isTransient(response)
                : !isCertificateError(failure) && isTransientClientError(failure);
    }

    /**
     * Whether the server's certificate was refused. All other TLS failures are transient, notably an interrupted
     * handshake.
     */
    private static boolean isCertificateError(SdkException failure) {
        return causeOf(failure, CertificateException.class) != null
                || causeOf(failure, SSLPeerUnverifiedException.class) != null;
    }

    /** The SDK does not report every broken connection as retryable. */
    private static boolean isTransientClientError(SdkException failure) {
        return failure.retryable() || causeOf(failure, IOException.class) != null;
    }

    /** Whether the store or a proxy before it has transient trouble, by S3's error code if the response has one. */
    private static boolean isTransient(AwsServiceException response) {
        int status = response.statusCode();
        return switch (code(response)) {
            case "InternalError",
                    "ServiceUnavailable",
                    "OperationAborted",
                    "ConditionalRequestConflict",
                    "RequestTimeout",
                    "IncompleteBody" -> // for a body that stalled or broke
                true;
            case "" ->
                (status == NOT_FOUND && !isHeadResponse(response))
                        || status == REQUEST_TIMEOUT
                        || isServerError(status);
            default -> isServerError(status);
        };
    }

    /** Excludes statuses that mean that the server never implements the request, or that it is full. */
    private static boolean isServerError(int status) {
        return status >= 500
                && status != NOT_IMPLEMENTED
                && status != VERSION_NOT_SUPPORTED
                && status != INSUFFICIENT_STORAGE;
    }

    /** Whether the request was not carried out and will not be. If false, it may have been carried out. */
    static boolean isNotApplied(SdkException failure) {
        return failure instanceof AwsServiceException response
                ? !code(response).equals("InternalError")
                        && isNotApplied(response.statusCode(), !code(response).isEmpty())
                : isConnectFailure(failure);
    }

    /** The same for the head of a response. */
    static boolean isNotApplied(ResponseHead head) {
        return isNotApplied(head.status(), head.header(REQUEST_ID) != null);
    }

    /**
     * A successful status proves nothing, because an error may follow in the body. A proxy also sends 503 when it has
     * lost the connection on which it forwarded the request.
     *
     * @param isOfStore whether the response is known to come from the store, not from a proxy before it
     */
    private static boolean isNotApplied(int status, boolean isOfStore) {
        return (status >= 300 && !isServerError(status)) || (status == SERVICE_UNAVAILABLE && isOfStore);
    }

    /** Whether connecting failed, so that nothing was sent. */
    private static boolean isConnectFailure(SdkException failure) {
        SocketTimeoutException timeout = causeOf(failure, SocketTimeoutException.class);
        return causeOf(failure, ConnectException.class) != null
                || causeOf(failure, NoRouteToHostException.class) != null
                || causeOf(failure, UnknownHostException.class) != null
                || causeOf(failure, SSLHandshakeException.class) != null
                // Apache's client has its own class for connections that are not accepted in time.
                || (timeout != null && !timeout.getClass().equals(SocketTimeoutException.class));
    }

    /** Whether the store's clock differs from this machine's. */
    static boolean isClockSkewed(SdkException failure) {
        return failure instanceof AwsServiceException response && response.isClockSkewException();
    }

    private ObjectStoreException explainResponse(String subject, AwsServiceException response) {
        if (isBareUnavailable(response)) {
            return new ObjectStoreException.Throttled(
                    subject
                            + ": the store, or a proxy on the way to it, responded with status 503 (Service"
                            + " Unavailable): it is down, or throttles requests; check it, or lower the number of"
                            + " connections or of readers",
                    response);
        }
        if (isThrottling(response)) {
            return new ObjectStoreException.Throttled(
                    subject + ": the store throttles requests" + serverMessage(response)
                            + "; lower the number of connections or of readers",
                    response);
        }
        if (isTransient(response)) {
            return new ObjectStoreException.Unavailable(
                    subject + ": the store responded with status " + response.statusCode() + serverMessage(response),
                    response);
        }
        return switch (code(response)) {
            case "NoSuchKey", "NoSuchBucket", "NoSuchUpload" -> notFound(subject, response);
            case "PreconditionFailed", "InvalidRange" -> changed(subject, response);
            case "AccessDenied",
                    "SignatureDoesNotMatch",
                    "ExpiredToken",
                    "TokenRefreshRequired",
                    "InvalidToken",
                    "InvalidTokenId", // MinIO's code
                    "InvalidAccessKeyId",
                    "InvalidObjectState",
                    "RequestTimeTooSkewed" -> explainRefusal(subject, response);
            case "BadDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch" ->
                new ObjectStoreException.Corrupt(subject + " arrived damaged" + serverMessage(response), response);
            case "QuotaExceeded", "XMinioAdminBucketQuotaExceeded" -> explainQuota(subject, response);
            default -> explainStatus(subject, response);
        };
    }

    private ObjectStoreException explainStatus(String subject, AwsServiceException response) {
        return switch (response.statusCode()) {
            case NOT_FOUND -> notFound(subject, response);
            case 412, 416 -> changed(subject, response);
            case 401, 403 -> explainRefusal(subject, response);
            case 301, 307, 308 ->
                new ObjectStoreException.Refused(
                        subject + " is in another region or at another endpoint" + serverMessage(response)
                                + "; set the region or the endpoint",
                        response);
            case PROXY_AUTHENTICATION_REQUIRED ->
                new ObjectStoreException.Refused(
                        subject + " cannot be reached: the proxy demands a user and a password; check the proxy",
                        response);
            case INSUFFICIENT_STORAGE ->
                new ObjectStoreException.OutOfSpace(
                        subject + ": the store is full" + serverMessage(response) + "; free space in it", response);
            default ->
                new ObjectStoreException.Refused(
                        subject + ": the store refused the request with status " + response.statusCode()
                                + serverMessage(response)
                                + (response.statusCode() == BAD_REQUEST && mayBeOfProxy(response) ? schemeHint() : ""),
                        response);
        };
    }

    private static ObjectStoreException notFound(String subject, AwsServiceException response) {
        return new ObjectStoreException.NotFound("there is no " + subject + serverMessage(response), response);
    }

    private static ObjectStoreException changed(String subject, AwsServiceException response) {
        return new ObjectStoreException.PreconditionFailed(
                subject + " has changed since it was opened" + serverMessage(response) + "; open it again", response);
    }

    private static ObjectStoreException explainQuota(String subject, AwsServiceException response) {
        return new ObjectStoreException.QuotaExceeded(
                subject + ": the quota is used up" + serverMessage(response)
                        + "; delete objects or have the quota raised",
                response);
    }

    private static ObjectStoreException explainRefusal(String subject, AwsServiceException response) {
        return switch (code(response)) {
            case "InvalidObjectState" ->
                new ObjectStoreException.InvalidState(
                        subject + " is archived" + serverMessage(response)
                                + "; restore it (aws s3api restore-object) first",
                        response);
            case "RequestTimeTooSkewed" ->
                new ObjectStoreException.AccessDenied(
                        subject + ": this machine's clock is wrong" + serverMessage(response) + "; set it",
                        Reason.CLOCK,
                        response);
            case "ExpiredToken", "TokenRefreshRequired" ->
                new ObjectStoreException.AccessDenied(
                        subject + ": the credentials have expired" + serverMessage(response) + "; renew them",
                        Reason.EXPIRED,
                        response);
            default ->
                new ObjectStoreException.AccessDenied(
                        "access to " + subject + " is denied" + serverMessage(response)
                                + (mayBeOfProxy(response)
                                        ? ", perhaps by a proxy on the way to the store; check it,"
                                        : "; check")
                                + " the credentials and their permissions",
                        switch (code(response)) {
                            case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidTokenId" ->
                                Reason.WRONG_CREDENTIALS;
                            default -> Reason.NOT_ALLOWED;
                        },
                        response);
        };
    }

    private ObjectStoreException explainNoResponse(String subject, SdkException failure) {
        NoCredentialsException none = causeOf(failure, NoCredentialsException.class);
        if (none != null) {
            return new ObjectStoreException.AccessDenied(
                    subject + ": no credentials: " + none.getMessage(), Reason.NO_CREDENTIALS, failure);
        }
        if (causeOf(failure, UnreadableListingException.class) != null) {
            return new ObjectStoreException.Unavailable(
                    subject + ": " + failure.getMessage() + "; check the proxies on the way to the store", failure);
        }
        String server = Objects.toString(config.server().endpoint(), "S3");
        UnknownHostException unknownHost = causeOf(failure, UnknownHostException.class);
        if (unknownHost != null) {
            return unavailable(
                    subject,
                    "the host '" + unknownHost.getMessage() + "' is unknown; check "
                            + (config.server().proxy() == null ? hostSettings() : "the proxy"),
                    failure);
        }
        if (causeOf(failure, ConnectException.class) != null) {
            URI proxy = config.server().proxy(); // if set, all connections go to it
            return unavailable(
                    subject,
                    proxy == null
                            ? server + " does not accept connections; check the endpoint"
                            : "the proxy " + proxy + " does not accept connections; check the proxy",
                    failure);
        }
        if (causeOf(failure, SocketTimeoutException.class) != null) {
            return unavailable(
                    subject, server + " does not respond in time; check the endpoint and the proxy", failure);
        }
        SSLException tls = causeOf(failure, SSLException.class);
        if (tls != null) {
            return unavailable(subject, "no secure connection to " + server + ": " + explainTls(tls, failure), failure);
        }
        return unavailable(subject, failure.getMessage() + schemeHint(), failure);
    }

    /** What is wrong with a handshake, and what to do. The cause decides; an engine's message is only the symptom. */
    private String explainTls(SSLException tls, SdkException failure) {
        String symptom = String.valueOf(failure.getMessage());
        if (symptom.contains("SSL message") || symptom.contains("TLS packet")) { // the two engines' messages
            return "it does not respond with TLS"
                    + (config.server().endpoint() == null
                            ? ""
                            : "; if the server speaks plain HTTP at this port, write http:// as the scheme of"
                                    + " s3.endpoint (--endpoint)");
        }
        return tls.getMessage() + certificateHint(failure);
    }

    private String certificateHint(SdkException failure) {
        Path caFile = config.server().caFile();
        if (causeOf(failure, CertificateExpiredException.class) != null
                || causeOf(failure, CertificateNotYetValidException.class) != null) {
            return "; renew the server's certificate, or set this machine's clock";
        } else if (causeOf(failure, CertPathBuilderException.class) != null) {
            return "; the server's certificate is signed by an authority that Java does not trust"
                    + (caFile == null ? "" : " and that is not in " + caFile)
                    + ": set s3.ca-file (--s3-ca-file) to a PEM file with that authority's certificate";
        } else if (isCertificateError(failure)) {
            return "; the certificate is for another name: set s3.endpoint (--endpoint) to a name in the certificate"
                    + (config.server().pathStyle() ? "" : ", or set s3.path-style");
        }
        return "";
    }

    /** For an HTTPS server's response to plain HTTP: most servers send their own 400, some send anything. */
    private String schemeHint() {
        URI endpoint = config.server().endpoint();
        return endpoint == null || config.server().isEncrypted()
                ? ""
                : "; if the server speaks HTTPS at this port, write https:// as the scheme of s3.endpoint (--endpoint)";
    }

    private String hostSettings() {
        if (config.server().endpoint() == null) {
            return "the region";
        }
        return config.server().pathStyle() ? "the endpoint" : "the endpoint, or set s3.path-style";
    }

    private static ObjectStoreException unavailable(String subject, String why, SdkException failure) {
        return new ObjectStoreException.Unavailable(subject + " cannot be reached: " + why, failure);
    }

    private static boolean isThrottling(AwsServiceException response) {
        // S3 also uses 503 for its own trouble, with other codes. A response to HEAD has no code and counts as
        // throttling.
        return response.statusCode() == TOO_MANY_REQUESTS
                || code(response).startsWith("SlowDown") // for reads or for writes, in MinIO's codes
                || isBareUnavailable(response)
                || response.isThrottlingException();
    }

    /** A 503 without a reason: from a store, from a proxy before a store that is down, or in response to a HEAD. */
    private static boolean isBareUnavailable(AwsServiceException response) {
        return response.statusCode() == SERVICE_UNAVAILABLE && code(response).isEmpty();
    }

    /** Whether nothing in the response shows that it comes from the store: S3's have a code or an identifier. */
    private static boolean mayBeOfProxy(AwsServiceException response) {
        return code(response).isEmpty() && response.requestId() == null;
    }

    /** Whether this comes from the store itself, not a proxy, even for a HEAD. The SDK adds a code to either. */
    static boolean isOfStore(ObjectStoreException.NotFound failure) {
        return failure.getCause() instanceof AwsServiceException response && response.requestId() != null;
    }

    /** A HEAD does not find an object that the store lists: an ingress without a server always responds 404. */
    ObjectStoreException explainUnseen(String key, ObjectStoreException.NotFound failure) {
        return new ObjectStoreException.Unavailable(
                object(key) + " cannot be reached: a proxy on the way to the store responded with status 404; check it",
                failure);
    }

    ObjectStoreException explainNoSize(String key) {
        return new ObjectStoreException.Unavailable(
                object(key)
                        + ": the response to a HEAD has no Content-Length, and the listing has another version;"
                        + " check the"
                        + " proxies on the way to the store",
                null);
    }

    /** Whether the object is missing, rather than the bucket or an upload. */
    static boolean isNoSuchKey(ObjectStoreException.NotFound failure) {
        return failure.getCause() instanceof AwsServiceException response
                && code(response).equals("NoSuchKey");
    }

    /** Whether the store does not implement the request or something in it. */
    static boolean isNotImplemented(ObjectStoreException.Refused failure) {
        return failure.getCause() instanceof AwsServiceException response
                && (response.statusCode() == NOT_IMPLEMENTED || code(response).equals("NotImplemented"));
    }

    /** Whether it is the 400 of a HEAD, which S3 also sends if credentials have expired. */
    static boolean isUnexplained(ObjectStoreException.Refused failure) {
        return failure.getCause() instanceof AwsServiceException response
                && response.statusCode() == BAD_REQUEST
                && code(response).isEmpty();
    }

    /**
     * Explains a copy's 404. It means the same as 412 if the source is gone, but not if the bucket or the upload is.
     */
    ObjectStoreException explainCopy(String source, ObjectStoreException.NotFound failure) {
        return isNoSuchKey(failure) ? explainMissing(source, failure) : failure;
    }

    ObjectStoreException explainMissing(String source, ObjectStoreException.NotFound failure) {
        return new ObjectStoreException.PreconditionFailed(
                object(source) + " cannot be copied: another client has deleted it", failure);
    }

    /** S3's error code; empty for a response to HEAD, and for one that does not come from an S3 server. */
    static String code(AwsServiceException response) {
        AwsErrorDetails details = response.awsErrorDetails();
        String code = details == null ? null : details.errorCode();
        return code == null || code.equals(Integer.toString(response.statusCode())) ? "" : code;
    }

    /**
     * A response to HEAD has no body and therefore no code; the SDK infers from the request whether the key or the
     * bucket is missing.
     */
    private static boolean isHeadResponse(AwsServiceException response) {
        return response instanceof NoSuchKeyException || response instanceof NoSuchBucketException;
    }

    /** The store's own message, if the response has one: a response to HEAD does not. */
    private static String serverMessage(AwsServiceException response) {
        AwsErrorDetails details = response.awsErrorDetails();
        String message = details == null ? null : details.errorMessage();
        String code = code(response);
        if (code.isEmpty()) {
            return "";
        }
        return " (" + code + (message == null || message.isBlank() ? "" : ": " + message.strip()) + ")";
    }

    private static <T extends Throwable> @Nullable T causeOf(Throwable failure, Class<T> kind) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (kind.isInstance(cause)) {
                return kind.cast(cause);
            }
        }
        return null;
    }
}
