/**
 * The tokens that a phase wants, as the environment variables of its workspace name them: those that the run itself
 * presents somewhere, and those that become credentials of a provider.
 */

/** Providers, as the names of the variables have them, with the audience of a token that names none. */
const PROVIDERS = {
  VAULT: () => 'vault.workload.identity',
  AWS: () => 'aws.workload.identity',
  GCP: (setting) => toGoogleAudience(setting),
  AZURE: () => 'api://AzureADTokenExchange',
  KUBERNETES: () => '',
  TENCENTCLOUD: () => 'tencentcloud.workload.identity',
} as const satisfies Record<string, (setting: Setting) => string>;

export const TOKEN_PURPOSES = ['WORKLOAD_IDENTITY', ...Object.keys(PROVIDERS)] as const;

/** A setting of one configuration: the variable with its tag, else the default of all configurations. */
type Setting = (name: string) => string;

export interface WantedToken {
  /** "WORKLOAD_IDENTITY" for a token that the run itself presents, else a provider such as "VAULT". */
  readonly purpose: string;
  /** Tells several of the same purpose apart; "" for the one without a tag. */
  readonly tag: string;
  readonly audience: string;
}

const MAX_TOKENS = 32;
const MAX_AUDIENCE_LENGTH = 1024;

/** The resource name of the provider at Google, whose parts may be separate variables. */
const toGoogleAudience = (setting: Setting): string => {
  const name =
    setting('TFC_GCP_WORKLOAD_PROVIDER_NAME') ||
    `projects/${setting('TFC_GCP_PROJECT_NUMBER')}/locations/global/workloadIdentityPools/${setting('TFC_GCP_WORKLOAD_POOL_ID')}/providers/${setting('TFC_GCP_WORKLOAD_PROVIDER_ID')}`;
  return `//iam.googleapis.com/${name}`;
};

const settingOf =
  (environment: ReadonlyMap<string, string>, tag: string): Setting =>
  (name) =>
    environment.get(tag === '' ? name : `${name}_${tag}`) ??
    environment.get(name.replace('TFC_', 'TFC_DEFAULT_')) ??
    '';

/** Tags of the variables with this name, "" for the one without a tag. "TYPE" is reserved. */
const tagsOf = (environment: ReadonlyMap<string, string>, name: string): readonly string[] =>
  [...environment.keys()].flatMap((key) => {
    if (key === name) return [''];
    const tag = key.startsWith(`${name}_`) ? key.slice(name.length + 1) : '';
    return /^\w+$/.test(tag) && tag !== 'TYPE' ? [tag] : [];
  });

/** Whether the token at this position can be signed. The agent ends a phase for which one cannot. */
export const isIssuable = ({ audience }: WantedToken, index: number): boolean =>
  audience !== '' && audience.length <= MAX_AUDIENCE_LENGTH && index < MAX_TOKENS;

/** All that the variables ask for, of which those beyond the limit are one. */
export const wantedTokens = (environment: ReadonlyMap<string, string>): readonly WantedToken[] => {
  const ofRun = tagsOf(environment, 'TFC_WORKLOAD_IDENTITY_AUDIENCE')
    .map((tag) => ({
      purpose: 'WORKLOAD_IDENTITY',
      tag,
      audience: settingOf(environment, tag)('TFC_WORKLOAD_IDENTITY_AUDIENCE'),
    }))
    // A workspace switches the audience of a variable set off.
    .filter(({ audience }) => audience !== '');
  const ofProviders = Object.entries(PROVIDERS).flatMap(([purpose, byDefault]) =>
    tagsOf(environment, `TFC_${purpose}_PROVIDER_AUTH`)
      .map((tag) => ({ tag, setting: settingOf(environment, tag) }))
      .filter(({ setting }) => setting(`TFC_${purpose}_PROVIDER_AUTH`) === 'true')
      .map(({ tag, setting }) => ({
        purpose,
        tag,
        audience: setting(`TFC_${purpose}_WORKLOAD_IDENTITY_AUDIENCE`) || byDefault(setting),
      })),
  );
  return [...ofRun, ...ofProviders].slice(0, MAX_TOKENS + 1);
};
