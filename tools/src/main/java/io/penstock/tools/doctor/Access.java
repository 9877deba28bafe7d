package io.penstock.tools.doctor;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.measure.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The way to the bucket: server, credentials, and the bucket itself. */
record Access(Configuration configuration, Target target, Stage stage) {
    /** The time in a response is in whole seconds, and takes a while to arrive. */
    private static final Duration SAME = Duration.ofSeconds(5);

    /** S3 refuses requests whose time differs by more. */
    private static final Duration REFUSED = Duration.ofMinutes(15);

    private static final Duration SOON = Duration.ofHours(1);

    /** Separates the fault and the remedy in messages of the object store. */
    private static final String BEHIND = "; ";

    /** When the path to the store is examined, with the credentials that the doctor's process finds. */
    enum Stage {
        BEFORE("The mount is refused"),
        /** The mount has found its credentials itself, and may have different ones. */
        MOUNTED("The mount's requests fail too, if it has these credentials");

        private final String refusal;

        Stage(String refusal) {
            this.refusal = refusal;
        }

        /** The consequence if the store refuses these credentials. */
        String refusal() {
            return refusal;
        }
    }

    /**
     * The server, as any client sees it.
     *
     * @param unreachable why it does not respond; null if it does
     * @param clockOffset its time minus this machine's, in whole seconds; null if unknown
     */
    record Server(@Nullable String unreachable, @Nullable Duration clockOffset) {}

    /** Whether the server responds, and whether the clocks agree. */
    void server(Server server, Findings findings) {
        if (server.unreachable() != null) {
            findings.error(
                    fault(server.unreachable()),
                    "A new mount is refused; requests of an existing one fail after s3.retry-deadline",
                    remedyOf(
                            server.unreachable(),
                            "Check s3.endpoint, s3.region and s3.proxy, and the network and firewall in between"));
            return;
        }
        Duration offset = server.clockOffset();
        if (offset == null) {
            findings.note(where() + " responds without a Date header, so the clocks cannot be compared");
        } else if (offset.abs().compareTo(SAME) <= 0) {
            findings.ok(where() + " responds, and its clock agrees with this machine's");
        } else {
            String found = "this machine's clock is " + Text.time(offset.abs())
                    + (offset.isNegative() ? " ahead of" : " behind") + " the server's";
            String remedy = "Synchronize it: timedatectl set-ntp true, or chronyc makestep";
            findings.warning(
                    found,
                    offset.abs().compareTo(REFUSED) >= 0
                            ? "S3 refuses the first request of each process, which then follows the server's clock;"
                                    + " temporary credentials may count as expired"
                            : "From 15 minutes on, S3 refuses requests",
                    remedy);
        }
    }

    private String where() {
        return configuration.find(Settings.ENDPOINT).map(Object::toString).orElse("S3");
    }

    /** The credentials that sign requests. */
    sealed interface Key {
        /** No credentials, as configured. */
        record Anonymous() implements Key {}

        /**
         * No credentials were found.
         *
         * @param why the reason, and where they were looked for
         */
        record Missing(String why) implements Key {}

        /**
         * An access key.
         *
         * @param accessKeyId the key's ID, which is not secret
         * @param source where it was found
         * @param left the time until it expires; null if it does not, or if that is unknown
         */
        record Found(
                String accessKeyId, String source, @Nullable Duration left) implements Key {}
    }

    /** Where the credentials were found, and how long they last. */
    void credentials(Key credentials, Findings findings) {
        switch (credentials) {
            case Key.Anonymous() -> findings.ok("requests are not signed: s3.anonymous");
            case Key.Missing(String why) -> missing(why, findings);
            case Key.Found found -> found(found, findings);
        }
    }

    private void missing(String why, Findings findings) {
        switch (stage) {
            case BEFORE ->
                findings.error(
                        why,
                        stage.refusal(),
                        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or s3.profile; s3.anonymous for a public"
                                + " bucket");
            case MOUNTED ->
                findings.note(
                        "this command does not have the mount's credentials: " + why,
                        "Their expiry and rights cannot be examined",
                        "Run penstock doctor as the user and in the environment that penstock mount was run in");
        }
    }

    private void found(Key.Found found, Findings findings) {
        Duration left = found.left();
        String key = (stage == Stage.MOUNTED ? "the mount's, as far as this command can tell: " : "")
                + "the access key " + found.accessKeyId() + " (" + found.source() + ")";
        if (left == null) {
            findings.ok(key);
            return;
        }
        if (left.isNegative() || left.isZero()) {
            findings.error(
                    key + " expired " + Text.time(left.negated()) + " ago",
                    stage == Stage.MOUNTED ? stage.refusal() : "The store refuses all requests",
                    "Renew them, for example with aws sso login");
        } else if (left.compareTo(SOON) < 0) {
            findings.note(
                    key + " expires in " + Text.time(left),
                    "Roles and profiles renew their credentials automatically; keys in the environment do not change",
                    "Use a role or a profile for a mount that lasts longer");
        } else {
            findings.ok(key + " expires in " + Text.time(left));
        }
        if (configuration.get(Settings.CACHE_PRIVATE)) {
            findings.warning(
                    "cache.private is set, and the credentials are temporary",
                    "Their access key changes, so each mount begins with an empty cache",
                    "Remove cache.private, or use a permanent access key");
        }
    }

    /**
     * The outcome of opening the bucket as a mount does.
     *
     * @param failure null if it can be mounted
     * @param anonymous whether it can be listed without credentials; false if that was not tried
     */
    record Bucket(@Nullable ObjectStoreException failure, boolean anonymous) {}

    /** Whether the bucket can be opened, with the one right that every mount needs: to list it. */
    void bucket(Bucket bucket, Findings findings) {
        ObjectStoreException failure = bucket.failure();
        if (failure == null) {
            findings.ok(target.source() + " can be listed");
            return;
        }
        findings.error(fault(String.valueOf(failure.getMessage())), stage.refusal(), remedy(failure));
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
                remedyOf(failure.getMessage(), "Check s3.region, s3.endpoint and s3.path-style");
            default ->
                remedyOf(
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
            case NOT_ALLOWED -> "Allow " + Rights.Right.LIST.action() + ": " + Rights.Right.LIST.statement(target);
        };
    }

    private static String fault(String message) {
        int at = message.indexOf(BEHIND);
        return at < 0 ? message : message.substring(0, at);
    }

    /** @param otherwise the remedy if the message has none */
    private static String remedyOf(@Nullable String message, String otherwise) {
        int at = message == null ? -1 : message.indexOf(BEHIND);
        if (message == null || at < 0) {
            return otherwise;
        }
        String remedy = message.substring(at + BEHIND.length());
        return Character.toUpperCase(remedy.charAt(0)) + remedy.substring(1);
    }
}
