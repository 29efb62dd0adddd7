/** The id of a login that waits for its second factor ends with its first right answer. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMethod, loginRequest, mountMethod, servedMethods } from '../../test/login-steps.ts';
import { passcodeApp } from '../../test/passcode-app.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const METHODS = 'identity/mfa/method/totp';

let harness: SysHarness;
let uuid: string;
/** By the id of a method: the passcode of this moment. */
let passcodes: ReadonlyMap<string, () => string>;

const post = async (path: string, body: object): Promise<Document> =>
  (await harness.asRoot('POST', path, { body })).body;

/** Alice at a mount whose logins need a passcode of any of two apps. */
beforeEach(async () => {
  harness = await openInitializedSys({ authMethods: servedMethods });
  await joinMethod(harness);
  ({ uuid } = await mountMethod(harness, 'people'));
  const { entityId } = await waitingLogin();
  const apps = new Map<string, () => string>();
  for (const name of ['one', 'two']) {
    const { method_id } = (await post(METHODS, { issuer: 'Site', method_name: name })).data;
    const of = { method_id, entity_id: entityId };
    const app = passcodeApp((await post(`${METHODS}/admin-generate`, of)).data.url);
    apps.set(method_id, () => app(harness.clock.nowMs()));
  }
  passcodes = apps;
  const mfa_method_ids = [...apps.keys()];
  await post('identity/mfa/login-enforcement/people', {
    mfa_method_ids,
    auth_method_types: ['people'],
  });
});
afterEach(() => harness.close());

/** A login up to its second factor, if it needs one. */
const waitingLogin = async (tokenType = 'default') => {
  const { authJson } = await harness.sys.logins.login(
    loginRequest(uuid, {
      limits: { tokenType },
      loginData: Buffer.from(JSON.stringify({ tokenType })),
    }),
  );
  const auth = JSON.parse(authJson);
  return {
    entityId: String(auth.entity_id),
    id: String(auth.mfa_requirement?.mfa_request_id),
  };
};

const validate = async (mfa_request_id: string, app: number) => {
  const [methodId = '', passcode] = [...passcodes][app] ?? [];
  const mfa_payload = { [methodId]: [passcode?.()] };
  const body = { mfa_request_id, mfa_payload };
  const answer = await harness.call('POST', 'sys/mfa/validate', { body });
  return { status: answer.status, errors: answer.body.errors };
};

const GRANTED = { status: 200, errors: undefined };
const UNKNOWN = {
  status: 403,
  errors: [
    'login MFA validation failed: mfa_request_id is unknown or older than five minutes, or was used already: sign in again',
  ],
};

test.for(['default', 'batch'])(
  'it is refused as an unknown one from then on, for a token of type %s',
  async (tokenType) => {
    const { id } = await waitingLogin(tokenType);
    expect(await validate(id, 0)).toEqual(GRANTED);
    expect(await validate(id, 1)).toEqual(UNKNOWN);
    harness.clock.advance(30_000);
    expect(await validate(id, 0)).toEqual(UNKNOWN);
    expect(await validate('nobodys', 1)).toEqual(UNKNOWN);
    // The passcodes that it was refused with are still good, for another login.
    for (const app of [0, 1])
      expect(await validate((await waitingLogin()).id, app)).toEqual(GRANTED);
  },
);

test('it has one spelling', async () => {
  const { id } = await waitingLogin();
  for (const other of [`${id}=`, `${id} `, `.${id}`, `${id}\n`])
    expect(await validate(other, 0)).toEqual(UNKNOWN);
  expect(await validate(id, 0)).toEqual(GRANTED);
});

test('a wrong answer does not end it', async () => {
  const { id } = await waitingLogin();
  const [methodId = ''] = [...passcodes.keys()];
  const body = { mfa_request_id: id, mfa_payload: { [methodId]: ['x'] } };
  expect((await harness.call('POST', 'sys/mfa/validate', { body })).status).toBe(403);
  expect(await validate(id, 0)).toEqual(GRANTED);
});

test('nothing is stored of it for longer than it could be answered', async () => {
  const stored = () => harness.store.list('local/finished-logins/root/');
  const { id } = await waitingLogin();
  expect(await stored()).toEqual([]);
  expect(await validate(id, 0)).toEqual(GRANTED);
  await harness.settle('finished-logins');
  expect(await stored()).toHaveLength(1);
  harness.clock.advance(5 * 60_000 + 1000);
  await harness.settle('finished-logins');
  expect(await stored()).toEqual([]);
});
