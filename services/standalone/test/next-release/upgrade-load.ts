/** Clients that write one record of each kind that the next release changes, in turn, while a cluster is upgraded. */
import { findBroken, type RootOf, WriteLedger } from '@keelson/testkit';
import { type AddressedCluster, until } from '@keelson/testkit/addressed-cluster';

type Calls = Pick<AddressedCluster, 'v1' | 'api'>;
type Answer = Awaited<ReturnType<Calls['api']>>;

const POLICY = 'path "pki/*" {\n  capabilities = ["read"]\n}';
/** Writes that must follow before the next step. */
const MORE = 24;

export const resourceOf = (type: string, attributes: object) => ({ data: { type, attributes } });

/** Ids of the records whose names are not their keys, by the key of the write. */
type Ids = Map<string, string>;

export class UpgradeLoad {
  readonly ledger = new WriteLedger();
  /** Answers with a status from 500 on. */
  readonly failures: string[] = [];
  readonly #cluster: Calls;
  /** The last one of each client that exists. */
  readonly #organizations = new Map<string, string>();
  readonly #projects: Ids = new Map();
  readonly #teams: Ids = new Map();
  readonly #externalAccounts: Ids = new Map();
  /** Keys are used once. */
  #rounds = 0;
  #stop: (() => Promise<void>) | undefined;

  constructor(cluster: Calls) {
    this.#cluster = cluster;
  }

  start(): void {
    let isStopped = false;
    const round = this.#rounds++;
    const clients = ['a', 'b'].map(async (name) => {
      for (let turn = 0; !isStopped; turn += 1) {
        const key = `${name}${round}-${turn}`;
        const status = await this.ledger.attempt(key, () => this.#write(name, key, turn));
        if (status === undefined) await this.#answers();
        else await this.#call('list', 'GET', 'organizations?page[size]=1').catch(() => undefined);
      }
    });
    this.#stop = async () => {
      isStopped = true;
      await Promise.all(clients);
    };
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
  }

  /** Waits for a process that is started again. */
  #answers(): Promise<unknown> {
    return until(
      () => this.#cluster.v1('GET', 'sys/health').catch(() => ({ status: 0 })),
      ({ status }) => status === 200,
    );
  }

  async writesMore(): Promise<void> {
    const { length } = this.ledger.acknowledged;
    await until(
      async () => this.ledger.acknowledged.length,
      (count) => count > length + MORE,
    );
  }

  async #call(key: string, method: string, path: string, body?: object) {
    return this.#seen(key, await this.#cluster.api(method, path, body));
  }

  #seen(key: string, answer: Answer): Answer {
    const { status, body } = answer;
    if (status >= 500) this.failures.push(`${key}: ${status} ${JSON.stringify(body)}`);
    return answer;
  }

  async #v1(key: string, path: string, body: object) {
    return this.#seen(key, await this.#cluster.v1('POST', path, body));
  }

  async #write(client: string, key: string, turn: number): Promise<number> {
    const path = `organizations/${this.#organizations.get(client)}`;
    const made = (ids: Ids, { status, body }: Answer) => {
      if (status < 300) ids.set(key, body.data.id);
      return status;
    };
    switch (KINDS[turn % KINDS.length] ?? 'role') {
      case 'organization': {
        const attributes = { name: key, email: 'a@b.example' };
        const body = resourceOf('organizations', attributes);
        const { status } = await this.#call(key, 'POST', 'organizations', body);
        if (status === 201) this.#organizations.set(client, key);
        return status;
      }
      case 'project': {
        const body = resourceOf('projects', { name: key });
        return made(this.#projects, await this.#call(key, 'POST', `${path}/projects`, body));
      }
      case 'team': {
        const body = resourceOf('teams', { name: key });
        return made(this.#teams, await this.#call(key, 'POST', `${path}/teams`, body));
      }
      case 'policy':
        return (await this.#v1(key, `sys/policies/acl/${key}`, { policy: POLICY })).status;
      case 'token role':
        return (await this.#v1(key, `auth/token/roles/${key}`, { token_no_default_policy: true }))
          .status;
      case 'external account':
        return made(this.#externalAccounts, await this.#v1(key, 'pki/acme/new-eab', {}));
      case 'role':
        return (await this.#v1(key, `pki/roles/${key}`, { allow_any_name: true, key_type: 'ec' }))
          .status;
    }
  }

  async #all(path: string): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const { body } = await this.#cluster.api(
        'GET',
        `${path}?page[size]=100&page[number]=${page}`,
      );
      ids.push(...body.data.map(({ id }: { readonly id: string }) => id));
      page = body.meta.pagination['next-page'];
    }
    return ids;
  }

  async #held(): Promise<ReadonlySet<string>> {
    const keys = await Promise.all(
      ['sys/policies/acl', 'auth/token/roles', 'pki/roles', 'pki/eab'].map(
        async (path): Promise<readonly string[]> =>
          (await this.#cluster.v1('LIST', path)).body.data.keys,
      ),
    );
    const organizations = await this.#all('organizations');
    const listed = await Promise.all(
      organizations.flatMap((name) =>
        ['projects', 'teams'].map((part) => this.#all(`organizations/${name}/${part}`)),
      ),
    );
    const found = new Set([...keys, ...listed].flat());
    const byId = [this.#projects, this.#teams, this.#externalAccounts].flatMap((ids) =>
      [...ids].flatMap(([key, id]) => (found.has(id) ? [key] : [])),
    );
    return new Set([...found, ...organizations, ...byId]);
  }

  /**
   * Compares everything that was acknowledged, the tables and the secondary while nobody writes.
   * @returns a sentence for each acknowledged write that is lost, wrong row and 5xx; empty if all is well
   */
  async findWrong(secondary: readonly [RootOf, RootOf]): Promise<readonly string[]> {
    await this.stop();
    try {
      const { ledger } = this;
      const held = await this.#held();
      const broken = await findBroken({ ledger, held, roots: { secondary } });
      const { body } = await this.#cluster.v1('POST', 'sys/replication/merkle-check');
      const tables = JSON.stringify(body.data).match(/"corrupted_tables":\[[^\]]*\]/g) ?? [];
      const isChecked = tables.length > 0;
      const wrong = tables.filter((one) => one !== '"corrupted_tables":[]');
      const refused = ledger.refused.map((key) => `${key} was refused`);
      return [
        ...this.failures,
        ...broken,
        ...refused,
        ...wrong,
        ...(isChecked ? [] : ['no table was checked']),
      ];
    } finally {
      this.start();
    }
  }
}

const KINDS = [
  'organization',
  'project',
  'team',
  'policy',
  'token role',
  'external account',
  'role',
] as const;
