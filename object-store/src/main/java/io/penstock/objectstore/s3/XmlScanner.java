package io.penstock.objectstore.s3;

import com.fasterxml.aalto.stax.InputFactoryImpl;
import io.penstock.objectstore.Deadline;
import javax.xml.stream.Location;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import org.codehaus.stax2.XMLInputFactory2;
import org.codehaus.stax2.XMLStreamReader2;
import org.codehaus.stax2.io.Stax2ByteArraySource;

/**
 * Traverses one XML document in memory, element by element, with Aalto's parser. It refuses what no S3 response
 * contains and what could take unlimited time or memory: document types, processing instructions, deep nesting and many
 * attributes. Confined to one thread.
 */
final class XmlScanner {
    /** A response of S3 has four levels. */
    private static final int MOST_LEVELS = 64;

    /** Attributes and declared prefixes of one element: a response of S3 has two. */
    private static final int MOST_ATTRIBUTES = 16;

    /**
     * Bytes from one {@code <} to the next, which limits the length of a tag: for each prefix that a tag declares, the
     * parser searches all earlier ones. A key of 1,024 bytes, all encoded, takes 3 KiB.
     */
    private static final int LONGEST_STRETCH = 8 << 10;

    /** Elements after which it checks whether the page is still wanted; a power of two. */
    private static final int LOOK_UP = 4096;

    private static final XMLInputFactory2 FACTORY = factory();

    private final int length;
    private final XMLStreamReader2 xml;
    private final long began = System.nanoTime();
    private int elements;

    XmlScanner(byte[] document) throws UnreadableListingException {
        length = document.length;
        checkStretches(document);
        try {
            xml = (XMLStreamReader2) FACTORY.createXMLStreamReader(new Stax2ByteArraySource(document, 0, length));
        } catch (XMLStreamException e) {
            throw unreadable(e);
        }
    }

    private static void checkStretches(byte[] document) throws UnreadableListingException {
        int last = 0;
        for (int i = 0; i < document.length; i++) {
            if (i - last > LONGEST_STRETCH) {
                throw new UnreadableListingException(
                        "a tag or text of more than " + LONGEST_STRETCH + " bytes at byte " + last);
            }
            if (document[i] == '<') {
                last = i;
            }
        }
    }

    private static XMLInputFactory2 factory() {
        XMLInputFactory2 factory = new InputFactoryImpl();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        factory.setProperty(XMLInputFactory2.P_LAZY_PARSING, false); // its errors would be unchecked, thrown by getText
        return factory;
    }

    /** Opens the root element. */
    String openRoot() throws UnreadableListingException {
        while (next() != XMLStreamConstants.START_ELEMENT) {
            // a comment
        }
        return xml.getLocalName();
    }

    /** Checks that nothing follows the closed root element. */
    void finish() throws UnreadableListingException {
        while (next() != XMLStreamConstants.END_DOCUMENT) {
            // a comment
        }
    }

    /**
     * Opens the next child of the open element, and skips texts and comments before it.
     *
     * @return false if there is none: the element is then closed and its parent open again
     */
    boolean nextChild() throws UnreadableListingException {
        while (true) {
            switch (next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    return true;
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    return false;
                }
                default -> {}
            }
        }
    }

    /** The name of the element opened last, without its prefix. */
    String name() {
        return xml.getLocalName();
    }

    /** Closes the open element, whatever it contains. */
    void skip() throws UnreadableListingException {
        int levels = 1;
        while (levels > 0) {
            levels += nextChild() ? 1 : -1;
        }
    }

    /** Closes the open element, which contains only text, and returns the text. */
    String closeText() throws UnreadableListingException {
        String text = "";
        while (true) {
            switch (next()) {
                case XMLStreamConstants.START_ELEMENT -> throw failure("an element where text belongs");
                case XMLStreamConstants.END_ELEMENT -> {
                    return text;
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE ->
                    text = text.isEmpty() ? xml.getText() : text + xml.getText();
                default -> {}
            }
        }
    }

    UnreadableListingException failure(String what) {
        return new UnreadableListingException(
                what + " at byte " + xml.getLocationInfo().getStartingByteOffset());
    }

    private UnreadableListingException unreadable(XMLStreamException e) {
        Location location = e.getLocation();
        int at = location == null ? 0 : location.getCharacterOffset(); // the parser counts bytes
        return new UnreadableListingException(
                at < length ? "malformed XML at byte " + at : "it ends early, after " + length + " bytes");
    }

    private int next() throws UnreadableListingException {
        int event;
        try {
            event = xml.next();
        } catch (XMLStreamException e) {
            throw unreadable(e);
        }
        switch (event) {
            case XMLStreamConstants.START_ELEMENT -> checkElement();
            case XMLStreamConstants.DTD,
                    XMLStreamConstants.ENTITY_REFERENCE,
                    XMLStreamConstants.PROCESSING_INSTRUCTION -> throw failure("neither an element nor text");
            default -> {}
        }
        return event;
    }

    private void checkElement() throws UnreadableListingException {
        if (xml.getDepth() > MOST_LEVELS) {
            throw failure("more than " + MOST_LEVELS + " levels");
        }
        if (xml.getAttributeCount() + xml.getNamespaceCount() > MOST_ATTRIBUTES) {
            throw failure("more than " + MOST_ATTRIBUTES + " attributes");
        }
        if (++elements % LOOK_UP == 0) {
            checkWanted();
        }
    }

    private void checkWanted() throws UnreadableListingException {
        Deadline deadline = Deadline.current();
        boolean isLate = deadline != null && deadline.endsSilence(System.nanoTime() - began);
        if (isLate || Thread.currentThread().isInterrupted()) {
            throw failure("abandoned by its reader");
        }
    }
}
