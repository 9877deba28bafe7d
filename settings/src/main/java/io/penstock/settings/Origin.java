package io.penstock.settings;

import io.penstock.settings.process.Secrets;
import java.nio.file.Path;

/** Where a value comes from; {@code toString} describes it to the user. */
public sealed interface Origin {
    /** A command-line option. */
    record Option(String name) implements Origin {
        @Override
        public String toString() {
            return "option " + name;
        }
    }

    /**
     * A {@code key=value} given to {@code -o}.
     *
     * @param text as written
     * @param where {@code -o}, or the line of fstab
     */
    record MountOption(String text, String where) implements Origin {
        @Override
        public String toString() {
            return where + ": option '" + Secrets.hiddenInInput(text) + "'";
        }
    }

    /** A line of a configuration file; lines count from 1. */
    record Line(Path file, int line, String section) implements Origin {
        @Override
        public String toString() {
            return file + ":" + line + (section.isEmpty() ? "" : " (" + section + ")");
        }
    }

    /** An environment variable that other S3 programs use too. */
    record Variable(String name) implements Origin {
        @Override
        public String toString() {
            return "environment variable " + name;
        }
    }

    /** The profile with this name in AWS's files. */
    record Profile(String name) implements Origin {
        @Override
        public String toString() {
            return "AWS profile " + name;
        }
    }

    /** The default of a setting that was not set. */
    record Default() implements Origin {
        @Override
        public String toString() {
            return "default";
        }
    }
}
