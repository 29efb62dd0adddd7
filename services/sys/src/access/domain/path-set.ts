/** A set of paths of one kind: exact, `x*` for all that begin with x, `+` for one segment. */
import { type PathPattern, parsePathPattern } from '../../policies/domain/path-pattern.ts';

export class PathSet {
  readonly #exact: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  readonly #segments: readonly (PathPattern & { readonly parts: readonly string[] })[];

  constructor(paths: readonly string[]) {
    const patterns = paths.map(parsePathPattern);
    const ofKind = (kind: PathPattern['kind']) => patterns.filter((one) => one.kind === kind);
    this.#exact = new Set(ofKind('exact').map(({ stem }) => stem));
    this.#prefixes = ofKind('prefix').map(({ stem }) => stem);
    this.#segments = ofKind('segments').map((one) => ({ ...one, parts: one.stem.split('/') }));
  }

  has(path: string): boolean {
    if (this.#exact.has(path)) return true;
    if (this.#prefixes.some((prefix) => path.startsWith(prefix))) return true;
    if (this.#segments.length === 0) return false;
    const given = path.split('/');
    return this.#segments.some(({ parts, isPrefix }) => {
      if (isPrefix ? given.length < parts.length : given.length !== parts.length) return false;
      return parts.every((part, index) => {
        const segment = given[index] ?? '';
        const isOpenEnd = isPrefix && index === parts.length - 1;
        return part === '+' || (isOpenEnd ? segment.startsWith(part) : part === segment);
      });
    });
  }
}
