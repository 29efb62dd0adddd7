import { expect, test } from 'vitest';
import { resolveRuntimeVersion, sortReleases } from './runtime-version.ts';

const RELEASES = sortReleases(['1.5.7', '1.10.5', '1.0.11', '1.11.4', '0.15.5', '1.11.0-rc1']);

test('releases are sorted by number, newest first', () => {
  expect(RELEASES).toEqual(['1.11.4', '1.11.0-rc1', '1.10.5', '1.5.7', '1.0.11', '0.15.5']);
});

test.for([
  ['latest', '1.11.4'],
  ['1.2.3', '1.2.3'],
  ['9.9.9', '9.9.9'],
  ['~> 1.0.0', '1.0.11'],
  ['~> 1.5', '1.11.4'],
  ['~> 1', '1.11.4'],
  ['>= 1.0.0, < 1.6', '1.5.7'],
  ['!= 1.11.4, > 1.5', '1.11.0-rc1'],
  ['= 1.5.7', '1.5.7'],
  ['<= 0.15.5', '0.15.5'],
  ['~> 2.0', undefined],
  ['> 1.0.0,', undefined],
  ['newest', undefined],
  ['', undefined],
  ['~> 1.x', undefined],
] as const)('%s stands for %s', ([text, release]) => {
  expect(resolveRuntimeVersion(text, RELEASES)).toBe(release);
});
