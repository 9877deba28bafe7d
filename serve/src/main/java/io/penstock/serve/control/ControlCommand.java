package io.penstock.serve.control;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.settings.process.RefusedException;

/**
 * A command that a serving process carries out for others. Called by many threads of the {@link ControlServer} at the
 * same time. Responds within seconds, even if the store or the disk hangs, and leaves longer work to other threads.
 */
@FunctionalInterface
public interface ControlCommand {
    /**
     * @param arguments the request's arguments; a missing node if it has none
     * @return a value that Jackson can write
     * @throws RefusedException if the arguments are wrong, or it cannot be done; the message tells the user why
     */
    Object run(JsonNode arguments) throws RefusedException;
}
