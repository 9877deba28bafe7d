package io.penstock.objectstore;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The namespace prefixes declared in the open element (Namespaces in XML 1.0), and the check that the attributes of a
 * tag may stand together. Confined to one thread.
 */
final class XmlPrefixes {
    private static final String DECLARATION = "xmlns";

    /** Of declared prefixes, and of attributes of a tag: a response of S3 has two. What is scanned for each tag stays small. */
    private static final int MOST = 16;

    /** In the order of their levels. */
    private final List<Declared> declared = new ArrayList<>();

    /** The names of the tag's attributes, without prefixes except in declarations. */
    private final Set<String> names = new HashSet<>();

    private final List<String> declares = new ArrayList<>();
    private final List<String> uses = new ArrayList<>();

    /** @param level of the element that declares the prefix */
    private record Declared(String prefix, int level) {}

    void beginTag() {
        names.clear();
        declares.clear();
        uses.clear();
    }

    /** Adds an attribute of the tag; false if the tag may not have it. */
    boolean add(String name, boolean isEmpty) {
        int colon = name.indexOf(':');
        if (names.size() == MOST) {
            return false;
        } else if (colon < 0) {
            return names.add(name);
        }
        String prefix = name.substring(0, colon);
        String local = name.substring(colon + 1);
        if (prefix.equals(DECLARATION)) {
            declares.add(local);
            return names.add(name) && !isEmpty && !local.equals(DECLARATION) && !local.equals("xml");
        }
        uses.add(prefix);
        return names.add(local); // stricter than the rule: two prefixes may stand for the same namespace
    }

    /** Ends the tag; false if an attribute's prefix is not declared, or too many are. */
    boolean endTag(int level) {
        declares.forEach(prefix -> declared.add(new Declared(prefix, level)));
        return declared.size() <= MOST && uses.stream().allMatch(this::isDeclared);
    }

    boolean isDeclared(String prefix) {
        return prefix.equals("xml")
                || declared.stream().anyMatch(d -> d.prefix().equals(prefix));
    }

    /** Forgets the prefixes of the closed element of this level. */
    void forget(int level) {
        while (!declared.isEmpty() && declared.getLast().level() >= level) {
            declared.removeLast();
        }
    }
}
