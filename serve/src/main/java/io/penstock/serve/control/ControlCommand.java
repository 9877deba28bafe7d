package io.penstock.serve.control;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.settings.process.RefusedException;

/**
 * A command that a serving process carries out for others. Called by any number of threads of the {@link ControlServer};
 * it responds within some seconds, also if the store or the disk hangs, and leaves longer work to threads of its own.
 */
@FunctionalInterface
public interface ControlCommand {
    /**
     * @param arguments the request's; a missing node if it has none
     * @return a value that Jackson can write
     * @throws RefusedException if the arguments are wrong, or it cannot be done; the message tells the user why
     */
    Object run(JsonNode arguments) throws RefusedException;
}
