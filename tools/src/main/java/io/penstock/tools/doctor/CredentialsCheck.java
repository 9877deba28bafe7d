package io.penstock.tools.doctor;

import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.measure.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Where the credentials were found, and how long they last. */
record CredentialsCheck(Configuration configuration, Phase phase) implements Check<CredentialsCheck.Facts> {
    /** The credentials that sign requests. */
    sealed interface Facts {
        /** No credentials, as configured. */
        record Anonymous() implements Facts {}

        /**
         * No credentials were found.
         *
         * @param why the reason, and where they were looked for
         */
        record Missing(String why) implements Facts {}

        /**
         * An access key.
         *
         * @param accessKeyId the key's ID, which is not secret
         * @param source where it was found
         * @param left the time until it expires; null if it does not, or if that is unknown
         */
        record Found(
                String accessKeyId, String source, @Nullable Duration left) implements Facts {}
    }

    private static final Duration SOON = Duration.ofHours(1);

    @Override
    public void examine(Facts credentials, Findings findings) {
        switch (credentials) {
            case Facts.Anonymous() -> findings.ok("requests are not signed: s3.anonymous");
            case Facts.Missing(String why) -> examineMissing(why, findings);
            case Facts.Found found -> examineFound(found, findings);
        }
    }

    private void examineMissing(String why, Findings findings) {
        switch (phase) {
            case BEFORE ->
                findings.error(
                        why,
                        phase.refusal(),
                        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or s3.profile; s3.anonymous for a public"
                                + " bucket");
            case MOUNTED ->
                findings.note(
                        "this command does not have the mount's credentials: " + why,
                        "Their expiry and rights cannot be examined",
                        "Run penstock doctor as the user and in the environment that penstock mount was run in");
        }
    }

    private void examineFound(Facts.Found found, Findings findings) {
        Duration left = found.left();
        String key = (phase == Phase.MOUNTED ? "the mount's, as far as this command can tell: " : "")
                + "the access key " + found.accessKeyId() + " (" + found.source() + ")";
        if (left == null) {
            findings.ok(key);
            return;
        }
        if (left.isNegative() || left.isZero()) {
            findings.error(
                    key + " expired " + Text.time(left.negated()) + " ago",
                    phase == Phase.MOUNTED ? phase.refusal() : "The store refuses all requests",
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
}
