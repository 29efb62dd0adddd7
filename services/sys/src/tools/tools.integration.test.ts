import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

test.for([
  ['sha2-256', 'hex', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['sha3-224', 'hex', 'e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf'],
  ['sha2-224', 'base64', 'Iwl9IjQF2CKGQqR3vaJVsyqtvOS9oLP342ydpw=='],
] as const)('%s of "abc" in %s', async ([algorithm, format, sum]) => {
  const { body } = await harness.asRoot('POST', `sys/tools/hash/${algorithm}`, {
    body: { input: 'YWJj', format },
  });
  expect(body.data).toEqual({ sum });
});

test('random bytes have the requested number and encoding', async () => {
  const hex = await harness.asRoot('POST', 'sys/tools/random/16', { body: { format: 'hex' } });
  expect(hex.body.data.random_bytes).toMatch(/^[0-9a-f]{32}$/);
  const standard = await harness.asRoot('POST', 'sys/tools/random/platform/5');
  expect(Buffer.from(standard.body.data.random_bytes, 'base64')).toHaveLength(5);
});

test.for([
  ['sys/tools/random/0', {}, '"bytes" cannot be less than 1'],
  ['sys/tools/random', { bytes: 1e6 }, '"bytes" should be at most 131072'],
  [
    'sys/tools/random',
    { format: 'oct' },
    'unsupported encoding format "oct"; must be "hex" or "base64"',
  ],
  ['sys/tools/hash/md5', { input: 'YWJj' }, 'unsupported algorithm md5'],
  ['sys/tools/hash', {}, 'missing input'],
  ['sys/tools/hash', { input: '!' }, 'unable to decode input as base64'],
] as const)('%s refuses %j', async ([path, body, text]) => {
  expect(await harness.asRoot('POST', path, { body })).toEqual({
    status: 400,
    body: { errors: [text] },
  });
});
