import { expect, test } from 'vitest';
import { workspaceConfigSchema } from './config.ts';
import { resolveRuntimeVersion, sortReleases } from './workspaces/model/domain/runtime-version.ts';

const { default: releases } = workspaceConfigSchema.properties.workspaceRuntimeVersions as {
  readonly default?: readonly string[];
};

test.for([
  ['~> 1.0.0', '1.0.11'],
  ['~> 0.11', '0.15.5'],
  ['>= 0.12, < 0.13', '0.12.31'],
  ['latest', '1.13.5'],
] as const)('the default releases contain one for %s: %s', ([constraint, release]) => {
  expect(resolveRuntimeVersion(constraint, sortReleases(releases ?? []))).toBe(release);
});
