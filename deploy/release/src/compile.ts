/**
 * Compiles the TypeScript sources to JavaScript files in the same layout, because Node strips no types below
 * node_modules. Packages of the registry stay imports; packages of the workspace become relative imports.
 */
import { dirname, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { REPOSITORY } from './repository.ts';

/** The processes that an installation can start; the files that they start themselves are found below. */
const ENTRIES = [
  'services/cli/src/keelson.js',
  'services/auth/src/main.ts',
  'services/gateway/src/main.ts',
  'services/pki/src/main.ts',
  'services/runner/src/main.ts',
  'services/sys/src/main.ts',
  'services/workspace/src/main.ts',
  'libs/rpc/src/internal-issuer/main.ts',
];

/** Threads and processes are started by the address of their file. */
const STARTED_FILE = /new URL\('(\.[^']+)\.ts', import\.meta\.url\)/g;

const startedFiles: Plugin = {
  name: 'keelson-started-files',
  transform(code, id) {
    return code.replaceAll(STARTED_FILE, (_found, path: string) => {
      this.emitFile({ type: 'chunk', id: resolve(dirname(id), `${path}.ts`) });
      return `new URL('${path}.js', import.meta.url)`;
    });
  },
};

const isOfWorkspace = (id: string): boolean => /^(?:[./]|@keelson\/)/.test(id);

/** `@scope/name` of `@scope/name/path`; undefined for files and for modules of Node. */
const packageOf = (specifier: string): string | undefined =>
  /^(?!node:)(?:@[\w.-]+\/)?[\w-][\w.-]*(?=\/|$)/.exec(specifier)?.[0];

/**
 * @param folder gets `services/…`, `libs/…` and so on
 * @returns names of the registry's packages that are imported
 */
export const compile = async (folder: string): Promise<readonly string[]> => {
  const bundle = await rolldown({
    cwd: REPOSITORY,
    input: Object.fromEntries(ENTRIES.map((file) => [file.replace(/\.[jt]s$/, ''), file])),
    platform: 'node',
    external: (id) => !isOfWorkspace(id),
    plugins: [startedFiles],
    onLog: (level, log, handler) => handler(level === 'warn' ? 'error' : level, log),
  });
  try {
    const { output } = await bundle.write({
      dir: folder,
      format: 'esm',
      preserveModules: true,
      preserveModulesRoot: REPOSITORY,
      entryFileNames: ({ facadeModuleId, name }) =>
        facadeModuleId === null
          ? `${name}.js`
          : relative(REPOSITORY, facadeModuleId).replace(/\.ts$/, '.js'),
    });
    const own = new Set(output.map(({ fileName }) => fileName));
    const imported = output
      .flatMap((file) => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : []))
      .filter((specifier) => !own.has(specifier));
    return [...new Set(imported.flatMap((specifier) => packageOf(specifier) ?? []))].toSorted();
  } finally {
    await bundle.close();
  }
};
