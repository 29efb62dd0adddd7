/** Requests of every route with something wrong in them: in the path, the query, the body or the caller. */
import { gzipSync } from 'node:zlib';
import type { Random } from '../random.ts';
import { damageBytes, damageText, damageValue, nested } from './damaged-documents.ts';
import { type KnownResources, STATE } from './known-resources.ts';
import { type Schema, valueFor } from './schema-values.ts';

export interface ApiRoute {
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly body: Schema | undefined;
}

export interface BadRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Uint8Array;
  readonly contentType: string;
}

const JSON_API = 'application/vnd.api+json';
const ARCHIVE = gzipSync('files');

const bodyFor = (schema: Schema, known: KnownResources, random: Random): Uint8Array => {
  const document = valueFor(schema, '', known, random);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      // Left valid: other requests name the resources that it creates.
      return Buffer.from(JSON.stringify(document));
    case 3:
      return Buffer.from(damageText(JSON.stringify(document), random));
    case 4:
      return random.once(4)
        ? Buffer.from(nested(random))
        : damageBytes(Buffer.from(JSON.stringify(document)), random);
    default:
      return Buffer.from(JSON.stringify(damageValue(document, random) ?? null));
  }
};

const STATUSES = 'pending,planning,planned,applied,errored,finalized,discarded';
/** Parameters that routes ask for, with values that they may have. */
const PARAMETERS: readonly (readonly [string, readonly string[]])[] = [
  ['page[number]', ['1', '2', '0', '-1', '1e9', '99999999999999999999', 'x']],
  ['page[size]', ['1', '100', '0', '101', '-1', '1.5']],
  ['search[name]', ['made', 'a', '%', '_', '']],
  ['search[wildcard-name]', ['made*', '*a', '*', '**', '*e-*', '%_*']],
  ['search[tags]', ['env', 'env,one', ',', 'absent']],
  ['search[exclude-tags]', ['env', 'one,,']],
  ['search[basic]', ['via', 'run-x', 'admin', '%']],
  ['search[user]', ['admin', 'nobody']],
  ['search[commit]', ['abc']],
  ['filter[current-run][status]', [STATUSES, 'x']],
  ['filter[status]', [STATUSES, 'x', ',']],
  ['filter[status_group]', ['final', 'non_final', 'discardable', 'constructor']],
  ['filter[operation]', ['plan_only,plan_and_apply', 'x']],
  ['filter[source]', ['tfe-api', 'x']],
  ['filter[timeframe]', ['year', '2026', '99999']],
  ['filter[agent_pool_names]', ['pool', 'x']],
  ['filter[workspace_names]', ['made', 'x']],
  ['filter[names]', ['Default Project', 'owners', 'x']],
  ['filter[name]', ['x', 'agent']],
  ['filter[email]', ['a@b.example', 'x']],
  ['filter[last-ping-since]', ['2026-01-01T00:00:00Z', 'x']],
  ['filter[expiry_status]', ['expired', 'x']],
  ['filter[tagged][0][key]', ['env', '', 'x']],
  ['filter[tagged][0][value]', ['prod', '']],
  ['filter[tagged][1][key]', ['one', 'env']],
  ['filter[tagged][99999999999][key]', ['env']],
  ['filter[tagged][__proto__][key]', ['env']],
  ['filter[tag-union]', ['true', 'x']],
  ['filter[tag-value-default-null]', ['true', 'x']],
  ['filter[permissions][create-workspace]', ['true', 'x']],
  ['q', ['a', '%', '']],
  ['q[email]', ['a@b']],
  ['q[name]', ['acme']],
  ['sort', ['name', '-name', 'current-run.created-at', '-latest-change-at', 'x', '-']],
  ['include', ['organization', 'current_run.plan', 'outputs,vars', 'x', 'workspace']],
  ['name', ['env', '%']],
  ['show_only_configured', ['true', 'x']],
  ['token', ['audit-trails', 'x']],
  ['limit', ['0', '1', '-1', '1e9']],
  ['offset', ['0', '99', '-1']],
];

const queryFor = (known: KnownResources, random: Random): string => {
  if (random.once(30)) {
    return Array.from({ length: random.pick([256, 257, 3000]) }, (_, at) => `a[${at}]=b`).join('&');
  }
  const ids = ['organization', 'workspace', 'project', 'team'].map(
    (kind): readonly [string, readonly string[]] => [
      `filter[${kind}][id]`,
      [known.idOf(`${kind}s`, random)],
    ],
  );
  const names: readonly (readonly [string, readonly string[]])[] = [
    ['filter[organization][name]', [known.organization]],
    ['filter[workspace][name]', [known.workspaceName(random)]],
  ];
  const all = [...PARAMETERS, ...ids, ...names];
  const given = [...(random.once(4) ? names : [])];
  for (let left = random.below(4); left > 0; left--) given.push(random.pick(all));
  const text = given
    .map(([name, values]) => `${name}=${encodeURIComponent(random.pick(values))}`)
    .join('&');
  return random.once(4) ? damageText(text, random).replaceAll(/[#?]/g, '') : text;
};

const pathFor = (template: string, known: KnownResources, random: Random): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const given = known.parameter(name, random);
    switch (random.below(40)) {
      case 0:
        return encodeURIComponent(damageText(given, random));
      case 1:
        return random.pick([
          '%00',
          '%2F',
          '..',
          '%2e%2e%2f',
          '%',
          '%ff',
          'x'.repeat(1100),
          '~',
          ':a',
        ]);
      default:
        return encodeURIComponent(given);
    }
  });

/** Uploads and downloads at the addresses that the service has signed, and signatures that are wrong. */
const signedRequest = (address: string, random: Random): BadRequest => {
  const [path = '', query = ''] = (random.once(6) ? damageText(address, random) : address)
    .replaceAll('#', '')
    .split('?');
  const content = random.pick([Buffer.from(STATE), ARCHIVE]);
  return {
    method: path.includes('/uploads/') ? 'PUT' : 'GET',
    path,
    query,
    body: random.once(3) ? content : damageBytes(content, random),
    contentType: 'application/octet-stream',
  };
};

/** Picks deletions less often: each one leaves fewer resources to send requests for. */
const pickRoute = (routes: readonly ApiRoute[], random: Random): ApiRoute => {
  const route = random.pick(routes);
  const removes = route.method === 'DELETE' || route.path.endsWith('safe-delete');
  return removes && !random.once(4) ? random.pick(routes) : route;
};

/** A request of one of the routes; some of them are right, so that there is something to ask for. */
export const badRequest = (
  routes: readonly ApiRoute[],
  known: KnownResources,
  random: Random,
): BadRequest => {
  const address = random.once(12) ? known.address(random) : undefined;
  if (address !== undefined) return signedRequest(address, random);
  const { method, path, body } = pickRoute(routes, random);
  const damagedMethod = random.once(80) ? random.pick(['PUT', 'HEAD', 'LIST', 'BREW']) : method;
  return {
    method: damagedMethod,
    path: pathFor(path, known, random),
    query: method === 'GET' || random.once(8) ? queryFor(known, random) : '',
    body: body === undefined || random.once(40) ? Buffer.alloc(0) : bodyFor(body, known, random),
    contentType: random.once(60)
      ? random.pick(['', 'application/json', ';;', 'text/plain'])
      : JSON_API,
  };
};
