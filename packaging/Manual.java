import io.penstock.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/** Writes the manual pages, as AsciiDoc, and the completion for Bash: {@code Manual.java DIRECTORY}. */
final class Manual {
    private Manual() {}

    public static void main(String[] args) throws IOException {
        Path pages = Files.createDirectories(Path.of(args[0], "adoc"));
        CommandLine penstock = Main.commandLine();
        ManPageGenerator.generateManPage(pages.toFile(), null, new boolean[0], false, penstock.getCommandSpec());
        Files.writeString(Path.of(args[0], "completion"), AutoComplete.bash("penstock", penstock));
    }
}
