/**
 * The manifests of deploy/kubernetes as kubectl renders them, checked against what they refer to: Kubernetes
 * types, the settings of each process, the compose installation, the Secrets that secrets.sh prints,
 * and the paths that a running control plane answers. Its README lists what was verified on a cluster.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { readCompose } from './compose-file.ts';
import { REPOSITORY } from './images.ts';
import { buildStrictDecoder } from './strict-decoder.ts';

const run = promisify(execFile);
const FOLDER = join(REPOSITORY, 'deploy/kubernetes');
/** Forms of the control plane; the built-in runner, whose pods differ, is looked at by itself. */
const FORMS = ['standalone', 'distributed', 'trial'] as const;
const RENDERED = [...FORMS, 'runner', 'agent'] as const;
type Form = (typeof RENDERED)[number];

const kubectl = await findBinary('kubectl', 'kubectl');

/** Forms with components, as the README shows them, in kustomizations of their own. */
const OVERLAYS = ['standalone', 'distributed'] as const;
const COMPONENTS = ['edge-tls', 'object-storage'] as const;

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef?: SecretKey;
      readonly configMapKeyRef?: SecretKey;
    };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: object;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly containers: readonly [Container];
  readonly enableServiceLinks: boolean;
  readonly securityContext: { readonly runAsUser: number };
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly items?: readonly SecretKey[] };
    readonly configMap?: { readonly name: string };
  }[];
}

type Labels = Readonly<Record<string, string>>;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface Workload {
  readonly name: string;
  readonly labels: Labels;
  readonly replicas: number;
  readonly pod: Pod;
  readonly container: Container;
  readonly volumeNames: readonly string[];
}

const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

const rendered = {} as Record<Form, { readonly text: string; readonly manifests: Manifest[] }>;
let secretsText: string;

beforeAll(async () => {
  await Promise.all(
    RENDERED.map(async (form) => {
      const { stdout } = await run(kubectl, ['kustomize', join(FOLDER, form)]);
      rendered[form] = { text: stdout, manifests: manifestsIn(stdout) };
    }),
  );
  secretsText = (await run(join(FOLDER, 'secrets.sh'))).stdout;
}, 120_000);

const named = (form: Form, kind: string): Manifest[] =>
  rendered[form].manifests.filter((manifest) => manifest.kind === kind);

const workloads = (form: Form): Workload[] =>
  [...named(form, 'Deployment'), ...named(form, 'StatefulSet')].map(({ metadata, spec }) => {
    const template = spec?.template;
    if (template === undefined) throw new Error(`${metadata.name} has no pods`);
    const { spec: pod } = template;
    return {
      name: metadata.name,
      labels: template.metadata.labels,
      replicas: spec?.replicas ?? 1,
      pod,
      container: pod.containers[0],
      volumeNames: [...(pod.volumes ?? []), ...(spec?.volumeClaimTemplates ?? [])].map((volume) =>
        'metadata' in volume ? volume.metadata.name : volume.name,
      ),
    };
  });
const ownWorkloads = (form: Form): Workload[] =>
  workloads(form).filter(({ labels }) => labels['app.kubernetes.io/name'] === 'keelson');
/** In the notation of compose: "768m" for 768Mi. */
const composeLimit = ({ container }: Workload): string =>
  container.resources.limits.memory.replace('i', '').toLowerCase();
const componentOf = ({ labels }: Workload): string => labels['app.kubernetes.io/component'] ?? '';

/** docs/configuration.md, which a test of services/standalone holds equal to the declarations. */
const settingsOf = async (component: string): Promise<Map<string, { isRequired: boolean }>> => {
  const page = await readFile(join(REPOSITORY, 'docs/configuration.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${component}\n`)) ?? '';
  const rows = section.matchAll(/^\| `(\w+)` \| .*? \| (.*?) \| .* \|$/gm);
  return new Map(
    [...rows].map(([, key = '', byDefault]) => [key, { isRequired: byDefault === 'required' }]),
  );
};

describe('the manifests', () => {
  test('match the schemas of Kubernetes and contain no unknown field', async () => {
    const decode = await buildStrictDecoder();
    for (const form of RENDERED)
      expect(await decode(rendered[form].text)).toBe(
        `${rendered[form].manifests.length} manifests\n`,
      );
    expect(await decode(secretsText)).toBe('8 manifests\n');
    expect(await decode(rendered.trial.text.replace('httpGet:', 'httpGett:'))).toContain(
      'unknown field "httpGett"',
    );
  });

  test('have Secrets of the same internal CA for a service that an installation lacks', async () => {
    await using folder = await temporaryDirectory();
    const dataOf = (text: string, name: string) =>
      manifestsIn(text).find(({ metadata }) => metadata.name === name)?.data ?? {};
    const given = dataOf(secretsText, 'keelson-sys');
    await mkdir(join(folder.path, 'sys'));
    for (const file of ['internal-ca.pem', 'nats.nkey'])
      await writeFile(join(folder.path, 'sys', file), Buffer.from(given[file] ?? '', 'base64'));
    const env = { ...process.env, KEELSON_TRUST_FOLDER: folder.path };
    const { stdout } = await run(join(FOLDER, 'secrets.sh'), { env });
    const lacking = dataOf(secretsText, 'keelson-auth');
    for (const entry of ['internal-ca-certificate.pem', 'join-token', 'nats.nkey'])
      expect(dataOf(stdout, 'keelson-auth')[entry]).toBe(lacking[entry]);
  });

  test.for(OVERLAYS)('%s takes every component, with the lines of the README', async (form) => {
    await using folder = await temporaryDirectory();
    const readme = await readFile(join(FOLDER, 'README.md'), 'utf8');
    const section = readme.split(/^## /m).find((text) => text.startsWith('Object storage\n')) ?? '';
    const [, example = '', command = ''] =
      /```yaml\n([\s\S]*?)```[\s\S]*```sh\n([\s\S]*?)```/.exec(section) ?? [];
    const place = relative(folder.path, FOLDER);
    const kustomization = {
      ...(parse(example) as object),
      resources: [join(place, form)],
      components: COMPONENTS.map((component) => join(place, component)),
    };
    await writeFile(join(folder.path, 'kustomization.yaml'), stringify(kustomization));
    const { stdout } = await run(kubectl, ['kustomize', folder.path]);
    const manifests = manifestsIn(stdout);
    const decode = await buildStrictDecoder();
    expect(await decode(stdout)).toBe(`${manifests.length} manifests\n`);

    const configMaps = new Map(
      manifests
        .filter(({ kind }) => kind === 'ConfigMap')
        .map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]),
    );
    const secretKeys = Array.from(command.matchAll(/--from-literal=([a-z-]+)=/g), ([, key]) => key);
    for (const { metadata, spec } of manifests) {
      const component = metadata.labels?.['app.kubernetes.io/component'] ?? '';
      const container = spec?.template?.spec.containers[0];
      if (container === undefined) continue;
      const settings = await settingsOf(component);
      const env = container.env ?? [];
      expect([...settings.keys()]).toEqual(expect.arrayContaining(env.map(({ name }) => name)));
      const given = env.filter(({ name }) => /OBJECT_STORAGE|BACKUP/.test(name));
      const isUser = ['standalone', 'sys', 'workspace'].includes(component);
      const isTaker = ['standalone', 'sys'].includes(component);
      expect([component, given.length]).toEqual([component, isUser ? (isTaker ? 7 : 6) : 0]);
      for (const { valueFrom } of given) {
        const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
        const known = configMapKeyRef ? configMaps.get(configMapKeyRef.name) : secretKeys;
        expect(known).toContain((configMapKeyRef ?? secretKeyRef)?.key);
      }
      expect(env.some(({ name }) => name === 'KEELSON_TLS_KEY_FILE')).toBe(
        ['standalone', 'gateway'].includes(component),
      );
    }
  });

  test('give each process valid and sufficient settings, the same as compose', async () => {
    const compose = readCompose().services;
    for (const form of ['standalone', 'distributed'] as const)
      for (const workload of ownWorkloads(form)) {
        const component = componentOf(workload);
        const settings = await settingsOf(component);
        const given = (workload.container.env ?? []).map(({ name }) => name);
        expect([...settings.keys()]).toEqual(expect.arrayContaining(given));
        const required = [...settings].filter(([, { isRequired }]) => isRequired);
        expect(given).toEqual(expect.arrayContaining(required.map(([key]) => key)));
        // Settings that compose leaves empty are for the operator to set.
        const composed = Object.entries(compose[component]?.environment ?? {})
          .filter(([key, value]) => value !== `\${${key}:-}`)
          // Compose includes a proxy; in a cluster, only the operator knows which proxies are in front.
          .filter(([key]) => key !== 'KEELSON_TRUSTED_PROXIES')
          // The addresses of its stores, with the passwords, which here are settings from the Secret.
          .filter(([key]) => key !== 'KEELSON_CONFIG_FILE')
          .map(([key]) => key);
        expect(given).toEqual(expect.arrayContaining(composed));
        // A service named keelson would have Kubernetes add KEELSON_PORT and others.
        expect(workload.pod.enableServiceLinks).toBe(false);
      }
    expect(ownWorkloads('standalone').map(componentOf)).toEqual(['standalone']);
    expect(new Set(ownWorkloads('distributed').map(componentOf))).toEqual(
      new Set(['gateway', 'sys', 'pki', 'workspace', 'auth']),
    );
  });

  test('run the images of compose on the same ports', async () => {
    const compose = readCompose().services;
    const publishedPort = Number(compose['proxy']?.ports?.[0]?.split(':').at(-1));
    for (const form of ['standalone', 'trial'] as const)
      for (const workload of ownWorkloads(form)) {
        const { args, ports } = workload.container;
        const port = Object.fromEntries(ports.map((p) => [p.name, p.containerPort]));
        const isEdge = ['gateway', 'standalone'].includes(componentOf(workload));
        expect(port).toEqual(
          isEdge ? { http: publishedPort, https: 8443 } : { rpc: 9000, probes: 9001 },
        );
        const command = compose[componentOf(workload)]?.command;
        expect(args).toEqual(command ?? ['services/standalone/src/main.ts']);
      }
    for (const name of ['postgres', 'redis', 'nats']) {
      const neighbour = workloads('trial').find((workload) => workload.name === name);
      expect(compose[name]?.image).toContain(`:-${neighbour?.container.image}}`);
    }
  });

  test('limit the memory of the same processes as compose, which limits that of every container', async () => {
    const compose = readCompose().services;
    for (const [name, { mem_limit }] of Object.entries(compose))
      expect([name, mem_limit]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
    for (const workload of ownWorkloads('distributed'))
      expect([workload.name, compose[componentOf(workload)]?.mem_limit]).toEqual([
        workload.name,
        composeLimit(workload),
      ]);
  });

  test('name services, ports, volumes and Secrets that exist', () => {
    const secrets = manifestsIn(secretsText).flatMap(({ metadata, data }) =>
      Object.keys(data ?? {}).map((key) => `${metadata.name}: ${key}`),
    );
    for (const form of FORMS) {
      const all = workloads(form);
      const configMaps = named(form, 'ConfigMap').map(({ metadata }) => metadata.name);
      for (const { container, pod, volumeNames } of all) {
        const volumes = pod.volumes ?? [];
        const asked = [
          ...(container.env ?? []).flatMap(({ valueFrom }) =>
            valueFrom?.secretKeyRef === undefined
              ? []
              : [`${valueFrom.secretKeyRef.name}: ${valueFrom.secretKeyRef.key}`],
          ),
          ...volumes.flatMap(({ secret }) =>
            (secret?.items ?? []).map(({ key }) => `${secret?.secretName}: ${key}`),
          ),
        ];
        expect(secrets).toEqual(expect.arrayContaining(asked));
        expect(configMaps).toEqual(
          expect.arrayContaining(volumes.flatMap(({ configMap }) => configMap?.name ?? [])),
        );
        expect(volumeNames).toEqual(
          expect.arrayContaining(container.volumeMounts.map(({ name }) => name)),
        );
      }
      for (const { metadata, spec } of named(form, 'Service')) {
        const selected = all.filter(({ labels }) =>
          Object.entries(spec?.selector ?? {}).every(([key, value]) => labels[key] === value),
        );
        expect(selected.map(({ name }) => `${metadata.name}: ${name}`)).toHaveLength(1);
        const names = selected.flatMap(({ container }) => container.ports.map(({ name }) => name));
        const targets = (spec?.ports ?? []).map(({ targetPort }) => targetPort);
        expect(names).toEqual(expect.arrayContaining(targets));
      }
      const budgets = named(form, 'PodDisruptionBudget').map(
        ({ spec }) => spec?.selector?.matchLabels?.['app.kubernetes.io/component'],
      );
      expect(new Set(budgets)).toEqual(new Set(ownWorkloads(form).map(componentOf)));
      const hosts = named(form, 'Service').map(({ metadata }) => `${metadata.name}:9000`);
      const addresses = ownWorkloads(form)
        .flatMap(({ container }) => container.env ?? [])
        .flatMap(({ name, value = '' }) => (name.endsWith('_ADDRESSES') ? [value] : []));
      expect(hosts).toEqual(expect.arrayContaining(addresses));
    }
  });

  test('probe ports and paths that answer when the process is ready', async () => {
    await using folder = await temporaryDirectory();
    await using started = new AsyncDisposableStack();
    const keelson = await startKeelson({ dataFolder: folder.path });
    started.defer(async () => {
      await keelson.stop();
    });
    for (const form of FORMS)
      for (const { container } of workloads(form)) {
        const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
        for (const probe of probes.filter((found) => found !== undefined)) {
          const { port } = probe.httpGet ?? probe.tcpSocket ?? { port: '' };
          expect(container.ports.map(({ name }) => name)).toContain(port);
          if (probe.httpGet === undefined) continue;
          const { status } = await fetch(`${keelson.http}${probe.httpGet.path}`);
          expect([probe.httpGet.path, status]).toEqual([probe.httpGet.path, 200]);
        }
      }
  });

  test('run the built-in runner with the settings and rights that compose gives it', async () => {
    const [runner] = workloads('runner');
    const service = readCompose().services['runner'];
    const environment = Object.entries(service?.environment ?? {});
    expect(runner?.container.args).toEqual(service?.command);
    expect(runner && composeLimit(runner)).toBe(service?.mem_limit);
    const settings = await settingsOf('runner');
    const given = (runner?.container.env ?? []).map(({ name }) => name);
    expect([...settings.keys()]).toEqual(expect.arrayContaining(given));
    expect(given.toSorted()).toEqual(environment.map(([name]) => name).toSorted());
    expect(runner?.container.securityContext).toEqual({
      runAsUser: 0,
      runAsGroup: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {
        drop: service?.cap_drop,
        // In compose it keeps link-local addresses from runs itself, which a policy does here.
        add: service?.cap_add?.filter((name) => !['NET_ADMIN', 'SETPCAP'].includes(name)),
      },
    });
    expect(runner?.pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(runner?.volumeNames).toEqual(
      expect.arrayContaining((runner?.container.volumeMounts ?? []).map(({ name }) => name)),
    );
    // The address is that of the edge's Service.
    const [edge] = named('distributed', 'Service').filter(
      ({ metadata }) => metadata.name === 'keelson',
    );
    const address = runner?.container.env?.find(({ name }) => name === 'KEELSON_RUNNER_ADDRESS');
    expect(address?.value).toBe(`http://keelson.keelson:${edge?.spec?.ports?.[0]?.port}`);
  });

  test('grant no pod more than it needs', () => {
    for (const form of FORMS)
      for (const { pod, container } of workloads(form)) {
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        });
        expect(pod.containers).toHaveLength(1);
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
  });
});
