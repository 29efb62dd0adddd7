import { expect, test } from 'vitest';
import { licenceFaults, licenceReport } from './src/licences.ts';

const component = (name: string, id?: string) => ({
  name,
  version: '1.0.0',
  ...(id === undefined ? {} : { licenses: [{ license: { id } }] }),
});

test('a release with a licence that is not allowed is refused, by the name of the package', () => {
  expect(
    licenceFaults([
      component('free', 'MIT'),
      component('shared', 'AGPL-3.0'),
      component('unknown'),
    ]),
  ).toEqual([
    'shared 1.0.0 has the licence AGPL-3.0, which is not allowed.',
    'unknown 1.0.0 has the licence none, which is not allowed.',
  ]);
});

test('an alternative between licences is allowed as it is written', () => {
  const either = (expression: string) => ({ ...component('either'), licenses: [{ expression }] });
  expect(licenceFaults([either('(BSD-3-Clause OR GPL-2.0)')])).toEqual([]);
  expect(licenceFaults([either('(BSD-3-Clause AND GPL-2.0)')])).toHaveLength(1);
});

test('a licence for unchanged copies is allowed for the packages that were looked at', () => {
  expect(licenceFaults([component('openpgp', 'LGPL-3.0')])).toEqual([]);
  expect(licenceFaults([component('other', 'LGPL-3.0')])).toHaveLength(1);
});

test('the report lists the components of each licence', () => {
  expect(licenceReport([component('b', 'MIT'), component('c', 'ISC'), component('a', 'MIT')])).toBe(
    'ISC\n  c 1.0.0\n\nMIT\n  a 1.0.0\n  b 1.0.0\n',
  );
});
