/** Failed logins in a row lock a user, of every method with passwords or secret ids. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';
import { lockoutRecords } from './lockout-records.ts';

let auth: OpenAuth;
/** An installation that few names fill. */
let small: OpenAuth;
beforeAll(async () => {
  auth = await openAuth();
  small = await openAuth({ rememberedNames: 8 });
});
afterAll(async () => {
  await auth.close();
  await small.close();
});

const DEFAULTS = {
  disabled: false,
  threshold: 5,
  durationSeconds: 900,
  counterResetSeconds: 900,
};
const LOCKED = [403, ['permission denied']];

let serial = 0;
/** A mount of its own for each test, as sys describes it. */
let mounts: Readonly<Record<string, ReturnType<typeof mountOf>>>;
const tuned = (changes: Partial<typeof DEFAULTS> = {}) => {
  const uuid = (kind: number) =>
    `8f0b1c1e-0000-4000-${8000 + kind}-${String(serial).padStart(12, '0')}`;
  mounts = Object.fromEntries(
    ['userpass', 'approle'].map((type, kind) => [
      type,
      { ...mountOf(type, uuid(kind)), userLockout: { ...DEFAULTS, ...changes } },
    ]),
  );
};
beforeEach(() => {
  serial += 1;
  tuned();
});

const call = (type: string, method: string, path: string, body?: unknown, from = auth.call) =>
  from(type, method, path, body, { mount: mounts[type] ?? mountOf(type) });

interface Person {
  readonly type: string;
  /** Name of the alias. */
  readonly name: string;
  readonly unknown: string;
  readonly logIn: (
    secret: 'right' | 'wrong',
    name?: string,
    from?: OpenAuth['call'],
  ) => Promise<unknown>;
}

const answerOf = ({ status, json }: Awaited<ReturnType<OpenAuth['call']>>) => [status, json.errors];

const people: Readonly<Record<string, (at?: OpenAuth['call']) => Promise<Person>>> = {
  userpass: async (at = auth.call) => {
    await call('userpass', 'POST', 'users/alice', { password: 'right' }, at);
    return {
      type: 'userpass',
      name: 'alice',
      unknown: 'nobody',
      logIn: async (password, name = 'alice', from = at) =>
        answerOf(await call('userpass', 'POST', `login/${name}`, { password }, from)),
    };
  },
  approle: async (at = auth.call) => {
    await call('approle', 'POST', 'role/web', { role_id: 'the-web' }, at);
    const { data } = await call('approle', 'POST', 'role/web/secret-id', undefined, at);
    const secrets = { right: data.secret_id, wrong: 'a-guess' };
    return {
      type: 'approle',
      name: 'the-web',
      unknown: 'the-other',
      logIn: async (secret, role_id = 'the-web', from = at) =>
        answerOf(
          await call('approle', 'POST', 'login', { role_id, secret_id: secrets[secret] }, from),
        ),
    };
  },
};

const IN = [200, undefined];
const failTimes = async ({ logIn }: Person, times: number, name?: string) => {
  const answers = new Set<string>();
  for (let failure = 0; failure < times; failure += 1)
    answers.add(JSON.stringify(await logIn('wrong', name)));
  return [...answers].map((text) => JSON.parse(text));
};

describe.each(Object.keys(people))('after a flood of other names, %s', (type) => {
  let person: Person;
  beforeEach(async () => {
    person = await (people[type] as (typeof people)[string])(small.call);
  });

  /** The answers to the last of so many failures of a known and an unknown name, with a flood before it. */
  const afterFlood = async (failures: number, otherNames: number) => {
    for (const name of [person.name, person.unknown]) await failTimes(person, failures - 1, name);
    for (let other = 0; other < otherNames; other += 1) {
      small.clock.advance(1);
      await person.logIn('wrong', `other-${other}`);
    }
    return [await person.logIn('wrong'), await person.logIn('wrong', person.unknown)];
  };

  test('a known and an unknown name are as near to a lock as before', async () => {
    const wrong = await person.logIn('wrong', 'somebody');
    expect(await afterFlood(5, 40)).toEqual([wrong, wrong]);
    for (const name of [person.name, person.unknown])
      expect(await person.logIn('wrong', name)).toEqual(LOCKED);
  });

  test('a known and an unknown name that were locked stay so', async () => {
    expect(await afterFlood(6, 40)).toEqual([LOCKED, LOCKED]);
  });

  test('of the names that failed as often those are remembered that failed last', async () => {
    await afterFlood(1, 20);
    await failTimes(person, 4);
    await failTimes(person, 5, 'other-19');
    expect(await person.logIn('wrong')).toEqual(LOCKED);
    expect(await person.logIn('wrong', 'other-19')).toEqual(LOCKED);
  });
});

describe.each(Object.keys(people))('%s', (type) => {
  let person: Person;
  beforeEach(async () => {
    person = await (people[type] as () => Promise<Person>)();
  });

  test('five failures in a row lock a user for fifteen minutes', async () => {
    expect(await failTimes(person, 4)).toHaveLength(1);
    expect(await person.logIn('right')).toEqual(IN);
    await failTimes(person, 5);
    expect(await person.logIn('right')).toEqual(LOCKED);
    auth.clock.advance(900_000 - 1);
    expect(await person.logIn('right')).toEqual(LOCKED);
    auth.clock.advance(1);
    expect(await person.logIn('right')).toEqual(IN);
  });

  test('attempts while a user is locked do not make it longer', async () => {
    await failTimes(person, 5);
    auth.clock.advance(899_000);
    expect(await person.logIn('wrong')).toEqual(LOCKED);
    auth.clock.advance(1000);
    expect(await failTimes(person, 4)).toEqual([[400, expect.anything()]]);
    expect(await person.logIn('right')).toEqual(IN);
  });

  test('an unknown user is answered and locked as a known one', async () => {
    const known = await failTimes(person, 7);
    expect(await failTimes(person, 7, person.unknown)).toEqual(known);
    expect(known).toEqual([[400, expect.anything()], LOCKED]);
  });

  test('failures are forgotten after a pause', async () => {
    tuned({ counterResetSeconds: 60, threshold: 2 });
    await failTimes(person, 1);
    auth.clock.advance(60_000);
    await failTimes(person, 1);
    expect(await person.logIn('right')).toEqual(IN);
    await failTimes(person, 2);
    expect(await person.logIn('right')).toEqual(LOCKED);
  });

  test('threshold and duration are those of the mount, which may lock nobody', async () => {
    tuned({ threshold: 1, durationSeconds: 10 });
    await failTimes(person, 1);
    expect(await person.logIn('right')).toEqual(LOCKED);
    auth.clock.advance(10_000);
    expect(await person.logIn('right')).toEqual(IN);
    tuned({ threshold: 1, disabled: true });
    await failTimes(person, 3);
    expect(await person.logIn('right')).toEqual(IN);
  });

  test('failures count over two replicas, also of guesses at the same time', async () => {
    const other = auth.replica();
    const guesses = Array.from({ length: 12 }, (_, index) =>
      person.logIn('wrong', undefined, index % 2 === 0 ? auth.call : other),
    );
    const answers = await Promise.all(guesses);
    expect(answers.filter((answer) => JSON.stringify(answer).includes('invalid'))).toHaveLength(5);
    for (const from of [auth.call, other])
      expect(await person.logIn('right', undefined, from)).toEqual(LOCKED);
  });

  test('locked users are listed and unlocked', async () => {
    const { methods } = auth.service;
    const mount = mounts[type];
    await failTimes(person, 4);
    expect(await methods.listLockedUsers({ mount })).toEqual({ aliasNames: [] });
    await failTimes(person, 1);
    expect(await methods.listLockedUsers({ mount })).toEqual({ aliasNames: [person.name] });
    await methods.unlockUser({ mount, aliasName: person.name });
    expect(await methods.listLockedUsers({ mount })).toEqual({ aliasNames: [] });
    expect(await person.logIn('right')).toEqual(IN);
  });
});

test('a flood of names leaves about as many as a mount remembers', async () => {
  const many = await openAuth({ rememberedNames: 64 });
  onTestFinished(many.close);
  const login = { secret_id: 'a-guess' };
  for (let name = 0; name < 200; name += 1) {
    many.clock.advance(1);
    await many.call('approle', 'POST', 'login', { ...login, role_id: `other-${name}` });
  }
  // One new name in four looks how many there are.
  expect((await lockoutRecords(mountOf('approle')).keys(many.store)).length).toBeLessThan(164);
});

test('a user that is made again is not locked', async () => {
  const person = await (people['userpass'] as () => Promise<Person>)();
  await failTimes(person, 5);
  await call('userpass', 'DELETE', 'users/alice');
  await call('userpass', 'POST', 'users/alice', { password: 'right' });
  expect(await person.logIn('right')).toEqual(IN);
});

test('of 50 logins at once with a secret id of one use one wins, though the others lock the role id', async () => {
  await call('approle', 'POST', 'role/ci', { role_id: 'the-ci', secret_id_num_uses: 1 });
  const { data } = await call('approle', 'POST', 'role/ci/secret-id');
  const logIn = (from: OpenAuth['call']) =>
    call('approle', 'POST', 'login', { role_id: 'the-ci', secret_id: data.secret_id }, from);
  const other = auth.replica();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => logIn(index % 2 === 0 ? auth.call : other)),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect({ won: count(200), refused: count(400), locked: count(403) }).toEqual({
    won: 1,
    refused: 5,
    locked: 44,
  });
});
