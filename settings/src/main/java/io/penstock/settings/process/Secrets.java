package io.penstock.settings.process;

import java.util.regex.Pattern;

/** Hides passwords, tokens and keys in text that is printed or logged. What it hides is shown as {@code ***}. */
public final class Secrets {
    private static final String HIDDEN = "***";

    /**
     * The user info of a URL. In the second, the password has characters that a URL would have to encode, and in the
     * third, the scheme is missing.
     */
    private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^\\s/?#'\"]+(?=@)"
            + "|(?<=://)[^\\s:/?#@'\"]*:(?!\\d{1,5}(?![^\\s/?#'\"]))[^\\s'\"]*(?=@)"
            + "|(?<![\\w/@.%+-])[\\w.%+-]+:[^\\s/@'\"]+(?=@(?:\\[|[\\w-]+[.:]))");

    private static final Pattern NAMED = Pattern.compile(
            "(?i)(?<![\\w.-])(?<name>[\\w.-]*(?:signature|secret|passw|passphrase|credential|(?<!continuation-)token"
                + "|api[_-]?key|access[_-]?key)[\\w.-]*|sig|pwd|authorization|(?<=[?&])(?:key|auth|code))=(?<value>[^\\s&'\",;]+)");

    /** A secret key of AWS by its length, of which text has few: not a hash, which has no capitals. */
    private static final Pattern SECRET_KEY = Pattern.compile(
            "(?<![\\w/+=.-])(?=[^\\s]*[A-Z])(?=[^\\s]*[a-z])(?=[^\\s]*[0-9])" + "[A-Za-z0-9/+]{40}(?![\\w/+=.-])");

    private Secrets() {}

    /** The text without user info in URLs, and without the values of parameters whose names say that they are secret. */
    public static String hidden(String text) {
        String shown = text.indexOf('@') < 0 ? text : USER_INFO.matcher(text).replaceAll(HIDDEN);
        return shown.indexOf('=') < 0
                ? shown
                : NAMED.matcher(shown).replaceAll(named -> named.group("name") + "=" + HIDDEN);
    }

    /** The same for text of a user's input, in which keys of AWS may be anywhere. */
    public static String hiddenInInput(String text) {
        return SECRET_KEY.matcher(hidden(text)).replaceAll(HIDDEN);
    }
}
