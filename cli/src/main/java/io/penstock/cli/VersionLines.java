package io.penstock.cli;

import io.penstock.settings.process.Version;
import picocli.CommandLine.IVersionProvider;

/** The output of --version: Penstock, Java and the system. */
final class VersionLines implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "penstock " + Version.NUMBER,
            "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
            System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch")
        };
    }
}
