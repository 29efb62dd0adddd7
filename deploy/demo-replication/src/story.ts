/** The steps of the story. Every step checks the clusters, and the story stops when a check fails. */
import { isDeepStrictEqual } from 'node:util';
import {
  type AddressedCluster,
  type Answer,
  type Kind,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/addressed-cluster';
import { type Keelson, openKeelson } from './keelson-command.ts';
import type { DemoCluster, Stage } from './stage.ts';
import type { Terminal } from './terminal.ts';

const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const PERFORMANCE = 'sys/replication/performance';
const WRITES = 20;

/** @throws Error with the actual response */
const wanted = (what: string, answer: Answer, ...statuses: readonly number[]): Answer['body'] => {
  if (!statuses.includes(answer.status))
    throw new Error(
      `${what}: ${answer.status} instead of ${statuses.join(' or ')}, ${JSON.stringify(answer.body)}`,
    );
  return answer.body;
};

const post = async (
  cluster: AddressedCluster,
  path: string,
  body?: unknown,
): Promise<Answer['body']> =>
  wanted(`POST ${path}`, await cluster.v1('POST', path, body), 200, 204);

const writePolicies = async (cluster: AddressedCluster, prefix: string): Promise<void> => {
  for (let index = 0; index < WRITES; index += 1)
    await post(cluster, `sys/policies/acl/${prefix}-${index}`, { policy: POLICY });
};

const countPolicies = async (cluster: AddressedCluster, prefix: string): Promise<number> => {
  const answer = await cluster.v1('LIST', 'sys/policies/acl');
  const names: readonly string[] = wanted('LIST sys/policies/acl', answer, 200).data.keys;
  return names.filter((name) => name.startsWith(`${prefix}-`)).length;
};

const untilThere = (cluster: AddressedCluster, prefix: string): Promise<number> =>
  until(
    () => countPolicies(cluster, prefix),
    (count) => count === WRITES,
  );

/** A cluster that changes its role refuses commands for a moment. */
const untilAccepted = (
  keelson: Keelson,
  ...call: Parameters<Keelson>
): Promise<string | undefined> =>
  until(
    () => keelson(...call).catch(() => undefined),
    (output) => output !== undefined,
  );

const join = async (
  keelson: Keelson,
  kind: Kind,
  { primary, primaryApiAddress }: Stage,
  secondary: DemoCluster,
  id: string,
): Promise<void> => {
  const token = await keelson(primary, ['replication', 'token', kind, id]);
  const address = primaryApiAddress === undefined ? [] : ['--api-address', primaryApiAddress];
  await keelson(secondary, ['replication', 'join', kind, ...address], token);
  await untilStreaming(kind, secondary);
  await untilEqual(kind, primary, secondary);
};

/** Makes `former`, which was demoted, follow `leader` without clearing its data. */
const follow = async (
  keelson: Keelson,
  leader: DemoCluster,
  former: DemoCluster,
  id: string,
  operationToken: string,
): Promise<void> => {
  const key = await keelson(former, ['replication', 'public-key', 'dr']);
  const token = await keelson(leader, ['replication', 'token', 'dr', id, '--public-key', key]);
  await keelson(former, ['replication', 'follow', 'dr'], `${token}\n${operationToken}`);
  await untilStreaming('dr', former);
  await untilEqual('dr', leader, former);
};

const prepare = async ({ step }: Terminal, stage: Stage, keelson: Keelson): Promise<void> => {
  const { primary, secondary, dr, primaryAddress } = stage;
  await step('the primary gets a certificate authority and an organization', async () => {
    await keelson(primary, ['mount', 'enable', 'pki']);
    const root = ['common_name=Demo', 'key_type=ec'];
    await keelson(primary, ['write', 'pki/root/generate/internal', ...root]);
    await keelson(primary, ['write', 'pki/roles/web', 'allow_any_name=true', 'key_type=ec']);
    const attributes = { name: 'acme', email: 'ops@example.com' };
    const data = { type: 'organizations', attributes };
    wanted('organization', await primary.api('POST', 'organizations', { data }), 201);
  });
  await step('it becomes primary of a performance set and of a DR set', async () => {
    for (const kind of ['performance', 'dr'])
      await keelson(primary, ['replication', 'enable', kind, '--cluster-address', primaryAddress]);
  });
  await step('the second cluster joins as performance secondary', () =>
    join(keelson, 'performance', stage, secondary, 'branch'),
  );
  await step('three shares of the primary make its first root token', async () => {
    secondary.token = await keelson(
      secondary,
      ['token', 'generate-root'],
      primary.shares.join('\n'),
    );
  });
  await step('the third cluster joins as DR secondary', () =>
    join(keelson, 'dr', stage, dr, 'spare'),
  );
};

const replicate = async (
  { step }: Terminal,
  { primary, secondary, dr }: Stage,
  keelson: Keelson,
): Promise<void> => {
  await step(`${WRITES} policies written on the primary are read on the secondary`, async () => {
    await writePolicies(primary, 'central');
    await untilThere(secondary, 'central');
  });
  await step('a policy written on the secondary is answered by the primary', async () => {
    const path = 'sys/policies/acl/from-branch';
    await keelson(secondary, ['policy', 'write', 'from-branch', '-'], POLICY);
    wanted('on the secondary', await secondary.v1('GET', path), 200);
    wanted('on the primary', await primary.v1('GET', path), 200);
  });
  await step('a certificate issued on the secondary is its own', async () => {
    const request = ['common_name=a.example', 'ttl=1h'];
    const issued = await keelson(secondary, ['--json', 'write', 'pki/issue/web', ...request]);
    const path = `pki/cert/${JSON.parse(issued).serial_number}`;
    wanted('on the secondary', await secondary.v1('GET', path), 200);
    wanted('on the primary', await primary.v1('GET', path), 404);
  });
  await step('the DR secondary refuses clients, and its health says 472', async () => {
    wanted('GET sys/mounts', await dr.v1('GET', 'sys/mounts', undefined, primary.token), 400);
    wanted('GET sys/health', await dr.v1('GET', 'sys/health', undefined, ''), 472);
  });
};

const filter = async (
  { step }: Terminal,
  { primary, secondary }: Stage,
  keelson: Keelson,
): Promise<void> => {
  await step('another authority is on the secondary as soon as it is mounted', async () => {
    await keelson(primary, ['mount', 'enable', 'pki', '--path', 'headquarters']);
    await until(
      () => secondary.v1('LIST', 'headquarters/roles'),
      ({ body }) => body.errors?.length === 0,
    );
  });
  await step('a filter denies it: it is gone there, and what is left is equal', async () => {
    await keelson(primary, ['replication', 'filter', 'set', 'branch', 'deny', 'headquarters/']);
    await until(
      async () => {
        const { secondaries } = await primary.status('performance');
        const { merkle_root: root } = await secondary.status('performance');
        return secondaries[0]?.filtered === true && secondaries[0].merkle_root === root;
      },
      (isEqual) => isEqual,
    );
    const { data } = wanted('GET sys/mounts', await secondary.v1('GET', 'sys/mounts'), 200);
    if ('headquarters/' in data) throw new Error('the secondary still has it');
    wanted('on the secondary', await secondary.v1('POST', 'headquarters/roles/x', {}), 404);
    await post(primary, 'headquarters/roles/x', { allow_any_name: true });
  });
  await step('both sides report the same filtered paths', async () => {
    const kept = async (cluster: AddressedCluster, side: string): Promise<unknown> =>
      wanted(side, await cluster.v1('GET', `${PERFORMANCE}/${side}/dynamic-filter/branch`), 200)
        .data;
    if (!isDeepStrictEqual(await kept(primary, 'primary'), await kept(secondary, 'secondary')))
      throw new Error('they differ');
  });
  await step('the filter goes, and everything comes across', async () => {
    await keelson(primary, ['replication', 'filter', 'remove', 'branch']);
    await untilEqual('performance', primary, secondary);
    wanted('on the secondary', await secondary.v1('GET', 'headquarters/roles/x'), 200);
  });
};

const partition = async (terminal: Terminal, stage: Stage): Promise<void> => {
  const { step } = terminal;
  const { primary, secondary, dr, lines } = stage;
  await step('the lines to the primary are cut; the secondaries notice', async () => {
    for (const line of lines) line.cut();
    for (const [cluster, kind] of [
      [secondary, 'performance'],
      [dr, 'dr'],
    ] as const)
      await until(
        () => cluster.status(kind),
        ({ connection_state: connection }) => connection !== 'ready',
      );
  });
  await step(`${WRITES} policies are written on the primary, unseen by the others`, async () => {
    await writePolicies(primary, 'meanwhile');
    const seen = await countPolicies(secondary, 'meanwhile');
    if (seen > 0) throw new Error(`the secondary has ${seen} of them`);
  });
  await step('the secondary goes on: it reads and issues, and refuses to write', async () => {
    wanted('read', await secondary.v1('GET', 'sys/policies/acl/central-0'), 200);
    await post(secondary, 'pki/issue/web', { common_name: 'b.example', ttl: '1h' });
    const body = { policy: POLICY };
    wanted('write', await secondary.v1('POST', 'sys/policies/acl/nowhere', body), 503);
  });
  await showRoles(terminal, stage);
  await step('the lines are back; both catch up, roots are equal', async () => {
    for (const line of lines) line.pass();
    await untilThere(secondary, 'meanwhile');
    await untilStreaming('performance', secondary);
    await untilStreaming('dr', dr);
    await untilEqual('performance', primary, secondary);
    await untilEqual('dr', primary, dr);
  });
};

const failOver = async (terminal: Terminal, stage: Stage, keelson: Keelson): Promise<void> => {
  const { primary, secondary, dr, spareAddress, loss } = stage;
  const { step, note } = terminal;
  await step('the secondary knows who may take the place of the primary', () =>
    until(
      () => secondary.status('performance'),
      ({ known_primary_cluster_addrs: known }) => known.includes(spareAddress),
    ),
  );
  await step(loss.text, loss.lose);
  const token = await step('three shares of the primary make a DR operation token', () =>
    keelson(dr, ['replication', 'operation-token'], primary.shares.join('\n')),
  );
  const plan = await step('the DR secondary reports what a promotion would lose', () =>
    keelson(dr, ['--json', 'replication', 'promote', 'dr', '--dry-run'], token),
  );
  const { missing_entries: missing, unheard_ms: unheardMs } = JSON.parse(plan) as {
    readonly missing_entries: number;
    readonly unheard_ms: number;
  };
  note(`missing entries: ${missing}; the primary was last heard of ${unheardMs} ms ago`);
  await step('it is promoted by force, with the performance set that came along', async () => {
    await keelson(dr, ['replication', 'promote', 'dr', '--force'], token);
    dr.token = primary.token;
    const { mode } = await dr.status('performance');
    if (mode !== 'primary') throw new Error(`its performance mode is ${mode}`);
  });
  await step('nothing that was replicated is missing', async () => {
    for (const prefix of ['central', 'meanwhile']) await untilThere(dr, prefix);
    wanted(
      'organization',
      await dr.api('GET', 'organizations/acme', undefined, primary.apiToken),
      200,
    );
  });
  await step('the performance secondary follows it without being told', async () => {
    await until(
      () => secondary.v1('POST', 'sys/policies/acl/after', { policy: POLICY }),
      ({ status }) => status === 204,
    );
    wanted('on the new primary', await dr.v1('GET', 'sys/policies/acl/after'), 200);
    await untilStreaming('performance', secondary);
    await untilEqual('performance', dr, secondary);
  });
};

const failBack = async ({ step }: Terminal, stage: Stage, keelson: Keelson): Promise<void> => {
  const { primary, secondary, dr, primaryAddress, loss } = stage;
  const operationToken = (cluster: DemoCluster): Promise<string> =>
    keelson(cluster, ['replication', 'operation-token'], primary.shares.join('\n'));
  await step(loss.returnText, async () => {
    await loss.bringBack();
    // It refuses requests while it learns of its successor.
    await untilAccepted(keelson, primary, ['replication', 'demote', 'dr']);
  });
  const token = await step('it follows the new primary, without clearing anything', async () => {
    const made = await operationToken(primary);
    await follow(keelson, dr, primary, 'previous', made);
    return made;
  });
  await step('the new primary steps back, the previous one is promoted', async () => {
    await keelson(dr, ['replication', 'demote', 'dr']);
    const address = ['--cluster-address', primaryAddress];
    await untilAccepted(keelson, primary, ['replication', 'promote', 'dr', ...address], token);
  });
  await step('the spare is a DR secondary again', async () =>
    follow(keelson, primary, dr, 'spare-again', await operationToken(dr)),
  );
  await step('the performance secondary is back with the first primary', async () => {
    await until(
      () => secondary.v1('POST', 'sys/policies/acl/home', { policy: POLICY }),
      ({ status }) => status === 204,
    );
    for (const name of ['after', 'home'])
      wanted('on the primary', await primary.v1('GET', `sys/policies/acl/${name}`), 200);
    await untilStreaming('performance', secondary);
  });
};

const agree = async ({ step }: Terminal, { primary, secondary, dr }: Stage): Promise<void> => {
  await step('Merkle roots are equal', async () => {
    await untilEqual('performance', primary, secondary);
    await untilEqual('dr', primary, dr);
  });
  await step('what everybody reads is equal', async () => {
    const list = async (cluster: AddressedCluster): Promise<unknown> =>
      wanted('LIST', await cluster.v1('LIST', 'sys/policies/acl'), 200).data.keys;
    if (!isDeepStrictEqual(await list(primary), await list(secondary)))
      throw new Error('the policies of primary and secondary differ');
  });
};

type Rows = readonly (readonly string[])[];

const rolesOf = ({ primary, secondary, dr }: Stage): Promise<Rows> =>
  Promise.all(
    (
      [
        ['primary', primary, 'performance'],
        ['secondary', secondary, 'performance'],
        ['primary', primary, 'dr'],
        ['spare', dr, 'dr'],
      ] as const
    ).map(async ([name, cluster, kind]) => {
      // Refused while a cluster changes its role.
      const status = (await cluster.status(kind).catch(() => ({ mode: 'down' }))) ?? {
        mode: 'busy',
      };
      return [
        name,
        `${kind} ${status.mode}`,
        status.state ?? '',
        status.connection_state ?? '',
        String(status.last_remote_wal ?? status.last_wal ?? status.last_dr_wal ?? ''),
        String(status.merkle_root ?? '').slice(0, 12),
      ];
    }),
  );

/** A cluster that is always busy must not end the story. */
const MOST_SAMPLES = 20;

/**
 * A table of the clusters' current roles, which also marks a cluster as down or busy. The clusters are asked
 * until two samples in succession are equal, so that the rows held at one moment and can be compared.
 */
export const showRoles = async (terminal: Terminal, stage: Stage): Promise<void> => {
  let rows = await rolesOf(stage);
  for (let sample = 1; sample < MOST_SAMPLES; sample += 1) {
    const again = await rolesOf(stage);
    const isSteady = isDeepStrictEqual(rows, again);
    rows = again;
    if (isSteady) break;
  }
  terminal.table(['cluster', 'role', 'state', 'connection', 'position', 'Merkle root'], rows);
};

/** @throws Error describing the unexpected result, after its step was printed */
export const runStory = async (terminal: Terminal, stage: Stage): Promise<void> => {
  const keelson = openKeelson(terminal);
  type Chapter = (terminal: Terminal, stage: Stage, keelson: Keelson) => Promise<void>;
  const chapters: readonly [string, Chapter][] = [
    ['Three clusters become one installation', prepare],
    ['What is written in one place is read in another', replicate],
    ['A filter', filter],
    ['Partition', partition],
    ['Failover', failOver],
    ['Failback', failBack],
    ['The end', agree],
  ];
  for (const [title, play] of chapters) {
    terminal.heading(title);
    await play(terminal, stage, keelson);
    await showRoles(terminal, stage);
  }
};
