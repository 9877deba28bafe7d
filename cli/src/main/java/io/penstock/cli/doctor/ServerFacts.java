package io.penstock.cli.doctor;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The server, as any client can see it.
 *
 * @param unreachable why it does not respond; null if it does
 * @param clockOffset its time minus this machine's, in whole seconds; null if it does not tell
 */
record ServerFacts(@Nullable String unreachable, @Nullable Duration clockOffset) {}
