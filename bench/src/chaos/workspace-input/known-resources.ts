/** Ids by type, signed addresses and agents' tokens from the service's answers so far. */
import fc from 'fast-check';
import { choice, oneIn, pickAt } from '../malformed.ts';

/** Number of remembered ids of each kind; the oldest are dropped. */
const KEPT = 60;
/** A state with an output and an instance, as the tool writes it. */
export const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.11.4',
  serial: 1,
  lineage: '0b0c6c4a-0000-4000-8000-000000000001',
  outputs: { one: { value: ['a', 1], type: ['tuple', ['string', 'number']], sensitive: true } },
  resources: [
    {
      mode: 'managed',
      type: 'terraform_data',
      name: 'one',
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ index_key: 'a', schema_version: 0, attributes: { id: 'x' } }],
    },
  ],
});

/** Type of the resource that a parameter of a path names, where it is not the parameter's own name. */
const TYPE_OF_PARAMETER: Readonly<Record<string, string>> = {
  variable_id: 'vars',
  token_id: 'authentication-tokens',
  membership_id: 'organization-memberships',
  reserved_key_id: 'reserved-tag-keys',
  output_id: 'state-version-outputs',
  ssh_key_id: 'ssh-keys',
  oauth_client_id: 'oauth-clients',
  oauth_token_id: 'oauth-tokens',
  organization_name: 'organizations',
};

interface Identified {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, { readonly data?: unknown }>>;
}

const isObject = (value: unknown): value is Identified =>
  typeof value === 'object' && value !== null;

/** Its generators pick from what is known when an input is generated; prepare at least one of each first. */
export class KnownResources {
  readonly #ids = new Map<string, string[]>();
  readonly #addresses: string[] = [];
  readonly #workspaceNames: string[] = [];
  readonly #hidden: readonly string[];
  /** The organization that most requests concern. */
  organization = '';

  /** @param hidden ids that no request may name, because whoever sends the requests needs these resources */
  constructor(hidden: readonly string[] = []) {
    this.#hidden = hidden;
  }

  #keep(list: string[], value: string): void {
    if (list.includes(value)) return;
    list.push(value);
    if (list.length > KEPT) list.shift();
  }

  /** Forgets what was removed under this path, so that it is requested rarely. */
  forget(path: string): void {
    const segments = new Set(path.split('/'));
    for (const list of [...this.#ids.values(), this.#workspaceNames]) {
      const left = list.filter((known) => !segments.has(known));
      if (left.length < list.length && left.length > 0) list.splice(0, list.length, ...left);
    }
  }

  learn(answer: string): void {
    if (!answer.startsWith('{')) return;
    const { data } = JSON.parse(answer) as { data?: unknown };
    for (const resource of (Array.isArray(data) ? data : [data]).slice(0, 3)) this.#add(resource);
  }

  #add(resource: unknown): void {
    if (!isObject(resource) || typeof resource.id !== 'string') return;
    const { id, type, attributes, relationships } = resource;
    if (typeof type !== 'string' || this.#hidden.includes(id)) return;
    const ids = this.#ids.get(type) ?? [];
    this.#ids.set(type, ids);
    this.#keep(ids, id);
    if (type === 'workspaces' && typeof attributes?.['name'] === 'string')
      this.#keep(this.#workspaceNames, attributes['name']);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.endsWith('-url') && typeof value === 'string' && value.includes('/api/v2/'))
        this.#keep(this.#addresses, value);
    }
    for (const related of Object.values(relationships ?? {})) {
      for (const one of [related.data].flat().slice(0, 2)) {
        if (isObject(one) && one.attributes === undefined) this.#add(one);
      }
    }
  }

  idOf(type: string): fc.Arbitrary<string> {
    const known = fc.tuple(choice, fc.boolean()).map(([at, isNewest]) => {
      const ids = this.#ids.get(type) ?? this.#idsAt(at);
      // The newest is the least likely to have changed.
      return isNewest ? (ids.at(-1) ?? '') : pickAt(ids, at);
    });
    return oneIn(20, this.anyId(), known);
  }

  #idsAt(at: number): readonly string[] {
    return pickAt([...this.#ids.values()], at);
  }

  anyId(): fc.Arbitrary<string> {
    return fc.tuple(choice, choice).map(([list, at]) => pickAt(this.#idsAt(list), at));
  }

  /** Path and query of a signed address. */
  address(): fc.Arbitrary<string> {
    return choice.map((at) => {
      const address = pickAt(this.#addresses, at);
      return address.slice(address.indexOf('/api/v2/') + '/api/v2'.length);
    });
  }

  workspaceName(): fc.Arbitrary<string> {
    return choice.map((at) => pickAt(this.#workspaceNames, at));
  }

  /** Values for a path parameter. */
  parameter(name: string): fc.Arbitrary<string> {
    switch (name) {
      case 'organization_name':
        return oneIn(20, this.idOf('organizations'), fc.constant(this.organization));
      case 'workspace_name':
        return this.workspaceName();
      case 'kind':
        return fc.constantFrom('plan-file', 'json-output', 'json-output-redacted', 'errored-state');
      case 'expires':
        return fc.constantFrom('1', '9999999999', 'x');
      case 'signature':
        return fc.constant('A'.repeat(43));
      case 'phase_id':
        return fc.oneof(this.idOf('plans'), this.idOf('applies'));
      case 'grant_id':
        return fc.oneof(this.idOf('team-workspaces'), this.idOf('team-projects'));
      default:
        return this.idOf(
          TYPE_OF_PARAMETER[name] ?? `${name.replace(/_id$/, '').replaceAll('_', '-')}s`,
        );
    }
  }
}
