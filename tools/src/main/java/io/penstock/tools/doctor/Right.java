package io.penstock.tools.doctor;

import io.penstock.serve.mount.Target;

/** An action that an IAM policy must allow. */
enum Right {
    LIST("s3:ListBucket", "Nothing can be mounted", false),
    READ("s3:GetObject", "No file can be read", false),
    WRITE("s3:PutObject", "Closing written files, mkdir and rename fail", true),
    DELETE("s3:DeleteObject", "rm, rmdir and rename fail", true),
    ABORT("s3:AbortMultipartUpload", "Parts of abandoned uploads stay in the bucket, and cost money", true),
    LIST_PARTS("s3:ListMultipartUploadParts", "Uploads interrupted by a crash start over", true);

    private final String action;
    private final String without;
    private final boolean writes;

    Right(String action, String without, boolean writes) {
        this.action = action;
        this.without = without;
        this.writes = writes;
    }

    /** Its name in a policy. */
    String action() {
        return action;
    }

    /** The consequence of lacking it. */
    String without() {
        return without;
    }

    /** Whether a read-only mount can do without it. */
    boolean writes() {
        return writes;
    }

    /** The policy statement that grants it for the mounted part of the bucket. */
    String statement(Target target) {
        String bucket = "arn:aws:s3:::" + target.bucket();
        if (this != LIST) {
            return "{\"Effect\": \"Allow\", \"Action\": \"%s\", \"Resource\": \"%s/%s*\"}"
                    .formatted(action, bucket, target.prefix());
        }
        String condition = target.prefix().isEmpty()
                ? ""
                : ", \"Condition\": {\"StringLike\": {\"s3:prefix\": \"%s*\"}}".formatted(target.prefix());
        return "{\"Effect\": \"Allow\", \"Action\": \"%s\", \"Resource\": \"%s\"%s}"
                .formatted(action, bucket, condition);
    }
}
