/** The files of the web console, ready to be served below `/ui/`. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join, relative, sep } from 'node:path';

export interface ConsoleFile {
  readonly type: string;
  readonly body: string;
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
}

export interface Console {
  /** By path below `/ui/`; the page itself is `index.html`. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  /** What the page may load and who may frame it: itself and nobody. */
  readonly contentSecurityPolicy: string;
}

const BROWSER_FOLDER = join(import.meta.dirname, 'browser');

/** Modules of packages by the name that the pages import them by. */
const PACKAGE_MODULES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.mjs',
  'htm/preact': 'htm/preact/index.mjs',
};

/** The map of imports goes behind this, into the page. */
const IMPORT_MAP_PLACE = '<script type="importmap">';
/** The scripts that the page itself holds, which its policy has to name. */
const INLINE_SCRIPT = /<script(?: type="importmap")?>(.*?)<\/script>/gs;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const typeOf = (path: string): string =>
  TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');

const addFile = (files: Map<string, ConsoleFile>, path: string, body: string): void => {
  files.set(path, { type: typeOf(path), body, etag: `"${sha256(body)}"` });
};

const readPackageModule = async (path: string): Promise<string> => {
  const searched = createRequire(import.meta.url).resolve.paths(path) ?? [];
  for (const folder of searched) {
    const text = await readFile(join(folder, path), 'utf8').catch(() => undefined);
    if (text !== undefined) return text.replace(/^\/\/# sourceMappingURL=.*$/m, '');
  }
  throw new Error(`the console needs the package module ${path}`);
};

/** Where a TypeScript module of the pages is served: `app.ts` as `app.js`. */
const servedPath = (path: string): string => path.replace(/\.ts$/, '.js');

const browserModule = (source: string): string =>
  stripTypeScriptTypes(source).replaceAll(/(from ')(\.[^']+)\.ts'/g, "$1$2.js'");

/** Reads the pages and strips their types; some tens of milliseconds, so ask once. */
export const loadConsole = async (): Promise<Console> => {
  const files = new Map<string, ConsoleFile>();
  const imports: Record<string, string> = {};
  for (const [name, module] of Object.entries(PACKAGE_MODULES)) {
    const path = `packages/${name.replaceAll('/', '-')}.js`;
    addFile(files, path, await readPackageModule(module));
    imports[name] = `/ui/${path}`;
  }
  const importMap = `${IMPORT_MAP_PLACE}${JSON.stringify({ imports })}`;
  const entries = await readdir(BROWSER_FOLDER, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const absolute = join(entry.parentPath, entry.name);
    const path = relative(BROWSER_FOLDER, absolute).split(sep).join('/');
    const source = await readFile(absolute, 'utf8');
    if (path.endsWith('.ts')) addFile(files, servedPath(path), browserModule(source));
    else addFile(files, path, source.replace(IMPORT_MAP_PLACE, importMap));
  }
  const page = files.get('index.html')?.body ?? '';
  const inline = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, text = '']) => `'sha256-${sha256(text)}'`,
  );
  return {
    files,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src 'self' ${inline.join(' ')}`,
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
};
