import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AUDITED_KINDS } from './audited-kinds.ts';
import { RESOURCE_TYPES } from './domain/audit-event.ts';

const DERIVED = 'follows from a change that is recorded';
const CONTENT = 'the content of something whose creation is recorded';
const ACCOUNT = 'an account belongs to no organization';
const SITE = 'it belongs to the site';
const CODE = 'a step on the way to something that is recorded, or to nothing';
const WORK = 'work that waits for the control plane or an agent, or its outcome';

/** Kinds of records whose changes are no events. */
const NOT_AUDITED: Readonly<Record<string, string>> = {
  'address-notices': ACCOUNT,
  'agent-pool-users': DERIVED,
  'agent-repository-work': WORK,
  'audit-events': 'the events themselves',
  'auto-destroy-outcomes': WORK,
  'confirmation-mails': ACCOUNT,
  'email-confirmations': ACCOUNT,
  'first-token': SITE,
  'invitation-mails': WORK,
  invitations:
    'a membership that begins is recorded, and its acceptance is a matter of the account',
  'login-codes': CODE,
  'loose-state-contents': CONTENT,
  'notification-events': WORK,
  'notification-queues': WORK,
  'notification-reminders': WORK,
  'notification-responses': WORK,
  'oauth-authorizations': CODE,
  'object-owner': SITE,
  'passcode-uses': ACCOUNT,
  'passkey-uses': ACCOUNT,
  'password-mails': ACCOUNT,
  'removed-workspaces': WORK,
  'repository-attempts': WORK,
  'repository-deliveries': WORK,
  'repository-hooks': DERIVED,
  'repository-work': WORK,
  'repository-workspaces': DERIVED,
  'run-data-policies': DERIVED,
  'run-files': CONTENT,
  'run-grants': WORK,
  'run-log-chunks': CONTENT,
  'run-logs': CONTENT,
  'runner-turns': SITE,
  'second-factors': ACCOUNT,
  'sign-in-lockouts': ACCOUNT,
  'sign-in-settings': SITE,
  'signing-keys': SITE,
  'site-retention': SITE,
  'sso-identities': ACCOUNT,
  'sso-settings': SITE,
  'state-contents': CONTENT,
  'state-instances': CONTENT,
  'state-summaries': CONTENT,
  'token-uses': ACCOUNT,
  'used-sso-states': CODE,
  'workload-keys': SITE,
  'workspace-assessments': WORK,
  'workspace-configurations': DERIVED,
  'workspace-readmes': CONTENT,
  'workspace-runs': DERIVED,
  'workspace-states': DERIVED,
  'workspace-variables': DERIVED,
  passkeys: ACCOUNT,
  passwords: ACCOUNT,
  users: ACCOUNT,
};

const DECLARED = /\b(?:collections?|singleRecords?)\(\s*'([\w/*-]+)'/g;

test('each kind of records has events, or a reason to have none', () => {
  const folder = join(import.meta.dirname, '..');
  const names = globSync('**/*.ts', { cwd: folder })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(DECLARED)])
    .map(([, name = '']) => name);
  const silent = names.filter((name) => !AUDITED_KINDS.has(`shared/${name}/`));
  expect(silent.toSorted()).toEqual(Object.keys(NOT_AUDITED).toSorted());
  expect(names.length - silent.length).toBe(AUDITED_KINDS.size);
});

test('each type of resources is that of some kind of records', () => {
  const types = new Set(Array.from(AUDITED_KINDS.values(), ({ type }) => type));
  expect([...types].sort()).toEqual(RESOURCE_TYPES);
});
