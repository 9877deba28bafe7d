package io.penstock.tools.doctor;

import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.measure.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Whether the server responds, and whether the clocks agree. */
record ServerCheck(Configuration configuration) implements Check<ServerCheck.Facts> {
    /**
     * The server, as any client sees it.
     *
     * @param unreachable why it does not respond; null if it does
     * @param clockOffset its time minus this machine's, in whole seconds; null if unknown
     */
    record Facts(@Nullable String unreachable, @Nullable Duration clockOffset) {}

    /** The time in a response is in whole seconds, and takes a while to arrive. */
    private static final Duration SAME = Duration.ofSeconds(5);

    /** S3 refuses requests whose time differs by more. */
    private static final Duration REFUSED = Duration.ofMinutes(15);

    @Override
    public void examine(Facts server, Findings findings) {
        if (server.unreachable() != null) {
            findings.error(
                    Remedies.fault(server.unreachable()),
                    "A new mount is refused; requests of an existing one fail after s3.retry-deadline",
                    Remedies.of(
                            server.unreachable(),
                            "Check s3.endpoint, s3.region and s3.proxy, and the network and firewall in between"));
            return;
        }
        Duration offset = server.clockOffset();
        if (offset == null) {
            findings.note(where() + " responds without a Date header, so the clocks cannot be compared");
        } else if (offset.abs().compareTo(SAME) <= 0) {
            findings.ok(where() + " responds, and its clock agrees with this machine's");
        } else {
            String found = "this machine's clock is " + Text.time(offset.abs())
                    + (offset.isNegative() ? " ahead of" : " behind") + " the server's";
            String remedy = "Synchronize it: timedatectl set-ntp true, or chronyc makestep";
            findings.warning(
                    found,
                    offset.abs().compareTo(REFUSED) >= 0
                            ? "S3 refuses the first request of each process, which then follows the server's clock;"
                                    + " temporary credentials may count as expired"
                            : "From 15 minutes on, S3 refuses requests",
                    remedy);
        }
    }

    private String where() {
        return configuration.find(Settings.ENDPOINT).map(Object::toString).orElse("S3");
    }
}
