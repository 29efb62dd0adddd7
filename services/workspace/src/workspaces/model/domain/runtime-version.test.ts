import { expect, test } from 'vitest';
import { isAtLeast, resolveRuntimeVersion, sortReleases } from './runtime-version.ts';

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

test.for([
  ['0.15.4', true],
  ['0.15.5-rc1', true],
  ['0.15.4-rc1', false],
  ['0.15.3', false],
  ['newest', false],
] as const)('%s is at least 0.15.4: %s', ([text, expected]) => {
  expect(isAtLeast(text, '0.15.4')).toBe(expected);
});

test('a pre-release precedes its release, and follows pre-releases with lesser names', () => {
  const sorted = ['1.0.0', '1.0.0-rc2', '1.0.0-rc1', '1.0.0-beta1'];
  expect(sortReleases(sorted.toReversed())).toEqual(sorted);
});
