/**
 * Every declared parameter of every operation of sys, in body or query, sent alone with a telling value: what
 * can be read afterwards differs, the request is refused, or a warning names the parameter. A parameter that
 * limits is never only warned of. Pages of lists are tried by `list-pages.integration.test.ts`.
 */
import {
  type AskedAlone,
  judgeAlone,
  operationsWithParameters,
} from '@keelson/testkit/parameters-alone';
import { expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import { CLUSTER_WAYS } from './parameters-alone-cluster-ways.ts';
import { IDENTITY_WAYS } from './parameters-alone-identity-ways.ts';
import { MFA_WAYS } from './parameters-alone-mfa-ways.ts';
import { OIDC_WAYS } from './parameters-alone-oidc-ways.ts';
import type { Body, Found, Place, Telling, Way } from './parameters-alone-way.ts';
import { WAYS } from './parameters-alone-ways.ts';
import { openInitializedSys } from './sys-harness.ts';

/** Members that differ with every request. */
const OF_EACH =
  /^(?:request_id|accessor|client_token|nonce|verification_nonce|otp|keys_base64|creation_time|issue_time|expire_time|last_renewal|uuid|otp_length|token|last_wal|last_heartbeat|random_bytes)$/;

const normalised = (value: unknown): string =>
  (
    JSON.stringify(value, (name, member: unknown) => {
      if (!OF_EACH.test(name)) return member;
      return typeof member === 'string' ? `a text of ${member.length}` : typeof member;
    }) ?? ''
  )
    .replaceAll(/\b(?:alone|sample|token)[-_][0-9a-f]+\b/g, 'name')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
    .replaceAll(/\b[0-9a-f]{64,}\b/g, 'digest');

/** `{ a: { b: value } }` for the name `a.b`, with the other members of `least`. */
const withMember = (least: Body, name: string, value: unknown): Body => {
  const [outer = '', inner] = name.split('.');
  if (inner === undefined) return { ...least, [outer]: value };
  return { ...least, [outer]: { ...(least[outer] as object | undefined), [inner]: value } };
};

const isTelling = (given: unknown): given is Telling =>
  typeof given === 'object' && given !== null && 'telling' in given;

/** The value that the way has for a parameter, or else the table of accepted fields. */
const tellingOf = (way: Way, found: Found, route: string, name: string): Telling | undefined => {
  const given = way.values?.(found)[name];
  if (given !== undefined) return isTelling(given) ? given : { telling: given };
  const effect = Object.values(FIELD_GROUPS).find(({ routes }) => routes.includes(route))?.fields[
    name
  ];
  if (effect === undefined || effect.kind === 'elsewhere') return undefined;
  if (effect.kind !== 'shown') return { telling: effect.value };
  const [outer = '', inner] = name.split('.');
  const beside = inner === undefined ? effect.additional : { [outer]: effect.additional };
  return { telling: effect.value, beside: beside as Body };
};

const queryOf = (body: Body): string =>
  Object.entries(body)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');

const ask = async (
  { cluster, token }: Place,
  { way, path, method }: { readonly way: Way; readonly path: string; readonly method: string },
  found: Found,
  body: Body,
): Promise<AskedAlone> => {
  const isRead = ['GET', 'HEAD', 'LIST'].includes(method);
  const request = isRead ? { query: queryOf(body) } : { body };
  const answer = await cluster.call(method, path, { token: way.as?.(found) ?? token, ...request });
  const { status, body: document = {} } = answer;
  const seen = (await way.observe?.({ cluster, token }, path, document, found)) ?? document;
  const { warnings: _, errors: __, ...rest } = seen as { warnings?: unknown; errors?: unknown };
  return {
    status,
    errors: document.errors ?? [],
    warnings: document.warnings ?? [],
    outcome: normalised(rest),
  };
};

/** The parameters of all lists. */
const OF_PAGES = ['after', 'limit'];

/** The operations that have parameters other than those of pages, with these. */
const operationsToTry = (pathsJson: string) =>
  operationsWithParameters(pathsJson).flatMap(({ route, names }) => {
    const own = route.startsWith('LIST ') ? names.filter((one) => !OF_PAGES.includes(one)) : names;
    return own.length === 0 ? [] : [{ route, names: own }];
  });

let serial = 0;

const tryOperation = async (
  way: Way,
  route: string,
  names: readonly string[],
  shared: Place,
): Promise<readonly string[]> => {
  const [method = '', described = ''] = route.split(' ');
  const send = async (bodyOf: (found: Found) => Body) => {
    const opened = await way.open?.(route);
    const place = opened ?? shared;
    try {
      serial += 1;
      const found = {
        serial: `alone-${serial}`,
        ...(await way.prepare?.(place, `alone-${serial}`)),
      };
      const path = (way.at?.(described.slice(1), found) ?? described.slice(1)).replaceAll(
        /\{\w+\}/g,
        found.serial,
      );
      return await ask(place, { way, path, method }, found, bodyOf(found));
    } finally {
      await opened?.close?.();
    }
  };
  const findings: string[] = [];
  for (const name of names) {
    if (typeof way.without === 'string' || way.without?.[name] !== undefined) continue;
    if (described.includes(`{${name}}`)) continue;
    let isKnown = true;
    const leastOf = (found: Found): Body => ({
      ...way.least?.(found),
      ...tellingOf(way, found, route, name)?.beside,
    });
    const plain = await send(leastOf);
    const sent = await send((found) => {
      const given = tellingOf(way, found, route, name);
      isKnown = given !== undefined;
      return withMember(leastOf(found), name, given?.telling);
    });
    const finding = isKnown ? judgeAlone(name, plain, sent) : 'has no value to try';
    if (finding !== undefined) findings.push(`${route} ${name}: ${finding}`);
  }
  return findings;
};

test('a parameter sent alone is noticed by every operation', async () => {
  const cluster = await openInitializedSys();
  try {
    const token = (await cluster.asRoot('POST', 'auth/token/create', { body: {} })).body.auth
      .client_token;
    for (const name of ['limited', 'other'])
      await cluster.asRoot('POST', `auth/token/roles/${name}`, { body: { path_suffix: name } });
    const { pathsJson } = await cluster.sys.edge.describe();
    const findings: string[] = [];
    for (const { route, names } of operationsToTry(pathsJson)) {
      const way = [...CLUSTER_WAYS, ...IDENTITY_WAYS, ...MFA_WAYS, ...OIDC_WAYS, ...WAYS].find(
        (one) => one.route.test(route),
      );
      if (way === undefined) findings.push(`${route}: there is no way to try it`);
      else findings.push(...(await tryOperation(way, route, names, { cluster, token })));
    }
    expect(findings).toEqual([]);
  } finally {
    await cluster.close();
  }
}, 300_000);
