/**
 * Regular expressions take time that grows with the length of the text, and no faster: texts come from
 * outside, and a backtracking engine can be kept busy for hours by one of a megabyte.
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

/** Why an expression takes more than linear time; undefined when nothing of the kind is known. */
export const superLinearity = (pattern: string, flags: string): string | undefined => {
  const [report] = analyse({ source: pattern, flags }).reports;
  if (report === undefined) return undefined;
  const growth = report.exponential ? 'exponential' : 'polynomial';
  return `${growth} time: ${explain(report, pattern)}, such as ${JSON.stringify(report.character.pick)} many times`;
};

interface Node {
  readonly type: string;
}
interface LiteralNode extends Node {
  readonly regex?: { readonly pattern: string; readonly flags: string };
}
interface CallNode extends Node {
  readonly callee: Node & { readonly name?: string };
}
interface RuleContext {
  report(complaint: { readonly node: Node; readonly message: string }): void;
}

/** The rule: judges literals, and wants those that are put together at run time to be looked at. */
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
