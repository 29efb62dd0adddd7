/** Paths of files of a repository, as workspaces name those that they watch. */
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';

/** A pattern from the repository's root, without the slash or `./` that it may begin with. */
export const fromRoot = (path: string): string => path.replace(/^(?:\.?\/)+/, '');

/** A folder from the repository's root, without slashes around it; empty for the root. */
export const withoutOuterSlashes = (path: string): string =>
  fromRoot(path).replace(/(?<!\/)\/+$/, '');

/** The path of a file has none of these parts. */
const isImpossible = (path: string): boolean =>
  path.split('/').some((part) => ['', '.', '..'].includes(part));

/** Patterns and prefixes that can match no file; an empty prefix is the root. */
export const checkTriggerPaths = (
  kind: 'patterns' | 'prefixes',
  given: readonly string[] | null | undefined,
): readonly Violation[] =>
  (given ?? []).flatMap((text, at) => {
    const path = kind === 'patterns' ? fromRoot(text) : withoutOuterSlashes(text);
    if ((kind === 'prefixes' && path === '') || !isImpossible(path)) return [];
    const rule =
      kind === 'patterns'
        ? 'a pattern is not empty, does not end with /, and has no parts that are empty, . or ..'
        : 'a prefix has no parts that are empty, . or ..';
    return [attributeViolation(`trigger-${kind}/${at}`, `matches no file: ${rule}`)];
  });
