package io.penstock.tools.doctor;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.serve.mount.Target;
import org.jspecify.annotations.Nullable;

/** Whether the bucket can be opened, with the one right that every mount needs: to list it. */
record BucketCheck(Target target, Phase phase) implements Check<BucketCheck.Facts> {
    /**
     * The outcome of opening the bucket as a mount does.
     *
     * @param failure null if it can be mounted
     * @param anonymous whether it can be listed without credentials; false if that was not tried
     */
    record Facts(@Nullable ObjectStoreException failure, boolean anonymous) {}

    @Override
    public void examine(Facts bucket, Findings findings) {
        ObjectStoreException failure = bucket.failure();
        if (failure == null) {
            findings.ok(target.source() + " can be listed");
            return;
        }
        findings.error(Remedies.fault(String.valueOf(failure.getMessage())), phase.refusal(), remedy(failure));
        if (bucket.anonymous()) {
            findings.note(
                    "the bucket can be listed without credentials",
                    "It is public",
                    "Set s3.anonymous and read-only if that is intended");
        }
    }

    private String remedy(ObjectStoreException failure) {
        return switch (failure) {
            case ObjectStoreException.NotFound _ ->
                "Check the bucket's name and s3.endpoint, or create it: aws s3 mb s3://" + target.bucket();
            case AccessDenied denied -> remedy(denied.reason());
            case ObjectStoreException.Refused _ ->
                Remedies.of(failure.getMessage(), "Check s3.region, s3.endpoint and s3.path-style");
            default ->
                Remedies.of(
                        failure.getMessage(),
                        "Check s3.endpoint, s3.region and s3.proxy, and run penstock doctor again");
        };
    }

    private String remedy(AccessDenied.Reason reason) {
        return switch (reason) {
            case NO_CREDENTIALS -> "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or s3.profile";
            case WRONG_CREDENTIALS ->
                "The store does not know this access key, or the secret is wrong: correct them where they are set,"
                        + " or use another profile (s3.profile)";
            case EXPIRED -> "Renew the credentials, for example with aws sso login";
            case CLOCK -> "Set this machine's clock: timedatectl set-ntp true";
            case NOT_ALLOWED -> "Allow " + Right.LIST.action() + ": " + Right.LIST.statement(target);
        };
    }
}
