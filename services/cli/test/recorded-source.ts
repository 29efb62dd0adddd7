/**
 * A test server with the answers of another product, in the form of its public documentation: without
 * Keelson's own attributes, with pages, a rate limit, and states in a store at another address.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedSource extends AsyncDisposable {
  readonly url: string;
  /** The Authorization header of each download of a state. */
  readonly tokensAtStore: readonly (string | undefined)[];
  /** Requests that were answered with 429. */
  readonly refusals: number;
}

const listen = async (listener: RequestListener): Promise<Server> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const STATE = {
  version: 4,
  terraform_version: '1.5.7',
  serial: 9,
  lineage: '64aef234-2212-6fbb-6c1a-a9f1b3b4b5f5',
  outputs: {},
  resources: [],
};

const page = (number: number, last: number): object => ({
  pagination: {
    'current-page': number,
    'page-size': 100,
    'prev-page': number > 1 ? number - 1 : null,
    'next-page': number < last ? number + 1 : null,
    'total-pages': last,
    'total-count': last,
  },
});

const PROJECT = { data: { id: 'prj-jT92VLSFpv8FwKtc', type: 'projects' } };

/** Includes, on purpose, documented attributes that an import cannot use. */
const WORKSPACES = [
  {
    id: 'ws-qPhan8kDLymzv2uS',
    type: 'workspaces',
    attributes: {
      name: 'web',
      'allow-destroy-plan': true,
      'assessments-enabled': false,
      'auto-apply': false,
      'auto-apply-run-trigger': false,
      'auto-destroy-at': null,
      'auto-destroy-activity-duration': null,
      'created-at': '2021-08-16T21:50:58.726Z',
      description: null,
      environment: 'default',
      'execution-mode': 'remote',
      'file-triggers-enabled': true,
      'global-remote-state': false,
      locked: false,
      'locked-reason': '',
      operations: true,
      'policy-check-failures': null,
      'queue-all-runs': false,
      'run-failures': 6,
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
      source: 'terraform',
      'speculative-enabled': true,
      'structured-run-output-enabled': true,
      'tag-names': ['web'],
      'terraform-version': '1.5.7',
      'trigger-patterns': [],
      'trigger-prefixes': ['shared'],
      unarchived: true,
      'vcs-repo': {
        branch: '',
        identifier: 'example/web',
        'oauth-token-id': 'ot-hmAyP66qk2AMVdbJ',
        'service-provider': 'github',
      },
      'vcs-repo-identifier': 'example/web',
      'working-directory': null,
    },
    relationships: { project: PROJECT },
  },
  {
    id: 'ws-6jrRyVDv1J8zQMB5',
    type: 'workspaces',
    attributes: { name: 'empty', 'execution-mode': 'local', 'terraform-version': '1.5.7' },
    relationships: { project: PROJECT },
  },
];

const answersOf = (store: string): Readonly<Record<string, object>> => ({
  '/api/v2/organizations': {
    data: [
      {
        id: 'recorded',
        type: 'organizations',
        attributes: { name: 'recorded', email: 'ops@example.com' },
      },
    ],
  },
  '/api/v2/organizations/recorded': {
    data: {
      id: 'recorded',
      type: 'organizations',
      attributes: {
        name: 'recorded',
        email: 'ops@example.com',
        'session-timeout': null,
        'plan-identifier': 'developer',
        'assessments-enforced': false,
        'default-execution-mode': 'remote',
      },
    },
  },
  '/api/v2/organizations/recorded/projects': {
    data: [
      {
        ...PROJECT.data,
        attributes: { name: 'Default Project', description: null, 'is-unified': false },
      },
    ],
    meta: page(1, 1),
  },
  '/api/v2/organizations/recorded/teams': {
    data: [{ id: 'team-1', type: 'teams', attributes: { name: 'owners', 'users-count': 1 } }],
    meta: page(1, 1),
  },
  '/api/v2/organizations/recorded/workspaces': { data: [WORKSPACES[0]], meta: page(1, 2) },
  '/api/v2/organizations/recorded/workspaces?2': { data: [WORKSPACES[1]], meta: page(2, 2) },
  [`/api/v2/workspaces/${WORKSPACES[0]?.id}/vars`]: { data: [] },
  [`/api/v2/workspaces/${WORKSPACES[0]?.id}/current-state-version`]: {
    data: {
      id: 'sv-g4rqST72reoHMM5a',
      type: 'state-versions',
      attributes: {
        'created-at': '2021-06-08T01:22:03.794Z',
        serial: STATE.serial,
        'hosted-state-download-url': `${store}/v1/object/signed`,
        'hosted-json-state-download-url': null,
        status: 'finalized',
      },
    },
  },
});

/** @param token the only accepted token */
export const startRecordedSource = async (token: string): Promise<RecordedSource> => {
  const tokensAtStore: (string | undefined)[] = [];
  const store = await listen((request, response) => {
    tokensAtStore.push(request.headers.authorization);
    response.end(JSON.stringify(STATE));
  });
  const answers = answersOf(urlOf(store));
  let refusals = 0;
  const api = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const send = (status: number, body: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/vnd.api+json', ...headers });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${token}`)
      send(401, { errors: [{ status: '401', title: 'unauthorized' }] });
    else if (refusals < 2) {
      refusals += 1;
      const header = refusals === 1 ? 'retry-after' : 'x-ratelimit-reset';
      send(
        429,
        { errors: [{ detail: 'You have exceeded the API rate limit.' }] },
        { [header]: '0.05' },
      );
    } else {
      const second = searchParams.get('page[number]') === '2' ? '?2' : '';
      const answer = answers[`${pathname}${second}`];
      if (answer) send(200, answer);
      else send(404, { errors: [{ status: '404', title: 'not found' }] });
    }
  });
  return {
    url: urlOf(api),
    tokensAtStore,
    get refusals() {
      return refusals;
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of [api, store]) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
};
