package io.penstock.cli.doctor;

import java.util.Map;
import java.util.Set;

/**
 * Which rights the credentials have.
 *
 * @param granted those that were tried with success
 * @param denied those that the store refused, with its words
 * @param failed those that were tried and neither granted nor denied, with the reason
 */
record RightsFacts(Set<Right> granted, Map<Right, String> denied, Map<Right, String> failed) {}
