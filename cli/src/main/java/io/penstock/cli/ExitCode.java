package io.penstock.cli;

/** The exit codes of all commands, which {@code penstock --help} lists. */
final class ExitCode {
    static final int DONE = 0;

    /** The command failed; the reason was printed. */
    static final int FAILED = 1;

    /** The command line or the configuration is wrong; nothing was tried. */
    static final int USAGE = 2;

    /** The exit code that mount(8) expects of a helper instead of {@link #FAILED}: mount(8), "exit status". */
    static final int MOUNT_FAILURE = 32;

    /** {@code penstock doctor} found nothing worse than warnings. */
    static final int WARNINGS = 1;

    /** {@code penstock doctor} found errors. */
    static final int ERRORS = 2;

    /** {@code penstock recover} lists waiting files, or {@code penstock umount} leaves some for it. */
    static final int FILES_WAIT = 3;

    private ExitCode() {}
}
