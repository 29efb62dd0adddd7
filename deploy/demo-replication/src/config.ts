/** Where the demo finds clusters that run already. */

export interface ContainerConfig {
  /** HTTP addresses of the clusters. */
  readonly primary: string;
  readonly secondary: string;
  readonly spare: string;
  readonly primaryNats: string;
  readonly spareNats: string;
  /** What the clusters call these of each other: names of this process, whose lines lead there. */
  readonly primaryApiAddress: string;
  readonly primaryClusterAddress: string;
  readonly spareClusterAddress: string;
  /** Of the primary, for `/api/v2`: the token, or the file in which the primary keeps the one it made. */
  readonly apiToken: { readonly text: string } | { readonly file: string };
  /** Where they are reached from the host, host:port; for the reader. */
  readonly published: {
    readonly primary: string;
    readonly secondary: string;
    readonly spare: string;
  };
  /** Written once the story was told: root tokens are not for a log. */
  readonly tokensFile: string;
  /** `first-run.json` of each; the primary's is written when this process initializes it. */
  readonly firstRunFiles: {
    readonly primary: string;
    readonly secondary: string;
    readonly spare: string;
  };
}

const PREFIX = 'KEELSON_DEMO_';

/** @returns undefined: the demo starts clusters of its own. @throws Error that names the setting which is missing */
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
