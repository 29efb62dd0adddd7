/**
 * Every declared query parameter of every operation, sent alone with a telling value: the result differs, or
 * the request is refused. A value other than the fixed ones is refused with 400, which names them; a
 * filter that was left out would show more than was asked for. Bodies: `accepted-fields.integration.test.ts`.
 */
import { type AskedAlone, judgeAlone } from '@keelson/testkit/parameters-alone';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Populateed, populateLists } from './populated-lists.ts';
import type { Reply } from './workspace-harness.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly items?: Schema;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** Parameters without which a list is refused. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/vars': 'filter[organization][name]=acme&filter[workspace][name]={workspace_name}',
  '/state-versions': 'filter[organization][name]=acme&filter[workspace][name]={workspace_name}',
  '/team-workspaces': 'filter[workspace][id]={workspace_id}',
  '/team-projects': 'filter[project][id]={project_id}',
  '/workspaces/{workspace_id}/run-triggers': 'filter[run-trigger][type]=inbound',
};

/** The query without which a parameter has no effect. */
const BESIDE: Readonly<Record<string, string>> = {
  'filter[tagged][0][value]': 'filter[tagged][0][key]=env',
  'filter[tag-value-default-null]': 'filter[tagged][0][key]=env&filter[tagged][0][value]=',
  'filter[tag-union]': 'filter[tagged][0][key]=env&filter[tagged][1][key]=absent',
};

/** Telling values of parameters whose form only their description tells. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  'page[number]': ['2'],
  'page[size]': ['1'],
  'filter[timeframe]': ['1999'],
  'filter[until]': ['1999-01-01T00:00:00Z'],
  'search[exclude-tags]': ['tagged'],
  'filter[exclude][taggable][id]': ['{workspace_id}'],
};

/** Parameters that act for callers with few rights. */
const AS_MEMBER = /^filter\[permissions\]/;

/** Operations that are answered for the token of the organization alone. */
const AS_ORGANIZATION = '/organization/audit-trail';

/** Operations whose `include` has no effect: clients may ask for what has an address of its own. */
const NOTHING_TO_INCLUDE: readonly string[] = [
  '/workspaces/{workspace_id}/configuration-versions',
  '/configuration-versions/{configuration_version_id}',
  '/runs/{run_id}/configuration-version',
  '/runs/{run_id}/task-stages',
  '/runs/{run_id}/policy-checks',
];

const RUN_INCLUDES = [
  'plan,apply,created_by,cost_estimate,configuration_version',
  'configuration_version.ingress_attributes,workspace,task_stages,tf_policy_evaluations',
].join();
const WORKSPACE_INCLUDES = [
  'organization,current_configuration_version,current_configuration_version.ingress_attributes',
  'current_run,current_run.plan,current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes,effective_tag_bindings,locked_by,readme',
  'outputs,current-state-version,project',
].join();
/** Everything that the public client go-tfe (1.109) can ask to include. */
const INCLUDES_OF_CLIENTS: Readonly<Record<string, string>> = {
  '/admin/users': 'organizations',
  '/organizations/{organization_name}': 'default-project',
  '/organizations/{organization_name}/agent-pools': 'workspaces,hyok-configurations',
  '/organizations/{organization_name}/oauth-clients': 'oauth_tokens,projects',
  '/organizations/{organization_name}/organization-memberships': 'user,teams',
  '/organizations/{organization_name}/projects': 'effective_tag_bindings',
  '/organizations/{organization_name}/teams': 'users,organization-memberships',
  '/organizations/{organization_name}/varsets': 'workspaces,projects,stacks,vars',
  '/organizations/{organization_name}/workspaces': WORKSPACE_INCLUDES,
  '/workspaces/{workspace_id}': WORKSPACE_INCLUDES,
  '/workspaces/{workspace_id}/configuration-versions': 'ingress_attributes,run',
  '/configuration-versions/{configuration_version_id}': 'ingress_attributes,run',
  '/workspaces/{workspace_id}/run-triggers': 'workspace,sourceable',
  '/workspaces/{workspace_id}/runs': RUN_INCLUDES,
  '/runs/{run_id}': RUN_INCLUDES,
  '/runs/{run_id}/policy-checks': 'run,run.workspace',
  '/runs/{run_id}/run-events': 'comment,actor',
  '/runs/{run_id}/task-stages': 'task_results,policy_evaluations',
  '/state-versions': 'created_by,run,run.created_by,run.configuration_version,outputs',
};

let populated: Populateed;
let organizationToken: string;
let operations: readonly Operation[];

beforeAll(async () => {
  populated = await populateLists();
  const { pathsJson } = await populated.harness.service.edge.describe();
  type Described = Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>;
  operations = Object.entries(JSON.parse(pathsJson) as Record<string, Described>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [] }]) => ({
        method: method.toUpperCase(),
        path,
        parameters: parameters.filter(({ in: place }) => place === 'query'),
      })),
  );
}, 120_000);
// The last one may have been replaced by a request.
beforeEach(async () => {
  const path = '/organizations/acme/authentication-token';
  const made = await populated.harness.create(path, 'authentication-tokens', {});
  organizationToken = String(made.attributes['token']);
});
afterAll(() => populated.harness[Symbol.asyncDispose]());

const isFields = ({ name }: Parameter): boolean => name.startsWith('fields[');

const allowedOf = ({ schema }: Parameter): readonly string[] | undefined =>
  schema.type === 'boolean' ? ['true', 'false'] : (schema.items ?? schema).enum;

/** Whether only some texts are values. */
const isFixed = (parameter: Parameter): boolean =>
  allowedOf(parameter) !== undefined ||
  parameter.schema.pattern !== undefined ||
  parameter.schema.format !== undefined;

const tellingOf = (parameter: Parameter): readonly string[] => {
  const { name, schema } = parameter;
  const allowed = allowedOf(parameter);
  if (allowed !== undefined) return allowed;
  const latest = schema.format === 'date-time' ? ['2999-01-01T00:00:00Z'] : undefined;
  return TELLING[name] ?? latest ?? ['no-such-thing'];
};

const fill = (text: string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => populated.ids[name] ?? '');

/** A query with everything that the parameter needs. */
const besides = (path: string, { name }: Parameter, ...sent: readonly string[]): string => {
  const isSent = sent.some((part) => part.startsWith(`${name}=`));
  const needed = [REQUIRED[path] ?? '', BESIDE[name] ?? '']
    .flatMap((query) => query.split('&'))
    .filter((part) => part !== '' && !(isSent && part.startsWith(`${name}=`)));
  return [...needed, ...sent].map(fill).join('&');
};

const isOf = (type: string, reply: Reply): boolean =>
  [reply.data, ...reply.list, ...reply.included].flat().some((one) => one?.type === type);

/** Without what repeats the request or differs each time. */
const outcomeOf = ({ data, included, meta }: Reply): string =>
  JSON.stringify({ data, included, meta }).replaceAll(/"https:\/\/[^"]*"/g, '"address"');

const ask = async (method: string, path: string, query: string, caller?: string) => {
  const token = path === AS_ORGANIZATION ? organizationToken : caller;
  const reply = await populated.harness.call(method, `${fill(path)}?${query}`, undefined, token);
  const alone: AskedAlone = {
    status: reply.status,
    errors: reply.errors.map(({ detail }) => detail),
    warnings: reply.meta?.warnings ?? [],
    outcome: reply.status === 204 ? '' : outcomeOf(reply),
  };
  return { reply, alone };
};

const each = async (
  of: readonly Operation[],
  findingOf: (operation: Operation, parameter: Parameter) => Promise<string | undefined>,
): Promise<readonly string[]> => {
  const findings: string[] = [];
  for (const operation of of) {
    for (const parameter of operation.parameters) {
      const finding = await findingOf(operation, parameter);
      if (finding !== undefined)
        findings.push(`${operation.method} ${operation.path} ${parameter.name}: ${finding}`);
    }
  }
  return findings;
};

/** `fields` has one implementation for all answers: those of addresses with another parameter suffice. */
const readsOf = (of: readonly Operation[]) =>
  of.filter(
    ({ method, parameters }) =>
      method === 'GET' && parameters.some((one) => !isFields(one) && !one.name.startsWith('page[')),
  );

test('a parameter sent alone changes what is read', async () => {
  const reads = readsOf(operations);
  expect(reads.length).toBeGreaterThanOrEqual(35);
  const findings = await each(reads, async ({ method, path, parameters }, parameter) => {
    const { name } = parameter;
    const include = parameters.find((one) => one.name === 'include');
    const all = include && `include=${allowedOf(include)?.join(',')}`;
    const more = isFields(parameter) && all !== undefined ? [all] : [];
    const token = AS_MEMBER.test(name) ? populated.memberToken : undefined;
    const plain = await ask(method, path, besides(path, parameter, ...more), token);
    if (plain.reply.status !== 200) return `cannot be tried: ${plain.alone.errors[0]}`;
    const type = /^fields\[(.*)\]$/.exec(name)?.[1];
    if (type !== undefined && !isOf(type, plain.reply)) return undefined;
    const findings: (string | undefined)[] = [];
    for (const value of type === undefined ? tellingOf(parameter) : ['absent']) {
      const query = besides(path, parameter, ...more, `${name}=${encodeURIComponent(fill(value))}`);
      const sent = await ask(method, path, query, token);
      findings.push(judgeAlone(name, plain.alone, sent.alone));
    }
    if (name === 'include' && NOTHING_TO_INCLUDE.includes(path)) return undefined;
    return findings.includes(undefined) ? undefined : findings[0];
  });
  expect(findings).toEqual([]);
}, 120_000);

test.for(Object.entries(INCLUDES_OF_CLIENTS))(
  'what clients ask to include is accepted: %s %s',
  async ([path, names]) => {
    const query = [REQUIRED[path] ?? '', `include=${names}`].join('&');
    const { alone } = await ask('GET', path, fill(query));
    expect([alone.status, alone.errors]).toEqual([200, []]);
  },
);

test('a value other than the fixed ones is 400, with those that are allowed', async () => {
  const fixed = operations.map((operation) => ({
    ...operation,
    parameters: operation.parameters.filter((one) => !isFields(one) && isFixed(one)),
  }));
  expect(fixed.flatMap(({ parameters }) => parameters).length).toBeGreaterThanOrEqual(70);
  const findings = await each(fixed, async ({ method, path }, parameter) => {
    const { name } = parameter;
    const [first = ''] = parameter.schema.type === 'array' ? (allowedOf(parameter) ?? []) : [];
    for (const value of ['nonsense', ...(first === '' ? [] : [`${first},nonsense`])]) {
      const { reply } = await ask(method, path, besides(path, parameter, `${name}=${value}`));
      const [error] = reply.errors;
      if (reply.status !== 400) return `${value} is answered with ${reply.status}`;
      if (error?.source?.parameter !== name) return `is not named for ${value}`;
      const unnamed = allowedOf(parameter)?.filter((one) => !error.detail.includes(one)) ?? [];
      const isNamed = name === 'sort' || name === 'include' || unnamed.length === 0;
      if (!isNamed) return `${error.detail} lacks ${unnamed.join()}`;
    }
    return undefined;
  });
  expect(findings).toEqual([]);
}, 120_000);

test('a parameter of a request that changes something acts or is refused', async () => {
  const changes = operations
    .filter(({ method }) => method !== 'GET')
    .map((operation) => ({
      ...operation,
      parameters: operation.parameters.filter((one) => !isFields(one) && !isFixed(one)),
    }));
  const findings = await each(changes, async ({ method, path }, parameter) => {
    const [value = ''] = tellingOf(parameter);
    const sent = await ask(method, path, `${parameter.name}=${value}`);
    const plain = await ask(method, path, '');
    return judgeAlone(parameter.name, plain.alone, sent.alone);
  });
  expect(findings).toEqual([]);
});

test('a page, an included name and a field that no list has are refused or named', async () => {
  const reads = operations.filter(
    ({ method, path }) => method === 'GET' && !/^\/(downloads|openapi)\//.test(path),
  );
  expect(reads.length).toBeGreaterThanOrEqual(90);
  const refused = [
    ['page[size]', 'abc'],
    ['page[size]', '0'],
    ['page[number]', '-1'],
    ['page[number]', '1.5'],
    ['page[limit]', '2'],
    ['page', '2'],
    ['include', 'nonsense'],
    ['fields[nonsense]', 'name'],
  ] as const;
  const findings: string[] = [];
  for (const { method, path: template, parameters } of reads) {
    // The query is read before the resource: what does not exist here refuses it, too.
    const path = template.replaceAll(
      /\{(\w+)\}/g,
      (_, id: string) => populated.ids[id] ?? 'absent',
    );
    const base = fill(REQUIRED[template] ?? '');
    const plain = await ask(method, path, base);
    for (const [name, value] of refused) {
      const { reply } = await ask(method, path, `${base}&${name}=${value}`);
      const named = reply.errors[0]?.source?.parameter;
      if (reply.status !== 400 || named !== name)
        findings.push(`${method} ${path} ${name}=${value}: ${reply.status}, ${named} is named`);
    }
    if (plain.reply.status !== 200) continue;
    for (const { name } of parameters.filter(isFields)) {
      const { alone } = await ask(method, path, `${base}&${name}=name,nonsense`);
      if (!alone.warnings.some((text) => text.includes(name) && text.includes('nonsense')))
        findings.push(`${method} ${path} ${name}: ${alone.status}, ${alone.warnings.join()}`);
    }
  }
  expect(findings).toEqual([]);
}, 120_000);
