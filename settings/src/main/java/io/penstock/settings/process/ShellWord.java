package io.penstock.settings.process;

/** A word of a command line that a user may copy. */
public final class ShellWord {
    private ShellWord() {}

    /** As a shell takes it for this word: in quotation marks if it must be. */
    public static String of(String word) {
        return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
