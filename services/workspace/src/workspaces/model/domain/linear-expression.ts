/**
 * Regular expressions that callers give. RE2 matches in time linear in the text, whatever the expression; its
 * syntax is that of RE2, without look-around and back-references.
 */
import { RE2JS, RE2JSException } from 're2js';

export interface LinearExpression {
  /** Whether any part of the text matches. */
  matches(text: string): boolean;
}

/** @returns undefined for a text that is not a valid expression */
export const compileExpression = (text: string): LinearExpression | undefined => {
  try {
    const expression = RE2JS.compile(text);
    return { matches: (given) => expression.matcher(given).find() };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
};
