/** The processes that are bundled, as files of the repository. */
export const ENTRIES = [
  'libs/rpc/src/internal-issuer/main.ts',
  'services/auth/src/main.ts',
  'services/cli/src/main.ts',
  'services/gateway/src/main.ts',
  'services/pki/src/main.ts',
  'services/standalone/src/main.ts',
  'services/sys/src/main.ts',
  'services/workspace/src/main.ts',
] as const;

export type Entry = (typeof ENTRIES)[number];
