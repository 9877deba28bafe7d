package io.penstock.settings.process;

import java.util.regex.Pattern;

/** Replaces passwords, tokens and keys by {@code ***} in text that is printed or logged. */
public final class Secrets {
    private static final String HIDDEN = "***";

    /**
     * The user info of a URL. In the second alternative, the password has characters that a URL would have to encode;
     * in the third, the scheme is missing.
     */
    private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^\\s/?#'\"]+(?=@)"
            + "|(?<=://)[^\\s:/?#@'\"]*:(?!\\d{1,5}(?![^\\s/?#'\"]))[^\\s'\"]*(?=@)"
            + "|(?<![\\w/@.%+-])[\\w.%+-]+:[^\\s/@'\"]+(?=@(?:\\[|[\\w-]+[.:]))");

    private static final Pattern NAMED = Pattern.compile(
            "(?i)(?<![\\w.-])(?<name>[\\w.-]*(?:signature|secret|passw|passphrase|credential|(?<!continuation-)token"
                + "|api[_-]?key|access[_-]?key)[\\w.-]*|sig|pwd|authorization|(?<=[?&])(?:key|auth|code))=(?<value>[^\\s&'\",;]+)");

    /** Matches an AWS secret key by its length, which is rare in text. A hash has no capitals and does not match. */
    private static final Pattern SECRET_KEY = Pattern.compile(
            "(?<![\\w/+=.-])(?=[^\\s]*[A-Z])(?=[^\\s]*[a-z])(?=[^\\s]*[0-9])" + "[A-Za-z0-9/+]{40}(?![\\w/+=.-])");

    private Secrets() {}

    /** The text without user info in URLs, and without the values of parameters whose names indicate secrets. */
    public static String hidden(String text) {
        String shown = text.indexOf('@') < 0 ? text : USER_INFO.matcher(text).replaceAll(HIDDEN);
        return shown.indexOf('=') < 0
                ? shown
                : NAMED.matcher(shown).replaceAll(named -> named.group("name") + "=" + HIDDEN);
    }

    /** The same for user input, which may contain AWS keys anywhere. */
    public static String hiddenInInput(String text) {
        return SECRET_KEY.matcher(hidden(text)).replaceAll(HIDDEN);
    }
}
