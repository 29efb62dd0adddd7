import { randomBytes } from 'node:crypto';
import { ManualClock } from '@keelson/clock';
import type { LoginRequest } from '@keelson/proto/sys/v1/logins';
import { createBarrier } from '@keelson/storage';
import { expect, test } from 'vitest';
import { MAX_PENDING_LOGIN, openPendingLogin, sealPendingLogin } from './pending-login.ts';

const barrier = createBarrier({ clock: new ManualClock(1000) });
barrier.initialize(new Uint8Array(32).fill(7));

/** A login of somebody in a thousand groups, whose names a directory reports twice. */
const inGroups = (name: (at: number) => string): LoginRequest => {
  const groupAliases = Array.from({ length: 1000 }, (_, at) => name(at));
  const loginData = Buffer.from(JSON.stringify({ groups: groupAliases }));
  return {
    mountUuid: 'a mount',
    requestPath: 'login/alice',
    displayName: 'alice',
    metadata: { username: 'alice' },
    limits: undefined,
    loginData,
    remoteAddress: '127.0.0.1',
    aliasName: 'alice',
    aliasMetadata: {},
    groupAliases,
    passcodes: [],
    role: '',
  };
};

test('the login of somebody in a thousand groups is opened as it was sealed', () => {
  const request = inGroups((at) => `cn=team ${at},ou=groups,ou=people,dc=example,dc=com`);
  const id = sealPendingLogin(barrier, request, 0);
  expect(id.length).toBeLessThanOrEqual(MAX_PENDING_LOGIN);
  expect(openPendingLogin(barrier, id, 299_999)).toEqual({ request, expiresAtMs: 300_000 });
  expect(openPendingLogin(barrier, id, 300_000)).toBeUndefined();
});

test('a login that no id can hold is refused before anybody waits for it', () => {
  const request = inGroups(() => randomBytes(60).toString('base64'));
  expect(() => sealPendingLogin(barrier, request, 0)).toThrow('too many groups');
});

test.for(['', 'x', Buffer.from('{"format":1}').toString('base64url'), 'a'.repeat(70_000)])(
  'the id %j is of no login',
  (id) => {
    expect(openPendingLogin(barrier, id, 0)).toBeUndefined();
  },
);

test('an id of another format is of no login', () => {
  const sealed = barrier.encrypt('local/pending-login', Buffer.from('{"format":1}'));
  const id = Buffer.from(sealed).toString('base64url');
  expect(openPendingLogin(barrier, id, 0)).toBeUndefined();
});
