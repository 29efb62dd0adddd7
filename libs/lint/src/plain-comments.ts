/** Comments are written in plain English (CONTRIBUTING, Documents). The rule finds phrases that never are. */

const OPENINGS = /^(?:Of|Those (?:that|which|who|whose)|What|Whom|Whose) /;
const PHRASES =
  /\b(?:anew|asked of|besides?|lets? in|lest|of before|that (?:are|is) none|tells? of|told|whom)\b|\bso it is[.,;:]/i;
/** A value and its meaning, as in a list of codes: sentences say "undefined means no limit". */
const CODES = /(?:^|[.;,(] |@(?:param \w+|returns) )(?:absent|null|undefined): (?=[a-z])/i;

/** The phrase that makes a comment hard to read; undefined if none is known. */
export const oddPhrase = (comment: string): string | undefined => {
  const lines = comment.split('\n').map((line) => line.replace(/^[\s*]+/, '').trimEnd());
  const text = lines.join(' ').trim();
  return (OPENINGS.exec(text) ?? PHRASES.exec(text) ?? CODES.exec(text))?.[0].trim();
};

export interface Comment {
  readonly value: string;
}

export interface CommentContext {
  readonly sourceCode: { getAllComments(): readonly Comment[] };
  report(complaint: { readonly node: Comment; readonly message: string }): void;
}

export const plainComments = {
  create: (context: CommentContext) => ({
    Program: (): void => {
      for (const node of context.sourceCode.getAllComments()) {
        const phrase = oddPhrase(node.value);
        if (phrase === undefined) continue;
        context.report({
          node,
          message: `write a full sentence or a noun phrase without "${phrase}"`,
        });
      }
    },
  }),
};
