/**
 * Every GET and LIST of the OpenAPI documents is sent to a running process, and each answer is compared with
 * the answer that its document describes. Parameters that are not in `NAMES` name nothing, so that refusals are
 * compared too. Answers of the other methods are compared in the tests of the services, all that their harnesses
 * get (`answerCheck`).
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { compareAnswers, type DescribedApi } from '@keelson/testkit/described-answers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Answer {
  readonly tag: string;
  readonly path: string;
  readonly status: number;
  /** Differences from the description. */
  readonly faults: readonly string[];
}

const SLOW_MS = 120_000;
/** Values of path parameters, by name. */
const NAMES: Record<string, string> = {
  mount: 'pki',
  organization_name: 'acme',
};

/** Queries without which a path is refused. */
const queryOf = (path: string): string | undefined =>
  ({
    '/sys/metrics': '?format=prometheus',
    '/workspaces/{workspace_id}/run-triggers': '?filter[run-trigger][type]=inbound',
    '/team-workspaces': `?filter[workspace][id]=${NAMES['workspace_id']}`,
  })[path];

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

const headersOf = (path: string): Record<string, string> =>
  path.startsWith('/v1')
    ? { 'x-service-token': keelson.rootToken }
    : {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      };

const send = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
  const answer = await fetch(keelson.http + path, {
    method: 'POST',
    headers: headersOf(path),
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};

const seedAuthority = async (): Promise<void> => {
  await send('/v1/sys/mounts/pki', { type: 'pki' });
  await send('/v1/pki/root/generate/internal', { common_name: 'Example Root', key_type: 'ec' });
  await send('/v1/pki/roles/web', { allow_any_name: true, key_type: 'ec' });
  const { data } = (await send('/v1/pki/issue/web', {
    common_name: 'www.example.com',
    ttl: '1h',
  })) as {
    data: { serial_number: string };
  };
  Object.assign(NAMES, { name: 'web', issuer_ref: 'default', key_ref: 'default' });
  NAMES['serial'] = data.serial_number;
  await send('/v1/pki/config/cluster', { path: `${keelson.https}/v1/pki` });
  await send('/v1/pki/config/acme', { enabled: true });
  await send('/v1/pki/config/est', { enabled: true, default_path_policy: 'role:web' });
};

const seedAdministration = async (): Promise<void> => {
  await send('/v1/identity/mfa/method/totp', { issuer: 'Keelson' });
  await send('/v1/sys/policies/acl/web', { policy: 'path "pki/*" { capabilities = ["read"] }' });
  await send('/v1/sys/namespaces/web', {});
  await send('/v1/cubbyhole/web', { key: 'value' });
  await send('/v1/identity/entity', { name: 'web' });
  await send('/v1/auth/token/roles/web', { allowed_policies: ['web'] });
  Object.assign(NAMES, { path: 'web', role_name: 'web' });
};

const create = async (path: string, type: string, attributes: object): Promise<string> => {
  const { data } = (await send(`/api/v2/${path}`, { data: { type, attributes } })) as {
    data: { id: string };
  };
  return data.id;
};

const seedWorkspaces = async (): Promise<void> => {
  await create('organizations', 'organizations', { name: 'acme', email: 'ops@example.com' });
  NAMES['workspace_id'] = await create('organizations/acme/workspaces', 'workspaces', {
    name: 'web',
  });
  NAMES['workspace_name'] = 'web';
  const own = `workspaces/${NAMES['workspace_id']}`;
  await send(`/api/v2/${own}/actions/lock`, {});
  const state = Buffer.from(
    '{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"web","outputs":{"greeting":{"value":"hello","type":"string"}},"resources":[]}',
  );
  NAMES['state_version_id'] = await create(`${own}/state-versions`, 'state-versions', {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    lineage: 'web',
    state: state.toString('base64'),
  });
  await create(
    `${own}/relationships/data-retention-policy`,
    'data-retention-policy-delete-olders',
    {
      deleteOlderThanNDays: 30,
    },
  );
  NAMES['project_id'] = await create('organizations/acme/projects', 'projects', { name: 'shop' });
  NAMES['team_id'] = await create('organizations/acme/teams', 'teams', { name: 'builders' });
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  await seedAuthority();
  await seedAdministration();
  await seedWorkspaces();
}, SLOW_MS);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const answersOf = async (name: string): Promise<readonly Answer[]> => {
  const source = await fetch(`${keelson.http}/openapi/${name}.json`);
  const document = (await source.json()) as DescribedApi;
  const { faultsOf } = compareAnswers(document);
  const found: Answer[] = [];
  for (const [path, { get: operation }] of Object.entries(document.paths)) {
    if (operation === undefined) continue;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, one: string) => NAMES[one] ?? 'x');
    const url = (document.servers[0]?.url ?? '') + filled;
    const list = operation.parameters?.find((one) => one.name === 'list');
    const queries = [
      ...(list?.required === true ? [] : [queryOf(path) ?? '']),
      ...(list === undefined ? [] : ['?list=true']),
    ];
    for (const query of queries) {
      const answer = await fetch(keelson.http + url + query, {
        headers: headersOf(url),
        redirect: 'manual',
      });
      const faults = faultsOf(operation, {
        status: answer.status,
        mediaType: (answer.headers.get('content-type') ?? '').split(';')[0] ?? '',
        body: await answer.text(),
      });
      const [tag = ''] = operation.tags;
      found.push({ tag, path: path + query, status: answer.status, faults });
    }
  }
  return found;
};

/** Capabilities whose reads succeed only while an agent is running. */
const UNSEEN: Readonly<Record<string, readonly string[]>> = {
  workspace: ['agents', 'assessments'],
  pki: [],
  sys: [],
};

describe.for(['workspace', 'pki', 'sys'])('the reads of %s', (name) => {
  test('are answered as described, and of every capability one succeeds', async () => {
    const answers = await answersOf(name);
    const faulty = answers.filter(({ faults }) => faults.length > 0);
    expect(faulty.map(({ path, faults }) => `${path}: ${faults.join('; ')}`)).toEqual([]);
    const seen = new Set(answers.filter(({ status }) => status < 300).map(({ tag }) => tag));
    const unseen = new Set(answers.map(({ tag }) => tag).filter((tag) => !seen.has(tag)));
    expect([...unseen].toSorted()).toEqual(UNSEEN[name]);
  });
});
