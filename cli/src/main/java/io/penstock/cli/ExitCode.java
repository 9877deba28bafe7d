package io.penstock.cli;

/** What a command's exit code means; the same for all commands, and told in {@code penstock --help}. */
final class ExitCode {
    static final int DONE = 0;

    /** It could not be done; the reason was printed. */
    static final int FAILED = 1;

    /** The command line or the configuration is wrong; nothing was tried. */
    static final int USAGE = 2;

    /** What mount(8) expects of a helper instead of {@link #FAILED}: mount(8), "exit status". */
    static final int MOUNT_FAILURE = 32;

    private ExitCode() {}
}
