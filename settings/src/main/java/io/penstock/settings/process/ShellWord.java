package io.penstock.settings.process;

/** A word in a command line for users to copy. */
public final class ShellWord {
    private ShellWord() {}

    /** The word as a shell needs it: quoted if necessary. */
    public static String of(String word) {
        return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
