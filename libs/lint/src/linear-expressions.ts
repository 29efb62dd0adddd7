/**
 * A regular expression must take time linear in the length of the text. Texts come from clients, and a
 * megabyte could keep a backtracking engine busy for hours.
 */
import { analyse, type Report } from 'scslre';

const excerptOf = (pattern: string, { start, end }: { start: number; end: number }): string =>
  `\`${pattern.slice(start, end)}\``;

const explain = (report: Report, pattern: string): string => {
  switch (report.type) {
    case 'Trade': {
      const start = excerptOf(pattern, report.startQuant);
      return `${start} and ${excerptOf(pattern, report.endQuant)} can share a text in many ways`;
    }
    case 'Self':
      return `${excerptOf(pattern, report.quant)} can split a text in many ways`;
    case 'Move':
      return `${excerptOf(pattern, report.quant)} is tried again from each of its characters`;
  }
};

/** Why an expression takes more than linear time; undefined when no reason is known. */
export const superLinearity = (pattern: string, flags: string): string | undefined => {
  const [report] = analyse({ source: pattern, flags }).reports;
  if (report === undefined) return undefined;
  const growth = report.exponential ? 'exponential' : 'polynomial';
  return `${growth} time: ${explain(report, pattern)}, such as ${JSON.stringify(report.character.pick)} many times`;
};

interface Node {
  readonly type: string;
}
export interface LiteralNode extends Node {
  readonly regex?: { readonly pattern: string; readonly flags: string };
}
export interface CallNode extends Node {
  readonly callee: Node & { readonly name?: string };
}
export interface RuleContext {
  report(complaint: { readonly node: Node; readonly message: string }): void;
}

/** The rule checks literals, and requires a review of expressions that are composed at run time. */
export const linearExpressions = {
  create: (context: RuleContext) => {
    const refuseAssembled = (node: CallNode): void => {
      if (node.callee.name === 'RegExp')
        context.report({ node, message: 'write a literal, whose time can be judged' });
    };
    return {
      Literal: (node: LiteralNode): void => {
        if (node.regex === undefined) return;
        const message = superLinearity(node.regex.pattern, node.regex.flags);
        if (message !== undefined) context.report({ node, message });
      },
      NewExpression: refuseAssembled,
      CallExpression: refuseAssembled,
    };
  },
};
