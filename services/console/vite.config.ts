/** The build of the console: hashed files below `/ui/assets/`, each also compressed (decision 0025). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import subsetFont from 'subset-font';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { scopedName } from './scoped-name.ts';

const PAGES = ['index.html', 'docs.html'];
const MIN_COMPRESSED_BYTES = 500;

const COMPRESSIONS = [
  ['br', promisify(brotliCompress)],
  ['gz', promisify(gzip)],
] as const;

/** Writes `.br` and `.gz` next to every file worth compressing, so that serving needs no compression. */
const precompress = (): Plugin => ({
  name: 'keelson-precompress',
  // Runs after all other plugins have finished with the files.
  async writeBundle({ dir = '' }, bundle) {
    const written = Object.values(bundle).flatMap((file) => {
      const source = file.type === 'chunk' ? file.code : file.source;
      if (source.length < MIN_COMPRESSED_BYTES || /\.(?:html|woff2)$/.test(file.fileName))
        return [];
      return COMPRESSIONS.map(async ([ending, compress]) =>
        writeFile(join(dir, `${file.fileName}.${ending}`), await compress(source)),
      );
    });
    await Promise.all(written);
  },
});

/** The characters of which the texts of the console are made, and those of Western European names. */
const charactersBetween = (first: number, last: number): string =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
const CHARACTERS = [
  charactersBetween(0x20, 0x7e),
  charactersBetween(0xa0, 0xff),
  '–—‘’“”•…€™←↑→↓−≤≥',
].join('');

/** Ships the characters and weights of the typeface that are used, and its licence, in place of all of it. */
const subsetTypeface = (): Plugin => ({
  name: 'keelson-subset-typeface',
  async generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'asset' && file.fileName.endsWith('.woff2'))
        file.source = await subsetFont(Buffer.from(file.source), CHARACTERS, {
          targetFormat: 'woff2',
          variationAxes: { wght: { min: 400, max: 650 } },
        });
    const licence = import.meta.resolve('@fontsource-variable/inter/LICENSE');
    this.emitFile({
      type: 'asset',
      fileName: 'assets/inter-licence.txt',
      source: await readFile(new URL(licence)),
    });
  },
});

/**
 * The layers of styles, of which each overrides those before it: variables, what has no component, texts, controls,
 * parts that are made of controls, and what pages change of them.
 */
const LAYERS = '@layer tokens, reset, base, controls, parts, pages;';

/** Begins every file of styles with the order of the layers, since a page may need any of them first. */
const orderLayers = (): Plugin => ({
  name: 'keelson-order-layers',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('.css') ? `${LAYERS}\n${code}` : undefined),
});

/** The modules that run before anything of a page is shown. */
const firstModules = (page: string, modules: Rolldown.ChunkingContext): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (id: string): void => {
    if (found.has(id)) return;
    found.add(id);
    modules.getModuleInfo(id)?.importedIds.forEach(visit);
  };
  visit(join(import.meta.dirname, 'src', 'browser', page));
  return found;
};

/**
 * All that runs before anything is shown is in one file for each page, and in one that both pages need: a slow
 * processor takes milliseconds for each file.
 */
const firstFiles = (): Rolldown.CodeSplittingOptions => {
  let found: readonly ReadonlySet<string>[] | undefined;
  const pagesWith = (id: string, modules: Rolldown.ChunkingContext): readonly string[] => {
    found ??= PAGES.map((page) => firstModules(page, modules));
    return PAGES.filter((_, at) => found?.[at]?.has(id));
  };
  const tags: ['$initial'] = ['$initial'];
  return {
    groups: [
      // A file takes along what its modules import, unless another one has it already.
      { tags, name: (id, modules) => (pagesWith(id, modules).length > 1 ? 'shared' : null) },
      { tags, name: (id, modules) => pagesWith(id, modules)[0]?.replace('.html', '') },
    ],
  };
};

export default defineConfig({
  logLevel: 'warn',
  root: join(import.meta.dirname, 'src', 'browser'),
  base: '/ui/',
  publicDir: join(import.meta.dirname, 'src', 'browser', 'public'),
  css: { modules: { generateScopedName: scopedName } },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2023',
    // The pages' content security policy blocks all inline scripts.
    assetsInlineLimit: 0,
    // All styles are 6 kB compressed; in files of their own, pages would wait for several of them.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: PAGES.map((page) => join(import.meta.dirname, 'src', 'browser', page)),
      output: { codeSplitting: firstFiles() },
      checks: { pluginTimings: false },
      onLog: (level, log, handler) => {
        // "use client" matters only for server-side rendering, which is not used.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handler(level, log);
      },
    },
  },
  plugins: [orderLayers(), subsetTypeface(), precompress()],
});
