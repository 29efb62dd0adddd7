import { buildTaggedGoProgram, goEnvironment } from '@keelson/testkit';

/** Builds the vendor's command line without the plugins of clouds and databases, none of which Keelson serves. */
export const buildVault = (): Promise<string> =>
  buildTaggedGoProgram(
    import.meta.dirname,
    'github.com/hashicorp/vault',
    ['minimal'],
    goEnvironment(),
  );
