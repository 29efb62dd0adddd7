/** Completion of policies: paths and capabilities that fit at the caret. */

const CAPABILITIES = ['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo', 'deny'];
const MAX_ITEMS = 8;
const RULE = 'path "" {\n  capabilities = []\n}';

export interface Completions {
  /** The part of the text that a chosen item replaces. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly string[];
}

const NONE: Completions = { from: 0, to: 0, items: [] };

/** Paths of an OpenAPI document as policies write them: "/pki/issue/{role}" is "pki/issue/+". */
export const policyPaths = (documentPaths: readonly string[]): readonly string[] =>
  [
    ...new Set(documentPaths.map((path) => path.replace(/^\//, '').replaceAll(/\{[^{}]*\}/g, '+'))),
  ].toSorted();

/** @param paths as `policyPaths` returns them */
export const completionsAt = (
  text: string,
  caret: number,
  paths: readonly string[],
): Completions => {
  const before = text.slice(0, caret);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.slice(lineStart);
  if (/^\s*(?:#|\/\/)/.test(line)) return NONE;
  const quote = line.lastIndexOf('"');
  const isInString = (line.match(/"/g) ?? []).length % 2 === 1;
  if (!isInString) {
    const word = line.trimStart();
    return word !== '' && 'path'.startsWith(word)
      ? { from: caret - word.length, to: caret, items: [RULE] }
      : NONE;
  }
  const from = lineStart + quote + 1;
  const word = before.slice(from);
  const head = before.slice(0, from - 1);
  const list = /\bcapabilities\s*=\s*\[([^\]]*)$/.exec(head);
  const candidates = list
    ? CAPABILITIES.filter((one) => !(list[1] ?? '').includes(`"${one}"`))
    : /\bpath\s+$/.test(head)
      ? paths
      : [];
  const items = candidates.filter((one) => one.startsWith(word) && one !== word);
  return { from, to: caret, items: items.slice(0, MAX_ITEMS) };
};
