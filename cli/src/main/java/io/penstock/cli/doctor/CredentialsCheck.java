package io.penstock.cli.doctor;

import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.Settings;
import io.penstock.cli.measure.Text;
import java.time.Duration;

/** Where the credentials were found, and how long they last. */
final class CredentialsCheck implements Check<CredentialsFacts> {
    private static final Duration SOON = Duration.ofHours(1);

    private final Configuration configuration;
    private final Phase phase;

    CredentialsCheck(Configuration configuration, Phase phase) {
        this.configuration = configuration;
        this.phase = phase;
    }

    @Override
    public String name() {
        return "credentials";
    }

    @Override
    public void examine(CredentialsFacts credentials, Findings findings) {
        switch (credentials) {
            case CredentialsFacts.Anonymous() -> findings.ok("requests are not signed: s3.anonymous");
            case CredentialsFacts.Missing(String why) -> examineMissing(why, findings);
            case CredentialsFacts.Found found -> examineFound(found, findings);
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
                        "this command has not the mount's credentials: " + why,
                        "Their expiry and their rights are not examined",
                        "Run penstock doctor as the user and in the environment that penstock mount was run in");
        }
    }

    private void examineFound(CredentialsFacts.Found found, Findings findings) {
        Duration left = found.left();
        String key = (phase == Phase.MOUNTED ? "as far as this command finds the mount's: " : "") + "the access key "
                + found.accessKeyId() + " (" + found.source() + ")";
        if (left == null) {
            findings.ok(key);
            return;
        }
        if (left.isNegative() || left.isZero()) {
            findings.error(
                    key + " expired " + Text.time(left.negated()) + " ago",
                    phase == Phase.MOUNTED ? phase.refusal() : "The store refuses all requests",
                    "Renew them, such as by aws sso login");
        } else if (left.compareTo(SOON) < 0) {
            findings.note(
                    key + " expires in " + Text.time(left),
                    "Roles and profiles renew theirs by themselves; keys in the environment stay as they are",
                    "Use a role or a profile for a mount that lasts longer");
        } else {
            findings.ok(key + " expires in " + Text.time(left));
        }
        if (configuration.get(Settings.CACHE_PRIVATE)) {
            findings.warning(
                    "cache.private is set, and the credentials are temporary",
                    "Each set of them has another key: each mount begins with an empty cache",
                    "Remove cache.private, or use an access key that lasts");
        }
    }
}
