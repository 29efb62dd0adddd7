import { expect, test } from 'vitest';
import type { PhaseVariable } from './control-plane.ts';
import { quoted, toEnvironment, toVariableFiles } from './variable-files.ts';

const variable = (
  key: string,
  value: string,
  extra: Partial<PhaseVariable> = {},
): PhaseVariable => ({
  key,
  value,
  category: 'terraform',
  hcl: false,
  sensitive: false,
  ...extra,
});

test('quotes templates, escapes and quotation marks', () => {
  expect(quoted('a "b" \\ ${c} %{d}\n')).toBe('"a \\"b\\" \\\\ $${c} %%{d}\\n"');
});

test('writes values as texts, or unchanged if they are expressions', () => {
  expect(toVariableFiles([variable('a', '[1]'), variable('b', '[1]', { hcl: true })])).toEqual([
    'a = "[1]"\nb = [1]\n',
  ]);
});

test('writes a second value of a name to a later file, which overrides the first', () => {
  const given = [
    variable('a', 'workspace'),
    variable('b', 'x'),
    variable('a', '"run"', { hcl: true }),
  ];
  expect(toVariableFiles(given)).toEqual(['a = "workspace"\nb = "x"\n', 'a = "run"\n']);
});

test('leaves out names that no configuration can declare', () => {
  expect(toVariableFiles([variable('1abc', 'x'), variable('a-b_1', 'y')])).toEqual([
    'a-b_1 = "y"\n',
  ]);
});

test('separates environment variables', () => {
  const given = [variable('TOKEN', 'secret', { category: 'env' }), variable('a', '1')];
  expect(toEnvironment(given)).toEqual({ TOKEN: 'secret' });
  expect(toVariableFiles(given)).toEqual(['a = "1"\n']);
});
