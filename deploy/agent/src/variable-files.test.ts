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

test('quotes what would be a template, an escape or the end of the text', () => {
  expect(quoted('a "b" \\ ${c} %{d}\n')).toBe('"a \\"b\\" \\\\ $${c} %%{d}\\n"');
});

test('writes values as texts, and as they are where they are expressions', () => {
  expect(toVariableFiles([variable('a', '[1]'), variable('b', '[1]', { hcl: true })])).toEqual([
    'a = "[1]"\nb = [1]\n',
  ]);
});

test('puts a second value of a name into a later file, which wins', () => {
  const given = [
    variable('a', 'workspace'),
    variable('b', 'x'),
    variable('a', '"run"', { hcl: true }),
  ];
  expect(toVariableFiles(given)).toEqual(['a = "workspace"\nb = "x"\n', 'a = "run"\n']);
});

test('leaves out what no configuration can declare', () => {
  expect(toVariableFiles([variable('1abc', 'x'), variable('a-b_1', 'y')])).toEqual([
    'a-b_1 = "y"\n',
  ]);
});

test('keeps what belongs to the environment apart', () => {
  const given = [variable('TOKEN', 'secret', { category: 'env' }), variable('a', '1')];
  expect(toEnvironment(given)).toEqual({ TOKEN: 'secret' });
  expect(toVariableFiles(given)).toEqual(['a = "1"\n']);
});
