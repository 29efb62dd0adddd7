/** R6: logins at once through both replicas, and a replica that is killed under them. */
import { startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { type Answer, callsOf, until } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { Random } from '../random.ts';

const ROLE = 'auth/approle/role/deploy';
const AT_ONCE = 50;
const GUESSES = 40;
const PASSWORD = 'the right one';
/** Requests of the limited mount that are served in an interval. */
const LIMIT = 20;
/** Logins that are sent to it at once, in two halves of which an end of the interval may be between. */
const LIMITED_AT_ONCE = 100;
const MOST_MS_BEFORE_KILL = 60;

/** 0 for a login that was not answered. */
const statusOf = (sent: Promise<Answer>): Promise<number> =>
  sent.then(
    ({ status }) => status,
    () => 0,
  );

const isUnclear = (status: number): boolean => status === 0 || status >= 500;

/** The calls of each gateway, without a token. */
const openLogins = (cluster: DistributedCluster) => {
  const gateways = cluster.urls.map((url) =>
    callsOf(
      () => url,
      () => cluster.token,
      cluster.apiToken,
    ),
  );
  const logIn = (turn: number, path: string, body: object): Promise<number> =>
    statusOf((gateways[turn % gateways.length] ?? cluster).v1('POST', path, body, ''));
  return {
    logIn,
    /** So many at once, in turn through each gateway. */
    logInAtOnce: (count: number, path: string, body: object): Promise<readonly number[]> =>
      Promise.all(Array.from({ length: count }, (_, turn) => logIn(turn, path, body))),
  };
};

type Logins = ReturnType<typeof openLogins>;

const prepareMounts = async (cluster: DistributedCluster): Promise<string> => {
  const must = async (path: string, body: object): Promise<void> => {
    await until(
      () => cluster.v1('POST', path, body),
      ({ status }) => status < 300,
    );
  };
  await must('sys/auth/approle', {
    type: 'approle',
    // Logins that lose a race for a secret id would lock the role.
    config: { user_lockout_config: { lockout_disable: true } },
  });
  await must(ROLE, { token_policies: ['default'], token_ttl: '1h' });
  for (const mount of ['people', 'limited']) await must(`sys/auth/${mount}`, { type: 'userpass' });
  await must('sys/quotas/rate-limit/limited', {
    path: 'auth/limited/',
    rate: LIMIT,
    interval: '10s',
  });
  return (await cluster.v1('GET', `${ROLE}/role-id`)).body.data.role_id as string;
};

/** A secret id for one use, which 50 use at once. @param disturb what happens meanwhile */
const raceForSecretId = async (
  cluster: DistributedCluster,
  { logIn, logInAtOnce }: Logins,
  roleId: string,
  disturb: (() => Promise<void>) | undefined,
): Promise<{ readonly faults: readonly string[]; readonly unclear: number }> => {
  const made = await cluster.v1('POST', `${ROLE}/secret-id`, { num_uses: 1 });
  const credentials = { role_id: roleId, secret_id: made.body.data.secret_id as string };
  const [statuses] = await Promise.all([
    logInAtOnce(AT_ONCE, 'auth/approle/login', credentials),
    disturb?.(),
  ]);
  const won = statuses.filter((status) => status === 200).length;
  const unclear = statuses.filter(isUnclear).length;
  const faults: string[] = [];
  if (won > 1) faults.push(`${won} of ${AT_ONCE} logins won a secret id for one use`);
  if (disturb === undefined && won !== 1)
    faults.push(`${won} logins won although nothing was killed`);
  if (disturb === undefined && unclear > 0)
    faults.push(`${unclear} logins were not answered although nothing was killed`);
  const others = statuses.filter((status) => ![200, 400].includes(status) && !isUnclear(status));
  if (others.length > 0) faults.push(`logins were answered with ${[...new Set(others)].join()}`);
  // A login whose answer was lost may have won; nobody else wins afterwards.
  const late: number[] = [];
  await until(
    async () => {
      const status = await logIn(late.length, 'auth/approle/login', credentials);
      late.push(status);
      return status;
    },
    (status) => status === 400,
  );
  const total = won + late.filter((status) => status === 200).length;
  if (total > 1) faults.push(`a secret id for one use was used ${total} times`);
  return { faults, unclear };
};

/** A user whose password is guessed, by many at once. */
const guess = async (
  cluster: DistributedCluster,
  { logIn, logInAtOnce }: Logins,
  name: string,
): Promise<{ readonly faults: readonly string[]; readonly answered: number }> => {
  await cluster.v1('POST', `auth/people/users/${name}`, { password: PASSWORD });
  const path = `auth/people/login/${name}`;
  const statuses = await logInAtOnce(GUESSES, path, { password: 'a wrong one' });
  const faults: string[] = [];
  if (statuses.includes(200)) faults.push('a wrong password signed in');
  const right = await Promise.all(
    cluster.urls.map((_, turn) => logIn(turn, path, { password: PASSWORD })),
  );
  if (right.some((status) => status !== 403))
    faults.push(`after ${GUESSES} guesses the right password was answered with ${right.join()}`);
  return { faults, answered: statuses.filter((status) => status === 400).length };
};

/** Logins at a mount of which the rate is limited for all gateways together. */
const flood = async ({ logInAtOnce }: Logins): Promise<readonly string[]> => {
  const statuses = await logInAtOnce(LIMITED_AT_ONCE, 'auth/limited/login/nobody', {
    password: 'x',
  });
  const served = statuses.filter((status) => status !== 429).length;
  return served <= 2 * LIMIT
    ? []
    : [`${served} of ${LIMITED_AT_ONCE} logins were served, ${LIMIT} in 10 s are allowed`];
};

export const login: Chaos = {
  name: 'login',
  promise:
    'R6 logins at once through two replicas, of which one is killed: a secret id for one use is used once, a guessed ' +
    'user is locked everywhere, a limit holds for all gateways together',
  unit: 'faults',
  counts: { full: 30, short: 4 },
  run: async ({ count, seed, isOver, say }) => {
    await using stack = new AsyncDisposableStack();
    const redis = stack.use(await startRedis());
    const postgres = stack.use(await startPostgres());
    const cluster = await startDistributed({
      postgres,
      redisUrl: redis.url,
      name: 'logins',
      replicas: { sys: 2, auth: 2, gateway: 2 },
    });
    stack.defer(() => cluster.stop());
    const roleId = await prepareMounts(cluster);
    const logins = openLogins(cluster);
    const random = new Random(seed);
    const broken: string[] = [];
    const figures = { kills: 0, unclear: 0, guesses: 0 };
    const victims = [...cluster.processes.auth, ...cluster.processes.sys];
    for (let round = 0; round < count && !isOver(); round += 1) {
      const victim = round % 2 === 0 ? undefined : random.pick(victims);
      say(`${round + 1}: ${victim === undefined ? 'nothing' : 'a replica'} is killed`);
      const race = await raceForSecretId(
        cluster,
        logins,
        roleId,
        victim &&
          (async () => {
            await new Promise((passed) => setTimeout(passed, random.below(MOST_MS_BEFORE_KILL)));
            await victim.kill();
          }),
      );
      figures.unclear += race.unclear;
      if (victim !== undefined) {
        figures.kills += 1;
        await victim.start();
      }
      const guessed = await guess(cluster, logins, `user-${round}`);
      figures.guesses = Math.max(figures.guesses, guessed.answered);
      const faults = [...race.faults, ...guessed.faults, ...(await flood(logins))];
      broken.push(...faults.map((fault) => `round ${round + 1}: ${fault}`));
    }
    return {
      broken,
      figures: {
        'replicas killed': figures.kills,
        'logins with an unknown outcome': figures.unclear,
        'most guesses that were answered as wrong': figures.guesses,
      },
    };
  },
};
