/** Files and variables with which the providers of clouds sign in. They exchange the token of the run themselves. */
import type { Settings } from './settings.ts';

/** Writes a file of the configuration, and returns its path. */
export type WriteFile = (name: string, text: string) => Promise<string>;

export interface ProviderCredentials {
  /** Variables of the tool, which are set if no configuration of the provider has a tag. */
  readonly environment: Readonly<Record<string, string>>;
  /** Fields of the input variable by which a configuration finds several; values that are paths of files are in `files`. */
  readonly files: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, string>>;
}

export type ToCredentials = (
  token: string,
  settings: Settings,
  write: WriteFile,
) => Promise<ProviderCredentials>;

const ARN = /^[\w+=,.@:/-]+$/;
const EMAIL = /^[\w.@-]+$/;
const GOOGLE_NAME = /^[\w/.-]+$/;
const CLIENT_ID = /^[\w-]+$/;

const toAws: ToCredentials = async (token, settings, write) => {
  const role = settings.requireOfPhase((phase) => `TFC_AWS_${phase}_ROLE_ARN`, ARN);
  const tokenFile = await write('token', token);
  const config = `[default]\nrole_arn = ${role}\nweb_identity_token_file = ${tokenFile}\n`;
  return {
    environment: { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile },
    files: { shared_config_file: await write('config', config) },
  };
};

const googleProvider = (settings: Settings): string => {
  const name = 'TFC_GCP_WORKLOAD_PROVIDER_NAME';
  if (settings.read(name) !== '') return settings.require(name, GOOGLE_NAME);
  const part = (rest: string) => settings.require(`TFC_GCP_${rest}`, GOOGLE_NAME);
  return `projects/${part('PROJECT_NUMBER')}/locations/global/workloadIdentityPools/${part('WORKLOAD_POOL_ID')}/providers/${part('WORKLOAD_PROVIDER_ID')}`;
};

/** Whether a service account is impersonated, or the run acts as a principal of the pool. */
const hasServiceAccount = (settings: Settings): boolean => {
  const type = settings.read('TFC_GCP_PRINCIPAL_TYPE');
  if (!['', 'service_account', 'workload_pool'].includes(type))
    throw new Error(
      `The principal for ${settings.name} (TFC_GCP_PRINCIPAL_TYPE) is neither service_account nor workload_pool.`,
    );
  return type !== 'workload_pool';
};

const impersonation = (settings: Settings) => {
  const email = settings.requireOfPhase((phase) => `TFC_GCP_${phase}_SERVICE_ACCOUNT_EMAIL`, EMAIL);
  return {
    service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${email}:generateAccessToken`,
  };
};

const toGoogle: ToCredentials = async (token, settings, write) => {
  const impersonated = hasServiceAccount(settings) ? impersonation(settings) : {};
  const account = {
    type: 'external_account',
    audience: `//iam.googleapis.com/${googleProvider(settings)}`,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    ...impersonated,
    credential_source: { file: await write('token', token), format: { type: 'text' } },
  };
  const credentials = await write('credentials.json', JSON.stringify(account));
  return { environment: { GOOGLE_APPLICATION_CREDENTIALS: credentials }, files: { credentials } };
};

const toAzure: ToCredentials = async (token, settings, write) => {
  const clientId = settings.requireOfPhase((phase) => `TFC_AZURE_${phase}_CLIENT_ID`, CLIENT_ID);
  return {
    environment: { ARM_USE_OIDC: 'true', ARM_CLIENT_ID: clientId, ARM_OIDC_TOKEN: token },
    files: {
      client_id_file_path: await write('client-id', clientId),
      oidc_token_file_path: await write('token', token),
    },
  };
};

const toKubernetes: ToCredentials = async (token, _settings, write) => ({
  environment: { KUBE_TOKEN: token },
  files: { token_path: await write('token', token) },
});

/** Its provider reads neither the file nor the role from a variable of the environment. */
const toTencent: ToCredentials = async (token, settings, write) => {
  const role = settings.requireOfPhase((phase) => `TFC_TENCENTCLOUD_${phase}_ROLE_ARN`, ARN);
  return {
    environment: {},
    files: { token_file: await write('token', token) },
    values: { role_arn: role },
  };
};

export const CLOUDS: Readonly<Record<string, ToCredentials>> = {
  AWS: toAws,
  GCP: toGoogle,
  AZURE: toAzure,
  KUBERNETES: toKubernetes,
  TENCENTCLOUD: toTencent,
};
