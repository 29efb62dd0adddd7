/**
 * The NetworkPolicies of every form, as a table of all pods and ports: which pod connects to which other one, and to
 * which addresses outside. They are evaluated here (network-policy-evaluator.ts), because no network of a cluster runs in the tests.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { REPOSITORY } from './images.ts';
import {
  type Connection,
  type Endpoint,
  isLetThrough,
  type NetworkPolicy,
} from './network-policy-evaluator.ts';

const run = promisify(execFile);
const kubectl = await findBinary('kubectl', 'kubectl');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly {
          readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
        }[];
      };
    };
  };
}

const manifestsOf = async (...forms: readonly string[]): Promise<readonly Manifest[]> => {
  const texts = await Promise.all(
    forms.map(async (form) => {
      const folder = join(REPOSITORY, 'deploy/kubernetes', form);
      return (await run(kubectl, ['kustomize', folder])).stdout;
    }),
  );
  return texts.flatMap((text) =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest),
  );
};

const policiesIn = (manifests: readonly Manifest[]): readonly NetworkPolicy[] =>
  manifests.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as readonly NetworkPolicy[];

const podsIn = (manifests: readonly Manifest[]): readonly Endpoint[] =>
  manifests.flatMap(({ metadata, spec }, index) => {
    if (spec?.template === undefined) return [];
    const ports = spec.template.spec.containers.flatMap((container) => container.ports ?? []);
    return [
      {
        name: metadata.name.replace(/^keelson-(?!runner)/, ''),
        address: `10.244.0.${index + 1}`,
        labels: spec.template.metadata.labels,
        ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      },
    ];
  });

/** Other pods and nodes of a cluster, and addresses outside. */
const OTHERS: readonly Endpoint[] = [
  {
    name: 'resolver',
    address: '10.244.9.1',
    namespace: 'kube-system',
    labels: { 'k8s-app': 'kube-dns' },
    ports: { dns: 53 },
  },
  {
    name: 'stranger',
    address: '10.244.9.2',
    namespace: 'others',
    labels: { app: 'web', 'app.kubernetes.io/name': 'keelson' },
    ports: { http: 8080 },
  },
  { name: 'api-server', address: '10.96.0.1', ports: { https: 443 } },
  { name: 'node', address: '192.168.7.1', ports: { kubelet: 10_250, ssh: 22 } },
  { name: 'metadata', address: '169.254.169.254', ports: { http: 80 } },
  { name: 'metadata-6', address: 'fd00:ec2::254', ports: { http: 80 } },
  { name: 'private-6', address: 'fd12::1', ports: { https: 443 } },
  { name: 'internet', address: '203.0.113.9', ports: { https: 443, ssh: 22 } },
  { name: 'internet-6', address: '2001:db8::9', ports: { https: 443 } },
];

/** `gateway → sys:9000` for all that is let through, of all pairs and all ports of the targets. */
const arrowsIn = (
  manifests: readonly Manifest[],
  isOf: (connection: Connection) => boolean = () => true,
): readonly string[] => {
  const policies = policiesIn(manifests);
  const pods = podsIn(manifests);
  return pods.length === 0
    ? []
    : [...pods, ...OTHERS].flatMap((from) =>
        [...pods, ...OTHERS]
          .filter((to) => to !== from && (pods.includes(from) || pods.includes(to)))
          .flatMap((to) =>
            [...Object.values(to.ports ?? {}), 1]
              .filter((port) => isOf({ from, to, port }))
              .filter((port) => {
                const protocol = port === 53 ? 'UDP' : 'TCP';
                return isLetThrough(policies, { from, to, port, protocol });
              })
              .map((port) => `${from.name} → ${to.name}:${port}`),
          ),
      );
};

const inOrder = (texts: readonly string[]): readonly string[] =>
  texts.toSorted((one, other) => one.localeCompare(other));

const fromPod = (name: string) => (connection: Connection) => connection.from.name === name;

describe('the trial', async () => {
  const manifests = await manifestsOf('trial', 'runner', 'agent');
  const targetsOf = (name: string) =>
    arrowsIn(manifests, fromPod(name)).map((arrow) => arrow.split(' → ')[1] ?? '');
  const EDGE = ['gateway:8200', 'gateway:8443'];
  /** By the addresses that users of Keelson name. */
  const OUTSIDE = [
    'resolver:53',
    'resolver:1',
    'stranger:8080',
    'stranger:1',
    'api-server:443',
    'api-server:1',
    'node:10250',
    'node:22',
    'node:1',
    'private-6:443',
    'private-6:1',
    'internet:443',
    'internet:22',
    'internet:1',
    'internet-6:443',
    'internet-6:1',
  ];

  test.for([
    [
      'gateway',
      ['auth:9000', 'pki:9000', 'sys:9000', 'workspace:9000', 'redis:6379', 'resolver:53'],
    ],
    [
      'sys',
      [
        ...EDGE,
        'auth:9000',
        'pki:9000',
        'workspace:9000',
        'nats:4222',
        'postgres:5432',
        'redis:6379',
        ...OUTSIDE,
      ],
    ],
    [
      'pki',
      [...EDGE, 'auth:9000', 'sys:9000', 'nats:4222', 'postgres:5432', 'redis:6379', ...OUTSIDE],
    ],
    ['workspace', [...EDGE, 'sys:9000', 'nats:4222', 'postgres:5432', 'redis:6379', ...OUTSIDE]],
    [
      'auth',
      [
        ...EDGE,
        'pki:9000',
        'sys:9000',
        'workspace:9000',
        'nats:4222',
        'postgres:5432',
        'redis:6379',
        ...OUTSIDE,
      ],
    ],
    ['postgres', []],
    ['redis', []],
    ['nats', []],
    [
      'keelson-runner',
      [
        'gateway:8200',
        'resolver:53',
        'internet:443',
        'internet:22',
        'internet:1',
        'internet-6:443',
        'internet-6:1',
      ],
    ],
    // Everybody else reaches the edge, and nothing behind it.
    ['stranger', EDGE],
    ['node', EDGE],
    ['internet', EDGE],
  ] as const)('lets %s connect to %j only', ([name, targets]) => {
    expect(inOrder(targetsOf(name))).toEqual(inOrder(targets));
  });
});

describe('standalone', async () => {
  const manifests = await manifestsOf('standalone');

  test('is reached at the edge only, and reaches no credentials of the node', () => {
    const arrows = arrowsIn(manifests);
    const inward = arrows.filter((arrow) => !arrow.startsWith('keelson →'));
    expect(new Set(inward.map((arrow) => arrow.split(' → ')[1]))).toEqual(
      new Set(['keelson:8200', 'keelson:8443']),
    );
    expect(arrows).toContain('keelson → internet:443');
    expect(arrows.filter((arrow) => /→ metadata/.test(arrow))).toEqual([]);
  });
});

test('every pod of every form is closed in both directions', async () => {
  for (const form of ['standalone', 'distributed', 'trial', 'runner', 'agent']) {
    const manifests = await manifestsOf(form);
    const policies = policiesIn(manifests);
    for (const pod of podsIn(manifests)) {
      const elsewhere = {
        name: 'elsewhere',
        address: '10.1.1.1',
        namespace: 'elsewhere',
        labels: {},
      };
      const closed = [
        isLetThrough(policies, { from: elsewhere, to: pod, port: 1 }),
        isLetThrough(policies, {
          from: pod,
          to: { ...elsewhere, address: '169.254.169.254' },
          port: 1,
        }),
      ];
      expect([form, pod.name, ...closed]).toEqual([form, pod.name, false, false]);
    }
  }
});
