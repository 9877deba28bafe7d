package io.penstock.tools.doctor;

import io.penstock.serve.mount.Target;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The missing rights, and what each is needed for. */
record RightsCheck(Target target, boolean readOnly) implements Check<RightsCheck.Facts> {
    /**
     * The rights of the credentials.
     *
     * @param granted those that were tried successfully
     * @param denied those that the store refused, with its message
     * @param failed those that were tried but neither granted nor denied, with the reason
     */
    record Facts(Set<Right> granted, Map<Right, String> denied, Map<Right, String> failed) {}

    @Override
    public void examine(Facts rights, Findings findings) {
        rights.denied().forEach((right, said) -> {
            String found = right.action() + " is not allowed: " + said;
            String remedy =
                    "Allow it: " + right.statement(target) + (right.writes() ? "; or mount with read-only" : "");
            if (right == Right.ABORT || right == Right.LIST_PARTS) {
                findings.warning(found, right.without(), remedy);
            } else {
                findings.error(found, right.without(), remedy);
            }
        });
        rights.failed()
                .forEach((right, said) -> findings.warning(
                        right.action() + " could not be tried: " + said,
                        right.without() + " if it is not allowed",
                        ""));
        if (!rights.granted().isEmpty()) {
            findings.ok("allowed: " + names(rights.granted()));
        }
        Set<Right> untried = EnumSet.allOf(Right.class);
        untried.removeAll(rights.granted());
        untried.removeAll(rights.denied().keySet());
        untried.removeAll(rights.failed().keySet());
        untried.removeIf(right -> right.writes() && readOnly);
        if (!untried.isEmpty()) {
            boolean areWrites = untried.stream().allMatch(Right::writes);
            findings.note("not tried: " + names(untried)
                    + (areWrites
                            ? "; --write tries them with a temporary object"
                            : ", because there is no object to read"));
        }
    }

    private static String names(Set<Right> rights) {
        return rights.stream().sorted().map(Right::action).collect(Collectors.joining(", "));
    }
}
