/**
 * Preloaded by the processes of `rolling-upgrade.integration.test.ts`. A process that starts while the file that
 * NEXT_RELEASE names exists is one of the next release: the sources of today with another version and with other
 * declarations of some records.
 */
import { existsSync } from 'node:fs';
import { type LoadFnOutput, registerHooks } from 'node:module';

const KINDS = new URL('next-kinds.ts', import.meta.url).href;

interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const EDITS: readonly Edit[] = [
  {
    file: '/libs/storage/src/collections/collection.ts',
    from: 'return recordCodec(`${scopes.join()}/${name}`, format);',
    to: 'return nextCodec(recordCodec, name, scopes, format);',
  },
  {
    file: '/libs/storage/src/collections/collection.ts',
    from: 'import type { TSchema }',
    to: `import { nextCodec, nextPlace } from '${KINDS}'; import type { TSchema }`,
  },
  {
    file: '/libs/storage/src/collections/collection.ts',
    from: 'const { at, facts } = placesOf(name, { scopes: [scope], ...options });',
    to: '[name, options, index] = nextPlace(name, options, index); const { at, facts } = placesOf(name, { scopes: [scope], ...options });',
  },
  {
    file: '/libs/storage/src/collections/collection.ts',
    from: 'const { at, facts } = placesOf(name, options);',
    to: '[name, options] = nextPlace(name, options); const { at, facts } = placesOf(name, options);',
  },
  { file: '/libs/runtime/src/version.ts', from: "'0.1.0'", to: "'0.2.0'" },
];

const edit = (source: string, { file, from, to }: Edit): string => {
  if (!source.includes(from)) throw new Error(`${file} no longer contains ${from}`);
  return source.replace(from, to);
};

const sourceOf = ({ source = '' }: LoadFnOutput): string =>
  typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();

const file = process.env['NEXT_RELEASE'];
if (file !== undefined && existsSync(file))
  registerHooks({
    load: (url, context, load) => {
      const loaded = load(url, context);
      const edits = EDITS.filter((one) => url.endsWith(one.file));
      if (edits.length === 0) return loaded;
      return { ...loaded, source: edits.reduce(edit, sourceOf(loaded)) };
    },
  });
