import { expect, test } from 'vitest';
import { capabilityOf } from './capabilities.ts';
import { type CallFrame, type CpuProfile, divideTime } from './cpu-profile.ts';

const frame = (functionName: string, url = ''): CallFrame => ({ functionName, url });

const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 5, 6] },
    {
      id: 2,
      callFrame: frame('handle', 'file:///k/services/pki/src/roles/role-routes.ts'),
      children: [3],
    },
    {
      id: 3,
      callFrame: frame('encrypt', 'file:///k/libs/storage/src/barrier/barrier.ts'),
      children: [4],
    },
    { id: 4, callFrame: frame('update') },
    { id: 5, callFrame: frame('(idle)') },
    { id: 6, callFrame: frame('(garbage collector)') },
  ],
  samples: [2, 4, 5, 6],
  timeDeltas: [900, 100, 200, 400],
};

test('the time of a sample lasts until the next, and belongs to the innermost call that is known', () => {
  expect(Object.fromEntries(divideTime(PROFILE, capabilityOf))).toEqual({
    pki: 100,
    'storage: encryption': 200,
    waiting: 400,
    'garbage collection': 0,
  });
});

test('a signature belongs to the keys, whoever asks for it, and unknown calls to none', () => {
  const caller = frame('issue', 'file:///k/services/pki/src/issuing/issuing.ts');
  expect(capabilityOf([frame('signOneShot', 'node:internal/crypto/sig'), caller])).toBe(
    'keys and signatures',
  );
  expect(capabilityOf([frame('map'), frame('(root)')])).toBe('other');
});
