package io.penstock.embeddeds3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** A page of a listing as a client reads it, with an independent XML parser. */
final class ReceivedPage {
    private final Document document;

    private ReceivedPage(Document document) {
        this.document = document;
    }

    static ReceivedPage parse(byte[] document) throws Exception {
        ReceivedPage page = new ReceivedPage(
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(document)));
        assertThat(page.texts("KeyCount"))
                .containsExactly(Integer.toString(page.items().size()));
        assertThat(page.texts("IsTruncated")).containsExactly(Boolean.toString(page.nextToken() != null));
        return page;
    }

    /** Keys and common prefixes, in order. */
    List<String> items() {
        List<String> items = new ArrayList<>(texts("Key"));
        items.addAll(commonPrefixes());
        items.sort(null);
        return items;
    }

    List<String> commonPrefixes() {
        List<String> prefixes = new ArrayList<>();
        NodeList elements = document.getElementsByTagName("CommonPrefixes");
        for (int i = 0; i < elements.getLength(); i++) {
            prefixes.add(elements.item(i).getTextContent());
        }
        return prefixes;
    }

    /** Null on the last page. */
    @Nullable
    String nextToken() {
        return texts("NextContinuationToken").stream().findFirst().orElse(null);
    }

    /** The texts of all elements of this name. */
    List<String> texts(String element) {
        List<String> texts = new ArrayList<>();
        NodeList elements = document.getElementsByTagName(element);
        for (int i = 0; i < elements.getLength(); i++) {
            texts.add(elements.item(i).getTextContent());
        }
        return texts;
    }
}
