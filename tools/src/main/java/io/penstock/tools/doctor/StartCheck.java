package io.penstock.tools.doctor;

/** Examines the cache that makes mounts start fast. */
final class StartCheck implements Check<Machine.Facts> {
    @Override
    public void examine(Machine.Facts machine, Findings findings) {
        String why = "Mounts start more slowly, and the first GiB after a mount is slower";
        switch (machine.aotCache()) {
            case USED -> findings.ok("Java's ahead-of-time cache is in use");
            case NOT_YET -> findings.note("Java's ahead-of-time cache does not exist yet; penstock train creates it");
            case NOT_WRITABLE ->
                findings.note(
                        "Java's ahead-of-time cache is missing, and this user cannot create it",
                        why,
                        "Run penstock train as the owner of the installation's folder");
            case FAILED ->
                findings.warning(
                        "Java's ahead-of-time cache could not be created",
                        why,
                        "Remove cli/target/penstock/penstock.aot* in the installation's folder, and run penstock"
                                + " train: it says why");
            case NO_LAUNCHER ->
                findings.note(
                        "this process was not started by bin/penstock",
                        "Limits of the JVM's memory and the ahead-of-time cache are unknown",
                        "Run bin/penstock doctor");
        }
    }
}
