/** The bill of materials (CycloneDX) and the licence report of a release. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Component, licenceFaults, licenceReport } from './licences.ts';
import { lock, npm } from './lock-file.ts';
import { manifestOf, rootManifest } from './repository.ts';

/** They build the pages of the console and are not in them. */
const BUILDERS: readonly string[] = ['subset-font', 'vite'];

interface Bill {
  readonly metadata: object;
  readonly components: readonly (Component & { readonly purl?: string })[];
}

/** Node is a package of the repository's manifest, and in the Debian package. */
const node = (): Component & { readonly [key: string]: unknown } => {
  const version = rootManifest().dependencies?.['node'] ?? '';
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    description: 'In the Debian package and the image',
    scope: 'optional',
    purl: `pkg:generic/node@${version}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
};

/** A UUID made of the content, because a random one would differ in every run. */
const serialNumberOf = (content: unknown): string => {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return `urn:uuid:${digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')}`;
};

/**
 * Writes the bill and the report. They list what the npm package imports, what the pages of the console contain, and
 * Node.
 * @param staged folder of `stagePackage`
 * @param work does not exist yet
 * @param folder gets both files
 * @param time seconds since 1970
 * @throws Error with a sentence for each licence that is not allowed
 */
export const writeBill = async (
  staged: string,
  work: string,
  folder: string,
  time: number,
): Promise<void> => {
  const { dependencies } = JSON.parse(await readFile(join(staged, 'package.json'), 'utf8'));
  const ofPages = Object.fromEntries(
    Object.entries(manifestOf('services/console').dependencies ?? {}).filter(
      ([name]) => !BUILDERS.includes(name),
    ),
  );
  const { version, license } = rootManifest();
  // npm names the described component after the folder.
  const described = join(work, 'keelson');
  await mkdir(described, { recursive: true });
  const manifest = {
    name: 'keelson',
    version,
    license,
    dependencies: { ...dependencies, ...ofPages },
  };
  await writeFile(join(described, 'package.json'), JSON.stringify(manifest));
  await lock(described);
  const text = await npm(described, 'sbom', '--sbom-format=cyclonedx', '--package-lock-only');
  const bill = JSON.parse(text) as Bill;
  const components = [...bill.components, node()];
  const faults = licenceFaults(components);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const dated = {
    ...bill,
    serialNumber: serialNumberOf(components),
    metadata: { ...bill.metadata, timestamp: new Date(time * 1000).toISOString() },
    components,
  };
  await writeFile(
    join(folder, `keelson-${version}.cdx.json`),
    `${JSON.stringify(dated, null, 2)}\n`,
  );
  await writeFile(join(folder, `keelson-${version}-licences.txt`), licenceReport(components));
};
