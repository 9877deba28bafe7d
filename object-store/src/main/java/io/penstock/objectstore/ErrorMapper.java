package io.penstock.objectstore;

import io.penstock.core.Printable;
import io.penstock.objectstore.ExplainedCredentials.NoCredentialsException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
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

/** Turns what the SDK throws into the store's own exceptions: the only place that does. */
final class ErrorMapper {
    private static final int NOT_FOUND = 404;
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int NOT_IMPLEMENTED = 501;
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final int VERSION_NOT_SUPPORTED = 505;
    private static final int INSUFFICIENT_STORAGE = 507;

    private final S3Config config;

    ErrorMapper(S3Config config) {
        this.config = config;
    }

    /** The bucket, for messages. */
    String bucket() {
        return "bucket '" + config.bucket() + "'";
    }

    /** The object, for messages. */
    String object(String key) {
        return "object '" + Printable.text(key) + "' in " + bucket();
    }

    /** Why this call about {@code subject} (a bucket or an object, as above) failed. */
    ObjectStoreException explain(String subject, SdkException failure) {
        if (failure instanceof AwsServiceException response) {
            return explainResponse(subject, response);
        }
        return explainNoResponse(subject, failure);
    }

    /** Why a body broke off, or came whole but wrong. */
    ObjectStoreException explainBrokenBody(String key, Exception failure) {
        String message = String.valueOf(failure.getMessage());
        return failure instanceof DamagedBodyException
                ? new ObjectStoreException.Corrupt(object(key) + " came damaged: " + message, failure)
                : new ObjectStoreException.Unavailable(
                        object(key) + ": its bytes stopped coming: " + message + "; check the network", failure);
    }

    /** The same failure, which the deadline has made the last. */
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

    /** Whether the server's certificate was refused. All other trouble of TLS passes, a cut handshake above all. */
    private static boolean isCertificateError(SdkException failure) {
        return causeOf(failure, CertificateException.class) != null
                || causeOf(failure, SSLPeerUnverifiedException.class) != null;
    }

    /** The SDK does not call every broken connection retryable. */
    private static boolean isTransientClientError(SdkException failure) {
        return failure.retryable() || causeOf(failure, IOException.class) != null;
    }

    /** Whether the store, or what is on the way to it, is in a trouble that passes: by S3's code if there is one. */
    private static boolean isTransient(AwsServiceException response) {
        int status = response.statusCode();
        return switch (code(response)) {
            case "InternalError",
                    "ServiceUnavailable",
                    "OperationAborted",
                    "ConditionalRequestConflict",
                    "RequestTimeout",
                    "IncompleteBody" -> // of a body that stalled or broke
                true;
            case "" ->
                (status == NOT_FOUND && !isHeadResponse(response))
                        || status == REQUEST_TIMEOUT
                        || isServerError(status);
            default -> isServerError(status);
        };
    }

    /** Not those that say what the server never does, or that it is full. */
    private static boolean isServerError(int status) {
        return status >= 500
                && status != NOT_IMPLEMENTED
                && status != VERSION_NOT_SUPPORTED
                && status != INSUFFICIENT_STORAGE;
    }

    /** Whether the request was not carried out, and will not be: else it may have been. */
    static boolean isNotApplied(SdkException failure) {
        return failure instanceof AwsServiceException response
                ? !code(response).equals("InternalError") && isNotApplied(response.statusCode())
                : isConnectFailure(failure);
    }

    /** The same of an answer's status. One of success says nothing, because an error may follow within. */
    static boolean isNotApplied(int status) {
        return (status >= 300 && !isServerError(status)) || status == SERVICE_UNAVAILABLE;
    }

    /** Nothing has been sent. */
    private static boolean isConnectFailure(SdkException failure) {
        SocketTimeoutException timeout = causeOf(failure, SocketTimeoutException.class);
        return causeOf(failure, ConnectException.class) != null
                || causeOf(failure, NoRouteToHostException.class) != null
                || causeOf(failure, UnknownHostException.class) != null
                || causeOf(failure, SSLHandshakeException.class) != null
                // Apache's client has a class of its own for connections that are not taken in time.
                || (timeout != null && !timeout.getClass().equals(SocketTimeoutException.class));
    }

    /** Whether the store's clock is another than ours. */
    static boolean isClockSkewed(SdkException failure) {
        return failure instanceof AwsServiceException response && response.isClockSkewException();
    }

    private ObjectStoreException explainResponse(String subject, AwsServiceException response) {
        if (isThrottling(response)) {
            return new ObjectStoreException.Throttled(
                    subject + ": the store asks for fewer requests" + serverMessage(response)
                            + "; lower the number of connections or of readers",
                    response);
        }
        if (isTransient(response)) {
            return new ObjectStoreException.Unavailable(
                    subject + ": the store answered with status " + response.statusCode() + serverMessage(response),
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
                    "InvalidAccessKeyId",
                    "InvalidObjectState",
                    "RequestTimeTooSkewed" -> explainRefusal(subject, response);
            case "BadDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch" ->
                new ObjectStoreException.Corrupt(subject + " arrived damaged" + serverMessage(response), response);
            case "QuotaExceeded", "XMinioAdminBucketQuotaExceeded" -> explainQuota(subject, response);
            default -> explainStatus(subject, response);
        };
    }

    private static ObjectStoreException explainStatus(String subject, AwsServiceException response) {
        return switch (response.statusCode()) {
            case NOT_FOUND -> notFound(subject, response);
            case 412, 416 -> changed(subject, response);
            case 401, 403 -> explainRefusal(subject, response);
            case 301, 307, 308 ->
                new ObjectStoreException.Refused(
                        subject + " lies elsewhere" + serverMessage(response) + "; set the region or the endpoint",
                        response);
            case INSUFFICIENT_STORAGE ->
                new ObjectStoreException.OutOfSpace(
                        subject + ": the store is full" + serverMessage(response) + "; give it room", response);
            default ->
                new ObjectStoreException.Refused(
                        subject + ": the store refused the request with status " + response.statusCode()
                                + serverMessage(response),
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
                subject + ": the quota is used up" + serverMessage(response) + "; free something or have it raised",
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
                        subject + ": this machine's clock is wrong" + serverMessage(response) + "; set it", response);
            case "ExpiredToken", "TokenRefreshRequired" ->
                new ObjectStoreException.AccessDenied(
                        subject + ": the credentials have expired" + serverMessage(response) + "; renew them",
                        response);
            default ->
                new ObjectStoreException.AccessDenied(
                        "access to " + subject + " is denied" + serverMessage(response)
                                + "; check the credentials and what they allow",
                        response);
        };
    }

    private ObjectStoreException explainNoResponse(String subject, SdkException failure) {
        NoCredentialsException none = causeOf(failure, NoCredentialsException.class);
        if (none != null) {
            return new ObjectStoreException.AccessDenied(subject + ": no credentials: " + none.getMessage(), failure);
        }
        if (causeOf(failure, UnreadableListingException.class) != null) {
            return new ObjectStoreException.Unavailable(
                    subject + ": " + failure.getMessage() + "; check what lies between here and the store", failure);
        }
        String server = Objects.toString(config.server().endpoint(), "S3");
        UnknownHostException unknownHost = causeOf(failure, UnknownHostException.class);
        if (unknownHost != null) {
            return unavailable(
                    subject,
                    "the host '" + unknownHost.getMessage() + "' is unknown; check " + hostSettings(),
                    failure);
        }
        if (causeOf(failure, ConnectException.class) != null) {
            return unavailable(subject, server + " does not accept connections; check the endpoint", failure);
        }
        if (causeOf(failure, SocketTimeoutException.class) != null) {
            return unavailable(subject, server + " does not answer in time; check the endpoint and the proxy", failure);
        }
        SSLException tls = causeOf(failure, SSLException.class);
        if (tls != null) {
            String hint = isCertificateError(failure) ? "; if its certificate is your own, name the CA file" : "";
            return unavailable(subject, "no secure connection to " + server + ": " + tls.getMessage() + hint, failure);
        }
        return unavailable(subject, String.valueOf(failure.getMessage()), failure);
    }

    private String hostSettings() {
        if (config.server().endpoint() == null) {
            return "the region";
        }
        return config.server().pathStyle() ? "the endpoint" : "the endpoint, or set path style";
    }

    private static ObjectStoreException unavailable(String subject, String why, SdkException failure) {
        return new ObjectStoreException.Unavailable(subject + " cannot be reached: " + why, failure);
    }

    private static boolean isThrottling(AwsServiceException response) {
        // S3 also uses 503 for its own trouble, with other codes; a HEAD has no code and counts as asking for less.
        return response.statusCode() == TOO_MANY_REQUESTS
                || code(response).equals("SlowDown")
                || (response.statusCode() == SERVICE_UNAVAILABLE
                        && code(response).isEmpty())
                || response.isThrottlingException();
    }

    /** Whether what is missing is the object, and not the bucket or an upload. */
    static boolean isNoSuchKey(ObjectStoreException.NotFound failure) {
        return failure.getCause() instanceof AwsServiceException response
                && code(response).equals("NoSuchKey");
    }

    /** Whether the store does not know the request, or something in it. */
    static boolean isNotImplemented(ObjectStoreException.Refused failure) {
        return failure.getCause() instanceof AwsServiceException response
                && (response.statusCode() == NOT_IMPLEMENTED || code(response).equals("NotImplemented"));
    }

    /** What a copy's 404 means: the same as 412 where its source is gone, unless bucket or upload are what is gone. */
    ObjectStoreException explainCopy(String source, ObjectStoreException.NotFound failure) {
        return isNoSuchKey(failure) ? sourceGone(source, failure) : failure;
    }

    ObjectStoreException sourceGone(String source, ObjectStoreException.NotFound failure) {
        return new ObjectStoreException.PreconditionFailed(
                object(source) + " is to be copied and was deleted by somebody else meanwhile", failure);
    }

    /** S3's name of the error; empty where the answer has none: of a HEAD, and of what is no S3 server. */
    static String code(AwsServiceException response) {
        AwsErrorDetails details = response.awsErrorDetails();
        String code = details == null ? null : details.errorCode();
        return code == null || code.equals(Integer.toString(response.statusCode())) ? "" : code;
    }

    /** A HEAD's answer has no body, and so no code; the SDK tells what is missing by what was asked. */
    private static boolean isHeadResponse(AwsServiceException response) {
        return response instanceof NoSuchKeyException || response instanceof NoSuchBucketException;
    }

    /** The store's own words, where it has any: an answer to HEAD has none. */
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
