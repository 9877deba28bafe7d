package io.penstock.settings.process;

/** The version of Penstock. */
public final class Version {
    /** From the jar's manifest; classes outside a jar are a developer's build. */
    public static final String NUMBER = number();

    private Version() {}

    /** Such as {@code 1.2.0}; {@code development} if not packaged. */
    public static String number() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
