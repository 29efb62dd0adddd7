/** Addresses and files of clusters that are already running, from the environment. */

export interface ContainerConfig {
  /** HTTP addresses of the clusters. */
  readonly primary: string;
  readonly secondary: string;
  readonly spare: string;
  readonly primaryNats: string;
  readonly spareNats: string;
  /** Addresses by which the clusters know each other: they resolve to this process, which proxies them. */
  readonly primaryApiAddress: string;
  readonly primaryClusterAddress: string;
  readonly spareClusterAddress: string;
  /** The primary's token for `/api/v2`, or the file in which the primary keeps the one it generated. */
  readonly apiToken: { readonly text: string } | { readonly file: string };
  /** Addresses as reached from the host, `host:port`; printed for the reader. */
  readonly published: {
    readonly primary: string;
    readonly secondary: string;
    readonly spare: string;
  };
  /** File written at the end of the story, so that root tokens stay out of the log. */
  readonly tokensFile: string;
  /** `first-run.json` of each; the primary's is written when this process initializes it. */
  readonly firstRunFiles: {
    readonly primary: string;
    readonly secondary: string;
    readonly spare: string;
  };
}

const PREFIX = 'KEELSON_DEMO_';

/** @returns undefined when the demo starts its own clusters. @throws Error naming the missing setting */
export const readConfig = (env: NodeJS.ProcessEnv): ContainerConfig | undefined => {
  if (!Object.keys(env).some((name) => name.startsWith(PREFIX))) return undefined;
  const need = (name: string): string => {
    const value = env[PREFIX + name];
    if (value === undefined || value === '') throw new Error(`${PREFIX}${name} is not set`);
    return value;
  };
  const apiToken = env[`${PREFIX}API_TOKEN`];
  return {
    primary: need('PRIMARY_ADDRESS'),
    secondary: need('SECONDARY_ADDRESS'),
    spare: need('SPARE_ADDRESS'),
    primaryNats: need('PRIMARY_NATS_URL'),
    spareNats: need('SPARE_NATS_URL'),
    primaryApiAddress: need('PRIMARY_API_ADDRESS'),
    primaryClusterAddress: need('PRIMARY_CLUSTER_ADDRESS'),
    spareClusterAddress: need('SPARE_CLUSTER_ADDRESS'),
    apiToken: apiToken ? { text: apiToken } : { file: need('API_TOKEN_FILE') },
    published: {
      primary: need('PRIMARY_PUBLISHED'),
      secondary: need('SECONDARY_PUBLISHED'),
      spare: need('SPARE_PUBLISHED'),
    },
    tokensFile: need('TOKENS_FILE'),
    firstRunFiles: {
      primary: need('PRIMARY_FIRST_RUN_FILE'),
      secondary: need('SECONDARY_FIRST_RUN_FILE'),
      spare: need('SPARE_FIRST_RUN_FILE'),
    },
  };
};
