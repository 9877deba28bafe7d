package io.penstock.cli.process;

import picocli.CommandLine.IVersionProvider;

/** Which Penstock this is. */
public final class Version implements IVersionProvider {
    /** From the jar's manifest; classes that are not in a jar are a build of a developer's. */
    public static final String NUMBER = number();

    @Override
    public String[] getVersion() {
        return new String[] {
            "penstock " + NUMBER,
            "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
            System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch")
        };
    }

    private static String number() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
