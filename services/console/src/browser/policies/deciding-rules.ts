/**
 * Finds the policy rules that apply to a path, the deciding one first. An estimate; the server
 * decides.
 */

export interface Rule {
  readonly policy: string;
  readonly path: string;
  readonly capabilities: readonly string[];
}

const RULE = /\bpath\s+"([^"]*)"\s*\{([^}]*)\}/g;
const CAPABILITIES = /\bcapabilities\s*=\s*\[([^\]]*)\]/;

/** The rules of a policy in the usual notation; comments are left out. */
export const rulesIn = (policy: string, text: string): readonly Rule[] =>
  [...text.replaceAll(/^[ \t]*(?:#|\/\/).*$/gm, '').matchAll(RULE)].map(
    ([, path = '', body = '']) => ({
      policy,
      path: path.replace(/^\//, ''),
      capabilities: (CAPABILITIES.exec(body)?.[1] ?? '')
        .split(',')
        .map((word) => word.trim().replaceAll('"', ''))
        .filter((word) => word !== ''),
    }),
  );

/** Whether the pattern of a rule matches a path: "+" matches one segment, a final "*" anything. */
const covers = (pattern: string, path: string): boolean => {
  const isPrefix = pattern.endsWith('*');
  const parts = (isPrefix ? pattern.slice(0, -1) : pattern).split('/');
  const asked = path.split('/');
  if (isPrefix ? asked.length < parts.length : asked.length !== parts.length) return false;
  return parts.every((part, at) => {
    const segment = asked[at] ?? '';
    if (part === '+') return true;
    return isPrefix && at === parts.length - 1 ? segment.startsWith(part) : segment === part;
  });
};

/**
 * Priority of a pattern: it grows with the length before the first wildcard; an exact path has the
 * highest.
 */
const strength = (pattern: string): number => {
  const at = pattern.search(/[+*]/);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
};

/** @returns the rules that match the path, highest priority first */
export const decidingRules = (rules: readonly Rule[], path: string): readonly Rule[] =>
  rules
    .filter((rule) => covers(rule.path, path.replace(/^\//, '')))
    .toSorted((a, b) => strength(b.path) - strength(a.path) || b.path.length - a.path.length);
