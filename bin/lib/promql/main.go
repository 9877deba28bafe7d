// Checks files of rules with Prometheus's own parser, and prints the metrics their expressions select, one per line.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	promql := parser.NewParser(parser.Options{})
	failed := false
	for _, file := range os.Args[1:] {
		rules, errs := rulefmt.ParseFile(file, false, model.LegacyValidation, promql, slog.Default())
		for _, err := range errs {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
		if rules == nil {
			continue
		}
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				printMetrics(promql, rule.Expr)
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

func printMetrics(promql parser.Parser, text string) {
	expression, err := promql.ParseExpr(text)
	if err != nil {
		return // it is among the errors
	}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, isSelector := node.(*parser.VectorSelector); isSelector {
			fmt.Println(selector.Name)
		}
		return nil
	})
}
