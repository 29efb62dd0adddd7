/**
 * The chart, rendered by the real `helm`.
 *
 * | what                                 | expected                                                             |
 * | ------------------------------------ | -------------------------------------------------------------------- |
 * | `helm lint --strict`                 | no warning                                                           |
 * | every mode with default values       | printed for kubectl in deploy/kubernetes, without Helm's labels      |
 * | every value, changed                 | another text, in which every object matches its type in Kubernetes   |
 * | a value that the chart does not have | refused, and named                                                   |
 * | versions                             | that of the repository                                               |
 * | the archive of a release             | the same bytes twice, and the same manifests                         |
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, temporaryDirectory } from '@keelson/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { packChart } from '../../release/src/chart.ts';
import { REPOSITORY } from '../../test/images.ts';
import { buildHelm, buildStrictDecoder } from '../../test/strict-decoder.ts';
import { VARIATIONS } from './variations.ts';

const run = promisify(execFile);
const CHART = join(REPOSITORY, 'deploy/helm/keelson');
const kubectl = await findBinary('kubectl', 'kubectl');
const helm = await buildHelm();

type Values = Readonly<Record<string, unknown>>;

/** An agent is a release of its own. */
const releaseOf = ({ mode }: Values): string => (mode === 'agent' ? 'keelson-agent' : 'keelson');

const render = async (values: Values, chart = CHART): Promise<string> => {
  const release = releaseOf(values);
  const rendering = run(helm, [
    'template',
    release,
    chart,
    `--namespace=${release}`,
    '--kube-version=1.30.0',
    '--values=-',
  ]);
  rendering.child.stdin?.end(stringify(values));
  return (await rendering).stdout;
};

const renderings = new Map<string, Promise<string>>();

/** The same text for the same values; most variations start from the same. */
const renderOnce = (values: Values): Promise<string> => {
  const key = stringify(values);
  const rendering = renderings.get(key) ?? render(values);
  renderings.set(key, rendering);
  return rendering;
};

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const OF_HELM = [
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'helm.sh/chart',
];

/** The namespace that kustomizations add. An agent has two, which its manifests name. */
const ADDED = 'keelson';

/** Without what Helm adds. */
const withoutHelm = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => !OF_HELM.includes(key) && !(key === 'namespace' && entry === ADDED))
    .map(([key, entry]) => [key, withoutHelm(entry)] as const)
    .filter(([key, entry]) => key !== 'labels' || Object.keys(entry as object).length > 0);
  return Object.fromEntries(entries);
};

const manifestsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { version: '1.1' }).map(
    (document) => withoutHelm(document.toJS()) as Manifest,
  );

const PRINTED = `# Printed from the chart, which is the place for changes:
#
#   npx vitest run --project release-chart deploy/helm -t prints -u
`;

/** The manifests for kubectl, in the order of their kinds and names. */
const printed = (text: string): string => {
  const ordered = manifestsIn(text).toSorted((a, b) =>
    `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`),
  );
  return [PRINTED, ...ordered.map((manifest) => stringify(manifest, { lineWidth: 0 }))].join(
    '---\n',
  );
};

const nameOf = (entry: unknown): string =>
  typeof entry === 'object' && entry !== null && 'name' in entry ? String(entry.name) : '';

/** Named entries of lists in the order of their names. */
const normal = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.map(normal).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, normal(entry)]));
};

const objectsIn = (text: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    manifestsIn(text)
      .filter(({ kind }) => kind !== 'Namespace')
      .map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, normal(manifest)]),
  );

/** Paths of the values without further values in them: `pki.resources`, `image.tag`. */
const pathsIn = (values: Values, prefix = ''): readonly string[] =>
  Object.entries(values).flatMap(([key, value]) => {
    const isGroup =
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      key !== 'resources' &&
      Object.keys(value).length > 0;
    return isGroup ? pathsIn(value as Values, `${prefix}${key}.`) : [`${prefix}${key}`];
  });

const atPath = (path: string, value: unknown): Values =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Values;

const merged = (first: Values, second: Values): Values =>
  Object.fromEntries(
    [...new Set([...Object.keys(first), ...Object.keys(second)])].map((key) => {
      const [one, other] = [first[key], second[key]];
      const areGroups =
        typeof one === 'object' && typeof other === 'object' && !Array.isArray(other);
      if (areGroups) return [key, merged(one as Values, other as Values)];
      return [key, key in second ? other : one];
    }),
  );

describe('the chart', () => {
  let decode: (text: string) => Promise<string>;
  beforeAll(async () => {
    decode = await buildStrictDecoder();
  }, 600_000);

  test('has no fault that helm lint finds', async () => {
    const { stdout } = await run(helm, ['lint', '--strict', '--kube-version=1.30.0', CHART]);
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test('has the version of the repository', () => {
    const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
    const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });

  test('is the same archive twice, which helm renders', async () => {
    await using folder = await temporaryDirectory();
    const first = await readFile(await packChart(folder.path, 1_700_000_000));
    const archive = await packChart(folder.path, 1_700_000_000);
    expect(first.equals(await readFile(archive))).toBe(true);
    expect(await render({}, archive)).toBe(await render({}));
  });

  test.for(['standalone', 'distributed', 'agent'])('prints deploy/kubernetes/%s', async (mode) => {
    const text = await render({ mode, image: { tag: 'dev' } });
    await expect(printed(text)).toMatchFileSnapshot(`../../kubernetes/${mode}/keelson.yaml`);
  });

  test.for(['standalone', 'distributed'])(
    'renders what the component edge-tls makes of deploy/kubernetes/%s',
    async (mode) => {
      await using folder = await temporaryDirectory();
      const kubernetes = relative(folder.path, join(REPOSITORY, 'deploy/kubernetes'));
      const kustomization = {
        resources: [join(kubernetes, mode)],
        components: [join(kubernetes, 'edge-tls')],
      };
      await writeFile(join(folder.path, 'kustomization.yaml'), stringify(kustomization));
      const { stdout } = await run(kubectl, ['kustomize', folder.path]);
      const values = { mode, image: { tag: 'dev' }, edgeTls: { secretName: 'keelson-edge-tls' } };
      expect(objectsIn(await render(values))).toEqual(objectsIn(stdout));
    },
  );

  test('has every value in the table of variations', () => {
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values;
    expect(Object.keys(VARIATIONS).toSorted()).toEqual(pathsIn(values).toSorted());
  });

  test.for(Object.entries(VARIATIONS))(
    'heeds %s',
    async ([path, { value, within = {}, shows }]) => {
      const [before, after] = [
        await renderOnce(within),
        await render(merged(within, atPath(path, value))),
      ];
      expect(after).not.toBe(before);
      expect(after).toMatch(shows);
      expect(before).not.toMatch(shows);
      expect(await decode(after)).toMatch(/^\d+ manifests\n$/);
    },
  );

  test.for([
    [{ modes: 'standalone' }, 'modes'],
    [{ mode: 'both' }, 'mode'],
    [{ settings: { PORT: '1' } }, 'PORT'],
    [{ pki: { replicas: 0 } }, 'replicas'],
    [{ standalone: { persistence: { size: 'large' } } }, 'size'],
    [{ httpRoute: { enabled: true } }, 'parentRefs'],
    [{ mode: 'agent', agent: { runs: { image: 7 } } }, 'image'],
  ] as const)('refuses %j', async ([values, named]) => {
    await expect(render(values)).rejects.toThrow(named);
  });
});
