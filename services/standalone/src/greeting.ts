import type { FirstRun } from './first-run.ts';

export interface GreetingFacts {
  readonly dataFolder: string;
  readonly addresses: readonly string[];
  readonly caCertificateFile: string | undefined;
  /** Absent if it was removed, or set aside after a restoration. */
  readonly firstRunFile: string | undefined;
  /** Sentences about what is wrong although it started. */
  readonly storeFaults: readonly string[];
  /** Whether runs are executed here. */
  readonly runner: string;
  /** Present on the first start in a terminal only: tokens are printed once, and to no log. */
  readonly firstRun?: FirstRun;
}

/** Text that `make up` prints once everything is ready: addresses, files and five lines to paste. */
export const greeting = (facts: GreetingFacts): string => {
  const http = facts.addresses.find((address) => address.startsWith('http:')) ?? '';
  const https = facts.addresses.find((address) => address.startsWith('https:')) ?? http;
  const host = https.replace('https://', '');
  const where = [
    '',
    ...(facts.storeFaults.length === 0
      ? ['  Keelson is up.']
      : ['  Keelson has started, but:', ...facts.storeFaults.map((fault) => `  - ${fault}`)]),
    '',
    `  API          ${facts.addresses.join('   ')}`,
    `  Reference    ${http}/docs`,
    `  Console      ${http}/ui/`,
    `  Data         ${facts.dataFolder}`,
    `  CA           ${facts.caCertificateFile ?? 'as given'}`,
    ...(facts.firstRunFile === undefined ? [] : [`  First run    ${facts.firstRunFile}`]),
    `  Runs         ${facts.runner}`,
  ];
  const { firstRun } = facts;
  if (firstRun === undefined)
    return [
      ...where,
      '',
      facts.firstRunFile === undefined
        ? '  Ctrl-C stops.'
        : '  Tokens are in the first-run file. Ctrl-C stops.',
      '',
    ].join('\n');
  return [
    ...where,
    '',
    `  Root token   ${firstRun.root_token}`,
    `  API token    ${firstRun.api_token}`,
    '',
    '  Paste one of these:',
    '',
    `  curl -s ${http}/v1/sys/health`,
    `  curl -s -H 'X-Service-Token: ${firstRun.root_token}' -d '{"type":"pki"}' ${http}/v1/sys/mounts/pki`,
    `  curl -s -H 'Authorization: Bearer ${firstRun.api_token}' -H 'Content-Type: application/vnd.api+json' -d '{"data":{"type":"organizations","attributes":{"name":"acme","email":"ops@example.com"}}}' ${http}/api/v2/organizations`,
    `  export SSL_CERT_FILE=${facts.caCertificateFile}   # then: terraform { cloud { hostname = "${host}" organization = "acme" workspaces { name = "first" } } }`,
    `  printf 'credentials "${host}" { token = "${firstRun.api_token}" }' > keelson.tfrc && export TF_CLI_CONFIG_FILE=$PWD/keelson.tfrc`,
    '',
    '  Ctrl-C stops; the next start continues with everything.',
    '',
  ].join('\n');
};
