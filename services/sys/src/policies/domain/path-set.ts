/** A set of path patterns: exact, `x*` for every path that begins with x, `+` for one segment. */
import { parsePathPattern } from './path-pattern.ts';

/** A pattern with `+`, split into segments. */
interface Segments {
  readonly parts: readonly string[];
  /** Matches every path that begins with these segments. */
  readonly isPrefix: boolean;
}

const matches = ({ parts, isPrefix }: Segments, given: readonly string[]): boolean => {
  if (isPrefix ? given.length < parts.length : given.length !== parts.length) return false;
  return parts.every((part, index) => {
    const segment = given[index] ?? '';
    const isOpenEnd = isPrefix && index === parts.length - 1;
    return part === '+' || (isOpenEnd ? segment.startsWith(part) : part === segment);
  });
};

const ANY = '+';

export class PathSet {
  readonly #exact = new Set<string>();
  readonly #prefixes: string[] = [];
  /** Patterns with `+`, by first segment: engines have many, of which few begin like a given path. */
  readonly #segments = new Map<string, Segments[]>();

  constructor(paths: readonly string[]) {
    for (const { kind, stem, isPrefix } of paths.map(parsePathPattern)) {
      if (kind === 'exact') this.#exact.add(stem);
      else if (kind === 'prefix') this.#prefixes.push(stem);
      else {
        const parts = stem.split('/');
        const first = parts[0] ?? ANY;
        this.#segments.set(first, [...(this.#segments.get(first) ?? []), { parts, isPrefix }]);
      }
    }
  }

  has(path: string): boolean {
    if (this.#exact.has(path)) return true;
    if (this.#prefixes.some((prefix) => path.startsWith(prefix))) return true;
    if (this.#segments.size === 0) return false;
    const given = path.split('/');
    const begin = (first: string): boolean =>
      this.#segments.get(first)?.some((pattern) => matches(pattern, given)) === true;
    return begin(given[0] ?? '') || begin(ANY);
  }
}
