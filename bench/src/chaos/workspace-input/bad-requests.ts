/** Requests of every route with something wrong in them: in the path, the query, the body or the caller. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  byteDamage,
  damaged,
  documentDamage,
  nestedText,
  oneIn,
  textDamage,
  usually,
  weighted,
} from '../malformed.ts';
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
const CONTENT = fc.constantFrom<Uint8Array[]>(Buffer.from(STATE), gzipSync('files'));

const NO_BODY = fc.constant<Uint8Array>(Buffer.of());

const fromText = (text: string): Uint8Array => Buffer.from(text);
const toBytes = (document: unknown): Uint8Array => fromText(JSON.stringify(document) ?? '');

const bodyFor = (schema: Schema, known: KnownResources): fc.Arbitrary<Uint8Array> => {
  const document = valueFor(schema, '', known);
  const bytes = document.map(toBytes);
  return weighted(
    // Left valid: other requests name the resources that it creates.
    [12, bytes],
    [
      4,
      damaged(
        document.map((value) => JSON.stringify(value)),
        textDamage,
      ).map(fromText),
    ],
    [1, nestedText.map(fromText)],
    [3, damaged(bytes, byteDamage)],
    [20, damaged(document, documentDamage).map(toBytes)],
  );
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

/** One of the values, by the name of the parameter. */
const given = (name: string, values: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  values.map((value) => `${name}=${encodeURIComponent(value)}`);

const queryFor = (known: KnownResources): fc.Arbitrary<string> => {
  const many = fc
    .constantFrom(256, 257, 3000)
    .map((length) => Array.from({ length }, (_, at) => `a[${at}]=b`).join('&'));
  const names = [
    given('filter[organization][name]', fc.constant(known.organization)),
    given('filter[workspace][name]', known.workspaceName()),
  ];
  const ids = ['organization', 'workspace', 'project', 'team'].map((kind) =>
    given(`filter[${kind}][id]`, known.idOf(`${kind}s`)),
  );
  const others = PARAMETERS.map(([name, values]) => given(name, fc.constantFrom(...values)));
  const parameters = fc
    .tuple(
      oneIn(4, fc.tuple(...names), fc.constant([])),
      fc.array(fc.oneof(...others, ...ids, ...names), { maxLength: 3 }),
    )
    .map((lists) => lists.flat().join('&'));
  const damage = textDamage.map((change) => (text: string) => change(text).replaceAll(/[#?]/g, ''));
  return oneIn(30, many, damaged(parameters, damage, 4));
};

const WRONG_SEGMENT = fc.constantFrom(
  ...'%00 %2F .. %2e%2e%2f % %ff ~ :a'.split(' '),
  'x'.repeat(1100),
);

const segmentFor = (name: string, known: KnownResources): fc.Arbitrary<string> => {
  const value = known.parameter(name);
  return oneIn(
    20,
    fc.oneof(damaged(value, textDamage).map(encodeURIComponent), WRONG_SEGMENT),
    value.map(encodeURIComponent),
  );
};

const pathFor = (template: string, known: KnownResources): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...template
        .split(/\{(\w+)\}/)
        .map((part, index) => (index % 2 === 0 ? fc.constant(part) : segmentFor(part, known))),
    )
    .map((parts) => parts.join(''));

/** Uploads and downloads at the addresses that the service has signed, and signatures that are wrong. */
const signedRequest = (known: KnownResources): fc.Arbitrary<BadRequest> =>
  fc
    .record({
      address: damaged(known.address(), textDamage, 6),
      body: oneIn(3, CONTENT, damaged(CONTENT, byteDamage)),
    })
    .map(({ address, body }) => {
      const [path = '', query = ''] = address.replaceAll('#', '').split('?');
      const method = path.includes('/uploads/') ? 'PUT' : 'GET';
      return { method, path, query, body, contentType: 'application/octet-stream' };
    });

/** Requests of the routes; some of them are right, so that there is something to ask for. */
export const badRequest = (
  routes: readonly ApiRoute[],
  known: KnownResources,
): fc.Arbitrary<BadRequest> => {
  const query = queryFor(known);
  const requests = routes.map(({ method, path, body }) => {
    // Each deletion leaves fewer resources to send requests for.
    const weight = method === 'DELETE' || path.endsWith('safe-delete') ? 1 : 4;
    const request = fc.record({
      method: usually(method, 80, ['PUT', 'HEAD', 'LIST', 'BREW']),
      path: pathFor(path, known),
      query: method === 'GET' ? query : oneIn(8, query, fc.constant('')),
      body: body === undefined ? NO_BODY : oneIn(40, NO_BODY, bodyFor(body, known)),
      contentType: usually(JSON_API, 60, ['', 'application/json', ';;', 'text/plain']),
    });
    return [weight, request] as const;
  });
  return oneIn(12, signedRequest(known), weighted(...requests));
};
