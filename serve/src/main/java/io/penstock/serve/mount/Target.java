package io.penstock.serve.mount;

import io.penstock.core.Printable;
import io.penstock.settings.ConfigurationException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bucket to mount, or a prefix in it.
 *
 * @param bucket the bucket's name
 * @param prefix empty for the whole bucket, else ends in a slash
 */
public record Target(String bucket, String prefix) {
    /** Wider than AWS's present rule, because S3-compatible servers and old buckets allow more. */
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{1,254}");

    private static final Pattern ODD = Pattern.compile("[^A-Za-z0-9._-]");
    private static final int LONGEST = 255;

    /**
     * Parses {@code bucket}, {@code bucket/prefix} or either after {@code s3://}; an access point's alias is a bucket.
     */
    public static Target parse(String text) throws ConfigurationException {
        if (text.startsWith("arn:") || text.startsWith("s3://arn:")) {
            throw wrong("'" + text
                    + "' is an ARN, which Penstock does not support; use the access point's alias, which ends in"
                    + " -s3alias, as the bucket name (aws s3control get-access-point shows it)");
        }
        String path = text.startsWith("s3://") ? text.substring("s3://".length()) : text;
        int slash = path.indexOf('/');
        String bucket = slash < 0 ? path : path.substring(0, slash);
        if (!BUCKET.matcher(bucket).matches()) {
            throw wrong("invalid bucket '" + text + "'" + whyNot(bucket)
                    + "; write BUCKET, BUCKET/PREFIX or s3://BUCKET/PREFIX");
        }
        String prefix = slash < 0 ? "" : path.substring(slash + 1);
        return new Target(bucket, prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/");
    }

    private static String whyNot(String bucket) {
        Matcher odd = ODD.matcher(bucket);
        if (bucket.isEmpty() || bucket.contains("://") || bucket.endsWith(":")) {
            return "";
        } else if (odd.find()) {
            return ": its name contains '" + Printable.text(odd.group())
                    + "', but only letters, digits, dots, dashes and underscores are allowed";
        }
        return bucket.length() < 2 || bucket.length() > LONGEST
                ? ": its name has " + bucket.length() + " characters, but must have 2 to " + LONGEST
                : ": its name begins with '" + bucket.charAt(0) + "', but must begin with a letter or digit";
    }

    private static ConfigurationException wrong(String problem) {
        return new ConfigurationException(List.of(problem));
    }

    /** As in mount tables, without the trailing slash. */
    public String source() {
        return prefix.isEmpty() ? "s3://" + bucket : "s3://" + bucket + "/" + prefix.substring(0, prefix.length() - 1);
    }
}
