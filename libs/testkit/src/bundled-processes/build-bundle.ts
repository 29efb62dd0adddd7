/**
 * Bundles the processes of Keelson below the folder of its argument, unless the newest bundle there is of the same
 * sources, and prints the folder of the bundle. Every source still sees its own address in the repository, so that the
 * threads and files that it names by it are those of the repository.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ENTRIES } from './entries.ts';
import { findMade, statesOf, writeManifest } from './manifest.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** A process that runs may load a part of its bundle later, so that an older one stays for some time. */
const KEPT_MS = 24 * 3_600_000;

/** Packages whose lists the gateway extends, and whose worker threads load each other by name. */
const STAYS_OUTSIDE = /^(?:@fastify\/|fastify$|find-my-way|pino)/;

const [folder = ''] = process.argv.slice(2);
const manifest = `${folder}.txt`;

const OWN_ADDRESS = /import\.meta\.|__dirname|__filename/;

/** The text of a source in which its own address is written out. */
const withAddress = (code: string, file: string): string =>
  code
    .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(file).href))
    .replaceAll(/\b(?:import\.meta\.filename|__filename)\b/g, JSON.stringify(file))
    .replaceAll(/\b(?:import\.meta\.dirname|__dirname)\b/g, JSON.stringify(dirname(file)));

const bundle = async (): Promise<string> => {
  // Loaded only now: most calls find a bundle.
  const { rolldown } = await import('rolldown');
  const sources = new Set([
    'package-lock.json',
    'libs/testkit/src/bundled-processes/build-bundle.ts',
    'libs/testkit/src/bundled-processes/entries.ts',
  ]);
  const made = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(ENTRIES.map((file) => [file.replace(/\.ts$/, ''), file])),
    platform: 'node',
    logLevel: 'silent',
    external: (id) => STAYS_OUTSIDE.test(id),
    plugins: [
      {
        name: 'keelson-addresses',
        transform(code, id) {
          if (id.startsWith(ROOT) && !id.includes('/node_modules/'))
            sources.add(id.slice(ROOT.length));
          return OWN_ADDRESS.test(code) ? withAddress(code, id) : null;
        },
      },
    ],
  });
  const building = `${folder}.new`;
  rmSync(building, { recursive: true, force: true });
  await made.write({ dir: building, format: 'esm', keepNames: true });
  await made.close();
  // Otherwise every start compiles each file once more to find out that it is a module.
  writeFileSync(join(building, 'package.json'), JSON.stringify({ type: 'module' }));
  const states = statesOf(ROOT, [...sources]);
  const digest = createHash('sha256').update(states.join('\n')).digest('hex').slice(0, 16);
  const target = join(folder, digest);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const older = join(folder, name);
    if (older === target || Date.now() - statSync(older).mtimeMs > KEPT_MS)
      rmSync(older, { recursive: true, force: true });
  }
  renameSync(building, target);
  writeManifest(manifest, { made: target, states });
  return target;
};

process.stdout.write(findMade(ROOT, manifest) ?? (await bundle()));
