package io.penstock.benchmarks;

import java.util.List;

/** How the nodes of a group authenticate each other. */
@FunctionalInterface
interface NodeTrust {
    /** Every machine that reaches a node is trusted. */
    NodeTrust INSECURE = _ -> List.of("--share-insecure");

    /** Options of {@code penstock mount} for the node of this name. */
    List<String> options(String node) throws Exception;
}
