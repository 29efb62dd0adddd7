/** The built files of the web console (`dist`, by `make console`), ready to be served below `/ui/`. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Encodings prepared by the build, smallest first, with the suffix of their files. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

export type ContentEncoding = keyof typeof ENCODINGS;

export interface ConsoleFile {
  readonly type: string;
  readonly body: Uint8Array;
  /** The same content, compressed. */
  readonly encoded: ReadonlyMap<ContentEncoding, Uint8Array>;
  /** Strong entity tag of `body`, with its quotes. */
  readonly etag: string;
  /** Whether the name contains a hash of the content, so that it may be cached forever. */
  readonly isImmutable: boolean;
}

export interface Console {
  /** By path below `/ui/`; the page itself is `index.html`. Empty if the console was not built. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  /** Allow the pages to load only from their own origin, and forbid framing them. */
  readonly contentSecurityPolicy: string;
}

/** Files, not an import: the packages that build them are not those that a server runs with. */
const DIST_FOLDER = join(import.meta.dirname, '..', '..', '..', 'console', 'dist');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
};

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const readEncoded = async (path: string): Promise<Map<ContentEncoding, Uint8Array>> => {
  const encoded = new Map<ContentEncoding, Uint8Array>();
  for (const [name, ending] of Object.entries(ENCODINGS) as [ContentEncoding, string][]) {
    const body = await readFile(`${path}${ending}`).catch(() => undefined);
    if (body !== undefined) encoded.set(name, body);
  }
  return encoded;
};

const readConsoleFile = async (absolute: string, path: string): Promise<ConsoleFile> => {
  const body = await readFile(absolute);
  return {
    type: TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    body,
    encoded: await readEncoded(absolute),
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    isImmutable: path.startsWith('assets/'),
  };
};

/** Reads the built files into memory, some hundred kilobytes; call it once. */
export const loadConsole = async (): Promise<Console> => {
  const files = new Map<string, ConsoleFile>();
  const entries = await readdir(DIST_FOLDER, { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  const endings: readonly string[] = Object.values(ENCODINGS);
  for (const entry of entries) {
    if (!entry.isFile() || endings.some((ending) => entry.name.endsWith(ending))) continue;
    const absolute = join(entry.parentPath, entry.name);
    const path = relative(DIST_FOLDER, absolute).split(sep).join('/');
    files.set(path, await readConsoleFile(absolute, path));
  }
  return { files, contentSecurityPolicy: CONTENT_SECURITY_POLICY };
};
