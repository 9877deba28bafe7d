package io.penstock.csi;

import io.grpc.Status;
import java.util.List;
import java.util.regex.Pattern;

/** The code for what penstock mount says. Its messages are for people, but no other channel leads out of it. */
final class Failures {
    private record Kind(Pattern said, Status.Code code) {
        Kind(String said, Status.Code code) {
            this(Pattern.compile(said), code);
        }
    }

    private static final List<Kind> KINDS = List.of(
            new Kind("there is no bucket", Status.Code.NOT_FOUND),
            new Kind("is denied|no credentials|credentials have expired|clock is wrong", Status.Code.UNAUTHENTICATED),
            new Kind("(?i)no space left|is full|quota is used up", Status.Code.RESOURCE_EXHAUSTED),
            new Kind(
                    "does not accept connections|does not respond|is unknown; check|no secure connection"
                            + "|cannot be reached|responded with status 5",
                    Status.Code.UNAVAILABLE));

    private Failures() {}

    static Status.Code code(String message) {
        return KINDS.stream()
                .filter(kind -> kind.said.matcher(message).find())
                .map(Kind::code)
                .findFirst()
                .orElse(Status.Code.FAILED_PRECONDITION);
    }
}
