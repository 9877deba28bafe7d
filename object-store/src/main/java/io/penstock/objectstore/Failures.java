package io.penstock.objectstore;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Turns what the SDK throws into the store's own exceptions: the only place that does. */
final class Failures {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final int INSUFFICIENT_STORAGE = 507;

    private final S3Config config;

    Failures(S3Config config) {
        this.config = config;
    }

    /** The bucket, for messages. */
    String bucket() {
        return "bucket '" + config.bucket() + "'";
    }

    /** The object, for messages. */
    String object(String key) {
        return "object '" + key + "' in " + bucket();
    }

    /** Why this call about {@code subject} (a bucket or an object, as above) failed. */
    ObjectStoreException explain(String subject, SdkException failure) {
        if (failure instanceof AwsServiceException answer) {
            return explainAnswer(subject, answer);
        }
        return explainNoAnswer(subject, failure);
    }

    /** Why a body broke off, or came whole but wrong. */
    ObjectStoreException explainBrokenBody(String key, Exception failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("checksum")
                ? new ObjectStoreException.Corrupt(object(key) + " came damaged: " + message, failure)
                : new ObjectStoreException.Unavailable(
                        object(key) + ": its bytes stopped coming: " + message + "; check the network", failure);
    }

    /** Whether the same call may succeed later. */
    static boolean isPassing(SdkException failure) {
        return failure instanceof AwsServiceException answer
                ? isThrottling(answer) || isPassing(answer)
                : causeOf(failure, SSLException.class) == null && isPassingOfClient(failure);
    }

    /** The SDK, once it has used up its own attempts, no longer calls a broken connection retryable. */
    private static boolean isPassingOfClient(SdkException failure) {
        return failure.retryable() || causeOf(failure, IOException.class) != null;
    }

    private static boolean isPassing(AwsServiceException answer) {
        return switch (answer.statusCode()) {
            case 400 ->
                Set.of("RequestTimeout", "IncompleteBody").contains(code(answer)); // of a body that stalled or broke
            case 409 -> Set.of("ConditionalRequestConflict", "OperationAborted").contains(code(answer));
            case 501, INSUFFICIENT_STORAGE -> false;
            default -> answer.statusCode() >= 500;
        };
    }

    private ObjectStoreException explainAnswer(String subject, AwsServiceException answer) {
        if (isThrottling(answer)) {
            return new ObjectStoreException.Throttled(
                    subject + ": the store asks for fewer requests" + said(answer)
                            + "; lower the number of connections or of readers",
                    answer);
        }
        return switch (answer.statusCode()) {
            case 404 -> new ObjectStoreException.NotFound("there is no " + subject + said(answer), answer);
            case 412, 416 ->
                new ObjectStoreException.PreconditionFailed(
                        subject + " has changed since it was opened" + said(answer) + "; open it again", answer);
            case 401, 403 -> explainRefusal(subject, answer);
            case 301, 307, 308 ->
                new ObjectStoreException.Unavailable(
                        subject + " lies elsewhere" + said(answer) + "; set the region or the endpoint", answer);
            case 400 -> explainBadRequest(subject, answer);
            case INSUFFICIENT_STORAGE ->
                new ObjectStoreException.OutOfSpace(
                        subject + ": the store is full" + said(answer) + "; give it room", answer);
            default ->
                new ObjectStoreException.Unavailable(
                        subject + ": the store answered with status " + answer.statusCode() + said(answer), answer);
        };
    }

    private static ObjectStoreException explainBadRequest(String subject, AwsServiceException answer) {
        return switch (code(answer)) {
            case "ExpiredToken", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId" ->
                explainRefusal(subject, answer);
            case "BadDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch" ->
                new ObjectStoreException.Corrupt(subject + " arrived damaged" + said(answer), answer);
            case "XMinioAdminBucketQuotaExceeded" -> explainQuota(subject, answer);
            default ->
                new ObjectStoreException.Unavailable(
                        subject + ": the store refused the request" + said(answer), answer);
        };
    }

    private static ObjectStoreException explainQuota(String subject, AwsServiceException answer) {
        return new ObjectStoreException.QuotaExceeded(
                subject + ": the quota is used up" + said(answer) + "; free something or have it raised", answer);
    }

    private static ObjectStoreException explainRefusal(String subject, AwsServiceException answer) {
        return switch (code(answer)) {
            case "InvalidObjectState" ->
                new ObjectStoreException.InvalidState(
                        subject + " is archived" + said(answer) + "; restore it (aws s3api restore-object) first",
                        answer);
            case "QuotaExceeded" -> explainQuota(subject, answer);
            case "RequestTimeTooSkewed" ->
                new ObjectStoreException.AccessDenied(
                        subject + ": this machine's clock is wrong" + said(answer) + "; set it", answer);
            case "ExpiredToken", "TokenRefreshRequired" ->
                new ObjectStoreException.AccessDenied(
                        subject + ": the credentials have expired" + said(answer) + "; renew them", answer);
            default ->
                new ObjectStoreException.AccessDenied(
                        "access to " + subject + " is denied" + said(answer)
                                + "; check the credentials and what they allow",
                        answer);
        };
    }

    private ObjectStoreException explainNoAnswer(String subject, SdkException failure) {
        String server = config.endpoint() == null ? "S3" : config.endpoint().toString();
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
            String hint = "; if its certificate is your own, name the CA file";
            return unavailable(subject, "no secure connection to " + server + ": " + tls.getMessage() + hint, failure);
        }
        String message = String.valueOf(failure.getMessage());
        if (message.contains("credentials")) {
            return new ObjectStoreException.AccessDenied(subject + ": no credentials: " + message, failure);
        }
        return unavailable(subject, message, failure);
    }

    private String hostSettings() {
        if (config.endpoint() == null) {
            return "the region";
        }
        return config.pathStyle() ? "the endpoint" : "the endpoint, or set path style";
    }

    private static ObjectStoreException unavailable(String subject, String why, SdkException failure) {
        return new ObjectStoreException.Unavailable(subject + " cannot be reached: " + why, failure);
    }

    private static boolean isThrottling(AwsServiceException answer) {
        // S3 also uses 503 for its own trouble, with other codes; a HEAD has no code and counts as asking for less.
        return answer.statusCode() == TOO_MANY_REQUESTS
                || (answer.statusCode() == SERVICE_UNAVAILABLE
                        && (code(answer).isEmpty() || code(answer).equals("SlowDown")))
                || answer.isThrottlingException();
    }

    /** Whether what is missing is the object, and not the bucket or an upload. */
    static boolean isNoSuchKey(ObjectStoreException.NotFound failure) {
        return failure.getCause() instanceof AwsServiceException answer
                && code(answer).equals("NoSuchKey");
    }

    /** What a copy's 404 means: the same as 412 where its source is gone, unless bucket or upload are what is gone. */
    ObjectStoreException explainCopy(String source, ObjectStoreException.NotFound failure) {
        return isNoSuchKey(failure) ? sourceGone(source, failure) : failure;
    }

    ObjectStoreException sourceGone(String source, ObjectStoreException.NotFound failure) {
        return new ObjectStoreException.PreconditionFailed(
                object(source) + " is to be copied and was deleted by somebody else meanwhile", failure);
    }

    /** S3's name of the error; empty where the answer has none. */
    static String code(AwsServiceException answer) {
        AwsErrorDetails details = answer.awsErrorDetails();
        return details == null || details.errorCode() == null ? "" : details.errorCode();
    }

    /** The store's own words, where it has any: an answer to HEAD has none. */
    private static String said(AwsServiceException answer) {
        AwsErrorDetails details = answer.awsErrorDetails();
        String message = details == null ? null : details.errorMessage();
        String code = code(answer);
        if (code.isEmpty() || code.equals(Integer.toString(answer.statusCode()))) {
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
