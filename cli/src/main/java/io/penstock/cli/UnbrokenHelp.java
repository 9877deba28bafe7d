package io.penstock.cli;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Help whose lines end between words. picocli ends them after a dot or a colon too, within paths and addresses. */
final class UnbrokenHelp extends Help {
    /** Java ends no line at it: java.text.BreakIterator. */
    private static final String JOINER = "\ufeff";

    UnbrokenHelp(CommandSpec command, ColorScheme colors) {
        super(command, colors);
    }

    @Override
    public String description(Object... parameters) {
        UsageMessageSpec usage = commandSpec().usageMessage();
        boolean isCjk = usage.adjustLineBreaksForWideCJKCharacters();
        String[] lines =
                Arrays.stream(usage.description()).map(UnbrokenHelp::joined).toArray(String[]::new);
        return without(join(ansi(), usage.width(), isCjk, lines, new StringBuilder(), parameters));
    }

    @Override
    public IOptionRenderer createDefaultOptionRenderer() {
        IOptionRenderer usual = super.createDefaultOptionRenderer();
        return (option, label, colors) -> joined(usual.render(option, label, colors));
    }

    @Override
    public IParameterRenderer createDefaultParameterRenderer() {
        IParameterRenderer usual = super.createDefaultParameterRenderer();
        return (parameter, label, colors) -> joined(usual.render(parameter, label, colors));
    }

    @Override
    public String optionList(Layout layout, Comparator<OptionSpec> order, IParamLabelRenderer labels) {
        return without(super.optionList(layout, order, labels));
    }

    @Override
    public String parameterList(List<PositionalParamSpec> parameters, Layout layout, IParamLabelRenderer labels) {
        return without(super.parameterList(parameters, layout, labels));
    }

    /** Descriptions are in the last column. */
    private Text[][] joined(Text[][] rows) {
        for (Text[] row : rows) {
            int last = row.length - 1;
            row[last] = ansi().text(joined(row[last].plainString()));
        }
        return rows;
    }

    private static String joined(String line) {
        return line.replaceAll("(?<=[.:,?])(?=\\S)|(?<=\\S)(?=[\\[({])", JOINER);
    }

    private static String without(CharSequence text) {
        return text.toString().replace(JOINER, "");
    }
}
