/**
 * Files of a repository that workspaces watch. Patterns are globs from the repository's root: `*` matches
 * any characters but slashes, `**` for any number of folders, `?` for one character.
 */
import { compileExpression } from '../../../workspaces/model/domain/linear-expression.ts';
import { fromRoot, withoutOuterSlashes } from '../../../workspaces/model/domain/trigger-paths.ts';

const GLOB_PARTS = /\*\*\/|\*\*|\*|\?|[^*?]+/g;

const toExpression = (part: string): string => {
  switch (part) {
    case '**/':
      return '(?:[^/]*/)*';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    default:
      return part.replaceAll(/[\\^$.|+()[\]{}]/g, String.raw`\$&`);
  }
};

/** Whether one of the paths matches one of the patterns. */
export const matchesPatterns = (paths: readonly string[], patterns: readonly string[]): boolean => {
  const expressions = patterns.map((pattern) => {
    const parts = fromRoot(pattern).match(GLOB_PARTS) ?? [];
    return compileExpression(`^(?s:${parts.map(toExpression).join('')})$`);
  });
  return paths.some((path) => expressions.some((expression) => expression?.matches(path)));
};

/** Whether one of the paths is in one of the folders, or is one of them. */
export const isBelow = (paths: readonly string[], folders: readonly string[]): boolean => {
  const prefixes = folders.map(withoutOuterSlashes);
  return paths.some((path) =>
    prefixes.some((prefix) => prefix === '' || path === prefix || path.startsWith(`${prefix}/`)),
  );
};
