package io.penstock.cli.process;

import picocli.CommandLine.IVersionProvider;

/** The version of Penstock. */
public final class Version implements IVersionProvider {
    /** From the jar's manifest; classes outside a jar are a developer's build. */
    public static final String NUMBER = number();

    @Override
    public String[] getVersion() {
        return new String[] {
            "penstock " + NUMBER,
            "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
            System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch")
        };
    }

    /** Such as {@code 1.2.0}; {@code development} if it was not packaged. */
    public static String number() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
