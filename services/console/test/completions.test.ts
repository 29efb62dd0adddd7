import { expect, test } from 'vitest';
import { completionsAt, policyPaths } from '../src/browser/policies/completions.ts';

const PATHS = policyPaths(['/pki/issue/{role}', '/pki/roles', '/sys/mounts/{path}', '/pki/roles']);

/** The items at the caret, which `|` marks. */
const itemsAt = (marked: string): readonly string[] => {
  const caret = marked.indexOf('|');
  return completionsAt(marked.replace('|', ''), caret, PATHS).items;
};

test('paths of a document become paths of policies, each once', () => {
  expect(PATHS).toEqual(['pki/issue/+', 'pki/roles', 'sys/mounts/+']);
});

test.for<[string, readonly string[]]>([
  ['path "|"', ['pki/issue/+', 'pki/roles', 'sys/mounts/+']],
  ['path "pki/r|"', ['pki/roles']],
  ['path "pki/roles|"', []],
  ['path "a" { capabilities = ["re|"] }', ['read']],
  ['path "a" {\n  capabilities = ["read", "d|', ['delete', 'deny']],
  ['path "a" { capabilities = ["read", "r|"] }', []],
  ['path "a" { capabilities = ["read"] required_parameters = ["|"] }', []],
  ['# path "pki/|', []],
  ['// path "pki/|', []],
  ['  pa|', ['path "" {\n  capabilities = []\n}']],
  ['path "a"|', []],
  ['|', []],
])('at %s: %j', ([marked, items]) => {
  expect(itemsAt(marked)).toEqual(items);
});

test('a chosen item replaces the part before the caret', () => {
  const text = 'path "pki/r" {}';
  expect(completionsAt(text, 'path "pki/r'.length, PATHS)).toMatchObject({ from: 6, to: 11 });
});
